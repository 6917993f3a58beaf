"""The dispatcher of a worker, which runs its attempts from their claim to their end.

The dispatcher requests claims from the committer, and submits the next job of each
attempt whose change became durable. It does not use AMQP, and writes nothing itself.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from watcherlite.domain import outcomes
from watcherlite.domain.actions import Action
from watcherlite.execution import deadlines, results
from watcherlite.execution.claim_queues import ClaimQueue, ClaimQueues
from watcherlite.execution.committer import CommitQueue
from watcherlite.execution.context import TIMEOUT, LogContext
from watcherlite.execution.coroutines.steps import (
    FUNCTION,
    InWidePool,
    Steps,
    hook_kind,
)
from watcherlite.execution.deadlines import Watchdog
from watcherlite.execution.group_commit import (
    ClaimRequest,
    ClaimResult,
    CommitResult,
    PendingCommit,
)
from watcherlite.execution.in_flight import (
    BLOCKING,
    PROBE,
    THREAD,
    WIDE,
    Attempt,
    InFlight,
)
from watcherlite.execution.pool import CLUSTER, PROJECT, SERVICE, Job, Key, Pools
from watcherlite.execution.ports import WorkerEvents
from watcherlite.execution.prefetch import DependentPrefetcher
from watcherlite.execution.results import Conclusion
from watcherlite.execution.runner import Runner
from watcherlite.execution.services import CoreServices
from watcherlite.states import action as states

LOG = logging.getLogger(__name__)

Step = Callable[[Attempt], Steps[None]]

#: Seconds after which waiting jobs get another thread.
STALLED = 0.005
#: Seconds after which the pool is stuck: jobs wait, and all threads are busy.
STUCK = 0.25


class Backlog:
    """The jobs of a worker that wait for threads."""

    def __init__(
        self,
        services: CoreServices,
        pools: Pools,
        in_flight: InFlight,
        commit_queue: CommitQueue,
        runner: Runner,
        control: 'Dispatcher',
    ) -> None:
        self._clock = services.clock
        self._pools = pools
        self._pool = pools.actions
        self._in_flight = in_flight
        self._commit_queue = commit_queue
        self._timers = services.timers
        self._runner = runner
        self._control = control
        self._relieving = False

    def submit(self, jobs: list[Job]) -> None:
        """Queue jobs, and wake threads for them."""
        if not jobs:
            return
        self._commit_queue.allow_linger()
        if self._pool.submit(jobs) and not self._relieving:
            self._relieving = True
            self._timers.after(STALLED, self._wake_if_stalled)

    def _wake_if_stalled(self) -> None:
        # First, so that jobs submitted meanwhile schedule the next check.
        self._relieving = False
        if self._pool.wake_if_stalled():
            self._relieving = True
            # If all threads run jobs, there is none left to wake.
            again = STUCK if self._pool.is_full else STALLED
            self._timers.after(again, self._wake_if_stalled)
            if self._pool.is_stuck(STUCK):
                self._control.on_stuck()

    def release_unstarted(self) -> None:
        """Release the claimed actions that no thread has started to execute."""
        waiting = {
            attempt.job: attempt
            for attempt in self._in_flight.attempts()
            if attempt.job is not None and _can_be_released(attempt)
        }
        withdrawn = self._pools.remove_waiting(waiting) if waiting else []
        if withdrawn:
            LOG.info('%d actions are released: no thread is free', len(withdrawn))
        for job in withdrawn:
            attempt = waiting[job]
            back = attempt.action.evolve(
                status=states.READY, owner=None, updated_at=self._clock.now()
            )
            self._control.conclude(attempt, Conclusion(back))

    def cancel(self, attempt: Attempt) -> None:
        """End a cancelled action that waits for a thread.

        An action whose policies must run keeps waiting.
        """
        ended = self._runner.cancel_unprepared(attempt)
        if ended is None or attempt.job is None:
            return
        if self._pool.remove_waiting({attempt.job}):
            self._control.conclude(attempt, ended)


def _can_be_released(attempt: Attempt) -> bool:
    """Return whether nothing of an attempt ran except the checks before its start.

    Actions that are polled or adopted have started long ago.
    """
    if attempt.executing or attempt.idle or attempt.action.token is not None:
        return False
    return attempt.action.status in (states.READY, states.RUNNING)


class DeferredPolling:
    """Polls the attempts of a worker that are InProgress, without a thread in between.

    Signals apply to them without a checkpoint of the plugin, and another worker can
    adopt them by their token.

    :param control: runs the steps of attempts, and concludes them
    """

    def __init__(
        self,
        services: CoreServices,
        in_flight: InFlight,
        runner: Runner,
        control: 'Dispatcher',
    ) -> None:
        self._clock = services.clock
        self._in_flight = in_flight
        self._runner = runner
        self._timers = services.timers
        self._control = control

    def poll_later(self, attempt: Attempt, delay: float) -> None:
        """Make a RUNNING attempt idle, and poll it in `delay` seconds."""
        polls = self._in_flight.set_idle(attempt)
        if not self._apply_pending_signal(attempt):
            self._timers.after(max(0.0, delay), lambda: self._poll(attempt, polls))

    def hold(self, attempt: Attempt) -> None:
        """Make a SUSPENDED attempt idle, until RESUME or CANCEL."""
        self._in_flight.set_idle(attempt)
        self._apply_pending_signal(attempt)

    async def adopt(self, attempt: Attempt) -> None:
        """Continue an attempt of another worker; called in a thread of the pool."""
        failed = self._runner.adopt(attempt)
        if failed is not None:
            self._control.conclude(attempt, failed)
        elif attempt.action.status == states.SUSPENDED:
            self._stop_clock(attempt)
            self.hold(attempt)
        else:
            self.poll_later(attempt, 0.0)

    def apply_signal(self, attempt: Attempt, signal: str) -> None:
        """Apply a signal to an idle attempt; do nothing for others."""
        suspended = attempt.action.status == states.SUSPENDED
        if signal == (states.SUSPEND if suspended else states.RESUME):
            return
        if not self._in_flight.set_busy(attempt):
            return
        if signal == states.CANCEL:
            self._control.run(self._cancel, attempt)
        elif signal == TIMEOUT:
            self._control.run(self._time_out, attempt)
        elif signal == states.SUSPEND:
            self._stop_clock(attempt)
            self._change_status(attempt, states.SUSPENDED)
        else:
            if attempt.remaining is not None:
                attempt.context.set_deadline(attempt.remaining)
            self._change_status(attempt, states.RUNNING)

    def _apply_pending_signal(self, attempt: Attempt) -> bool:
        """Apply a signal that arrived before the attempt was idle."""
        signal = attempt.context.signal
        if signal is None:
            return False
        self.apply_signal(attempt, signal)
        return not attempt.idle

    def _poll(self, attempt: Attempt, polls: int) -> None:
        if attempt.polls != polls or attempt.action.status != states.RUNNING:
            return
        if not self._in_flight.set_busy(attempt):
            return
        self._control.poll(attempt)

    def _stop_clock(self, attempt: Attempt) -> None:
        """Stop the timeout of an attempt while it is suspended."""
        attempt.remaining = attempt.context.stop_clock()

    def _change_status(self, attempt: Attempt, status: str) -> None:
        now = self._clock.now()
        after = deadlines.change_status(attempt.action, status, now).evolve(
            updated_at=now
        )
        self._control.conclude(attempt, Conclusion(after))

    async def _cancel(self, attempt: Attempt) -> None:
        await self._end(attempt, outcomes.Cancelled())

    async def _time_out(self, attempt: Attempt) -> None:
        await self._end(attempt, outcomes.TimedOut())

    async def _end(self, attempt: Attempt, outcome: outcomes.Outcome) -> None:
        self._control.conclude(attempt, await self._runner.cancel(attempt, outcome))


class AttemptCommit(PendingCommit):
    """The conclusion of an attempt in flight that waits for its transaction."""

    __slots__ = ('_dispatcher', 'attempt')

    def __init__(
        self,
        attempt: Attempt,
        conclusion: Conclusion,
        handover: tuple[Attempt, Conclusion] | None,
        dispatcher: 'Dispatcher',
    ) -> None:
        super().__init__(attempt.action, conclusion, handover)
        self.attempt = attempt
        self._dispatcher = dispatcher

    def on_written(self, applied: bool) -> None:
        self._dispatcher.on_written(self, applied)


class Dispatcher:
    """Implements `group_commit.ClaimSource` for one worker.

    :param queues: the queues to claim from
    :param in_flight: the attempts
    :param commit_queue: receives the conclusions
    :param events: observes the work that this worker leaves to others
    """

    def __init__(
        self,
        services: CoreServices,
        queues: ClaimQueues,
        in_flight: InFlight,
        commit_queue: CommitQueue,
        pools: Pools,
        runner: Runner,
        events: WorkerEvents,
    ) -> None:
        self._clock = services.clock
        self._settings = services.settings
        self._queues = queues
        self._in_flight = in_flight
        self._commit_queue = commit_queue
        self._pools = pools
        self._runner = runner
        self._timers = services.timers
        self._events = events
        self._prefetcher = DependentPrefetcher(services, runner)
        self._backlog = Backlog(services, pools, in_flight, commit_queue, runner, self)
        self._deferred = DeferredPolling(services, in_flight, runner, self)
        self._watchdog = Watchdog(services, in_flight, pools, self)
        #: the next jobs after a transaction; used by the committer's thread only
        self._jobs: list[tuple[Job, Attempt]] = []

    @property
    def owned(self) -> dict[int, int]:
        """Return the number of the attempt of each action in flight, by its id."""
        return self._in_flight.attempt_numbers()

    # claims, in the committer's thread

    def claim_requests(self) -> Sequence[ClaimRequest]:
        in_flight = self._in_flight
        return self._queues.claim_requests(
            in_flight.busy, in_flight.on_loop, in_flight.blocking
        )

    def prefetch_roots(self, started: Sequence[Action]) -> tuple[list[int], int]:
        if self._queues.is_closed:
            return [], 0
        return self._prefetcher.roots(started)

    def retry_plans(self, plan_ids: Collection[int]) -> None:
        self._queues.retry_plans(plan_ids)

    def on_committed(self, result: CommitResult) -> None:
        full = (
            self._in_flight.busy >= self._settings.max_parallel
            or self._in_flight.on_loop >= self._settings.max_coroutines
        )
        left_over = self._queues.apply_result(result, full)
        unowned = self._queues.unowned(result)
        for claim in result.claims:
            self._start_claimed(claim)
        self._prefetcher.load(result.successors)
        for plan in result.plans.values():
            self._queues.update_plan(plan)
            if plan.cancels_unstarted:
                self._events.on_plan_stopped(plan.uuid)
        busy = self._in_flight.busy
        if self._has_room() and not self._has_enough(result, busy):
            self._commit_queue.wake()
        jobs, self._jobs = self._jobs, []
        self._submit(jobs)
        if left_over:
            self._offer(left_over)
        if unowned:
            self._events.on_unblocked(unowned)
        if any(_is_empty(claim, result) for claim in result.claims):
            self._events.on_queue_empty(result.now)

    def _start_claimed(self, claim: ClaimResult) -> None:
        for action in claim.actions:
            queue = self._queues.of(action)
            attempt = self._runner.make_attempt(
                action, queue.plan_uuid if queue else None
            )
            self._in_flight.add(attempt)
            self._jobs.append((self._job(self._prepare, attempt), attempt))

    def _has_room(self) -> bool:
        """Return whether there is room and work for a claim."""
        in_flight = self._in_flight
        return self._queues.has_room(
            in_flight.busy, in_flight.on_loop, in_flight.blocking
        )

    def _has_enough(self, result: CommitResult, busy: int) -> bool:
        """Return whether to start claimed actions before more are claimed.

        All threads have work, and its starts are written soon, together with the next
        claims. A separate claim would only delay the first starts.
        """
        full = busy >= self._settings.max_parallel
        return full and any(claim.actions for claim in result.claims)

    def _offer(self, queues: Sequence[ClaimQueue]) -> None:
        self._events.on_work_left(
            {queue.plan_uuid for queue in queues if queue.plan_uuid},
            {queue.lane for queue in queues if queue.lane},
        )

    # jobs

    def _job(self, step: Step, attempt: Attempt, place: str | None = None) -> Job:
        """Return a job that runs a step.

        :param place: None: that of the last job of the attempt
        """
        return self._drive(attempt, lambda: step(attempt), None, place)

    def _drive(
        self,
        attempt: Attempt,
        begin: Callable[[], Steps[None]],
        settled: tuple[Any, BaseException | None] | None,
        place: str | None,
    ) -> Job:
        """Return a job that runs steps up to their end, or to their next coroutine.

        :param begin: returns the steps
        :param settled: the result and the exception of the coroutine that the steps
            have awaited; None: they have not begun
        """

        def job() -> None:
            # Remains until the next job of this thread, which logs nothing in between.
            LogContext(attempt.action).enter()
            try:
                if not attempt.abandoned:
                    self._advance(attempt, job, begin(), settled)
            except BaseException:  # the action must end in any case
                self._fail_broken(attempt)
            finally:
                if attempt.place in WIDE:
                    self._in_flight.exit_wide_pool(attempt, job)

        self._in_flight.set_job(attempt, job, place)
        return job

    def _advance(
        self,
        attempt: Attempt,
        job: Job,
        steps: Steps[None],
        settled: tuple[Any, BaseException | None] | None,
    ) -> None:
        try:
            request = steps.send(settled)
            while isinstance(request, InWidePool):
                if attempt.place not in WIDE or attempt.service != request.service:
                    self._move_to_wide_pool(attempt, steps, request.service)
                    return
                request = steps.send(None)
        except StopIteration:
            return

        started = time.perf_counter()

        def resume() -> Steps[None]:
            attempt.loop_time += time.perf_counter() - started
            return steps

        def on_done(result: Any, error: BaseException | None) -> None:
            if not attempt.abandoned:
                following = self._drive(attempt, resume, (result, error), THREAD)
                self._submit([(following, attempt)])

        self._in_flight.await_loop(attempt)
        self._pools.loop.run(attempt, job, request, on_done)
        if self._has_room():
            self._commit_queue.wake()

    def _move_to_wide_pool(
        self, attempt: Attempt, steps: Steps[None], service: str | None
    ) -> None:
        """Continue steps in the wide pool, within the limits of a service."""
        attempt.service = service
        following = self._drive(attempt, lambda: steps, None, BLOCKING)
        self._submit([(following, attempt)])
        if self._has_room():
            self._commit_queue.wake()

    def _perform_job(self, attempt: Attempt) -> tuple[Job, Attempt]:
        """Return the job that performs a started action."""
        place = _wide_place(attempt) or THREAD
        return self._job(self._perform, attempt, place), attempt

    def _submit(self, jobs: Sequence[tuple[Job, Attempt]]) -> None:
        """Submit jobs to their pools."""
        threads: list[Job] = []
        wide: list[tuple[Job, list[Key]]] = []
        # Before the first submission: a job that runs at once can move its attempt to
        # the wide pool, and would be submitted to both pools.
        for job, attempt in jobs:
            if attempt.place in WIDE:
                wide.append((job, _limits_of(attempt)))
            else:
                threads.append(job)
        self._backlog.submit(threads)
        for job, limits in wide:
            self._pools.wide.submit(job, limits)

    def run(self, step: Step, attempt: Attempt) -> None:
        self._submit([(self._job(step, attempt), attempt)])

    def poll(self, attempt: Attempt) -> None:
        self._submit([self._perform_job(attempt)])

    def _fail_broken(self, attempt: Attempt) -> None:
        """Fail an action because of an error in the core."""
        LOG.exception(
            'Action %s could not be handled; it is FAILED', attempt.action.uuid
        )
        outcome = outcomes.Failed('an internal error of watcherlite; see the log')
        step = results.EXECUTE if attempt.executing else results.PRE_CONDITION
        self.conclude(
            attempt, results.conclude(attempt.action, outcome, step, self._clock.now())
        )

    async def _prepare(self, attempt: Attempt) -> None:
        """Run the steps of a claimed action before its start."""
        if self._queues.is_closed:
            back = attempt.action.evolve(owner=None, updated_at=self._clock.now())
            self.conclude(attempt, Conclusion(back))
            return
        self.conclude(attempt, await self._prefetcher.prepare(attempt))

    async def _perform(self, attempt: Attempt) -> None:
        """Run the steps of a started action, and prepare its dependent."""
        started, attempt.loop_time = time.perf_counter(), 0.0
        conclusion = await self._runner.perform(attempt)
        if attempt.place not in WIDE:
            in_thread = time.perf_counter() - started - attempt.loop_time
            self._queues.window.record_duration(in_thread)
        handover = None
        ended = conclusion.action.status in states.FINAL
        if ended and not attempt.abandoned and not self._queues.is_closed:
            handover = await self._prefetcher.prepare_dependent(attempt, conclusion)
        self.conclude(attempt, conclusion, handover)

    # conclusions

    def conclude(
        self,
        attempt: Attempt,
        conclusion: Conclusion,
        handover: tuple[Attempt, Conclusion] | None = None,
    ) -> None:
        """Submit a conclusion to the committer, unless nothing has changed."""
        if attempt.abandoned:
            return
        before, after = attempt.action, conclusion.action
        if (
            after.status == before.status == states.RUNNING
            and after.token == before.token
            and after.token is not None
            and after.recoveries == before.recoveries
        ):
            self._deferred.poll_later(attempt, conclusion.delay)
            if self._has_room():
                self._commit_queue.wake()
            return
        self._commit_queue.submit(AttemptCommit(attempt, conclusion, handover, self))

    def on_written(self, item: AttemptCommit, applied: bool) -> None:
        """Continue an attempt after its commit."""
        attempt = item.attempt
        if not applied:
            self._in_flight.reject(attempt, item.after.status)
            return
        attempt.action = item.after
        if item.handed_over and item.handover is not None:
            self._start_dependent(*item.handover)
        status = attempt.action.status
        if status == states.RUNNING and item.before.status == states.READY:
            self._jobs.append(self._perform_job(attempt))
        elif status == states.RUNNING and item.conclusion.delay > 0:
            self._deferred.poll_later(attempt, item.conclusion.delay)
        elif status == states.RUNNING:
            # Its token had to be durable; it does not wait.
            self._jobs.append(self._perform_job(attempt))
        elif status == states.SUSPENDED and attempt.action.owner is not None:
            self._deferred.hold(attempt)
        else:
            self._in_flight.remove(attempt)
            self._prefetcher.discard(attempt.action)
            self._schedule(attempt.action, item.conclusion.elsewhere)
            self._events.on_waiting(attempt.action)

    def _start_dependent(self, child: Attempt, conclusion: Conclusion) -> None:
        child.action = conclusion.action
        self._in_flight.add(child)
        self._jobs.append(self._perform_job(child))
        signal = self._in_flight.take_signal(child)
        if signal is not None:
            child.context.deliver(signal)

    def _schedule(self, action: Action, elsewhere: bool) -> None:
        """Claim again when a postponed action is due.

        :param elsewhere: let other workers claim it first; the sweep finds it anyway
        """
        if action.status != states.READY:
            return
        queue = self._queues.of(action)
        if queue is None:
            return
        wait = (action.not_before - self._clock.now()).total_seconds()
        if elsewhere:
            self._queues.back_off()
            self._timers.after(max(0.0, wait), lambda: self._offer([queue]))
        elif wait > 0:
            self._timers.after(wait, lambda: self._queues.hint_action(action))
        else:
            self._queues.mark(action)
            self._offer([queue])

    # signals and adoption

    def adopt(self, action: Action) -> None:
        """Continue an action of another worker that is InProgress."""
        queue = self._queues.of(action)
        attempt = self._runner.make_attempt(
            action, queue.plan_uuid if queue is not None else None
        )
        self._in_flight.add(attempt)
        # In a thread of the pool, because the constructor of a plugin is its code.
        self.run(self._adopt, attempt)

    async def _adopt(self, attempt: Attempt) -> None:
        await self._deferred.adopt(attempt)
        signal = self._in_flight.take_signal(attempt)
        if signal is not None:
            self._deliver(attempt, signal)

    def deliver(self, signals: Iterable[tuple[int, str]]) -> None:
        """Deliver signals (action id, signal) to the actions in flight."""
        self._in_flight.reset_signals()
        for action_id, signal in signals:
            attempt = self._in_flight.find_or_keep_signal(action_id, signal)
            if attempt is not None:
                self._deliver(attempt, signal)

    def _deliver(self, attempt: Attempt, signal: str) -> None:
        if attempt.context.signal != signal:
            attempt.context.deliver(signal)
            self._deferred.apply_signal(attempt, signal)
        if signal == states.CANCEL and attempt.action.status == states.READY:
            self._backlog.cancel(attempt)

    def apply_signal(self, attempt: Attempt, signal: str) -> None:
        self._deferred.apply_signal(attempt, signal)

    # saturation and the end

    def on_stuck(self) -> None:
        self._queues.window.record_stuck(STUCK)
        if self._queues.is_closed:
            self.release_unstarted()
        else:
            self._events.on_saturated(self)

    def release_unstarted(self) -> None:
        self._backlog.release_unstarted()

    def watch_deadlines(self) -> None:
        """Start checking the deadlines of the attempts in flight."""
        self._watchdog.start()

    def drain(self, timeout: float) -> bool:
        """Stop claiming and wait for running actions; return False after `timeout`.

        Suspended actions are ignored, because only a user can end them.
        """
        self._queues.close()
        self.release_unstarted()
        return self._in_flight.wait_until_idle(timeout)

    def abandon(self) -> None:
        """Abandon all attempts: the lease is lost, or the worker stops."""
        self._queues.close()
        self._in_flight.abandon()

    def stop(self) -> None:
        """Abandon all attempts, and end the threads after their jobs."""
        self.abandon()
        self._pools.stop()


def _wide_place(attempt: Attempt) -> str | None:
    """Return the place of the next step in the wide pool; None: it needs no such."""
    action, plugin = attempt.action, attempt.plugin()
    attempt.service = None
    if plugin.blocking and hook_kind(plugin, 'execute') == FUNCTION:
        attempt.service = plugin.service
        return BLOCKING
    try:
        return PROBE if plugin.waits_outside(action.inputs, action.token) else None
    except Exception:
        LOG.exception('Action type %s: waits_outside failed', action.action_type)
        return None


def _limits_of(attempt: Attempt) -> list[Key]:
    """Return the limits that apply to the next job of an attempt in the wide pool."""
    action = attempt.action
    keys: list[Key] = []
    if attempt.service is not None:
        keys.append((SERVICE, attempt.service))
    cluster = action.within or action.target
    if cluster and attempt.place == PROBE:
        keys.append((CLUSTER, cluster.partition('/')[0]))
    if action.tenant:
        keys.append((PROJECT, action.tenant))
    return keys


def _is_empty(claim: ClaimResult, result: CommitResult) -> bool:
    """Return whether a queue may have actions that are not due yet."""
    plan_id = claim.request.plan_id
    if plan_id in result.busy:
        return False
    plan = None if plan_id is None else result.plans.get(plan_id)
    waiting = plan is None or plan.unfinished > plan.active
    return waiting and not claim.more
