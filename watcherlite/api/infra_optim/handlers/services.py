"""Services: one for each lane of a live or failed worker."""

import dataclasses
import datetime
from collections.abc import Iterable
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import collection, pages
from watcherlite.api.infra_optim.schemas import services as schemas
from watcherlite.api.infra_optim.versions import LEASES
from watcherlite.api.operation import Request, Response
from watcherlite.db.query import ListedWorker
from watcherlite.domain.actions import APPLIER, ENGINE, LANES

ACTIVE = 'ACTIVE'
FAILED = 'FAILED'
#: lane -> the name of its service, by which clients of Watcher look for it
NAMES = {APPLIER: 'watcher-applier', ENGINE: 'watcher-decision-engine'}


@dataclasses.dataclass(frozen=True, slots=True)
class Service:
    """A lane of a worker.

    :param id: unchanged as long as the worker is stored
    :param status: ACTIVE while its lease is valid, then FAILED
    :param last_seen_up: the end of its lease, at most now
    """

    id: int
    name: str
    host: str
    status: str
    lane: str
    lease_until: datetime.datetime
    last_seen_up: datetime.datetime
    created_at: datetime.datetime


def of_workers(
    workers: Iterable[ListedWorker], now: datetime.datetime
) -> list[Service]:
    """Return the services of workers, by id."""
    services = [
        Service(
            id=(worker.id - 1) * len(LANES) + place + 1,
            name=NAMES[lane],
            host=worker.host,
            status=ACTIVE if worker.live else FAILED,
            lane=lane,
            lease_until=worker.lease_until,
            last_seen_up=min(now, worker.lease_until),
            created_at=worker.started_at,
        )
        for worker in workers
        for place, lane in enumerate(LANES)
        if lane in worker.lanes
    ]
    return sorted(services, key=lambda service: service.id)


def represent(request: Request, service: Service, detail: bool) -> dict[str, Any]:
    """Return a service; `detail` adds last_seen_up and its times."""
    shown: dict[str, Any] = {
        'id': service.id,
        'name': service.name,
        'host': service.host,
        'status': service.status,
        'links': links.object_links(request, 'services', service.id),
    }
    if detail:
        shown['last_seen_up'] = timestamps.naive(service.last_seen_up)
        shown['created_at'] = timestamps.offset(service.created_at)
        shown['updated_at'] = timestamps.offset(service.last_seen_up)
        shown['deleted_at'] = None
    if detail and request.version >= LEASES:
        shown['lane'] = service.lane
        shown['lease_until'] = timestamps.offset(service.lease_until)
    return shown


def index(request: Request) -> Response:
    """Return a page of services."""
    return _page(request, detail=False)


def detail(request: Request) -> Response:
    """Return a page of services with details."""
    return _page(request, detail=True)


ROUTES = collection.list_routes('services', 'service', index, detail, schemas)


@ROUTES.route('GET /v1/services/{service}', 'service:get', {200: schemas.SERVICE})
def show(request: Request) -> Response:
    """Show a service.

    Of several services with the name, the first ACTIVE one is returned.
    """
    desired = request.path['service']
    found = [
        service
        for service in _services(request)
        if desired.lower() in (str(service.id), service.name)
    ]
    if not found:
        raise exceptions.NotFound(f'Service {desired} could not be found')
    best = min(found, key=lambda service: service.status != ACTIVE)
    return Response(represent(request, best, True))


def _services(request: Request) -> list[Service]:
    services = request.services
    return of_workers(services.store.list_workers(), services.clock.now())


def _page(request: Request, detail: bool) -> Response:
    """Return a page of all services, which are few.

    :raises Invalid: unknown sort key
    :raises NotFound: no service has the id of the marker
    """
    sort_key, descending = pages.sort_order(request, schemas.SORT_KEYS)
    services = sorted(
        _services(request),
        key=lambda service: getattr(service, sort_key),
        reverse=descending,
    )
    limit = request.page_size
    begin = _index_after(services, request.query.get('marker'))
    page = services[begin : begin + limit]
    body: dict[str, Any] = {
        'services': [represent(request, each, detail) for each in page]
    }
    if begin + limit < len(services):
        arguments = {
            'sort_key': sort_key,
            'sort_dir': pages.DESCENDING if descending else pages.ASCENDING,
            'limit': limit,
            'marker': page[-1].id,
        }
        body['next'] = pages.next_url(request, 'services', arguments, detail)
    return Response(body)


def _index_after(services: list[Service], marker: int | None) -> int:
    if marker is None:
        return 0
    for place, service in enumerate(services):
        if service.id == marker:
            return place + 1
    raise exceptions.NotFound(f'Service {marker} could not be found')
