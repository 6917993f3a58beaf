"""Strategies, loaded from plugins, and their requirements; read only."""

from collections.abc import Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim.collection import ObjectCollection
from watcherlite.api.infra_optim.schemas import strategies as schemas
from watcherlite.api.operation import Request, Response
from watcherlite.api.services import Services
from watcherlite.db.query import ListedStrategy
from watcherlite.plugins import base


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
AVAILABLE = 'available'
NOT_AVAILABLE = 'not available'
#: Data models of upstream.
MODELS = ('compute', 'storage', 'baremetal')


def requirements(name: str, services: Services) -> list[dict[str, Any]]:
    """Return the requirements of a strategy, one object for each kind.

    Services are not contacted: what is configured counts as available. The `comment` of
    the last one is the reason why the strategy cannot be used, if any.
    """
    metrics: Sequence[str] = ()
    models: Sequence[str] = ()
    problem = ''
    try:
        strategy = services.plugins.plugin(base.STRATEGIES, name)
        metrics, models = strategy.metrics, strategy.data_models
    except exceptions.PluginError as error:
        problem = str(error)
    has_cloud = services.plugins.clouds.is_configured
    return [
        *_measurements(services, metrics),
        _requirement(
            'CDM',
            [{f'{model}_model': _state(has_cloud)} for model in MODELS],
            f'It reads {", ".join(models)}.' if models else '',
            mandatory=bool(models),
        ),
        {**_requirement('Name', name, problem), 'mandatory': ''},
    ]


def _measurements(services: Services, metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Return the requirements of a strategy that reads metrics."""
    if not metrics:
        return [_requirement('Datasource', NO_DATASOURCE), _requirement('Metrics', [])]
    comment, found = '', False
    shown = NOT_AVAILABLE
    try:
        source, _ = services.datasources.find_named(metrics)
        shown, found = f'{source}: {AVAILABLE}', True
    except (exceptions.ConfigurationError, exceptions.PluginError) as error:
        comment = str(error)
    return [
        _requirement('Datasource', shown, comment, mandatory=True),
        _requirement('Metrics', [{metric: _state(found)} for metric in metrics]),
    ]


def _state(is_available: bool) -> str:
    return AVAILABLE if is_available else NOT_AVAILABLE


def _requirement(
    kind: str, state: Any, comment: str = '', mandatory: bool = False
) -> dict[str, Any]:
    return {'type': kind, 'state': state, 'mandatory': mandatory, 'comment': comment}


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
    return Response(requirements(found.strategy.name, request.services))
