"""What users do with audits.

Each operation is check, change, event, in one transaction that has locked the
audit; a refusal changes nothing.
"""

import dataclasses
import datetime
import logging
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, events
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.audits import CONTINUOUS, EVENT, Audit, NewAudit
from watcherlite.domain.events import Event
from watcherlite.engine import requests, run_actions
from watcherlite.engine.facts import audit_event
from watcherlite.engine.proposers import Proposers
from watcherlite.execution.conflicts import again_on_conflict
from watcherlite.states import audit as states

LOG = logging.getLogger(__name__)

Tell = Callable[[str | None, commands.Command | commands.Broadcast], None]

#: How many names are tried for an audit that was given none.
NAMES = 10
#: What of an audit users may change, besides `state`.
PLAIN = frozenset(
    {
        *('name', 'audit_type', 'interval', 'auto_trigger'),
        *('start_time', 'end_time', 'force'),
    }
)
REFERRING = frozenset({'goal', 'strategy', 'parameters'})
#: What changes when an audit runs.
TIMING = frozenset({'audit_type', 'interval', 'start_time', 'end_time'})


class AuditOperations:
    """The operations on audits; `name` is a uuid, an id, or a name in any case.

    :param tell: (lane, command), or (None, broadcast): passes a hint on; never
        blocks and never raises
    """

    def __init__(
        self, store: Store, proposers: Proposers, clock: Clock, tell: Tell
    ) -> None:
        self._store = store
        self._proposers = proposers
        self._clock = clock
        self._tell = tell

    def create(self, new: NewAudit, context: Mapping[str, Any] | None = None) -> Audit:
        """Store an audit as PENDING and have it run, unless it waits for an event.

        :param context: who asked; never credentials
        :raises NotFound: there is no such goal or strategy
        :raises Invalid, Conflict: see the text; the latter for its name
        """
        audit = self._checked(new)
        if new.name is not None:
            audit = self._insert(audit, context or {})
        else:
            audit = self._insert_unnamed(audit, context or {})
        self._tell_of_run()
        LOG.info('Audit %s (%s) is stored', audit.uuid, audit.audit_type)
        return audit

    def _checked(self, new: NewAudit) -> Audit:
        """Return the audit that a request asks for; raises what `create` does.

        Without a name in the request it has the begin of one.
        """
        wanted = requests.wanted(self._store, new)
        if new.name is not None:
            requests.check_name('an audit', new.name)
        requests.check_scope(wanted.scope)
        audit = Audit(
            uuid=str(uuid.uuid4()),
            name=new.name if new.name is not None else wanted.prefix,
            audit_type=new.audit_type,
            state=states.PENDING,
            goal_id=wanted.reference.goal.id or 0,
            strategy_id=wanted.reference.strategy_id,
            parameters=requests.filled_parameters(
                self._proposers, wanted.reference.strategy, wanted.parameters
            ),
            scope=wanted.scope,
            interval=_interval(new.interval),
            auto_trigger=new.auto_trigger,
            start_time=new.start_time,
            end_time=new.end_time,
            force=new.force,
        )
        requests.check_times(audit)
        return audit

    @again_on_conflict
    def _insert(self, audit: Audit, context: Mapping[str, Any]) -> Audit:
        now = self._clock.now()
        audit = audit.evolve(created_at=now)
        with self._store.transaction() as tx:
            begun: list[Event] = []
            if run_actions.wants_action(audit):
                audit, created = run_actions.insert(tx, audit, now, context)
                begun.append(created)
            audit = tx.insert_audit(audit)
            tx.add_events([audit_event(None, audit, now, events.CREATED), *begun])
        return audit

    def _insert_unnamed(self, audit: Audit, context: Mapping[str, Any]) -> Audit:
        """Store an audit under a name made of its begin and the time."""
        begin, now = audit.name, self._clock.now()
        for later in range(NAMES):
            # Another one was made in the same microsecond.
            time = now + datetime.timedelta(microseconds=later)
            audit = audit.evolve(name=requests.default_name(begin, time))
            try:
                return self._insert(audit, context)
            except exceptions.Conflict as error:
                LOG.debug('Another name is made: %s', error)
        raise exceptions.Conflict('No free name was found; name the audit')

    @again_on_conflict
    def update(
        self,
        name: str,
        changes: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        seen: Audit | None = None,
    ) -> Audit:
        """Change some of an audit; without changes, change nothing.

        To suspend or cancel an audit stops its run; nothing of that is proposed.

        :param changes: any of `name`, `state`, `audit_type`, `goal`, `strategy` (as
            in NewAudit; strategy may be None), `parameters`, `scope`, `interval`,
            `auto_trigger`, `start_time`, `end_time` (aware, or None), `force`
        :param seen: what the changes were made from, if that matters
        :raises NotFound, Invalid, Conflict: see the text
        :raises OutOfDate: it is not as it was seen any more
        :raises TransitionNotAllowed: the state machine does not have this change,
            or it is the engine's to make
        """
        unknown = sorted(set(changes) - PLAIN - REFERRING - {'state', 'scope'})
        if unknown:
            raise exceptions.Invalid(f'{unknown[0]} of an audit cannot be changed')
        now = self._clock.now()
        found = self._store.find_audit(name).audit
        refers = self._referred(found, changes)
        with self._store.transaction() as tx:
            before = self._locked(tx, found)
            if seen is not None and seen != before:
                raise exceptions.OutOfDate
            if refers is not None and requests.refers_elsewhere(found, before):
                raise exceptions.StoreConflict('The audit was changed meanwhile.')
            audit = self._changed(before, changes, refers)
            if audit == before:
                return before
            audit = audit.evolve(updated_at=now)
            follower = _Follower(tx, before, changes, now, context)
            audit = follower.follow(audit)
            tx.save_audit(audit)
            kind = events.STATE_CHANGED
            if audit.state == before.state:
                kind = events.MESSAGE_CHANGED
            tx.add_events([audit_event(before, audit, now, kind), *follower.events])
        stopped = follower.stopped
        self._tell_of_run(stopped)
        return audit

    @again_on_conflict
    def delete(self, name: str) -> None:
        """Delete an audit that has ended, softly; raises NotFound and Invalid.

        Its plans stay, as they do in Watcher.
        """
        now = self._clock.now()
        found = self._store.find_audit(name).audit
        with self._store.transaction() as tx:
            before = self._locked(tx, found)
            if not states.MACHINE.allows(before.state, states.DELETED):
                raise exceptions.Invalid(
                    f"Couldn't delete when state is '{before.state}'."
                )
            audit = before.evolve(state=states.DELETED, updated_at=now, deleted_at=now)
            tx.save_audit(audit)
            tx.add_events([audit_event(before, audit, now, events.DELETED)])
        self._tell(None, commands.EventsStored())

    @again_on_conflict
    def trigger(
        self,
        name: str,
        payload: Any = None,
        context: Mapping[str, Any] | None = None,
    ) -> Audit:
        """Run an EVENT audit; raises NotFound and Invalid.

        A run that was asked for and has not begun will see what this one would:
        then there is no second one.

        :param payload: what came with the event; as in Watcher it is not kept
        """
        now = self._clock.now()
        found = self._store.find_audit(name).audit
        with self._store.transaction() as tx:
            before = self._locked(tx, found)
            if before.audit_type != EVENT:
                raise exceptions.Invalid(
                    f'Audit type {before.audit_type} is disallowed.'
                )
            if before.state not in states.TRIGGERABLE:
                raise exceptions.Invalid(f'Audit state {before.state} is disallowed.')
            action = run_actions.of_audit(tx, before)
            if action is not None and not action.finished:
                return before
            audit, created = run_actions.insert(tx, before, now, context or {})
            tx.save_audit(audit)
            tx.add_events([created])
        self._tell_of_run()
        return audit

    def _locked(self, tx: Transaction, found: Audit) -> Audit:
        audit = tx.lock_audit(found.uuid)
        if audit is None:
            raise exceptions.NotFound(f'Audit {found.uuid} could not be found.')
        return audit

    def _referred(
        self, audit: Audit, changes: Mapping[str, Any]
    ) -> requests.Reference | None:
        """Return the goal and strategy after the changes; None: as they are."""
        if not REFERRING & set(changes):
            return None
        goal = changes.get('goal', audit.goal_id)
        if goal is None:
            raise exceptions.Invalid('An audit needs a goal')
        strategy = changes.get('strategy', audit.strategy_id)
        return requests.reference(self._store, goal, strategy)

    def _changed(
        self,
        before: Audit,
        changes: Mapping[str, Any],
        refers: requests.Reference | None,
    ) -> Audit:
        """Return the audit with the changes, checked; its state included."""
        plain = {key: changes[key] for key in PLAIN & set(changes)}
        if 'interval' in plain:
            plain['interval'] = _interval(plain['interval'])
        for key in ('auto_trigger', 'force'):
            if not isinstance(plain.get(key, False), bool):
                raise exceptions.Invalid(f'{key} of an audit is true or false')
        audit = dataclasses.replace(before, **plain)
        if not isinstance(audit.name, str):
            raise exceptions.Invalid('An audit needs a name')
        if audit.name != before.name:
            requests.check_name('an audit', audit.name)
        if TIMING & set(changes):
            requests.check_times(audit)
        if 'scope' in changes:
            requests.check_scope(changes['scope'] or [])
            audit = audit.evolve(scope=list(changes['scope'] or ()))
        if refers is not None:
            given = changes.get('parameters', before.parameters) or {}
            if not isinstance(given, dict):
                raise exceptions.Invalid('parameters of an audit are an object')
            audit = audit.evolve(
                goal_id=refers.goal.id or 0,
                strategy_id=refers.strategy_id,
                parameters=requests.filled_parameters(
                    self._proposers, refers.strategy, given
                ),
            )
        return self._in_state(audit, changes.get('state', before.state))

    def _in_state(self, audit: Audit, state: object) -> Audit:
        """Return the audit in the state that a user wants; TransitionNotAllowed."""
        if state == audit.state:
            return audit
        if state not in states.STATES:
            raise exceptions.Invalid(f'Invalid state: {state}')
        states.MACHINE.check(audit.state, str(state))
        begins = state == states.ONGOING and audit.state == states.PENDING
        if state == states.DELETED or (begins and audit.audit_type == EVENT):
            # There are other ways to ask for these.
            raise exceptions.TransitionNotAllowed(
                f'State transition not allowed: ({audit.state} -> {state})'
            )
        return audit.evolve(state=str(state), status_message=None)

    def _tell_of_run(self, stopped: bool = False) -> None:
        if stopped:
            self._tell(None, commands.ActionsSignalled())
        self._tell(ENGINE, commands.RunActions())
        self._tell(None, commands.EventsStored())


class _Follower:
    """Lets the action that runs an audit follow a change of the audit.

    :ivar events: to be stored after that of the audit
    :ivar stopped: whether the action has to be told to stop
    """

    def __init__(
        self,
        tx: Transaction,
        before: Audit,
        changes: Mapping[str, Any],
        now: datetime.datetime,
        context: Mapping[str, Any] | None,
    ) -> None:
        self._tx = tx
        self._before = before
        self._changes = changes
        self._now = now
        self._context = context
        self._action = run_actions.of_audit(tx, before)
        self.events: list[Event] = []
        self.stopped = False

    def follow(self, audit: Audit) -> Audit:
        """Return the audit with the action that it has after the change."""
        before, action = self._before, self._action
        retyped = audit.audit_type != before.audit_type
        if retyped and before.state != states.PENDING:
            raise exceptions.Conflict(
                'The type of an audit can be changed only before its first run'
            )
        if not run_actions.wants_action(audit):
            if audit.state in states.TRIGGERABLE and not retyped:
                # Of type EVENT; what its webhook has asked for stays.
                return audit
            self._stop()
            return audit.evolve(next_run_time=None)
        resumed = before.state == states.SUSPENDED
        if action is None or action.finished or resumed or retyped:
            # One that was told to stop may still be at it; it proposes nothing.
            self._stop()
            context = self._context
            if context is None:
                context = action.context if action is not None else {}
            audit, created = run_actions.insert(self._tx, audit, self._now, context)
            self.events.append(created)
            return audit
        if TIMING & set(self._changes) and audit.audit_type == CONTINUOUS:
            return run_actions.put_off(self._tx, audit, action, self._now)
        return audit

    def _stop(self) -> None:
        if self._action is not None:
            self.stopped = run_actions.stop(self._tx, self._action, self._now)


def _interval(interval: object) -> str | None:
    """Return an interval as it is kept; an empty one is none."""
    if interval is None or interval == '':
        return None
    if isinstance(interval, bool) or not isinstance(interval, int | str):
        raise exceptions.Invalid(
            'The interval of an audit is a number of seconds or a cron line'
        )
    text = str(interval).strip()
    if len(text) > 255:
        raise exceptions.Invalid('The interval of an audit is too long')
    return text
