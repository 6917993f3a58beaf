"""Receipts: when a message of the broker may be acknowledged.

Who takes a command says at once that it was taken, and later that it is looked after:
when the first claim that it led to is written, or there is nothing to claim. A worker
that dies before leaves the command with the broker, which hands it to another worker.
"""

import threading
from collections.abc import Callable


class Receipt:
    """Says when a command is looked after; any thread may, any number of times.

    :ivar claiming: a claim that it led to is being written
    """

    def __init__(self, parts: int = 1) -> None:
        """Prepare to be settled.

        :param parts: how many places there are to look at
        """
        self.claiming = False
        self._lock = threading.Lock()
        self._all = self._parts = parts
        self._calls: list[Callable[[], None]] = []

    @property
    def settled(self) -> bool:
        return self._parts <= 0

    def settle_part(self) -> None:
        """Note that one of the places was looked at; the last one settles it."""
        self._note(1)

    def settle(self) -> None:
        """Note that the command is looked after."""
        self._note(self._all)

    def when_settled(self, call: Callable[[], None]) -> None:
        """Have `call` called once it is settled, or now; it has to be quick."""
        with self._lock:
            if not self.settled:
                self._calls.append(call)
                return
        call()

    def _note(self, parts: int) -> None:
        with self._lock:
            self._parts -= parts
            calls: list[Callable[[], None]] = []
            if self.settled:
                calls, self._calls = self._calls, calls
        for call in calls:
            call()
