"""The events of clusters and nodes: stored with what they are found by, and a page."""

from collections.abc import Collection
from typing import Any

from watcherlite.db import clusters
from watcherlite.db.clusters import EVENT_FILTERS, ClusterEventQuery
from watcherlite.db.sqlalchemy.columns import EVENT
from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, Batch, Dialect
from watcherlite.domain.events import CLUSTER, NODE, Event

#: No sequence is above it, on any database.
LAST = 2**63 - 1
SUBJECTS = (CLUSTER, NODE)
#: What is stored of an event of a cluster or node besides, the project apart.
FOUND_BY = {'name': TEXT, 'type': TEXT, 'within': TEXT, 'level': TEXT}

_COLUMNS = {**EVENT, 'pending': INTEGER, **FOUND_BY}
_NAMES = ', '.join(_COLUMNS)
_TENANT = (
    'CASE {0} '
    "WHEN 'cluster' THEN (SELECT c.tenant FROM clusters AS c WHERE c.id = {1}) "
    "WHEN 'node' THEN (SELECT n.tenant FROM nodes AS n WHERE n.id = {1}) END"
)
_AT = [f'?{list(_COLUMNS).index(name) + 1}' for name in ('subject', 'subject_id')]
_INTO = f'INSERT INTO events ({_NAMES}, tenant)'
_PLACES = ', '.join('?' * len(_COLUMNS))
#: Whatever tells an event, its project is that of the cluster or node.
ADD_OF_CLUSTERS = Batch(
    f'{_INTO} SELECT {_NAMES}, {_TENANT.format("r.subject", "r.subject_id")} '
    'FROM ROWS(:rows)',
    _COLUMNS,
    one=f'{_INTO} VALUES ({_PLACES}, {_TENANT.format(*_AT)})',
)
#: What events of clusters tell of their action that is not in their detail.
_NO_ACTION = ', '.join(['NULL'] * 6)
_PLAIN = {
    'uuid': 'events.uuid',
    'subject': 'events.subject',
    'name': 'events.name',
    'action': 'events.type',
    'level': 'events.level',
}


def found_by(event: Event) -> tuple[Any, ...]:
    """Return the values of FOUND_BY."""
    detail = event.detail or {}
    action = detail.get('action') or {}
    return (
        detail.get('name'),
        action.get('type'),
        clusters.is_within(event),
        clusters.level_of(event),
    )


class ClusterHistory:
    """The statement for a query, and the values of its parameters.

    :ivar template: as `Mapper.stored_event` reads it. An empty page after a marker
        has one row of NULL; no row at all: there is no such marker

    :param columns: those of events, for SELECT
    """

    def __init__(
        self, query: ClusterEventQuery, dialect: Dialect, columns: str
    ) -> None:
        for name in query.filters:
            if name not in EVENT_FILTERS:
                raise ValueError(f'an event has no filter {name}')
        self._query, self._dialect = query, dialect
        self.values: dict[str, Any] = {}
        self._direction = 'DESC' if query.descending else 'ASC'
        self._whose = ["subject IN ('cluster', 'node')"]
        if query.tenant is not None:
            self._whose.append('tenant = :tenant')
            self.values['tenant'] = query.tenant
        self._limit = ''
        if query.limit is not None:
            self._limit = ' LIMIT :limit'
            self.values['limit'] = query.limit
        walks = [self._walk(lead) for lead in self._leads()]
        page = f'({walks[0]}) AS events'
        if len(walks) > 1:
            both = [
                f'SELECT * FROM ({walk}) AS walk{letter}'
                for walk, letter in zip(walks, 'ab', strict=True)
            ]
            page = f'({" UNION ALL ".join(both)}) AS events'
        if query.after is not None:
            marked = ' AND '.join(['uuid = :after', *self._whose])
            marker = f'(SELECT sequence FROM events WHERE {marked}) AS marker'
            page = f'{marker} LEFT JOIN {page} ON 1 = 1'
        self.template = (
            f'SELECT {columns}, {_NO_ACTION} FROM {page} '
            f'ORDER BY events.sequence {self._direction}{self._limit}'
        )

    def _leads(self) -> list[tuple[str, str] | None]:
        """Return (column, value) of indexes that have the events in their order.

        Together they have all that are asked for. None: by what else is asked for
        there are few.
        """
        query = self._query
        ids = list(query.filters.get('cluster_id', ()))
        if len(ids) == 1:
            self.values['cluster'] = ids[0]
            of = '(SELECT c.uuid FROM clusters AS c WHERE c.id = :cluster)'
            return [('within', of)]
        if query.tenant is not None:
            return [('tenant', ':tenant')]
        if 'uuid' in query.filters or 'about' in query.filters:
            return [None]
        # Between those of clusters there may be any number of others
        levels = query.filters.get('level', clusters.LEVELS)
        wanted = [level for level in clusters.LEVELS if level in levels]
        return [('level', f"'{level}'") for level in wanted] or [None]

    def _walk(self, lead: tuple[str, str] | None) -> str:
        """Return the statement of the events that an index leads to."""
        ranged = lead is not None and self._dialect.compares_rows
        order = [lead[0], 'sequence'] if lead is not None and ranged else ['sequence']
        by = ', '.join(f'{column} {self._direction}' for column in order)
        shown = list(self._whose)
        if lead is not None and lead[0] != 'tenant' and self._query.tenant is not None:
            # Not in the words of an index, which is not the one to walk along.
            shown[1] = '(tenant = :tenant) IS TRUE'
        where = ' AND '.join([*shown, *self._of(lead, ranged), *self._filters(lead)])
        hint = self._hint(lead)
        return f'SELECT * FROM events{hint} WHERE {where} ORDER BY {by}{self._limit}'

    def _hint(self, lead: tuple[str, str] | None) -> str:
        if lead is None or {'about', 'uuid'} & set(self._query.filters):
            return ''
        return f' ALONG(ix_events_{lead[0]})'

    def _of(self, lead: tuple[str, str] | None, ranged: bool) -> list[str]:
        """Return that events are those of the lead, and after the marker."""
        query, sign = self._query, '<' if self._query.descending else '>'
        last = '(SELECT sequence FROM events WHERE uuid = :after)'
        if query.after is not None:
            self.values['after'] = query.after
        if lead is None or not ranged:
            found = [f'{lead[0]} = {lead[1]}'] if lead is not None else []
            return [*found, f'sequence {sign} {last}'] if query.after else found
        column, value = lead
        # Told that it is one, PostgreSQL might walk along the sequence of all events.
        found = [
            f'{column} IS NOT NULL',
            f'({column}, sequence) >= ({value}, 0)',
            f'({column}, sequence) <= ({value}, {LAST})',
        ]
        if query.after is not None:
            found.append(f'({column}, sequence) {sign} ({value}, {last})')
        return found

    def _filters(self, lead: tuple[str, str] | None) -> list[str]:
        found = []
        for name, values in self._query.filters.items():
            if name == 'cluster_id' and lead is not None and lead[0] == 'within':
                continue
            found.append(self._filter(name, values))
        return found

    def _filter(self, name: str, values: Collection[Any]) -> str:
        if not values:
            return '1 = 0'
        parameter = f'of_{name}'
        if name in _PLAIN:
            self.values[parameter] = self._dialect.texts(sorted(values))
            return f'{_PLAIN[name]} IN_TEXTS(:{parameter})'
        if name == 'about':
            return self._about(values)
        self.values[parameter] = self._dialect.ids(sorted(values))
        return (
            'within IN (SELECT c.uuid FROM clusters AS c '
            f'WHERE c.id IN_IDS(:{parameter}))'
        )

    def _about(self, values: Collection[tuple[str, int]]) -> str:
        """Return that events are about some of these clusters and nodes."""
        found = []
        for subject in sorted({of for of, _ in values}):
            ids = sorted(key for of, key in values if of == subject)
            self.values[f'of_{subject}'] = self._dialect.ids(ids)
            found.append(f"subject = '{subject}' AND subject_id IN_IDS(:of_{subject})")
        return f'({" OR ".join(found)})'
