"""The statement of a page of the events of stacks and of their resources."""

import itertools
from collections.abc import Collection
from typing import Any

from watcherlite.db.sqlalchemy.dialects import Dialect
from watcherlite.db.sqlalchemy.outbox import EVENT_COLUMNS
from watcherlite.db.sqlalchemy.tables.events import OF_STACKS
from watcherlite.db.stacks import StackEventQuery
from watcherlite.states import stack as states

#: No sequence is above it, on any database.
LAST = 2**63 - 1
#: What events of stacks tell of their action, which they do not have.
_NO_ACTION = ', '.join(['NULL'] * 6)
_ACTIONS = sorted({*states.STACK_ACTIONS, *states.RESOURCE_ACTIONS, states.SIGNAL})


class StackHistory:
    """The statement for a query, and the values of its parameters.

    :ivar template: as `Mapper.stored_event` reads it. An empty page after a marker
        has one row of NULL; no row at all: there is no such marker
    """

    def __init__(self, query: StackEventQuery, dialect: Dialect) -> None:
        self._query = query
        self._dialect = dialect
        self.values: dict[str, Any] = {}
        # One stack, which is what is asked for most, is a range of an index.
        ids = sorted(set(query.stack_ids))
        self._single = len(ids) == 1
        ranged = self._single and dialect.compares_rows
        order = ['subject_id', 'sequence'] if ranged else ['sequence']
        direction = 'DESC' if query.descending else 'ASC'
        conditions = [OF_STACKS, *self._of_stacks(ids, ranged), *self._filters()]
        if query.after is not None:
            conditions += self._beyond(ranged)
        limit = ''
        if query.limit is not None:
            limit = ' LIMIT :limit'
            self.values['limit'] = query.limit
        by = ', '.join(f'{column} {direction}' for column in order)
        page = (
            f'(SELECT * FROM events ALONG(ix_events_of_stack) '
            f'WHERE {" AND ".join(conditions)} ORDER BY {by}{limit}) AS events'
        )
        if query.after is not None:
            page = f'{self._marker(ids)} AS marker LEFT JOIN {page} ON 1 = 1'
        self.template = (
            f'SELECT {EVENT_COLUMNS}, {_NO_ACTION} FROM {page} '
            f'ORDER BY events.sequence {direction}'
        )

    def _of_stacks(self, ids: Collection[int], ranged: bool) -> list[str]:
        if not ids:
            return ['1 = 0']
        if not self._single:
            self.values['ids'] = self._dialect.ids(ids)
            return ['subject_id IN_IDS(:ids)']
        (self.values['stack'],) = ids
        if not ranged:
            return ['subject_id = :stack']
        # Told that it is one, PostgreSQL might walk along the sequence of all events.
        return [
            '(subject_id, sequence) >= (:stack, 0)',
            f'(subject_id, sequence) <= (:stack, {LAST})',
        ]

    def _marker(self, ids: Collection[int]) -> str:
        of = 'subject_id = :stack' if self._single else 'subject_id IN_IDS(:ids)'
        found = f'{OF_STACKS} AND {of}' if ids else '1 = 0'
        return f'(SELECT sequence FROM events WHERE uuid = :after AND {found})'

    def _beyond(self, ranged: bool) -> list[str]:
        self.values['after'] = self._query.after
        sign = '<' if self._query.descending else '>'
        last = '(SELECT sequence FROM events WHERE uuid = :after)'
        if ranged:
            return [f'(subject_id, sequence) {sign} (:stack, {last})']
        return [f'sequence {sign} {last}']

    def _filters(self) -> list[str]:
        query, found = self._query, []
        if query.resource is not None:
            found.append('name = :resource')
            self.values['resource'] = query.resource
        wanted = {
            **{n: query.filters[n] for n in ('name', 'type') if n in query.filters},
        }
        if 'action' in query.filters or 'status' in query.filters:
            wanted['new_status'] = _words(
                query.filters.get('action', _ACTIONS),
                query.filters.get('status', list(states.STATUSES)),
            )
        for column, values in wanted.items():
            if not values:
                found.append('1 = 0')
                continue
            self.values[f'of_{column}'] = self._dialect.texts(sorted(values))
            found.append(f'{column} IN_TEXTS(:of_{column})')
        return found


def _words(actions: Collection[str], statuses: Collection[str]) -> list[str]:
    """Return the states of these actions and statuses, as one word each."""
    return [
        f'{action}_{status}'
        for action, status in itertools.product(actions, statuses)
        # The word is divided at the first one.
        if '_' not in action
    ]
