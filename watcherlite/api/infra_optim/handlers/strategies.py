"""Strategies, loaded from plugins, and their requirements; read only."""

from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim.collection import ObjectCollection
from watcherlite.api.infra_optim.schemas import strategies as schemas
from watcherlite.api.operation import Request, Response
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
#: Data models of upstream, which are not available here.
MODELS = ('compute_model', 'storage_model', 'baremetal_model')


def requirements(name: str, plugins: Plugins) -> list[dict[str, Any]]:
    """Return the requirements of a strategy, one object for each kind.

    None of them is mandatory: a strategy fails at run time if it lacks something. The
    `comment` of the last one is the reason why the strategy cannot be used, if any.
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


STRATEGIES = ObjectCollection(
    'strategies',
    'strategy',
    lambda store: store.list_strategies,
    lambda store, name, deleted: store.find_strategy(name, deleted),
    represent,
)

ROUTES = STRATEGIES.routes(
    schemas, schemas.STRATEGY, 'Show a strategy and the schema of its parameters.'
)


@ROUTES.route(
    'GET /v1/strategies/{strategy}/state', 'strategy:state', {200: schemas.STATE}
)
def state(request: Request) -> Response:
    """Show the requirements of a strategy and their state."""
    found = STRATEGIES.find(request)
    return Response(requirements(found.strategy.name, request.services.plugins))
