"""Bounded lists of problems, for documents from untrusted users."""

from typing import TypeVar

T = TypeVar('T')

#: The number of problems of a document that are collected, to show the first ones.
MAX_KEPT = 1000
#: The number of problems that are shown.
MAX_SHOWN = 100
#: The length at which a problem is truncated.
MAX_LENGTH = 1000


class BoundedList(list[T]):
    """A list that keeps the first items, and counts the others.

    :ivar dropped: number of items that were not kept
    """

    def __init__(self) -> None:
        super().__init__()
        self.dropped = 0

    @property
    def is_full(self) -> bool:
        """Return whether further items are dropped."""
        return len(self) >= MAX_KEPT

    def append(self, item: T) -> None:
        """Keep an item, or count it."""
        if self.is_full:
            self.dropped += 1
        else:
            super().append(item)


def truncate_lines(lines: list[str], dropped: int = 0) -> list[str]:
    """Return the lines to show, with the number of the others.

    :param dropped: number of problems in addition to the lines
    """
    cut = [
        line if len(line) <= MAX_LENGTH else f'{line[:MAX_LENGTH]}...'
        for line in lines[:MAX_SHOWN]
    ]
    more = max(0, len(lines) - MAX_SHOWN) + dropped
    return [*cut, f'and {more} more problems'] if more else cut
