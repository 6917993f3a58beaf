"""Strategies: how goals are reached. They come from plugins and are only read here."""

from watcherlite.api.infra_optim import listing
from watcherlite.api.infra_optim.representations import requirements
from watcherlite.api.infra_optim.representations import strategies as representations
from watcherlite.api.infra_optim.schemas import strategies as schemas
from watcherlite.api.operation import Answer, Operation, Request, Routes

index, detail = listing.calls(
    'strategies', lambda store: store.list_strategies, representations.represent
)


def show(request: Request) -> Answer:
    """Answer one strategy, by uuid, id or name; NotFound."""
    strategy = request.services.store.find_strategy(
        request.path['strategy'], request.show_deleted
    )
    return Answer(representations.represent(request, strategy, True))


def state(request: Request) -> Answer:
    """Answer what a strategy needs, and whether it is there; NotFound."""
    found = request.services.store.find_strategy(request.path['strategy'])
    return Answer(requirements.of(found.strategy.name, request.services.plugins))


ROUTES: Routes = {
    '/v1/strategies': {
        'GET': Operation(
            index,
            'strategy:get_all',
            'List strategies.',
            query=schemas.QUERY,
            answers={200: schemas.COLLECTION},
        ),
    },
    '/v1/strategies/detail': {
        'GET': Operation(
            detail,
            'strategy:detail',
            'List strategies with details.',
            query=schemas.QUERY,
            answers={200: schemas.DETAILED_COLLECTION},
        ),
    },
    '/v1/strategies/{strategy}': {
        'GET': Operation(
            show,
            'strategy:get',
            'Show a strategy and the schema of its parameters.',
            answers={200: schemas.STRATEGY},
        ),
    },
    '/v1/strategies/{strategy}/state': {
        'GET': Operation(
            state,
            'strategy:state',
            'Show what a strategy needs, and whether it is there.',
            answers={200: schemas.STATE},
        ),
    },
}
