"""Searches of lists by text and by user, for which there is no index.

A page of a search reads a limited number of rows in the order of the list. If more rows
are left, the next page begins after the last row that was read. A page may therefore
have fewer rows than its limit, or none, and still be followed by another one; its cost
does not depend on the number of rows.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from watcherlite.api.operation import Schema
from watcherlite.db.query import Query

T = TypeVar('T')

TEXT, USER = 'text', 'user'
ARGUMENTS: Mapping[str, Schema] = {
    TEXT: {
        'type': 'string',
        'maxLength': 255,
        'description': 'A part, in any case, of a uuid, a name or a status message. A '
        'page of a search may be empty and have a `next`.',
    },
    USER: {
        'type': 'string',
        'maxLength': 255,
        'description': 'The id of the user who created it.',
    },
}
#: Rows that one statement reads, and that one page reads at most.
WINDOW, MOST = 500, 2000


@dataclasses.dataclass(frozen=True, slots=True)
class Search(Generic[T]):
    """The attributes of rows that a search compares.

    :param texts: returns the texts of a row
    :param user: returns the id of the user who created it
    :param uuid: returns its uuid
    """

    texts: Callable[[T], Sequence[str | None]]
    user: Callable[[T], str | None]
    uuid: Callable[[T], str]

    def matches(self, row: T, asked: Mapping[str, Any]) -> bool:
        """Return whether a row matches the arguments of a request."""
        if USER in asked and self.user(row) != asked[USER]:
            return False
        text = asked.get(TEXT, '').casefold()
        return not text or any(text in (t or '').casefold() for t in self.texts(row))

    def read(
        self,
        query: Query,
        fetch: Callable[[Query], Sequence[T]],
        asked: Mapping[str, Any],
        limit: int,
    ) -> tuple[list[T], str | None]:
        """Return the matching rows of a page, and the marker of the next one, or None.

        :param query: the filters and the order
        :param asked: the arguments of the request
        """
        found: list[T] = []
        after, left = query.after, MOST
        while left > 0:
            window = dataclasses.replace(query, after=after, limit=WINDOW)
            rows = fetch(window)
            for row in rows:
                if self.matches(row, asked):
                    if len(found) == limit:
                        return found, self.uuid(found[-1])
                    found.append(row)
            if len(rows) < WINDOW:
                return found, None
            after = self.uuid(rows[-1])
            left -= len(rows)
        return found, after
