"""The recovery of actions whose worker was lost.

The same code recovers from a crash, from a drain that timed out, and from a claim whose
answer was lost. Conclusions are written by the committer like all others, and compared
with the lost owner, so that two workers that recover the same action do it once.
"""

import datetime
import logging
from typing import Protocol

from watcherlite import exceptions
from watcherlite.db.api import Worker
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, RUN, Action
from watcherlite.execution import deadlines, results
from watcherlite.execution.committer import CommitQueue
from watcherlite.execution.context import log_extra
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
            for owner in self._store.forgotten_owners()
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
            if action.owner == owner and action.status not in states.FINAL
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
