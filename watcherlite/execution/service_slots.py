"""The slots of a worker for concurrent calls of each service.

Coroutines and threads of the wide pool share them. Free slots go to those who wait, in
the order of their requests.
"""

import collections
import threading
from collections.abc import Callable

from watcherlite.execution.services import ExecutionSettings


class SlotRequest:
    """A request for a slot that waits.

    :param on_granted: called in any thread; returns whether the slot is used
    :param owner: an event loop; None: the wide pool
    :ivar is_counted: whether the slot counts, and must be released
    """

    __slots__ = ('is_counted', 'on_granted', 'owner')

    def __init__(
        self, on_granted: Callable[[], bool], owner: object | None = None
    ) -> None:
        self.on_granted = on_granted
        self.owner = owner
        self.is_counted = True


class ServiceSlots:
    """Up to `max_per_service` slots for each service; for all threads of a worker."""

    def __init__(self, settings: ExecutionSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._used: collections.Counter[str] = collections.Counter()
        self._requests: dict[str, collections.deque[SlotRequest]] = {}

    def take(self, service: str, request: SlotRequest | None = None) -> bool:
        """Take a slot; return False if none is free, or others wait.

        :param request: waits for a slot in this case
        """
        with self._lock:
            waiting = self._requests.get(service)
            if not waiting and self._used[service] < self._settings.max_per_service:
                self._used[service] += 1
                return True
            if request is not None:
                self._requests.setdefault(service, collections.deque()).append(request)
            return False

    def release(self, service: str) -> None:
        """Give a slot to the first who waits and uses it."""
        while True:
            with self._lock:
                waiting = self._requests.get(service)
                if not waiting:
                    self._used[service] -= 1
                    if not self._used[service]:
                        del self._used[service]
                    return
                request = waiting.popleft()
                if not waiting:
                    del self._requests[service]
            if request.on_granted():
                return

    def withdraw(self, service: str, request: SlotRequest) -> bool:
        """Remove a request; return False if it was granted."""
        with self._lock:
            waiting = self._requests.get(service)
            if waiting is None or request not in waiting:
                return False
            waiting.remove(request)
            if not waiting:
                del self._requests[service]
            return True

    def dismiss(self, owner: object) -> None:
        """Grant the requests of a stuck event loop without slots.

        They must not take the slots of those who can use them.
        """
        with self._lock:
            dismissed = []
            for service, waiting in list(self._requests.items()):
                dismissed += [r for r in waiting if r.owner is owner]
                left = collections.deque(r for r in waiting if r.owner is not owner)
                if left:
                    self._requests[service] = left
                else:
                    del self._requests[service]
            for request in dismissed:
                request.is_counted = False
        for request in dismissed:
            request.on_granted()
