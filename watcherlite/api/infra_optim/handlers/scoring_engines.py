"""Scoring engines: an empty collection, which clients of Watcher list.

Strategies compute their scores themselves.
"""

from watcherlite import exceptions
from watcherlite.api.infra_optim import collection, pages
from watcherlite.api.infra_optim.schemas import scoring_engines as schemas
from watcherlite.api.operation import Request, Response


def index(request: Request) -> Response:
    """Return the empty collection.

    :raises Invalid: unknown sort key
    :raises NotFound: no object has the uuid of the marker
    """
    pages.sort_order(request, schemas.SORT_KEYS)
    if 'marker' in request.query:
        raise _not_found(request.query['marker'])
    return Response({'scoring_engines': []})


ROUTES = collection.list_routes(
    'scoring_engines', 'scoring_engine', index, index, schemas
)


@ROUTES.route(
    'GET /v1/scoring_engines/{scoring_engine}',
    'scoring_engine:get',
    {200: schemas.ENGINE, 404: None},
)
def show(request: Request) -> Response:
    """Show a scoring engine."""
    raise _not_found(request.path['scoring_engine'])


def _not_found(name: str) -> exceptions.NotFound:
    return exceptions.NotFound(f'ScoringEngine {name} could not be found')
