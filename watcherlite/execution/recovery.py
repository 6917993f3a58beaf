"""What becomes of actions whose worker was lost.

The same code serves a crash, a drain that ran out of time, and a claim whose
answer got lost. Nothing here writes: conclusions go through the committer like
all others, compared against the lost owner, so that two workers that recover
the same one do it once.
"""

import dataclasses
import logging
from collections.abc import Callable

from watcherlite.clock import Clock
from watcherlite.db.api import Store, Worker
from watcherlite.domain import outcomes
from watcherlite.domain.actions import CHECK, COMPLETE, RUN, Action
from watcherlite.execution import overdue, results
from watcherlite.execution.committer import Committer
from watcherlite.execution.group import Item
from watcherlite.execution.log_context import about
from watcherlite.execution.plan_rules import PlanRules
from watcherlite.execution.results import Conclusion
from watcherlite.execution.runner import ActionTypes
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.task import Task
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

WINDOW = 500


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """What is to become of a lost action.

    :param adopt: this worker goes on with it, because a token tells how
    """

    conclusion: Conclusion
    adopt: bool = False


class Recovery:
    """Takes over what lost workers owned.

    :param worker: uuid of the worker that recovers
    :param adopt: go on with an action that is InProgress
    :param ready: an action can be taken again
    :param signalled: actions, perhaps of other workers, were told to stop
    """

    def __init__(
        self,
        store: Store,
        worker: str,
        types: ActionTypes,
        rules: PlanRules,
        committer: Committer,
        clock: Clock,
        settings: ExecutionSettings,
        adopt: Callable[[Action], None],
        ready: Callable[[Action], None],
        signalled: Callable[[], None],
    ) -> None:
        self._store = store
        self._worker = worker
        self._types = types
        self._rules = rules
        self._committer = committer
        self._clock = clock
        self._settings = settings
        self._adopt = adopt
        self._ready = ready
        self._signalled = signalled

    def sweep(self) -> None:
        """Take over from every worker whose lease has run out."""
        for lost in self._store.expired_workers():
            if lost.uuid != self._worker:
                self.recover(lost)
        for owner in self._store.forgotten_owners():
            if owner != self._worker:
                self.recover(Worker(owner, 'a host that nobody remembers', '', ()))

    def recover(self, lost: Worker) -> None:
        """Take over from one worker; forget it when nothing is left of it."""
        owned = [action_id for action_id, _ in self._store.owned_ids(lost.uuid)]
        if not owned:
            self._store.remove_worker(lost.uuid)
            return
        LOG.warning(
            'The lease of worker %s on %s has run out; %d actions are taken over',
            lost.uuid,
            lost.host,
            len(owned),
        )
        for begin in range(0, len(owned), WINDOW):
            self.take_over(owned[begin : begin + WINDOW], lost.uuid)

    def take_over(self, action_ids: list[int], owner: str) -> None:
        """Decide for actions that `owner` has lost, and send it to the committer."""
        actions = [
            action
            for action in self._store.actions_by_id(action_ids).values()
            if action.owner == owner and action.status not in states.FINAL
        ]
        now = self._clock.now()
        # A plan that had nothing started there loses nothing and simply goes on.
        started = [a for a in actions if a.status in states.STARTED]
        plan_ids = sorted({a.plan_id for a in started if a.plan_id is not None})
        ends = {i: self._rules.lost(self._store, i, now) for i in plan_ids}
        if states.CANCELLED in ends.values():
            self._signalled()
        for action in actions:
            try:
                verdict = self.judge(action, owner, ends.get(action.plan_id or 0))
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
                verdict.conclusion.action.status,
                extra=about(action),
            )
            self._committer.submit(
                Item(Task(action), verdict.conclusion, self._done(verdict))
            )
        self._committer.drained()

    def _done(self, verdict: Verdict) -> Callable[[Item, bool], None]:
        def done(item: Item, applied: bool) -> None:
            if applied and verdict.adopt:
                self._adopt(item.task.action)
            elif applied and item.task.action.status == states.READY:
                self._ready(item.task.action)

        return done

    def judge(self, action: Action, owner: str, ends: str | None = None) -> Verdict:
        """Return what is to become of an action that its worker has lost.

        See `plugins.base.ActionType` for what the declarations of a type mean.

        :param ends: the status that its plan wants for what had started there
        """
        now = self._clock.now()
        if ends is not None and action.status in states.STARTED:
            text = results.WORKER_LOST_PLAN_ENDS.format(owner)
            if ends == states.FAILED:
                return self._failed(action, text)
            if action.token is not None:
                # Its work goes on outside, and is told to stop there.
                return self._adopted(action.evolve(control=states.CANCEL), owner)
            return Verdict(
                results.conclude(action, outcomes.Cancelled(text), results.EXECUTE, now)
            )
        if action.status == states.READY:
            return self._again(action, action.phase, owner)
        if action.token is not None:
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
        return Verdict(results.fail_lost_run(action, text, _fault(text), now))

    def _safe_phase(self, action: Action) -> str | None:
        """Return the phase in which a started action may run again, or None."""
        kind = self._types.make_action_type(action.action_type)
        # Asking is better than doing it twice, even where that does no harm.
        if action.phase in (RUN, CHECK) and kind.is_checkable(action.inputs):
            return CHECK
        return action.phase if kind.is_idempotent(action.inputs) else None

    def _too_often(self, action: Action, owner: str) -> Verdict | None:
        """Fail an action that has cost too many workers already.

        Each of them may have started it, so that another start is one more than
        there were lost workers. What was only taken, and what waits outside, can
        go on once more: there this worker has started nothing.
        """
        lost = action.recoveries + 1
        started = action.status in states.STARTED and action.token is None
        if lost + (1 if started else 0) <= self._settings.max_attempts:
            return None
        count = f'{lost} lost worker{"" if lost == 1 else "s"}'
        text = results.WORKER_LOST_TOO_OFTEN.format(owner, count)
        return self._failed(action, text)

    def _adopted(self, action: Action, owner: str) -> Verdict:
        """Let this worker go on with what is under way outside."""
        adopted = action.evolve(
            owner=self._worker,
            attempt=action.attempt + 1,
            # The next poll that comes back sets it to 0 again.
            recoveries=action.recoveries + 1,
            updated_at=self._clock.now(),
        )
        return self._too_often(action, owner) or Verdict(
            Conclusion(adopted, {'worker': owner}), adopt=True
        )

    def _again(self, action: Action, phase: str, owner: str) -> Verdict:
        """Let any worker run it, unless it was to stop or costs too many workers."""
        now = self._clock.now()
        if action.control == states.CANCEL and action.status in states.STARTED:
            return Verdict(
                results.conclude(action, outcomes.Cancelled(), results.EXECUTE, now)
            )
        too_often = self._too_often(action, owner)
        if too_often is not None:
            return too_often
        if action.status == states.SUSPENDED:
            action = overdue.turned(action, states.READY, now)
        ready = action.evolve(
            status=states.READY,
            phase=phase,
            owner=None,
            recoveries=action.recoveries + 1,
            updated_at=now,
        )
        return Verdict(Conclusion(ready, {'worker': owner}))

    def _failed(self, action: Action, reason: str) -> Verdict:
        """Fail an action for good, a repeated one as well."""
        action, now = action.evolve(interval=0), self._clock.now()
        return Verdict(results.fail_lost_run(action, reason, _fault(reason), now))


def _fault(reason: str) -> outcomes.Fault:
    return outcomes.Fault('WorkerLost', reason, __name__, 'recover')
