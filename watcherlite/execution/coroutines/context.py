"""The context of an action for coroutines, which never blocks the event loop."""

import asyncio
from collections.abc import Callable, Container, Hashable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.execution.context import Context, Write
from watcherlite.execution.coroutines import resources
from watcherlite.execution.coroutines.service_limits import ServiceLimits
from watcherlite.execution.service_slots import ServiceSlots
from watcherlite.execution.services import ExecutionSettings
from watcherlite.states import action as states

Kept = TypeVar('Kept')

#: Calls a function once, in a number of seconds: `Timers.after`.
After = Callable[[float, Callable[[], None]], None]

#: The attributes and functions that both kinds of contexts share; none of them waits.
SHARED = frozenset(
    {
        'attempt',
        'cause',
        'creator',
        'data',
        'deadline',
        'fence',
        'inputs',
        'log',
        'name',
        'now',
        'outputs',
        'plan_uuid',
        'remaining',
        'target',
        'tenant',
        'uuid',
        'within',
    }
)


class LoopContext:
    """Implements `plugins.base.CoroutineContext` for one run of one action.

    CANCEL and the timeout cancel the task of the coroutine, see `event_loop`; SUSPEND
    is applied by `checkpoint` and `sleep`.

    :param is_abandoned: returns whether this worker has abandoned the attempt
    :param settings: of the worker
    """

    def __init__(
        self,
        context: Context,
        clock: Clock,
        after: After,
        is_abandoned: Callable[[], bool],
        settings: ExecutionSettings,
    ) -> None:
        self._context = context
        self._clock = clock
        self._after = after
        self._is_abandoned = is_abandoned
        self._settings = settings
        #: Subtasks of a coroutine may reach their checkpoints at the same time.
        self._suspending: asyncio.Lock | None = None

    def __getattr__(self, name: str) -> Any:
        if name not in SHARED:
            raise AttributeError(f'{type(self).__name__} has no {name}')
        return getattr(self._context, name)

    async def checkpoint(self) -> None:
        if self._context.is_to_suspend():
            await self._suspend()

    async def save_token(self, token: Any) -> None:
        checkpoints = self._context.checkpoints
        if checkpoints is not None:
            await self._settle(checkpoints.save_token(token))

    async def sleep(self, seconds: float) -> None:
        until = self._clock.monotonic() + seconds
        while True:
            before = self._clock.monotonic()
            await self.checkpoint()
            now = self._clock.monotonic()
            # A suspension does not count towards the sleep.
            until += now - before
            left = until - now
            if left <= 0:
                return
            if self._context.deadline_at is not None:
                left = min(left, self._context.deadline_at - now)
            await self._wait(left, self._context.ignored)

    def keep(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        return resources.keep(key, make)

    def service(self, name: str) -> AbstractAsyncContextManager[None]:
        limits = resources.keep(
            ServiceLimits, lambda: ServiceLimits(ServiceSlots(self._settings))
        )
        return limits.slot(name)

    async def _wait(
        self, seconds: float | None, while_signal: Container[str | None]
    ) -> None:
        """Wait until the signal is none of `while_signal`, or for `seconds`."""
        arrived = asyncio.get_running_loop().create_future()
        wake = _setter(arrived)

        def on_signal(signal: str) -> None:
            wake()

        self._context.add_listener(on_signal)
        try:
            # First the listener, so that no signal arrives unnoticed.
            if self._context.signal not in while_signal:
                return
            if seconds is not None:
                self._after(seconds, wake)
            await arrived
        finally:
            self._context.remove_listener(on_signal)

    async def _suspend(self) -> None:
        """Wait for RESUME, CANCEL or a lost lease; this time does not count."""
        if self._suspending is None:
            self._suspending = asyncio.Lock()
        async with self._suspending:
            if not self._context.is_to_suspend():
                return
            checkpoints = self._context.checkpoints
            remaining = self._context.stop_clock()
            try:
                if checkpoints is not None:
                    await self._settle(checkpoints.suspend())
                while self._context.signal == states.SUSPEND:
                    await self._wait(None, {states.SUSPEND})
            finally:
                if remaining is not None:
                    self._context.set_deadline(remaining)
            self._context.raise_ending()
            if checkpoints is not None:
                await self._settle(checkpoints.resume())

    async def _settle(self, writes: Iterable[Write]) -> None:
        """Wait until writes are settled, also if the task is cancelled meanwhile.

        The row that the next write starts from must not change after the coroutine.
        """
        cancelled: asyncio.CancelledError | None = None
        for write in writes:
            settled = asyncio.get_running_loop().create_future()
            write.on_settled(_setter(settled))
            while not settled.done():
                try:
                    await asyncio.shield(settled)
                except asyncio.CancelledError as error:
                    if self._is_abandoned():
                        raise exceptions.Cancelled from None
                    cancelled = error
        if cancelled is not None:
            raise cancelled


def _setter(future: 'asyncio.Future[None]') -> Callable[[], None]:
    """Return a function that completes a future from any thread."""
    loop = future.get_loop()

    def complete() -> None:
        if not future.done():
            future.set_result(None)

    def call() -> None:
        try:
            loop.call_soon_threadsafe(complete)
        except RuntimeError:
            # The loop is closed, because the worker stops.
            return

    return call
