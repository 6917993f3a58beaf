"""Events of clusters and nodes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import arguments, timestamps
from watcherlite.api.clustering import caller, lookup, pages
from watcherlite.api.clustering.schemas import events as schemas
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.db import clusters
from watcherlite.db.clusters import LEVELS
from watcherlite.db.query import EventQuery
from watcherlite.domain import events
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.events import CLUSTER, StoredEvent

#: Members of the detail that are shown.
_METADATA = ('action', 'result', events.INITIATOR)


def represent(stored: StoredEvent, subject: Cluster | Node | None) -> dict[str, Any]:
    """Return an event.

    :param subject: the present state of its object; None: the object is deleted
    """
    event = stored.event
    detail = dict(event.detail or {})
    action = detail.get('action') or {}
    of_cluster = event.subject == CLUSTER
    owner = None if subject is None else subject.owner
    initiator = detail.get(events.INITIATOR) or {}
    return {
        'id': event.uuid,
        'timestamp': timestamps.seconds(event.occurred_at),
        'oid': str(detail.get('uuid') or ''),
        'oname': str(detail.get('name') or ''),
        'otype': schemas.CLUSTER if of_cluster else schemas.NODE,
        'cluster_id': clusters.is_within(event),
        'level': schemas.LEVELS[clusters.level_of(event)],
        'user': initiator.get('user_id') or (owner and owner.user),
        'project': '' if owner is None else owner.tenant,
        'action': action.get('type'),
        'status': str(detail.get('phase') or ''),
        'status_reason': event.message or '',
        'meta_data': {key: dict(detail[key]) for key in _METADATA if detail.get(key)},
    }


#: Sort key of clients -> sort key of the store.
_KEYS = (
    'timestamp',
    'level',
    'otype',
    'oname',
    'action',
    'status',
    'oid',
    'cluster_id',
)
_TIME = 'timestamp'
_SUBJECTS = {schemas.CLUSTER: events.CLUSTER, schemas.NODE: events.NODE}


ROUTES = RouteTable()


@ROUTES.route(
    'GET /v1/events',
    'cluster_events:index',
    {200: schemas.COLLECTION},
    query=schemas.INDEX,
    rules=caller.list_rules,
)
def index(request: Request) -> Response:
    """List the events of clusters and nodes.

    They are in chronological order by default.
    """
    filters = _filters(request)
    descending = _descending(request.query.get('sort', ''))
    tenant = caller.project_scope(request)
    store = request.services.store

    def find(limit: int) -> list[StoredEvent]:
        if not all(filters.values()):
            return []
        return store.list_cluster_events(
            EventQuery(filters, descending, pages.marker(request), limit, tenant)
        )

    return pages.respond(
        request, 'events', find, lambda rows: _represent_rows(request, rows)
    )


@ROUTES.route('GET /v1/events/{event}', 'cluster_events:get', {200: schemas.EVENT})
def show(request: Request) -> Response:
    """Show an event."""
    uuid = request.path['event']
    everywhere = caller.admin_context(request)
    tenant = None if everywhere else caller.context_of(request).tenant
    found: list[StoredEvent] = []
    if arguments.is_uuid(uuid):
        query = EventQuery({'uuid': {uuid.lower()}}, limit=1, tenant=tenant)
        found = request.services.store.list_cluster_events(query)
    if not found:
        raise exceptions.NotFound(
            f"The event '{arguments.truncate(uuid)}' could not be found."
        )
    return Response({'event': _represent_rows(request, found)[0]})


def _represent_rows(
    request: Request, rows: Sequence[StoredEvent]
) -> list[dict[str, Any]]:
    store = request.services.store
    clusters = store.objects_by_id(Cluster, _ids(rows, events.CLUSTER))
    nodes = store.objects_by_id(Node, _ids(rows, events.NODE))
    found = []
    for row in rows:
        there: Mapping[int, Cluster | Node]
        there = clusters if row.event.subject == events.CLUSTER else nodes
        found.append(represent(row, there.get(row.event.key)))
    return found


def _ids(rows: Sequence[StoredEvent], subject: str) -> set[int]:
    return {row.event.key for row in rows if row.event.subject == subject}


def _filters(request: Request) -> dict[str, Collection[Any]]:
    """Return the filters for the store; an empty collection matches nothing."""
    asked = request.query
    filters: dict[str, Collection[Any]] = pages.filters(request, 'action')
    if 'oname' in asked:
        filters['name'] = set(asked['oname'])
    if 'level' in asked:
        filters['level'] = {name for name in asked['level'] if name in LEVELS}
    if 'otype' in asked:
        named = {_SUBJECTS.get(name.upper()) for name in asked['otype']}
        filters['subject'] = named - {None}
    if 'cluster_id' in asked:
        filters['cluster_id'] = {
            _cluster_id(request, name) for name in asked['cluster_id']
        }
    if 'oid' in asked:
        filters['about'] = _objects(request, asked['oid'])
    return filters


def _cluster_id(request: Request, name: str) -> int | None:
    """Return the id of the cluster in an argument.

    A deleted cluster is found by its uuid, because its events are kept.

    :raises BadRequest: no such cluster
    """
    uuid = name.lower()
    if arguments.is_uuid(uuid):
        row = request.services.store.clusters_by_uuid([uuid]).get(uuid)
        if row is not None and caller.project_scope(request) in (
            None,
            row.owner.tenant,
        ):
            return row.id
    return lookup.get_referenced_cluster(request, name).id


def _objects(request: Request, uuids: Sequence[str]) -> set[tuple[str, int | None]]:
    store, desired = request.services.store, [uuid.lower() for uuid in uuids]
    clusters, nodes = store.clusters_by_uuid(desired), store.nodes_by_uuid(desired)
    return {
        *((events.CLUSTER, row.id) for row in clusters.values()),
        *((events.NODE, row.id) for row in nodes.values()),
    }


def _descending(sort: str) -> bool:
    asked = pages.parse_sort(sort, _KEYS)
    other = [key for key, _ in asked if key != _TIME]
    if other:
        raise exceptions.Invalid(
            f'Events are in the order of {_TIME}; they are not sorted by {other[0]}.'
        )
    return bool(asked) and asked[0][1]
