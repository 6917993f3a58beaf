"""Operations on audits.

Each operation validates, changes and records an event in one transaction that holds
the lock of the audit. A rejected request changes nothing.
"""

import dataclasses
import datetime
import logging
import uuid
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.domain import commands, events
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.audits import CONTINUOUS, EVENT, Audit, AuditRequest, NewAudit
from watcherlite.domain.creators import NO_AUTHORITY, Creator
from watcherlite.domain.events import Event
from watcherlite.engine.audits import requests, run_actions
from watcherlite.engine.audits.events import audit_event, update_event
from watcherlite.engine.audits.goal_sync import ProposalPlugins
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.states import action as action_states
from watcherlite.states import audit as states

LOG = logging.getLogger(__name__)


#: Attempts to find a free name for an audit without one.
NAMES = 10
#: Fields that users may change, besides `state`.
PLAIN = frozenset(
    {
        'name',
        'audit_type',
        'interval',
        'auto_trigger',
        'start_time',
        'end_time',
        'force',
    }
)
REFERRING = frozenset({'goal', 'strategy', 'parameters'})
#: Fields that determine when an audit runs.
TIMING = frozenset({'audit_type', 'interval', 'start_time', 'end_time'})


class AuditOperations:
    """The operations on audits; `name` is a uuid, an id, or a name in any case."""

    def __init__(
        self,
        store: Store,
        proposers: ProposalPlugins,
        clock: Clock,
        messenger: commands.Messenger,
    ) -> None:
        self._store = store
        self._proposers = proposers
        self._clock = clock
        self._messenger = messenger

    def create(
        self,
        new: AuditRequest,
        context: Mapping[str, Any] | None = None,
        creator: Creator = NO_AUTHORITY,
    ) -> Audit:
        """Store an audit as PENDING and schedule its run, unless it is an EVENT audit.

        :param context: the request context; never credentials
        :param creator: the audit's plans may act on what the creator may act on
        :raises NotFound: the goal or strategy does not exist
        :raises Invalid: the request is invalid
        :raises Conflict: the name is in use
        """
        valid = self._validate(new).evolve(creator=creator)
        if new.name is not None:
            audit = self._insert(valid, context or {})
        else:
            audit = self._insert_unnamed(valid, context or {})
        self._announce()
        LOG.info('Audit %s (%s) created', audit.uuid, audit.audit_type)
        return audit

    def _validate(self, new: AuditRequest) -> NewAudit:
        """Return the audit of a valid request; raises what `create` does.

        If the request has no name, the name is the prefix of a generated one.
        """
        desired = requests.resolve(self._store, new)
        if new.name is not None:
            requests.check_name('an audit', new.name)
        requests.check_scope(desired.scope)
        audit = NewAudit(
            uuid=str(uuid.uuid4()),
            name=new.name if new.name is not None else desired.prefix,
            audit_type=new.audit_type,
            state=states.PENDING,
            goal_id=desired.reference.goal.id,
            strategy_id=desired.reference.strategy_id,
            parameters=requests.fill_parameters(
                self._proposers, desired.reference.strategy, desired.parameters
            ),
            scope=desired.scope,
            interval=_interval(new.interval),
            auto_trigger=new.auto_trigger,
            start_time=new.start_time,
            end_time=new.end_time,
            force=new.force,
        )
        requests.check_times(audit)
        return audit

    @retry_on_conflict
    def _insert(self, new: NewAudit, context: Mapping[str, Any]) -> Audit:
        now = self._clock.now()
        new = new.evolve(created_at=now)
        with self._store.transaction() as tx:
            begun: list[Event] = []
            if run_actions.needs_action(new):
                new, created = run_actions.insert(tx, new, now, context)
                begun.append(created)
            audit = tx.insert_audit(new)
            tx.add_events([audit_event(None, audit, now, events.CREATED), *begun])
        return audit

    def _insert_unnamed(self, audit: NewAudit, context: Mapping[str, Any]) -> Audit:
        """Store an audit under a generated name: its prefix and the time."""
        begin, now = audit.name, self._clock.now()
        for later in range(NAMES):
            # Another audit was created in the same microsecond.
            time = now + datetime.timedelta(microseconds=later)
            audit = audit.evolve(name=requests.default_name(begin, time))
            try:
                return self._insert(audit, context)
            except exceptions.Conflict as error:
                LOG.debug('Generating another name: %s', error)
        raise exceptions.Conflict('No free name was found; name the audit')

    @retry_on_conflict
    def update(
        self,
        name: str,
        changes: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        seen: Audit | None = None,
        by: Creator = NO_AUTHORITY,
    ) -> Audit:
        """Change fields of an audit; without changes, do nothing.

        Suspending or cancelling an audit stops its run, which then proposes nothing.

        :param changes: any of `name`, `state`, `audit_type`, `goal`, `strategy` (as
            in AuditRequest; strategy may be None), `parameters`, `scope`, `interval`,
            `auto_trigger`, `start_time`, `end_time` (aware, or None), `force`
        :param seen: the audit that the changes are based on, if that matters
        :param by: the user: if the change affects what is proposed, later plans may
            act only on what both this user and the creator may act on
        :raises NotFound: the audit, goal or strategy does not exist
        :raises Invalid: a value is invalid
        :raises Conflict: the name is in use, or the type cannot change any more
        :raises OutOfDate: the audit differs from `seen`
        :raises TransitionNotAllowed: users cannot make this change of state
        """
        unknown = sorted(set(changes) - PLAIN - REFERRING - {'state', 'scope'})
        if unknown:
            raise exceptions.Invalid(f'{unknown[0]} of an audit cannot be changed')
        now = self._clock.now()
        found = self._store.find_audit(name).audit
        refers = self._resolve_reference(found, changes)
        with self._store.transaction() as tx:
            before = self._lock(tx, found)
            if seen is not None and seen != before:
                raise exceptions.OutOfDate
            if refers is not None and requests.has_other_reference(found, before):
                raise exceptions.StoreConflict('The audit was changed meanwhile.')
            audit = self._apply_changes(before, changes, refers)
            if audit == before:
                return before
            if _proposal_inputs(audit) != _proposal_inputs(before):
                audit = audit.evolve(creator=before.creator.limited_to(by))
            audit = audit.evolve(updated_at=now)
            audit, more, stopped = _update_action(
                tx, before, audit, changes, now, context
            )
            tx.save_audit(audit)
            tx.add_events([update_event(before, audit, now), *more])
        self._announce(stopped)
        return audit

    @retry_on_conflict
    def delete(self, name: str) -> None:
        """Soft-delete an audit that has ended; raises NotFound and Invalid.

        Its plans are kept, as in Watcher.
        """
        now = self._clock.now()
        found = self._store.find_audit(name).audit
        with self._store.transaction() as tx:
            before = self._lock(tx, found)
            if not states.MACHINE.allows(before.state, states.DELETED):
                raise exceptions.Invalid(
                    f"Couldn't delete when state is '{before.state}'."
                )
            audit = before.evolve(state=states.DELETED, updated_at=now, deleted_at=now)
            tx.save_audit(audit)
            tx.add_events([audit_event(before, audit, now, events.DELETED)])
        self._messenger.broadcast(commands.EventsStored())

    @retry_on_conflict
    def trigger(
        self, name: str, payload: Any = None, context: Mapping[str, Any] | None = None
    ) -> Audit:
        """Run an EVENT audit; raises NotFound and Invalid.

        If a requested run has not started yet, there is no second one: it sees the
        same state. A run that has started may have ended already, before its action.

        :param payload: of the event; not stored, as in Watcher
        """
        now = self._clock.now()
        found = self._store.find_audit(name).audit
        with self._store.transaction() as tx:
            before = self._lock(tx, found)
            if before.audit_type != EVENT:
                raise exceptions.Invalid(
                    f'Audit type {before.audit_type} is disallowed.'
                )
            if before.state not in states.TRIGGERABLE:
                raise exceptions.Invalid(f'Audit state {before.state} is disallowed.')
            action = run_actions.lock_action(tx, before)
            if action is not None and action.status in action_states.NOT_STARTED:
                return before
            audit, created = run_actions.insert(tx, before, now, context or {})
            tx.save_audit(audit)
            tx.add_events([created])
        self._announce()
        return audit

    def _lock(self, tx: Transaction, found: Audit) -> Audit:
        audit = tx.lock_audit(found.uuid)
        if audit is None:
            raise exceptions.NotFound(f'Audit {found.uuid} could not be found.')
        return audit

    def _resolve_reference(
        self, audit: Audit, changes: Mapping[str, Any]
    ) -> requests.Reference | None:
        """Return the goal and strategy after the changes; None: unchanged."""
        if not REFERRING & set(changes):
            return None
        goal = changes.get('goal', audit.goal_id)
        if goal is None:
            raise exceptions.Invalid('An audit needs a goal')
        strategy = changes.get('strategy', audit.strategy_id)
        return requests.find_reference(self._store, goal, strategy)

    def _apply_changes(
        self,
        before: Audit,
        changes: Mapping[str, Any],
        refers: requests.Reference | None,
    ) -> Audit:
        """Return the audit with valid changes applied, including its state."""
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
            requests.check_times(audit, changed=True)
        if 'scope' in changes:
            requests.check_scope(changes['scope'] or [])
            audit = audit.evolve(scope=list(changes['scope'] or ()))
        if refers is not None:
            given = changes.get('parameters', before.parameters) or {}
            if not isinstance(given, dict):
                raise exceptions.Invalid('parameters of an audit are an object')
            audit = audit.evolve(
                goal_id=refers.goal.id,
                strategy_id=refers.strategy_id,
                parameters=requests.fill_parameters(
                    self._proposers, refers.strategy, given
                ),
            )
        return self._apply_state(audit, changes.get('state', before.state))

    def _apply_state(self, audit: Audit, state: object) -> Audit:
        """Return the audit in the requested state; raises TransitionNotAllowed."""
        if state == audit.state:
            return audit
        if state not in states.STATES:
            raise exceptions.Invalid(f'Invalid state: {state}')
        states.MACHINE.check(audit.state, str(state))
        begins = state == states.ONGOING and audit.state == states.PENDING
        if state == states.DELETED or (begins and audit.audit_type == EVENT):
            # There are other requests for these.
            raise exceptions.TransitionNotAllowed(
                f'State transition not allowed: ({audit.state} -> {state})'
            )
        return audit.evolve(state=str(state), status_message=None)

    def _announce(self, stopped: bool = False) -> None:
        if stopped:
            self._messenger.broadcast(commands.ActionsSignalled())
        self._messenger.send(ENGINE, commands.RunActions())
        self._messenger.broadcast(commands.EventsStored())


def _update_action(
    tx: Transaction,
    before: Audit,
    audit: Audit,
    changes: Mapping[str, Any],
    now: datetime.datetime,
    context: Mapping[str, Any] | None,
) -> tuple[Audit, list[Event], bool]:
    """Apply a change of an audit to the action that runs it.

    :returns: the audit with its action, the events to store after that of the audit,
        and whether a running action was signalled to stop
    """
    action = run_actions.lock_action(tx, before)
    retyped = audit.audit_type != before.audit_type
    if retyped and before.state != states.PENDING:
        raise exceptions.Conflict(
            'The type of an audit can be changed only before its first run'
        )
    if not run_actions.needs_action(audit):
        if audit.state in states.TRIGGERABLE and not retyped:
            # An EVENT audit: runs that its webhook has requested stay.
            return audit, [], False
        return audit.evolve(next_run_time=None), [], run_actions.stop(tx, action, now)
    resumed = before.state == states.SUSPENDED
    if action is None or action.finished or resumed or retyped:
        # A signalled run may still be active; it proposes nothing.
        stopped = run_actions.stop(tx, action, now)
        if context is None:
            context = action.context if action is not None else {}
        audit, created = run_actions.insert(tx, audit, now, context)
        return audit, [created], stopped
    if TIMING & set(changes) and audit.audit_type == CONTINUOUS:
        audit = run_actions.reschedule(tx, audit, action, now)
    return audit, [], False


def _proposal_inputs(audit: Audit) -> tuple[Any, ...]:
    """Return the fields that determine what an audit proposes."""
    return (audit.goal_id, audit.strategy_id, dict(audit.parameters), list(audit.scope))


def _interval(interval: object) -> str | None:
    """Return an interval as it is stored; an empty one is None."""
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
