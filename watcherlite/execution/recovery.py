"""The recovery from lost workers and lost messages, by a periodic sweep.

The same code recovers from a crash, from a drain that timed out, and from a claim whose
answer was lost. Conclusions are written by the committer like all others, and compared
with the lost owner, so that two workers that recover the same action do it once.
"""

import datetime
import functools
import logging
from typing import Protocol

from watcherlite import exceptions
from watcherlite.db.api import Worker
from watcherlite.domain import commands, outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, RUN, Action
from watcherlite.execution import deadlines, results
from watcherlite.execution.claim_queues import ClaimQueues
from watcherlite.execution.committer import CommitQueue
from watcherlite.execution.context import log_extra
from watcherlite.execution.deadlines import WaitTimeouts
from watcherlite.execution.discovery import WorkDiscovery, WorkHints
from watcherlite.execution.dispatcher import Dispatcher
from watcherlite.execution.group_commit import PendingCommit
from watcherlite.execution.ports import ActionTypes, PlanRules
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: Most actions that are recovered at one time.
WINDOW = 500


class RecoveryObserver(Protocol):
    """Observes recovered actions, once they are durable."""

    def on_adopted(self, action: Action) -> None:
        """This worker has adopted an action that is InProgress."""

    def on_ready(self, action: Action) -> None:
        """An action can be claimed again."""

    def on_signalled(self) -> None:
        """Actions, perhaps of other workers, were sent CANCEL."""


class RecoveryCommit(PendingCommit):
    """The conclusion of a recovery that waits for its transaction."""

    __slots__ = ('_observer',)

    def __init__(
        self, action: Action, conclusion: Conclusion, observer: RecoveryObserver
    ) -> None:
        super().__init__(action, conclusion)
        self._observer = observer

    def on_written(self, applied: bool) -> None:
        if applied and self.after.owner is not None:
            self._observer.on_adopted(self.after)
        elif applied and self.after.status == states.READY:
            self._observer.on_ready(self.after)


class Recovery:
    """Recovers the actions of lost workers.

    :param observer: continues the recovered actions
    """

    def __init__(
        self,
        services: CoreServices,
        types: ActionTypes,
        rules: PlanRules,
        commit_queue: CommitQueue,
        observer: RecoveryObserver,
    ) -> None:
        self._store = services.store
        self._worker = services.worker_id
        self._clock = services.clock
        self._settings = services.settings
        self._types = types
        self._rules = rules
        self._commit_queue = commit_queue
        self._observer = observer

    def sweep(self) -> bool:
        """Recover the actions of every worker whose lease has expired.

        :returns: False if actions were left, because their plan is locked
        """
        lost = [w for w in self._store.expired_workers() if w.uuid != self._worker]
        lost += [
            Worker(owner, 'an unknown host', '', ())
            for owner in self._store.unregistered_owners()
            if owner != self._worker
        ]
        # A list, not a generator: every worker is recovered.
        complete = [self.recover(worker) for worker in lost]
        return all(complete)

    def recover(self, lost: Worker) -> bool:
        """Recover the actions of one worker; remove it if it has none.

        :returns: see `sweep`
        """
        owned = [action_id for action_id, _ in self._store.owned_ids(lost.uuid)]
        if not owned:
            self._store.remove_worker(lost.uuid)
            return True
        LOG.warning(
            'The lease of worker %s on %s has expired; recovering %d actions',
            lost.uuid,
            lost.host,
            len(owned),
        )
        complete = [
            self.recover_actions(owned[first : first + WINDOW], lost.uuid)
            for first in range(0, len(owned), WINDOW)
        ]
        return all(complete)

    def recover_actions(self, action_ids: list[int], owner: str) -> bool:
        """Recover some actions of a lost owner.

        :returns: see `sweep`
        """
        actions = [
            action
            for action in self._store.actions_by_id(action_ids).values()
            if action.owner == owner
        ]
        now = self._clock.now()
        # A plan without started actions there continues in any case.
        plan_ids = {
            a.plan_id
            for a in actions
            if a.status in states.STARTED and a.plan_id is not None
        }
        ends = self._ends(sorted(plan_ids), now)
        if states.CANCELLED in ends.values():
            self._observer.on_signalled()
        locked = plan_ids - ends.keys()
        for action in actions:
            if action.status not in states.STARTED or action.plan_id not in locked:
                self._recover_action(action, owner, ends.get(action.plan_id))
        self._commit_queue.flush()
        return not locked

    def _recover_action(self, action: Action, owner: str, ends: str | None) -> None:
        """Submit the conclusion of one action of a lost owner to the committer."""
        try:
            conclusion = self.decide(action, owner, ends)
        except Exception:
            LOG.exception(
                'The recovery of action %s failed; the next sweep tries again',
                action.uuid,
                extra=log_extra(action),
            )
            return
        LOG.warning(
            'Action %s (%s) was %s at lost worker %s and is %s now',
            action.uuid,
            action.action_type,
            action.status,
            owner,
            conclusion.action.status,
            extra=log_extra(action),
        )
        self._commit_queue.submit(RecoveryCommit(action, conclusion, self._observer))

    def _ends(
        self, plan_ids: list[int], now: datetime.datetime
    ) -> dict[int | None, str | None]:
        """Return the status that each plan wants for started actions, or None.

        Plans that another transaction has locked are left out.
        """
        ends: dict[int | None, str | None] = {}
        for plan_id in plan_ids:
            try:
                ends[plan_id] = self._rules.on_worker_lost(self._store, plan_id, now)
            except exceptions.StoreConflict as error:
                LOG.info('Its actions are recovered later: %s', error)
        return ends

    def decide(self, action: Action, owner: str, ends: str | None = None) -> Conclusion:
        """Return the conclusion of an action whose worker was lost.

        An action that is InProgress is adopted by this worker, with its token.
        `plugins.base.ActionType` describes the declarations that decide for others.

        :param ends: the status that its plan wants for started actions, or None
        """
        now = self._clock.now()
        if ends is not None and action.status in states.STARTED:
            text = results.WORKER_LOST_PLAN_ENDS.format(owner)
            if ends == states.FAILED:
                return self._failed(action, text)
            if results.is_outside(action):
                # Its work outside is cancelled through its plugin.
                return self._adopt(action.evolve(control=states.CANCEL), owner)
            return results.conclude(
                action, outcomes.Cancelled(text), results.EXECUTE, now
            )
        if action.status == states.READY:
            return self._requeue(action, action.phase, owner)
        if results.is_outside(action):
            return self._adopt(action, owner)
        if action.phase == COMPLETE:
            return self._requeue(action, COMPLETE, owner)
        try:
            phase = self._safe_phase(action)
        except BaseException as error:  # a plugin may raise anything
            LOG.exception(
                'The type of action %s cannot tell whether it may run again',
                action.uuid,
                extra=log_extra(action),
            )
            return self._failed(action, outcomes.public_text(error))
        if phase is not None:
            return self._requeue(action, phase, owner)
        text = results.WORKER_LOST.format(owner)
        return results.fail_lost_run(action, text, _fault(text), now)

    def _safe_phase(self, action: Action) -> str | None:
        """Return the phase in which a started action may run again, or None."""
        kind = self._types.make_action_type(action.action_type)
        # A check is better than a second run, even of an idempotent type.
        if action.phase in (RUN, CHECK) and kind.is_checkable(action.inputs):
            return CHECK
        return action.phase if kind.is_idempotent(action.inputs) else None

    def _check_recoveries(self, action: Action, owner: str) -> Conclusion | None:
        """Return the failure of an action that has lost too many workers, or None.

        Each of them may have started it, so another start is one more than the number
        of lost workers. An action that was only claimed, or is InProgress, may continue
        once more: its last worker started nothing.
        """
        lost = action.recoveries + 1
        started = action.status in states.STARTED and not results.is_outside(action)
        if lost + (1 if started else 0) <= self._settings.max_attempts:
            return None
        count = f'{lost} lost worker{"" if lost == 1 else "s"}'
        text = results.WORKER_LOST_TOO_OFTEN.format(owner, count)
        return self._failed(action, text)

    def _adopt(self, action: Action, owner: str) -> Conclusion:
        """Return an action that is InProgress with this worker as its owner."""
        adopted = action.evolve(
            owner=self._worker,
            attempt=action.attempt + 1,
            # The next successful poll resets it.
            recoveries=action.recoveries + 1,
            updated_at=self._clock.now(),
        )
        failed = self._check_recoveries(action, owner)
        return failed or Conclusion(adopted, {'worker': owner})

    def _requeue(self, action: Action, phase: str, owner: str) -> Conclusion:
        """Return an action as READY for any worker, or its end."""
        now = self._clock.now()
        if action.control == states.CANCEL and action.status in states.STARTED:
            return results.conclude(action, outcomes.Cancelled(), results.EXECUTE, now)
        failed = self._check_recoveries(action, owner)
        if failed is not None:
            return failed
        if action.status == states.SUSPENDED:
            action = deadlines.change_status(action, states.READY, now)
        ready = action.evolve(
            status=states.READY,
            phase=phase,
            owner=None,
            recoveries=action.recoveries + 1,
            updated_at=now,
        )
        return Conclusion(ready, {'worker': owner})

    def _failed(self, action: Action, reason: str) -> Conclusion:
        """Return the failure of an action, without a further run."""
        action, now = action.evolve(interval=0), self._clock.now()
        return results.fail_lost_run(action, reason, _fault(reason), now)


def _fault(reason: str) -> outcomes.Fault:
    return outcomes.Fault('WorkerLost', reason, __name__, 'recover')


class SignalDelivery:
    """Delivers the signals of the actions that a worker owns.

    Signals are read from the store; a message is only a hint to read them. The next
    sweep recovers from a lost message.
    """

    def __init__(
        self,
        services: CoreServices,
        dispatcher: Dispatcher,
        wait_timeouts: WaitTimeouts,
        hints: WorkHints,
    ) -> None:
        self._store = services.store
        self._worker = services.worker_id
        self._dispatcher = dispatcher
        self._timers = services.chores
        self._wait_timeouts = wait_timeouts
        self._hints = hints
        self._requested = False

    def deliver(self) -> None:
        """Read the signals of this worker with one statement, and deliver them."""
        found = self._store.controls(self._worker)
        if found:
            LOG.debug('Delivering signals to %d actions', len(found))
            self._dispatcher.deliver(found.items())

    def request(self) -> None:
        """Deliver soon; thread-safe."""
        if not self._requested:
            self._requested = True
            self._timers.after(0, self._deliver_requested)

    def announce(self) -> None:
        """Deliver soon, here and at all other workers."""
        self.request()
        self._hints.broadcast(commands.ActionsSignalled())

    def _deliver_requested(self) -> None:
        # First, so that a signal written meanwhile is read again.
        self._requested = False
        self.deliver()
        # The timeouts of resumed actions continue.
        self._wait_timeouts.check()


#: Seconds from the end of a lease to the recovery: with less, a clock of coarser
#: resolution finds the worker alive.
LEASE_MARGIN = 0.1
#: Seconds until the recovery is retried for locked plans.
LOCKED_DELAY = 0.5


class RecoveredActions:
    """Implements `recovery.RecoveryObserver`: continues recovered actions."""

    def __init__(
        self, dispatcher: Dispatcher, queues: ClaimQueues, signals: SignalDelivery
    ) -> None:
        self._dispatcher = dispatcher
        self._queues = queues
        self._signals = signals

    def on_adopted(self, action: Action) -> None:
        """Continue an adopted action, which is InProgress."""
        self._dispatcher.adopt(action)
        # It may have been signalled during the recovery.
        self._signals.request()

    def on_ready(self, action: Action) -> None:
        """Request a claim of an action."""
        self._queues.hint_action(action)

    def on_signalled(self) -> None:
        """Deliver the signals of a recovery at all workers."""
        self._signals.announce()


class Sweeper:
    """Sweeps periodically, and recovers from lost workers when their leases end."""

    def __init__(
        self,
        services: CoreServices,
        recovery: Recovery,
        dispatcher: Dispatcher,
        discovery: WorkDiscovery,
        signals: SignalDelivery,
        wait_timeouts: WaitTimeouts,
    ) -> None:
        self._store = services.store
        self._worker = services.worker_id
        self._settings = services.settings
        self._timers = services.chores
        self._dispatcher = dispatcher
        self._discovery = discovery
        self._signals = signals
        self._wait_timeouts = wait_timeouts
        self._recovery = recovery
        self._round = 0
        self._watching_leases = False
        self._orphans: set[tuple[int, int]] = set()

    def start(self) -> None:
        """Sweep now, and then at the interval of the settings."""
        self._round += 1
        self._timers.after(0, functools.partial(self._sweep_again, self._round))

    def _sweep_again(self, number: int) -> None:
        # A reload that changed the interval has started another round.
        if number == self._round:
            self.sweep()
            self._timers.after(
                self._settings.sweep_interval,
                functools.partial(self._sweep_again, number),
            )

    def sweep(self) -> None:
        """Run all checks once."""
        for check in (
            self._signals.deliver,
            self.recover_lost,
            self._watch_leases,
            self._recover_orphans,
            self._store.unblock_stale,
            self._wait_timeouts.check,
            self._discovery.check_all,
        ):
            try:
                check()
            except exceptions.StoreUnavailable as error:
                LOG.warning('%s; the next sweep tries again', error)
                return
            except Exception:
                # A check that always fails must not prevent the others.
                LOG.exception('A check of the sweep failed; the next sweep tries again')

    def on_worker_left(self) -> None:
        """Find the work that a worker released, and recover what it still owned."""
        self._timers.after(0, self._discovery.check_all)
        self._timers.after(0, self.recover_lost)

    def recover_lost(self) -> None:
        """Recover from lost workers; retry soon if a plan is locked."""
        if not self._recovery.sweep():
            self._timers.after(LOCKED_DELAY, self.recover_lost)

    def _watch_leases(self) -> None:
        """Set a timer to recover from a lost worker when its lease ends.

        A live worker renews its lease long before that.
        """
        if self._watching_leases:
            return
        left = self._store.next_lease_end(self._worker)
        if left is not None and left < self._settings.sweep_interval:
            self._watching_leases = True
            self._timers.after(left + LEASE_MARGIN, self._recover_expired)

    def _recover_expired(self) -> None:
        self._watching_leases = False
        self.recover_lost()
        self._watch_leases()

    def _recover_orphans(self) -> None:
        """Recover actions that this worker owns in the store but has not in flight.

        The answer of their claim was lost, for example. They must be found by two
        sweeps, because a claim in progress looks the same.
        """
        owned = self._dispatcher.owned
        missing = {
            (action_id, attempt)
            for action_id, attempt in self._store.owned_ids(self._worker)
            if owned.get(action_id) != attempt
        }
        again = missing & self._orphans
        self._orphans = missing - again
        if again:
            self._recovery.recover_actions(sorted(i for i, _ in again), self._worker)
