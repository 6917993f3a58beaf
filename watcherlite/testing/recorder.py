"""A recorder of changes, for tests that compare all of them."""

import threading

#: subject, old state, new state
Change = tuple[str, str, str]


class Recorder:
    """Record changes in order.

    :ivar history: all of them, as (subject, old state, new state)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._history: list[Change] = []

    def __call__(self, what: str, old: str, new: str) -> None:
        """Add a change; from any thread."""
        with self._lock:
            self._history.append((what, old, new))

    @property
    def history(self) -> list[Change]:
        with self._lock:
            return list(self._history)

    def states_of(self, what: str) -> list[str]:
        """Return the states of one subject, including its first one."""
        path: list[str] = []
        for subject, old, new in self.history:
            if subject == what:
                path += [old, new] if not path else [new]
        return path
