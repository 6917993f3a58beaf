"""Services: the daemons that serve a lane, as their leases tell of them."""

from typing import Any

from watcherlite import exceptions
from watcherlite.api.infra_optim import listing
from watcherlite.api.infra_optim.representations import services as representations
from watcherlite.api.infra_optim.representations.services import Service
from watcherlite.api.infra_optim.schemas import services as schemas
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.db.listing import DESCENDING


def index(request: Request) -> Answer:
    """Answer a page of services."""
    return _page(request, detail=False)


def detail(request: Request) -> Answer:
    """Answer a page of services with when they were seen."""
    return _page(request, detail=True)


def show(request: Request) -> Answer:
    """Answer one service, by id, or by name in any case; NotFound.

    Several hosts may have one of that name: the first ACTIVE one is answered.
    """
    wanted = request.path['service']
    found = [
        service
        for service in _services(request)
        if wanted.lower() in (str(service.id), service.name)
    ]
    if not found:
        raise exceptions.NotFound(f'Service {wanted} could not be found')
    best = min(found, key=lambda service: service.status != representations.ACTIVE)
    return Answer(representations.represent(request, best, True))


def _services(request: Request) -> list[Service]:
    services = request.services
    return representations.of_workers(
        services.store.list_workers(), services.clock.now()
    )


def _page(request: Request, detail: bool) -> Answer:
    """Answer a page; there are few services, so all of them are looked at.

    :raises Invalid: there is no such sort key
    :raises NotFound: there is no service with the id of the marker
    """
    sort_key, sort_dir = listing.order(request, schemas.SORT_KEYS)
    services = sorted(
        _services(request),
        key=lambda service: getattr(service, sort_key),
        reverse=sort_dir == DESCENDING,
    )
    limit = listing.limit(request)
    begin = _after(services, request.query.get('marker'))
    page = services[begin : begin + limit]
    body: dict[str, Any] = {
        'services': [representations.represent(request, each, detail) for each in page]
    }
    if begin + limit < len(services):
        arguments = {
            'sort_key': sort_key,
            'sort_dir': sort_dir,
            'limit': limit,
            'marker': page[-1].id,
        }
        body['next'] = listing.next_page(request, 'services', arguments, detail)
    return Answer(body)


def _after(services: list[Service], marker: int | None) -> int:
    if marker is None:
        return 0
    for place, service in enumerate(services):
        if service.id == marker:
            return place + 1
    raise exceptions.NotFound(f'Service {marker} could not be found')


ROUTES: Routes = {
    '/v1/services': {
        'GET': Operation(
            index,
            'service:get_all',
            'List services.',
            query=schemas.QUERY,
            answers={200: schemas.COLLECTION},
        ),
    },
    '/v1/services/detail': {
        'GET': Operation(
            detail,
            'service:detail',
            'List services with details.',
            query=schemas.QUERY,
            answers={200: schemas.DETAILED_COLLECTION},
        ),
    },
    '/v1/services/{service}': {
        'GET': Operation(
            show,
            'service:get',
            'Show a service.',
            answers={200: schemas.SERVICE},
        ),
    },
}
