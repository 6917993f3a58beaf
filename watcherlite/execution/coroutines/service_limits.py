"""The limits of the concurrent calls of coroutines to each service."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from watcherlite.execution.service_slots import ServiceSlots, SlotRequest


class ServiceLimits:
    """Lets the coroutines of one event loop wait for slots.

    :param slots: of the worker
    :param owner: of the requests: the event loop
    """

    def __init__(self, slots: ServiceSlots, owner: object | None = None) -> None:
        self._slots = slots
        self._owner = owner

    @contextlib.asynccontextmanager
    async def slot(self, service: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it."""
        counted = self._slots.take(service) or await self._wait(service)
        try:
            yield
        finally:
            if counted:
                self._slots.release(service)

    async def _wait(self, service: str) -> bool:
        """Wait for a slot; return whether it must be released."""
        loop = asyncio.get_running_loop()
        granted = loop.create_future()

        def wake() -> None:
            if not granted.done():
                granted.set_result(None)

        def grant() -> bool:
            if asyncio._get_running_loop() is loop:
                # Without a system call that wakes it.
                wake()
                return True
            try:
                loop.call_soon_threadsafe(wake)
            except RuntimeError:
                # The loop is closed, because the worker stops.
                return False
            return True

        request = SlotRequest(grant, self._owner)
        if self._slots.take(service, request):
            return True
        try:
            await granted
        except asyncio.CancelledError:
            if not self._slots.withdraw(service, request) and request.is_counted:
                self._slots.release(service)
            raise
        return request.is_counted

    def close(self) -> None:
        """Do nothing: it holds nothing."""
