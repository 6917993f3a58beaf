"""Strategies: loaded from plugins, read only; and what each requires."""

from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import strategies as schemas
from watcherlite.api.operation import Operation, Request, Response, Routes, merge_routes
from watcherlite.db.query import ListedStrategy
from watcherlite.plugins import base
from watcherlite.plugins.loader import Plugins


def represent(request: Request, listed: ListedStrategy, detail: bool) -> dict[str, Any]:
    """Return a strategy; `detail` adds the schema of its parameters and its times."""
    strategy = listed.strategy
    shown: dict[str, Any] = {
        'uuid': strategy.uuid,
        'name': strategy.name,
        'display_name': strategy.display_name,
        'goal_uuid': listed.goal_uuid,
        'goal_name': listed.goal_name,
        'links': links.object_links(request, 'strategies', strategy.uuid),
    }
    if detail:
        shown['parameters_spec'] = dict(strategy.parameters_spec)
        shown.update(timestamps.of(strategy))
    return shown


NO_DATASOURCE = 'Datasource is not presented for this strategy'
NOT_AVAILABLE = 'not available'
#: What upstream can keep; nothing here feeds one of these.
MODELS = ('compute_model', 'storage_model', 'baremetal_model')


def requirements(name: str, plugins: Plugins) -> list[dict[str, Any]]:
    """Return one object for each kind of thing that a strategy can need.

    None of them is mandatory: a strategy says itself, when it runs, what it cannot
    do without. The last one tells in `comment` why a strategy cannot be used, if
    it cannot.
    """
    return [
        _requirement('Datasource', NO_DATASOURCE),
        _requirement('Metrics', []),
        _requirement('CDM', [{model: NOT_AVAILABLE} for model in MODELS]),
        {**_requirement('Name', name, _problem(name, plugins)), 'mandatory': ''},
    ]


def _requirement(kind: str, state: Any, comment: str = '') -> dict[str, Any]:
    return {'type': kind, 'state': state, 'mandatory': False, 'comment': comment}


def _problem(name: str, plugins: Plugins) -> str:
    try:
        plugins.plugin(base.STRATEGIES, name)
    except exceptions.PluginError as error:
        return str(error)
    return ''


index, detail = pages.list_handlers(
    'strategies', lambda store: store.list_strategies, represent
)


def show(request: Request) -> Response:
    """Return one strategy, by uuid, id or name; NotFound."""
    strategy = request.services.store.find_strategy(
        request.path['strategy'], request.show_deleted
    )
    return Response(represent(request, strategy, True))


def state(request: Request) -> Response:
    """Return what a strategy needs, and whether it is there; NotFound."""
    found = request.services.store.find_strategy(request.path['strategy'])
    return Response(requirements(found.strategy.name, request.services.plugins))


ROUTES: Routes = merge_routes(
    pages.list_routes('strategies', 'strategy', index, detail, schemas),
    {
        '/v1/strategies/{strategy}': {
            'GET': Operation(
                show,
                'strategy:get',
                'Show a strategy and the schema of its parameters.',
                responses={200: schemas.STRATEGY},
            ),
        },
        '/v1/strategies/{strategy}/state': {
            'GET': Operation(
                state,
                'strategy:state',
                'Show what a strategy needs, and whether it is there.',
                responses={200: schemas.STATE},
            ),
        },
    },
)
