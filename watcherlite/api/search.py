"""Searches of lists by text, by user and by the time of creation.

The limits of the time bound the scan of an index. There is no index for text and user:
a page of such a search reads a limited number of rows in the order of the list. If more
rows are left, the next page begins after the last row that was read. A page may
therefore have fewer rows than its limit, or none, and still be followed by another one;
its cost does not depend on the number of rows.
"""

import dataclasses
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from watcherlite import exceptions
from watcherlite.api import timestamps
from watcherlite.api.operation import Schema
from watcherlite.db.query import Query

T = TypeVar('T')

TEXT, USER = 'text', 'user'
TIMES = ('since', 'until')
ARGUMENTS = (*TIMES, TEXT, USER)
#: Rows that one statement reads, and that one page reads at most.
WINDOW, MOST = 500, 2000


def schemas(key: str, user: str = 'id') -> Mapping[str, Schema]:
    """Return the schemas of the arguments of a search.

    :param key: the sort key of the time of creation
    :param user: the attribute of the user: id or name
    """
    times = {
        name: {
            'type': 'string',
            'description': f'Created at this time or {relation}, ISO 8601, in UTC '
            f'unless it has an offset; sorts by {key}.',
        }
        for name, relation in zip(TIMES, ('later', 'earlier'), strict=True)
    }
    return {
        **times,
        TEXT: {
            'type': 'string',
            'maxLength': 255,
            'description': 'A part, in any case, of a uuid, a name or a status '
            'message. A page of a search may be empty and have a `next`.',
        },
        USER: {
            'type': 'string',
            'maxLength': 255,
            'description': f'The {user} of the user who created it.',
        },
    }


def time_limits(
    asked: Mapping[str, Any], key: str, sort_key: str | None
) -> dict[str, datetime.datetime]:
    """Return the limits of the time of creation in the arguments of a request.

    :param key: the sort key of the time of creation
    :param sort_key: the first sort key of the request; None: it has none
    :raises Invalid: a limit is not a time, or the request has another sort key
    """
    limits = {
        name: time
        for name in TIMES
        if (time := timestamps.parse_time(name, asked.get(name))) is not None
    }
    if limits and sort_key not in (None, key):
        raise exceptions.Invalid(
            f'The filters {" and ".join(TIMES)} require the sort key {key}; the sort '
            f'key is {sort_key}.'
        )
    return limits


def has_search(asked: Mapping[str, Any]) -> bool:
    """Return whether a request searches by text or user."""
    return TEXT in asked or USER in asked


@dataclasses.dataclass(frozen=True, slots=True)
class Search(Generic[T]):
    """The attributes of rows that a search compares.

    :param texts: returns the texts of a row
    :param user: returns the id or the name of the user who created it
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
