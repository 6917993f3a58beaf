"""A recorder of changes, for tests that compare all of them."""

import threading

#: subject, old state, new state
Change = tuple[str, str, str]


class Recorder:
    """Record changes in order.

    :ivar story: all of them, as (subject, old state, new state)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._story: list[Change] = []

    def __call__(self, what: str, old: str, new: str) -> None:
        """Add a change; from any thread."""
        with self._lock:
            self._story.append((what, old, new))

    @property
    def story(self) -> list[Change]:
        with self._lock:
            return list(self._story)

    def states_of(self, what: str) -> list[str]:
        """Return the states of one subject, including its first one."""
        path: list[str] = []
        for subject, old, new in self.story:
            if subject == what:
                path += [old, new] if not path else [new]
        return path
