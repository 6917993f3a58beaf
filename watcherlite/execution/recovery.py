"""The recovery of actions whose worker was lost.

The same code serves a crash, a drain that ran out of time, and a claim whose
answer got lost. Nothing here writes: conclusions go through the committer like
all others, compared against the lost owner, so that two workers that recover
the same one do it once.
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
from watcherlite.execution.context import about
from watcherlite.execution.group_commit import PendingCommit
from watcherlite.execution.ports import ActionTypes, PlanRules
from watcherlite.execution.results import Conclusion
from watcherlite.execution.services import CoreServices
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

WINDOW = 500


class RecoveryObserver(Protocol):
    """Hears of what recovery decided, once it is durable."""

    def on_adopted(self, action: Action) -> None:
        """This worker owns an action that is InProgress, and goes on with it."""

    def on_ready(self, action: Action) -> None:
        """An action can be claimed again."""

    def on_signalled(self) -> None:
        """Actions, perhaps of other workers, were told to stop."""


class RecoveryCommit(PendingCommit):
    """What recovery decided for one action, on its way into the store."""

    __slots__ = ('_observer',)

    def __init__(
        self, action: Action, conclusion: Conclusion, observer: RecoveryObserver
    ) -> None:
        super().__init__(action, conclusion)
        self._observer = observer

    def on_written(self, applied: bool) -> None:
        """Go on with what this worker owns now; let the rest be claimed."""
        if applied and self.after.owner is not None:
            self._observer.on_adopted(self.after)
        elif applied and self.after.status == states.READY:
            self._observer.on_ready(self.after)


class Recovery:
    """Takes over what lost workers owned.

    :param observer: goes on with what this worker took over
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
        """Take over from every worker whose lease has run out.

        :returns: False if actions were left, because their plan is locked
        """
        lost = [w for w in self._store.expired_workers() if w.uuid != self._worker]
        lost += [
            Worker(owner, 'a host that nobody remembers', '', ())
            for owner in self._store.forgotten_owners()
            if owner != self._worker
        ]
        # Every one of them, whatever is left of the first.
        whole = [self.recover(worker) for worker in lost]
        return all(whole)

    def recover(self, lost: Worker) -> bool:
        """Take over from one worker; forget it when nothing is left of it.

        :returns: see `sweep`
        """
        owned = [action_id for action_id, _ in self._store.owned_ids(lost.uuid)]
        if not owned:
            self._store.remove_worker(lost.uuid)
            return True
        LOG.warning(
            'The lease of worker %s on %s has run out; %d actions are taken over',
            lost.uuid,
            lost.host,
            len(owned),
        )
        whole = [
            self.recover_actions(owned[begin : begin + WINDOW], lost.uuid)
            for begin in range(0, len(owned), WINDOW)
        ]
        return all(whole)

    def recover_actions(self, action_ids: list[int], owner: str) -> bool:
        """Decide for actions that `owner` has lost, and send it to the committer.

        :returns: see `sweep`
        """
        actions = [
            action
            for action in self._store.actions_by_id(action_ids).values()
            if action.owner == owner and action.status not in states.FINAL
        ]
        now = self._clock.now()
        # A plan that had nothing started there loses nothing and simply goes on.
        ran = [a for a in actions if a.status in states.STARTED]
        started = {a.id for a in ran}
        plan_ids = sorted({a.plan_id for a in ran if a.plan_id is not None})
        ends = self._ends(plan_ids, now)
        if states.CANCELLED in ends.values():
            self._observer.on_signalled()
        for action in actions:
            if action.id in started and action.plan_id and action.plan_id not in ends:
                # Its plan is locked.
                continue
            try:
                decision = self.decide(action, owner, ends.get(action.plan_id))
            except Exception:
                LOG.exception(
                    'Action %s waits for the next sweep',
                    action.uuid,
                    extra=about(action),
                )
                continue
            LOG.warning(
                'Action %s (%s) was %s at lost worker %s and is %s now',
                action.uuid,
                action.action_type,
                action.status,
                owner,
                decision.action.status,
                extra=about(action),
            )
            self._commit_queue.submit(RecoveryCommit(action, decision, self._observer))
        self._commit_queue.flush()
        return ends.keys() >= set(plan_ids)

    def _ends(
        self, plan_ids: list[int], now: datetime.datetime
    ) -> dict[int | None, str | None]:
        """Return what plans want for what had started there; not of locked ones."""
        ends: dict[int | None, str | None] = {}
        for plan_id in plan_ids:
            try:
                ends[plan_id] = self._rules.on_worker_lost(self._store, plan_id, now)
            except exceptions.StoreConflict as error:
                LOG.info('Its actions are taken over later: %s', error)
        return ends

    def decide(self, action: Action, owner: str, ends: str | None = None) -> Conclusion:
        """Return what is to become of an action that its worker has lost.

        One that has this worker for its owner is gone on with here, because a token
        tells how.
        See `plugins.base.ActionType` for what the declarations of a type mean.

        :param ends: the status that its plan wants for what had started there
        """
        now = self._clock.now()
        if ends is not None and action.status in states.STARTED:
            text = results.WORKER_LOST_PLAN_ENDS.format(owner)
            if ends == states.FAILED:
                return self._failed(action, text)
            if results.is_outside(action):
                # Its work goes on outside, and is told to stop there.
                return self._adopted(action.evolve(control=states.CANCEL), owner)
            return results.conclude(
                action, outcomes.Cancelled(text), results.EXECUTE, now
            )
        if action.status == states.READY:
            return self._again(action, action.phase, owner)
        if results.is_outside(action):
            return self._adopted(action, owner)
        if action.phase == COMPLETE:
            return self._again(action, COMPLETE, owner)
        try:
            phase = self._safe_phase(action)
        except BaseException as error:  # a plugin may raise anything
            LOG.exception(
                'Nobody can tell whether action %s may run again',
                action.uuid,
                extra=about(action),
            )
            return self._failed(action, outcomes.public_text(error))
        if phase is not None:
            return self._again(action, phase, owner)
        text = results.WORKER_LOST.format(owner)
        return results.fail_lost_run(action, text, _fault(text), now)

    def _safe_phase(self, action: Action) -> str | None:
        """Return the phase in which a started action may run again, or None."""
        kind = self._types.make_action_type(action.action_type)
        # Asking is better than doing it twice, even where that does no harm.
        if action.phase in (RUN, CHECK) and kind.is_checkable(action.inputs):
            return CHECK
        return action.phase if kind.is_idempotent(action.inputs) else None

    def _too_often(self, action: Action, owner: str) -> Conclusion | None:
        """Fail an action that has cost too many workers already.

        Each of them may have started it, so that another start is one more than
        there were lost workers. What was only taken, and what waits outside, can
        go on once more: there this worker has started nothing.
        """
        lost = action.recoveries + 1
        started = action.status in states.STARTED and not results.is_outside(action)
        if lost + (1 if started else 0) <= self._settings.max_attempts:
            return None
        count = f'{lost} lost worker{"" if lost == 1 else "s"}'
        text = results.WORKER_LOST_TOO_OFTEN.format(owner, count)
        return self._failed(action, text)

    def _adopted(self, action: Action, owner: str) -> Conclusion:
        """Let this worker go on with what is under way outside."""
        adopted = action.evolve(
            owner=self._worker,
            attempt=action.attempt + 1,
            # The next poll that comes back sets it to 0 again.
            recoveries=action.recoveries + 1,
            updated_at=self._clock.now(),
        )
        return self._too_often(action, owner) or Conclusion(adopted, {'worker': owner})

    def _again(self, action: Action, phase: str, owner: str) -> Conclusion:
        """Let any worker run it, unless it was to stop or costs too many workers."""
        now = self._clock.now()
        if action.control == states.CANCEL and action.status in states.STARTED:
            return results.conclude(action, outcomes.Cancelled(), results.EXECUTE, now)
        too_often = self._too_often(action, owner)
        if too_often is not None:
            return too_often
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
        """Fail an action for good, a repeated one as well."""
        action, now = action.evolve(interval=0), self._clock.now()
        return results.fail_lost_run(action, reason, _fault(reason), now)


def _fault(reason: str) -> outcomes.Fault:
    return outcomes.Fault('WorkerLost', reason, __name__, 'recover')
