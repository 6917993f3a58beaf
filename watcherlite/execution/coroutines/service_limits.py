"""The limits of the concurrent calls of a worker to each service."""

import asyncio
import contextlib
from collections.abc import AsyncIterator


class ServiceLimits:
    """Slots for the calls of coroutines to services, in the order of their requests.

    :param limit: slots of each service
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._slots: dict[str, asyncio.Semaphore] = {}
        #: service -> its calls that run or wait
        self._calls: dict[str, int] = {}

    @contextlib.asynccontextmanager
    async def slot(self, service: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it."""
        slots = self._slots.setdefault(service, asyncio.Semaphore(self._limit))
        self._calls[service] = self._calls.get(service, 0) + 1
        try:
            async with slots:
                yield
        finally:
            self._calls[service] -= 1
            if not self._calls[service]:
                del self._calls[service], self._slots[service]

    def close(self) -> None:
        """Do nothing: it holds nothing."""
