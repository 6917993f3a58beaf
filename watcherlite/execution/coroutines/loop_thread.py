"""The thread of an event loop, and the coroutines of plugins that it runs.

Each task, also one that a plugin creates, logs with the context of its action, and is
watched: a coroutine that blocks the loop delays all others, and is reported with the
name of its type. Imports asyncio: only the first coroutine of a worker imports this
module.
"""

import asyncio
import collections
import collections.abc
import contextvars
import functools
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from watcherlite.execution.context import LogContext
from watcherlite.execution.coroutines import resources
from watcherlite.execution.coroutines.service_limits import ServiceLimits
from watcherlite.execution.coroutines.steps import ENDING, OnLoop, stop_error
from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.pool import Job
from watcherlite.execution.service_slots import ServiceSlots

LOG = logging.getLogger(__name__)

#: Seconds without an `await` after which a coroutine is reported. On a busy machine a
#: step may take a second without blocking.
BLOCKING = 2.0
#: Seconds for the coroutines to end when the worker stops.
GRACE = 1.0


class LoopCall:
    """A coroutine of a plugin in the event loop.

    :param job: the job that awaits it; identifies it like a job of a pool
    :param on_done: called in the thread of the loop; its arguments are the result and
        the exception, one of which is None
    """

    __slots__ = (
        '_context',
        '_request',
        'attempt',
        'is_stopped',
        'job',
        'log_context',
        'on_done',
        'stop',
        'task',
    )

    def __init__(
        self,
        attempt: Attempt,
        job: Job,
        request: OnLoop,
        on_done: Callable[[Any, BaseException | None], None],
    ) -> None:
        self.attempt = attempt
        self.job = job
        self._request = request
        self._context = attempt.loop_context()
        self.on_done = on_done
        self.log_context = LogContext(attempt.action)
        self.task: asyncio.Task[Any] | None = None
        self.is_stopped = False
        #: Set by its loop; stops it from any thread.
        self.stop: Callable[[], None] = lambda: None

    def watch_signals(self) -> None:
        """Stop it for signals that end the action, also for one that has arrived."""
        # First the listener, so that no signal arrives unnoticed.
        self.attempt.context.add_listener(self._on_signal)
        signal = self.attempt.context.signal
        if signal is not None:
            self._on_signal(signal)

    def unwatch_signals(self) -> None:
        """Ignore signals: it has ended."""
        self.attempt.context.remove_listener(self._on_signal)

    def _on_signal(self, signal: str) -> None:
        if signal in ENDING and signal not in self._request.ignored:
            self.stop()

    async def run(self) -> tuple[Any, BaseException | None]:
        """Run the coroutine; return its result or its exception."""
        try:
            return await self._request.make(self._context), None
        except asyncio.CancelledError as error:
            ended = stop_error(self.attempt.context.signal) if self.is_stopped else None
            return None, ended or error
        except BaseException as error:  # a plugin may raise anything
            return None, error


#: The call that a task belongs to.
_CALL: contextvars.ContextVar[LoopCall | None] = contextvars.ContextVar(
    'call', default=None
)


class _Watched(collections.abc.Coroutine[Any, Any, Any]):
    """A coroutine whose steps are logged with the context of its action, and timed."""

    __slots__ = ('_call', '_coroutine', '_thread')

    def __init__(
        self, coroutine: Coroutine[Any, Any, Any], call: LoopCall, thread: 'LoopThread'
    ) -> None:
        self._coroutine = coroutine
        self._call = call
        self._thread = thread

    def send(self, value: Any) -> Any:
        return self._step(self._coroutine.send, value)

    def throw(self, *arguments: Any) -> Any:
        return self._step(self._coroutine.throw, *arguments)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._coroutine.__await__()

    def _step(self, function: Callable[..., Any], *arguments: Any) -> Any:
        self._call.log_context.enter()
        started = time.perf_counter()
        self._thread.current = (self._call, started)
        try:
            return function(*arguments)
        except (SystemExit, KeyboardInterrupt) as error:
            # In a subtask of a plugin it would end the loop.
            raise RuntimeError(f'{type(error).__name__} in a task') from error
        finally:
            self._thread.current = None
            if time.perf_counter() - started >= BLOCKING:
                _report_blocked(self._call, time.perf_counter() - started, '')


class LoopThread:
    """One event loop in a thread of its own.

    :param may_run: returns how many coroutines may run
    :param slots: limits the calls of services
    :ivar current: the call whose code runs now, and the start of this step
    """

    def __init__(self, may_run: Callable[[], int], slots: ServiceSlots) -> None:
        self._may_run = may_run
        self._limits = ServiceLimits(slots, self)
        self._loop = asyncio.new_event_loop()
        self._loop.set_task_factory(self._make_task)
        self._lock = threading.Lock()
        #: all calls that have not ended
        self._calls: dict[Job, LoopCall] = {}
        #: running calls that are suspended or abandoned
        self._detached: set[Job] = set()
        self._waiting: collections.deque[LoopCall] = collections.deque()
        self._running = 0
        #: functions to call in the loop; it is woken for the first of them
        self._pending: collections.deque[Callable[[], None]] = collections.deque()
        self._reported: float | None = None
        self._stopped = False
        self.current: tuple[LoopCall, float] | None = None
        self._thread = threading.Thread(
            target=self._run, name='coroutines', daemon=True
        )
        self._thread.start()

    def run(self, call: LoopCall) -> None:
        """Run a coroutine as soon as the limit allows; from any thread."""
        call.stop = lambda: self._call_soon(self._stop_call, call)
        with self._lock:
            self._calls[call.job] = call
        self._call_soon(self._admit, call)

    def has(self, job: Job | None) -> bool:
        """Return whether the coroutine of a job has not ended."""
        with self._lock:
            return job in self._calls

    def detach(self, job: Job | None) -> None:
        """Leave a coroutine out of the limit: it is suspended or abandoned."""
        with self._lock:
            if job is None or job not in self._calls or job in self._detached:
                return
            self._detached.add(job)
        self._call_soon(self._start_waiting)

    def reattach(self, job: Job | None) -> None:
        """Count a coroutine again."""
        with self._lock:
            if job is not None:
                self._detached.discard(job)

    def stop_call(self, job: Job | None) -> None:
        """Cancel the task of a job."""
        with self._lock:
            call = self._calls.get(job) if job is not None else None
        if call is not None:
            call.stop()

    def blocked_for(self) -> float:
        """Return the seconds for which the current step has blocked the loop."""
        current = self.current
        return 0.0 if current is None else time.perf_counter() - current[1]

    def report_if_blocked(self) -> None:
        """Log the coroutine that blocks the loop, once, with its stack."""
        current = self.current
        if current is None or self.blocked_for() < BLOCKING:
            return
        call, started = current
        if self._reported == started:
            return
        self._reported = started
        frame = sys._current_frames().get(self._thread.ident or 0)
        stack = '' if frame is None else ''.join(traceback.format_stack(frame)[-4:])
        _report_blocked(call, time.perf_counter() - started, f'; it is at:\n{stack}')

    def stop(self) -> None:
        """Cancel all tasks, close the resources, and end the thread."""
        self._call_soon(self._stop)

    # in the thread of the loop

    def _call_soon(self, function: Callable[..., None], *arguments: Any) -> None:
        with self._lock:
            self._pending.append(functools.partial(function, *arguments))
            if len(self._pending) > 1:
                return
        try:
            self._loop.call_soon_threadsafe(self._run_pending)
        except RuntimeError:
            # The loop is closed, because the worker stops.
            LOG.debug('The event loop is closed')

    def _run_pending(self) -> None:
        with self._lock:
            pending, self._pending = self._pending, collections.deque()
        for function in pending:
            try:
                function()
            except Exception:
                # The others are about other attempts.
                LOG.exception('A function failed in the event loop')

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.call_soon(resources.keep, ServiceLimits, lambda: self._limits)
        while not self._stopped:
            try:
                self._loop.run_forever()
            except BaseException:  # the thread must survive
                LOG.exception('A callback of a plugin ended the event loop')
        try:
            self._loop.run_until_complete(self._end_tasks())
        except BaseException:  # the thread ends in any case
            LOG.exception('The event loop did not end properly')
        finally:
            self._loop.close()

    def _make_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coroutine: Any,
        context: contextvars.Context | None = None,
    ) -> 'asyncio.Task[Any]':
        call = _CALL.get() if context is None else context.get(_CALL)
        if call is not None:
            coroutine = _Watched(coroutine, call, self)
        return asyncio.Task(coroutine, loop=loop, context=context)

    def _admit(self, call: LoopCall) -> None:
        if call.is_stopped:
            return
        self._waiting.append(call)
        self._start_waiting()

    def _start_waiting(self) -> None:
        while self._waiting and self._count_running() < self._may_run():
            self._start(self._waiting.popleft())

    def _count_running(self) -> int:
        with self._lock:
            return self._running - len(self._detached)

    def _start(self, call: LoopCall) -> None:
        if call.is_stopped:
            return
        self._running += 1
        context = contextvars.copy_context()
        context.run(_CALL.set, call)
        call.task = self._loop.create_task(call.run(), context=context)
        call.task.add_done_callback(lambda task: self._on_ended(call, task))

    def _stop_call(self, call: LoopCall) -> None:
        was_stopped, call.is_stopped = call.is_stopped, True
        if call.task is not None:
            # Again for a timeout during the cleanup after a CANCEL.
            call.task.cancel()
        elif not was_stopped:
            # It has not started, and never will.
            self._finish(call, None, stop_error(call.attempt.context.signal))

    def _on_ended(self, call: LoopCall, task: 'asyncio.Task[Any]') -> None:
        self._running -= 1
        if task.cancelled():
            # Before its first step
            ended = stop_error(call.attempt.context.signal)
            self._finish(call, None, ended or asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self._finish(call, None, error)
        else:
            self._finish(call, *task.result())

    def _finish(self, call: LoopCall, result: Any, error: BaseException | None) -> None:
        with self._lock:
            self._calls.pop(call.job, None)
            self._detached.discard(call.job)
        call.on_done(result, error)
        self._start_waiting()

    def _stop(self) -> None:
        self._stopped = True
        self._loop.stop()

    async def _end_tasks(self) -> None:
        current = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not current]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE)
        await resources.close()
        await self._loop.shutdown_asyncgens()


def _report_blocked(call: LoopCall, seconds: float, place: str) -> None:
    action = call.attempt.action
    LOG.warning(
        'Action %s: a coroutine of the action type %s blocked the event loop for '
        '%.1f s, which delays all other coroutines; await what takes long, or use a '
        'function instead of a coroutine%s',
        action.uuid,
        action.action_type,
        seconds,
        place,
        extra={'context': call.log_context},
    )
