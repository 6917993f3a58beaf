"""Lists of problems that a hostile document cannot make long."""

from typing import TypeVar

T = TypeVar('T')

#: How many problems of a document are kept, so that those are shown that stand first.
MAX_KEPT = 1000
#: How many of these are shown.
MAX_SHOWN = 100
#: Characters of one problem that are shown.
MAX_LENGTH = 1000


class BoundedList(list[T]):
    """A list that keeps what is appended first, and counts the rest.

    :ivar dropped: how many were appended and not kept
    """

    def __init__(self, limit: int = MAX_KEPT) -> None:
        super().__init__()
        self._limit = limit
        self.dropped = 0

    @property
    def is_full(self) -> bool:
        """Return whether nothing more is kept."""
        return len(self) >= self._limit

    def append(self, item: T) -> None:
        """Keep an item, or count it."""
        if self.is_full:
            self.dropped += 1
        else:
            super().append(item)


def shown(lines: list[str], dropped: int = 0) -> list[str]:
    """Return the lines that are shown, with the number of the others.

    :param dropped: how many there were besides the lines
    """
    cut = [
        line if len(line) <= MAX_LENGTH else f'{line[:MAX_LENGTH]}...'
        for line in lines[:MAX_SHOWN]
    ]
    more = max(0, len(lines) - MAX_SHOWN) + dropped
    return [*cut, f'and {more} more problems'] if more else cut
