"""The events of clusters and nodes: stored with what they are found by, and a page."""

from collections.abc import Collection
from typing import Any

from watcherlite.db import clustering
from watcherlite.db.clustering import EVENT_FILTERS, ClusterEventQuery
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
        clustering.is_within(event),
        clustering.level_of(event),
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
        lead = self._lead()
        ranged = lead is not None and dialect.compares_rows
        order = [lead[0], 'sequence'] if lead is not None and ranged else ['sequence']
        direction = 'DESC' if query.descending else 'ASC'
        conditions = [*self._of(lead, ranged), *self._filters(lead)]
        whose = ["subject IN ('cluster', 'node')"]
        if query.tenant is not None:
            whose.append('tenant = :tenant')
            self.values['tenant'] = query.tenant
        limit = ''
        if query.limit is not None:
            limit = ' LIMIT :limit'
            self.values['limit'] = query.limit
        by = ', '.join(f'{column} {direction}' for column in order)
        shown = list(whose)
        if lead is not None and lead[0] != 'tenant' and query.tenant is not None:
            # Not in the words of an index, which is not the one to walk along.
            shown[1] = '(tenant = :tenant) IS TRUE'
        where = ' AND '.join([*shown, *conditions])
        hint = self._hint(lead)
        page = (
            f'(SELECT * FROM events{hint} WHERE {where} ORDER BY {by}{limit}) AS events'
        )
        if query.after is not None:
            marked = ' AND '.join(['uuid = :after', *whose])
            marker = f'(SELECT sequence FROM events WHERE {marked}) AS marker'
            page = f'{marker} LEFT JOIN {page} ON 1 = 1'
        self.template = (
            f'SELECT {columns}, {_NO_ACTION} FROM {page} '
            f'ORDER BY events.sequence {direction}'
        )

    def _lead(self) -> tuple[str, str] | None:
        """Return (column, value) of an index that has the events in their order."""
        clusters = list(self._query.filters.get('cluster_id', ()))
        if len(clusters) == 1:
            self.values['cluster'] = clusters[0]
            of = '(SELECT c.uuid FROM clusters AS c WHERE c.id = :cluster)'
            return 'within', of
        if self._query.tenant is not None:
            return 'tenant', ':tenant'
        return None

    def _hint(self, lead: tuple[str, str] | None) -> str:
        if lead is None or 'subject_id' in self._query.filters:
            return ''
        return (
            f' ALONG(ix_events_{lead[0]})' if 'uuid' not in self._query.filters else ''
        )

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
        self.values[parameter] = self._dialect.ids(sorted(values))
        if name == 'subject_id':
            return f'subject_id IN_IDS(:{parameter})'
        return (
            'within IN (SELECT c.uuid FROM clusters AS c '
            f'WHERE c.id IN_IDS(:{parameter}))'
        )
