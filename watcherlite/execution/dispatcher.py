"""Takes actions from the store, feeds the threads, follows up what was written.

The dispatcher knows what this worker has in hand. It says how much more it
wants when the committer writes, and turns everything that became durable into
the next job. It knows nothing of AMQP and writes nothing itself.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Released
from watcherlite.domain import outcomes
from watcherlite.domain.actions import APPLIER, Action
from watcherlite.domain.receipts import Receipt
from watcherlite.execution import overdue, results
from watcherlite.execution.backlog import STUCK, Backlog
from watcherlite.execution.committer import Committer
from watcherlite.execution.deadlines import Deadlines
from watcherlite.execution.group import Claimed, Item, Written
from watcherlite.execution.handing_over import HandingOver
from watcherlite.execution.in_hand import InHand
from watcherlite.execution.log_context import LogContext, about
from watcherlite.execution.outside import Outside
from watcherlite.execution.pool import Job, Pool
from watcherlite.execution.results import Conclusion
from watcherlite.execution.runner import Runner
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.sources import Source, Sources, Wanted
from watcherlite.execution.task import Task
from watcherlite.execution.window import Window
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)


class Dispatcher:
    """What one worker has in hand.

    :param lanes: the lanes that it serves
    :param step: asks for the next step of a plan (uuid), see `PlanRules.step`
    :param offer: tells other workers of work (uuids of plans, lanes) that is left
        over
    :param unblocked: hears of actions that can be taken now, because they may have
        their target or what they waited for has ended, and come from where this worker
        takes none
    :param dry: notes that a source with unfinished actions had none to take now
    :param stuck: see `Backlog`
    :param waits: hears of actions that wait for what they derived
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
        offer: Callable[[Collection[str], Collection[str]], None],
        unblocked: Callable[[Sequence[Action | Released]], None],
        dry: Callable[[], None],
        stuck: Callable[[], None] = lambda: None,
        waits: Callable[[Action], None] = lambda action: None,
    ) -> None:
        self._committer = committer
        self._scheduler = scheduler
        self._clock = clock
        self._settings = settings
        self._step = step
        self._offer = offer
        self._unblocked = unblocked
        self._dry = dry
        self._stuck = stuck
        self._waits = waits
        self._runner = runner(self)
        self._pool = Pool(settings.max_parallel, committer.drained)
        self._in_hand = InHand(clock)
        self._lock = self._in_hand.lock
        self._sources = Sources(lanes)
        self._backlog = Backlog(
            self._pool,
            self._in_hand,
            committer,
            scheduler,
            clock,
            self._conclude,
            self._is_stuck,
        )
        self._outside = Outside(
            self._in_hand,
            self._runner,
            scheduler,
            clock,
            self._run,
            self._perform,
            self._conclude,
        )
        self._deadlines = Deadlines(
            self._in_hand,
            self._pool,
            scheduler,
            clock,
            settings,
            self._outside.heed,
            self._conclude,
        )
        self._ahead = HandingOver(worker, self._runner, self._lock, settings)
        self._window = Window(settings)
        #: signals for actions whose start, or taking over, was durable and not yet
        #: known here
        self._early: dict[int, str] = {}
        self._jobs: list[Job] = []
        self._draining = False

    # what there is to do

    def add_plan(
        self, plan_id: int, plan_uuid: str, receipt: Receipt | None = None
    ) -> None:
        """Look at a plan: it may have actions that can be taken."""
        with self._lock:
            if not self._sources.serves(APPLIER):
                return
            self._sources.hint_plan(plan_id, plan_uuid, receipt)
        self._committer.poke()

    def add_lane(self, lane: str, receipt: Receipt | None = None) -> None:
        """Look at a lane: it may have actions without a plan that can be taken."""
        with self._lock:
            if not self._sources.serves(lane):
                return
            self._sources.hint_lane(lane, receipt)
        self._committer.poke()

    def look_everywhere(self) -> None:
        """Look at every plan and lane that this worker has an eye on."""
        with self._lock:
            self._sources.hint_all()
        self._committer.poke()

    def look_for(self, action: Action) -> None:
        """Look where an action can be taken now, if this worker has an eye on it."""
        with self._lock:
            source = self._source_of(action)
            if source is None:
                return
            source.hint()
        self._committer.poke()

    @property
    def owned(self) -> dict[int, int]:
        """Return the attempt of each action in hand, by its id."""
        return self._in_hand.attempts()

    def wishes(self) -> Sequence[Wanted]:
        """Return what to claim now; see `group.Claims`."""
        with self._lock:
            room = self._room()
            return self._sources.wishes(room) if room else ()

    def _room(self) -> int:
        """Return how many more actions to take now."""
        if self._draining or not self._sources.any_more():
            return 0
        return self._window.room(self._in_hand.busy)

    def looking_ahead(self, started: Sequence[Action]) -> tuple[list[int], int]:
        """See `group.Claims`."""
        if self._draining:
            return [], 0
        return self._ahead.look_from(started)

    # what became durable

    def written(self, batch: Written) -> None:
        """Follow up a transaction; see `group.Claims`."""
        with self._lock:
            left_over = self._note_sources(batch)
            strange = self._strange(batch)
            for claimed in batch.claims:
                source = self._sources.of(claimed.wish.plan_id, claimed.wish.lane)
                for action in claimed.actions:
                    task = Task(action, source.plan_uuid if source else None)
                    self._in_hand.add(task)
                    self._jobs.append(self._job(self._prepare, task))
            self._ahead.load(batch.successors)
            dry = any(_is_dry(claimed, batch) for claimed in batch.claims)
            for plan in batch.plans.values():
                self._sources.counted(plan)
                if plan.cancels_unstarted:
                    self._step(plan.uuid)
            again = self._room() > 0 and not self._is_enough_for_now(batch)
            jobs, self._jobs = self._jobs, []
        if again:
            self._committer.poke()
        self._backlog.submit(jobs)
        if left_over:
            self._offer_all(left_over)
        if strange:
            self._unblocked(strange)
        if dry:
            self._dry()

    def _is_enough_for_now(self, batch: Written) -> bool:
        """Say whether to let what was taken just now start before more is taken.

        There is work for all threads, and its starts are written soon, together
        with the next claims. A claim of its own would only hold up the first ones.
        """
        busy = self._in_hand.busy >= self._settings.max_parallel
        return busy and any(claimed.actions for claimed in batch.claims)

    def _note_sources(self, batch: Written) -> list[Source]:
        """Note where there is more now; return what others may help with."""
        found = [self._source_of(r) for r in batch.released if not r.handed_over]
        found += [self._source_of(a) for a in (*batch.unblocked, *batch.derived)]
        touched = [source for source in found if source is not None]
        for source in touched:
            source.more = True
        full = self._in_hand.busy >= self._settings.max_parallel
        left_over = list(touched) if full else []
        # The claims came last in the transaction: they know best what is left.
        for claimed in batch.claims:
            claimed_from = self._sources.claimed(claimed)
            if claimed_from is not None and claimed_from.more:
                left_over.append(claimed_from)
        return left_over

    def _source_of(self, item: Action | Released) -> Source | None:
        return self._sources.of(item.plan_id, item.lane)

    def _strange(self, batch: Written) -> list[Action | Released]:
        """Return what can be taken now, and comes from where this worker takes none.

        What depends on actions of another plan or lane is such: one that waits for
        what it derived there. Of a plan that this worker counts it knows better.
        """
        released = [
            r
            for r in batch.released
            if not r.handed_over and (r.plan_id is None or r.plan_id not in batch.plans)
        ]
        found: list[Action | Released] = [*batch.unblocked, *batch.derived, *released]
        return [item for item in found if self._source_of(item) is None]

    def _offer_all(self, sources: Sequence[Source]) -> None:
        self._offer(
            {source.plan_uuid for source in sources if source.plan_uuid},
            {source.lane for source in sources if source.lane},
        )

    # jobs

    def _job(self, step: Callable[[Task], None], task: Task) -> Job:
        def job() -> None:
            # Of this thread until its next job: between them it logs nothing.
            LogContext(task.action).enter()
            try:
                if not task.abandoned:
                    step(task)
            except BaseException:  # nothing may keep an action here
                self._broken(task)

        task.job = job
        return job

    def _run(self, step: Callable[[Task], None], task: Task) -> None:
        self._backlog.submit([self._job(step, task)])

    def _broken(self, task: Task) -> None:
        """Fail an action that the core itself could not handle."""
        LOG.exception('Action %s could not be handled; it is FAILED', task.action.uuid)
        outcome = outcomes.Failed('an error of watcherlite itself; see the log')
        step = results.EXECUTE if task.executing else results.PRE_CONDITION
        self._conclude(
            task, results.conclude(task.action, outcome, step, self._clock.now())
        )

    def _prepare(self, task: Task) -> None:
        """Take a claimed action up to its start."""
        if self._draining:
            back = task.action.evolve(owner=None, updated_at=self._clock.now())
            self._conclude(task, Conclusion(back))
            return
        self._conclude(task, self._ahead.prepare(task))

    def _perform(self, task: Task) -> None:
        """Take a started action to its end, or to where it waits."""
        began = time.perf_counter()
        conclusion = self._runner.perform(task)
        self._window.took(time.perf_counter() - began)
        handover = None
        over = conclusion.action.status in states.FINAL
        if over and not task.abandoned and not self._draining:
            handover = self._ahead.begin(task, conclusion)
        self._conclude(task, conclusion, handover)

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
            and after.recoveries == before.recoveries
        ):
            self._outside.wait(task, conclusion.delay)
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
                    extra=about(task.action),
                )
                self._in_hand.forget(task)
                return
            if item.handed_over and item.handover is not None:
                self._start_dependent(*item.handover)
            status = task.action.status
            if status == states.RUNNING and item.before.status == states.READY:
                self._jobs.append(self._job(self._perform, task))
            elif status == states.RUNNING and item.conclusion.delay > 0:
                self._outside.wait(task, item.conclusion.delay)
            elif status == states.RUNNING:
                # It wanted its token to be durable, not to wait.
                self._jobs.append(self._job(self._perform, task))
            elif status == states.SUSPENDED and task.action.owner is not None:
                self._outside.stay(task)
            else:
                self._in_hand.forget(task)
                self._ahead.forget(task.action)
                self._schedule(task.action)
                self._waits(task.action)

    def _start_dependent(self, child: Task, conclusion: Conclusion) -> None:
        child.action = conclusion.action
        self._in_hand.add(child)
        self._jobs.append(self._job(self._perform, child))
        signal = self._early.pop(child.action.id or 0, None)
        if signal is not None and child.context is not None:
            child.context.deliver(signal)

    def _schedule(self, action: Action) -> None:
        """Look again when an action that was put off is due."""
        source = self._source_of(action)
        if action.status != states.READY or source is None:
            return
        wait = (action.not_before - self._clock.now()).total_seconds()
        if wait > 0:
            self._scheduler.after(wait, lambda: self.look_for(action))
        else:
            source.more = True
            self._offer_all([source])

    # signals, and what has to be durable before a plugin goes on

    def adopt(self, action: Action) -> None:
        """Go on with an action that is InProgress and was another worker's."""
        with self._lock:
            source = self._source_of(action)
            task = Task(action, source.plan_uuid if source is not None else None)
            self._in_hand.add(task)
        # In a thread of the pool, because making a plugin is its code, too.
        self._run(self._adopt, task)

    def _adopt(self, task: Task) -> None:
        self._outside.adopt(task)
        with self._lock:
            signal = self._early.pop(task.action.id or 0, None)
        if signal is not None:
            self._deliver(task, signal)

    def deliver(self, signals: Iterable[tuple[int, str]]) -> None:
        """Hand signals (action id, signal) to the actions in hand."""
        self._early = {}
        for action_id, signal in signals:
            with self._lock:
                task = self._in_hand.get(action_id)
                if task is None or task.context is None:
                    self._early[action_id] = signal
            if task is not None:
                self._deliver(task, signal)

    def _deliver(self, task: Task, signal: str) -> None:
        context = task.context
        if context is not None and context.signal != signal:
            context.deliver(signal)
            self._outside.heed(task, signal)

    def pause(self, task: Task, suspended: bool) -> None:
        """Make a suspension, or its end, durable; called in the plugin's thread.

        Raises Cancelled when the action is not ours any more.
        """
        status = states.SUSPENDED if suspended else states.RUNNING
        self._store(task, overdue.turned(task.action, status, self._clock.now()))
        self._in_hand.pause(task, suspended)
        if suspended:
            # It may stay for days: others are not to wait for that.
            self._pool.lose_thread(task.job)
            self._committer.poke()
        else:
            self._pool.find_thread(task.job)

    def keep_data(self, task: Task) -> None:
        """Make what policies decided durable; called in the plugin's thread.

        Raises Cancelled when the action is not ours any more.
        """
        data = task.action.data if task.data is None else task.data
        self._store(task, task.action.evolve(data=data))

    def _store(self, task: Task, after: Action) -> None:
        done = threading.Event()
        kept: list[bool] = []

        def concluded(item: Item, applied: bool) -> None:
            kept.append(applied)
            if not applied:
                self._concluded(item, applied)
            done.set()

        after = after.evolve(updated_at=self._clock.now())
        self._committer.submit(Item(task, Conclusion(after), concluded))
        self._committer.drained()
        while not done.wait(1.0):
            if task.abandoned:
                raise exceptions.Cancelled
        if not kept[0]:
            task.abandoned = True
            raise exceptions.Cancelled

    # what turns out to be too much

    def _is_stuck(self) -> None:
        self._window.stuck(STUCK)
        if self._draining:
            self.give_back()
        else:
            self._stuck()

    def give_back(self) -> None:
        """See `Backlog.give_back`."""
        self._backlog.give_back()

    # the end

    def watch_deadlines(self) -> None:
        """Look at the deadlines of what is in hand from now on."""
        self._deadlines.watch()

    def drain(self, timeout: float) -> bool:
        """Take nothing more, and wait for what runs; False if some still does.

        What is suspended is not waited for, because only a user could end that.
        """
        with self._lock:
            self._draining = True
        self.give_back()
        return self._in_hand.wait_until_quiet(timeout)

    def abandon(self) -> None:
        """Give everything up at once: the lease is lost, or the worker ends."""
        self._draining = True
        self._in_hand.abandon()

    def stop(self) -> None:
        """Let the threads end, and tell those that are in a plugin to come back."""
        self.abandon()
        self._pool.stop()


def _is_dry(claimed: Claimed, batch: Written) -> bool:
    """Say whether a source may have actions that nobody can take yet."""
    plan = batch.plans.get(claimed.wish.plan_id or 0)
    waiting = plan is None or plan.unfinished > plan.active
    return waiting and not claimed.more
