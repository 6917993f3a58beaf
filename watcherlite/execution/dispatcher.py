"""Takes actions from the store, feeds the threads, follows up what was written.

The dispatcher knows what this worker has in hand. It says how much more it
wants when the committer writes, and turns everything that became durable into
the next job. It knows nothing of AMQP and writes nothing itself.
"""

import dataclasses
import datetime
import logging
import threading
from collections.abc import Callable, Iterable, Sequence

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.domain import outcomes
from watcherlite.domain.actions import APPLIER, Action
from watcherlite.execution import results
from watcherlite.execution.committer import Committer
from watcherlite.execution.context import TIMEOUT
from watcherlite.execution.group import Item, Written
from watcherlite.execution.pool import Job, Pool
from watcherlite.execution.results import Conclusion
from watcherlite.execution.runner import Runner
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.task import Task
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

#: Seconds of work that a worker likes to have in hand.
IN_HAND = 0.05
#: Seconds after which jobs that nobody has begun get another thread.
STALLED = 0.005
#: Seconds between two looks at the deadlines of what is in hand.
DEADLINES = 1.0


@dataclasses.dataclass(slots=True)
class Source:
    """Where actions come from: a plan, or a lane's actions without a plan.

    :ivar more: it may have actions that can be taken
    :ivar limited: its `max_parallel` stands in the way until one of it ends
    """

    plan_id: int | None
    plan_uuid: str | None
    lane: str | None
    more: bool = True
    limited: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """A wish; see `group.Wish`."""

    plan_id: int | None
    lane: str | None
    limit: int


class Dispatcher:
    """What one worker has in hand.

    :param lanes: the lanes that it serves
    :param step: asks for the next step of a plan (uuid), see `PlanRules.step`
    :param offer: tells other workers of work (plan uuids) that is left over
    """

    def __init__(
        self,
        worker: str,
        lanes: Sequence[str],
        runner: Callable[['Dispatcher'], Runner],
        committer: Committer,
        scheduler: Scheduler,
        clock: Clock,
        settings: ExecutionSettings,
        step: Callable[[str], None],
        offer: Callable[[Sequence[str]], None],
    ) -> None:
        self._worker = worker
        self._committer = committer
        self._scheduler = scheduler
        self._clock = clock
        self._settings = settings
        self._step = step
        self._offer = offer
        self._runner = runner(self)
        self._pool = Pool(settings.max_parallel, committer.drained)
        self._lock = threading.RLock()
        self._tasks: dict[int, Task] = {}
        self._busy = 0
        self._plans: dict[int, Source] = {}
        self._lanes = {
            lane: Source(None, None, lane) for lane in lanes
        }
        self._successors: dict[int, Action] = {}
        self._jobs: list[Job] = []
        self._relieving = False
        self._draining = False
        self._quiet = threading.Condition(self._lock)

    # what there is to do

    def add_plan(self, plan_id: int, plan_uuid: str) -> None:
        """Look at a plan: it may have actions that can be taken."""
        if APPLIER not in self._lanes:
            return
        with self._lock:
            source = self._plans.get(plan_id)
            if source is None:
                self._plans[plan_id] = Source(plan_id, plan_uuid, None)
            else:
                source.more = True
        self._committer.poke()

    def add_lane(self, lane: str) -> None:
        """Look at a lane: it may have actions without a plan that can be taken."""
        with self._lock:
            if lane not in self._lanes:
                return
            self._lanes[lane].more = True
        self._committer.poke()

    def knows_plan(self, plan_id: int) -> bool:
        """Say whether this worker has an eye on a plan."""
        with self._lock:
            return plan_id in self._plans

    @property
    def owned(self) -> dict[int, int]:
        """Return the attempt of each action in hand, by its id."""
        with self._lock:
            return {i: task.action.attempt for i, task in self._tasks.items()}

    def wishes(self) -> Sequence[Wanted]:
        """Return what to claim now; see `group.Claims`."""
        with self._lock:
            sources = [s for s in (*self._plans.values(), *self._lanes.values()) if s.more]
            if not sources or self._draining:
                return ()
            window = self._window()
            room = window - self._busy
            # Claiming a few at a time would cost a statement for each few.
            if room < (1 if window <= self._settings.max_parallel else window // 2):
                return ()
            share = max(1, room // len(sources))
            wanted = []
            for source in sources:
                limit = min(share, room)
                if limit <= 0:
                    break
                room -= limit
                wanted.append(Wanted(source.plan_id, source.lane, limit))
            # The next time another one comes first.
            first = sources[0]
            if len(sources) > 1 and first.plan_id is not None:
                self._plans[first.plan_id] = self._plans.pop(first.plan_id)
            return wanted

    def _window(self) -> int:
        """Return how many actions to have in hand.

        As many as there are threads when each takes long; as many as are done
        in a moment when they are short, so that one transaction serves many.
        """
        threads = self._settings.max_parallel
        soon = int(IN_HAND / max(self._pool.average, 1e-6))
        return min(max(threads, soon), self._settings.claim_batch)

    def looking_ahead(self, started: Sequence[Action]) -> tuple[list[int], int]:
        """See `group.Claims`."""
        if self._draining:
            return [], 0
        with self._lock:
            ids = [a.id for a in started if a.id and a.id not in self._successors]
        return ids, max(1, self._settings.look_ahead // len(ids)) if ids else 0

    # what became durable

    def written(self, batch: Written) -> None:
        """Follow up a transaction; see `group.Claims`."""
        left_over: set[str] = set()
        with self._lock:
            for claimed in batch.claims:
                source = self._source(claimed.wish.plan_id, claimed.wish.lane)
                for action in claimed.actions:
                    task = Task(action, source.plan_uuid if source else None)
                    self._add(task)
                    self._jobs.append(self._job(self._prepare, task))
                if source is not None:
                    source.more = claimed.more and not claimed.limited
                    source.limited = claimed.limited
                    if source.more and source.plan_uuid:
                        left_over.add(source.plan_uuid)
            for released in batch.released:
                if not released.handed_over:
                    self._awaken(released.plan_id, released.lane, left_over)
            for action in batch.unblocked:
                self._awaken(action.plan_id, action.lane, left_over)
            if len(self._successors) > 4 * self._settings.claim_batch:
                # What was loaded for actions that never came this way.
                self._successors.clear()
            for found in batch.successors:
                self._successors[found.parent_id] = found.action
            for plan_id, plan in batch.plans.items():
                source = self._plans.get(plan_id)
                if source is not None and source.limited:
                    source.limited, source.more = False, True
                if not plan.claimable:
                    self._plans.pop(plan_id, None)
                if plan.cancels_unstarted:
                    self._step(plan.uuid)
            again = bool(self.wishes())
            jobs, self._jobs = self._jobs, []
            self._quiet.notify_all()
        if again:
            self._committer.poke()
        self._submit(jobs)
        if left_over:
            self._offer(sorted(left_over))

    def _awaken(
        self, plan_id: int | None, lane: str, left_over: set[str]
    ) -> None:
        source = self._source(plan_id, lane)
        if source is not None:
            source.more = True
            if source.plan_uuid and self._busy >= self._settings.max_parallel:
                left_over.add(source.plan_uuid)

    def _source(self, plan_id: int | None, lane: str | None) -> Source | None:
        if plan_id is not None:
            return self._plans.get(plan_id)
        return self._lanes.get(lane or '')

    def _add(self, task: Task) -> None:
        self._tasks[task.action.id or 0] = task
        self._busy += 1

    def _forget(self, task: Task) -> None:
        if self._tasks.pop(task.action.id or 0, None) is not None and not task.idle:
            self._busy -= 1
        self._successors.pop(task.action.id or 0, None)

    # jobs

    def _job(self, step: Callable[[Task], None], task: Task) -> Job:
        def job() -> None:
            step(task)
            if task.thread_lost:
                self._pool.regain_thread()

        return job

    def _submit(self, jobs: list[Job]) -> None:
        if not jobs:
            return
        self._committer.feeding()
        self._pool.submit(jobs)
        if self._pool.backlog and not self._relieving:
            self._relieving = True
            self._scheduler.after(STALLED, self._relieve)

    def _relieve(self) -> None:
        if self._pool.relieve():
            self._scheduler.after(STALLED, self._relieve)
        else:
            self._relieving = False

    def _prepare(self, task: Task) -> None:
        """Take a claimed action up to its start."""
        if self._draining:
            back = task.action.evolve(owner=None, updated_at=self._clock.now())
            self._conclude(task, Conclusion(back))
            return
        self._conclude(task, self._runner.prepare(task))

    def _perform(self, task: Task) -> None:
        """Take a started action to its end, or to where it waits."""
        timeout = task.action.timeout
        if 0 < timeout < DEADLINES * 60:
            self._scheduler.after(timeout, self._look_at_deadlines)
        conclusion = self._runner.perform(task)
        handover = None
        if not task.abandoned and conclusion.action.status in states.FINAL:
            handover = self._hand_over(task)
        self._conclude(task, conclusion, handover)

    def _hand_over(self, task: Task) -> tuple[Task, Conclusion] | None:
        """Prepare the dependent that can start in the transaction of this end.

        Its pre_condition sees the effect of this action, which is there already;
        that this action has ended is durable before the dependent executes.
        """
        with self._lock:
            child = self._successors.pop(task.action.id or 0, None)
            if child is None or self._draining:
                return None
            owned = Task(
                child.evolve(
                    status=states.READY,
                    owner=self._worker,
                    attempt=child.attempt + 1,
                    pending=0,
                ),
                task.plan_uuid,
            )
        conclusion = self._runner.prepare(owned)
        if conclusion.action.status != states.RUNNING:
            # It is left to the ordinary way: claimed, and checked again.
            return None
        return owned, conclusion

    def _conclude(
        self,
        task: Task,
        conclusion: Conclusion,
        handover: tuple[Task, Conclusion] | None = None,
    ) -> None:
        """Send a conclusion to the committer, unless nothing has changed."""
        if task.abandoned:
            return
        before, after = task.action, conclusion.action
        if (
            after.status == before.status == states.RUNNING
            and after.token == before.token
            and after.token is not None
        ):
            self._wait_outside(task, conclusion.delay)
            return
        self._committer.submit(Item(task, conclusion, self._concluded, handover))

    def _concluded(self, item: Item, applied: bool) -> None:
        """Go on with a task whose conclusion is durable, or was refused."""
        task = item.task
        with self._lock:
            if not applied:
                LOG.info(
                    'Action %s is not ours any more, or was decided elsewhere; what '
                    'this worker made of it (%s) is dropped',
                    task.action.uuid,
                    item.after.status,
                )
                self._forget(task)
                return
            if item.handed_over and item.handover is not None:
                child, conclusion = item.handover
                child.action = conclusion.action
                self._add(child)
                self._jobs.append(self._job(self._perform, child))
            status = task.action.status
            if status == states.RUNNING and item.before.status == states.READY:
                self._jobs.append(self._job(self._perform, task))
            elif status == states.RUNNING:
                self._wait_outside(task, item.conclusion.delay)
            elif status != states.SUSPENDED:
                self._forget(task)
                self._schedule(task.action)

    def _schedule(self, action: Action) -> None:
        """Look again when an action that was put off is due."""
        if action.status != states.READY:
            return
        wait = (action.not_before - self._clock.now()).total_seconds()
        source = self._source(action.plan_id, action.lane)
        if source is None:
            return

        def due() -> None:
            source.more = True
            self._committer.poke()

        if wait > 0:
            self._scheduler.after(wait, due)
        else:
            source.more = True

    def look_again_at(self, when: datetime.datetime, lane: str) -> None:
        """Look at all sources again when the next scheduled action is due."""

        def due() -> None:
            with self._lock:
                for source in (*self._plans.values(), *self._lanes.values()):
                    source.more = True
            self._committer.poke()

        wait = (when - self._clock.now()).total_seconds()
        self._scheduler.after(max(0.0, wait), due)

    # actions that wait outside, and signals

    def _wait_outside(self, task: Task, delay: float) -> None:
        """Let an action be InProgress without a thread until it is polled."""
        with self._lock:
            if not task.idle:
                task.idle = True
                self._busy -= 1
            signal = task.context.signal if task.context is not None else None
            self._quiet.notify_all()
        if signal is not None and signal != states.RESUME:
            self._heed(task, signal)
            return
        self._scheduler.after(max(0.0, delay), lambda: self._poll(task))

    def _poll(self, task: Task) -> None:
        with self._lock:
            ours = self._tasks.get(task.action.id or 0) is task
            if not ours or not task.idle or task.action.status != states.RUNNING:
                return
            self._occupy(task)
        self._submit([self._job(self._perform, task)])

    def _occupy(self, task: Task) -> None:
        task.idle = False
        self._busy += 1

    def adopt(self, action: Action) -> None:
        """Go on with an action that is InProgress and was another worker's."""
        source = self._source(action.plan_id, action.lane)
        task = Task(action, source.plan_uuid if source is not None else None)
        try:
            self._runner.adopt(task)
        except exceptions.PluginError as error:
            self._conclude(
                task,
                results.conclude(
                    action,
                    outcomes.Failed(str(error), outcomes.fault_of(error)),
                    results.EXECUTE,
                    self._clock.now(),
                ),
            )
            return
        with self._lock:
            self._add(task)
        if action.status == states.RUNNING:
            self._wait_outside(task, 0.0)
        else:
            with self._lock:
                task.idle = True
                self._busy -= 1
            self._stop_clock(task)

    def deliver(self, signals: Iterable[tuple[int, str]]) -> None:
        """Hand signals (action id, signal) to the actions in hand."""
        for action_id, signal in signals:
            with self._lock:
                task = self._tasks.get(action_id)
                context = task.context if task is not None else None
                if task is None or context is None or context.signal == signal:
                    continue
                context.deliver(signal)
                idle = task.idle
            if idle:
                self._heed(task, signal)

    def _heed(self, task: Task, signal: str) -> None:
        """Do for an action without a thread what a checkpoint would do."""
        now = self._clock.now()
        with self._lock:
            if not task.idle or self._tasks.get(task.action.id or 0) is not task:
                return
            status = task.action.status
            if signal in (states.CANCEL, TIMEOUT):
                self._occupy(task)
        if signal == states.CANCEL:
            self._submit([lambda: self._cancel_outside(task, outcomes.Cancelled())])
        elif signal == TIMEOUT:
            self._submit([lambda: self._cancel_outside(task, outcomes.TimedOut())])
        elif signal == states.SUSPEND and status == states.RUNNING:
            self._stop_clock(task)
            paused = task.action.evolve(status=states.SUSPENDED, updated_at=now)
            self._conclude(task, Conclusion(paused))
        elif signal == states.RESUME and status == states.SUSPENDED:
            if task.context is not None and task.remaining is not None:
                task.context.set_deadline(task.remaining)
            going = task.action.evolve(status=states.RUNNING, updated_at=now)
            self._conclude(task, Conclusion(going))

    def _stop_clock(self, task: Task) -> None:
        """Let no time pass for an action while it is suspended."""
        if task.context is not None:
            task.remaining = task.context.remaining()
            task.context.deadline_at = None

    def _cancel_outside(self, task: Task, outcome: outcomes.Outcome) -> None:
        self._conclude(task, self._runner.cancel(task, outcome))

    def pause(self, task: Task, suspended: bool) -> None:
        """Make a suspension, or its end, durable; called in the plugin's thread.

        Raises Cancelled when the action is not ours any more.
        """
        done = threading.Event()
        kept: list[bool] = []

        def concluded(item: Item, applied: bool) -> None:
            kept.append(applied)
            if not applied:
                self._concluded(item, applied)
            done.set()

        status = states.SUSPENDED if suspended else states.RUNNING
        after = task.action.evolve(status=status, updated_at=self._clock.now())
        self._committer.submit(Item(task, Conclusion(after), concluded))
        self._committer.drained()
        done.wait()
        if not kept[0]:
            task.abandoned = True
            raise exceptions.Cancelled

    # deadlines

    def watch_deadlines(self) -> None:
        """Look at the deadlines of what is in hand from now on."""
        self._scheduler.every(DEADLINES, self._look_at_deadlines)

    def _look_at_deadlines(self) -> None:
        now = self._clock.monotonic()
        late: list[Task] = []
        with self._lock:
            for task in self._tasks.values():
                context = task.context
                if context is None or context.deadline_at is None:
                    continue
                if context.deadline_at <= now:
                    late.append(task)
        for task in late:
            self._overdue(task, now)

    def _overdue(self, task: Task, now: float) -> None:
        """Tell a task that its time is over; fail it when it does not listen."""
        context = task.context
        assert context is not None  # noqa: S101
        if task.idle:
            context.deliver(TIMEOUT)
            self._heed(task, TIMEOUT)
        elif task.give_up_at is None:
            task.give_up_at = now + self._settings.signal_grace
            context.deliver(TIMEOUT)
            self._scheduler.after(
                self._settings.signal_grace, self._look_at_deadlines
            )
        elif now >= task.give_up_at and not task.abandoned:
            self._give_up(task)

    def _give_up(self, task: Task) -> None:
        """Fail an action whose plugin ignores its deadline, and fence it off."""
        step = results.EXECUTE if task.executing else results.PRE_CONDITION
        LOG.error(
            'Action %s (%s) ignores its deadline in %s; it is FAILED, its thread is '
            'given up, and what it still returns is dropped',
            task.action.uuid,
            task.action.action_type,
            step,
        )
        conclusion = results.conclude(
            task.action, outcomes.TimedOut(), step, self._clock.now()
        )
        self._conclude(task, conclusion)
        task.abandoned = task.thread_lost = True
        self._pool.lose_thread()

    # the end

    def drain(self, timeout: float) -> bool:
        """Take nothing more, and wait for what runs; False if some still does."""
        until = self._clock.monotonic() + timeout
        with self._lock:
            self._draining = True
            while self._busy > 0:
                left = until - self._clock.monotonic()
                if left <= 0:
                    return False
                self._clock.wait(self._quiet, left)
        return True

    def abandon(self) -> None:
        """Give everything up at once: the lease is lost."""
        with self._lock:
            self._draining = True
            for task in self._tasks.values():
                task.abandoned = True
                if task.context is not None:
                    task.context.deliver(TIMEOUT)
            self._tasks.clear()
            self._busy = 0
            self._quiet.notify_all()

    def stop(self) -> None:
        """Let the threads end."""
        self._pool.stop()
