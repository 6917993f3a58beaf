"""Scoring engines: there are none, and clients that ask are told so.

A strategy computes its scores itself. The collection is here because clients of
Watcher list it.
"""

from watcherlite import exceptions
from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import scoring_engines as schemas
from watcherlite.api.operation import Operation, Request, Response, Routes, merge_routes


def index(request: Request) -> Response:
    """Return the collection, which is empty.

    :raises Invalid: there is no such sort key
    :raises NotFound: a marker, since it can name nothing
    """
    pages.sort_order(request, schemas.SORT_KEYS)
    if 'marker' in request.query:
        raise _not_found(request.query['marker'])
    return Response({'scoring_engines': []})


def show(request: Request) -> Response:
    """Raise NotFound: there is no scoring engine."""
    raise _not_found(request.path['scoring_engine'])


def _not_found(name: str) -> exceptions.NotFound:
    return exceptions.NotFound(f'ScoringEngine {name} could not be found')


ROUTES: Routes = merge_routes(
    pages.list_routes('scoring_engines', 'scoring_engine', index, index, schemas),
    {
        '/v1/scoring_engines/{scoring_engine}': {
            'GET': Operation(
                show,
                'scoring_engine:get',
                'Show a scoring engine.',
                responses={200: schemas.ENGINE, 404: None},
            ),
        },
    },
)
