"""Goals: what there is to reach. They come from plugins and are only read here."""

from watcherlite.api.infra_optim import listing
from watcherlite.api.infra_optim.representations import goals as representations
from watcherlite.api.infra_optim.schemas import goals as schemas
from watcherlite.api.operation import Answer, Operation, Request, Routes

index, detail = listing.calls(
    'goals', lambda store: store.list_goals, representations.represent
)


def show(request: Request) -> Answer:
    """Answer one goal, by uuid, id or name; NotFound."""
    goal = request.services.store.find_goal(request.path['goal'], request.show_deleted)
    return Answer(representations.represent(request, goal, True))


ROUTES: Routes = {
    '/v1/goals': {
        'GET': Operation(
            index,
            'goal:get_all',
            'List goals.',
            query=schemas.QUERY,
            answers={200: schemas.COLLECTION},
        ),
    },
    '/v1/goals/detail': {
        'GET': Operation(
            detail,
            'goal:detail',
            'List goals with details.',
            query=schemas.QUERY,
            answers={200: schemas.DETAILED_COLLECTION},
        ),
    },
    '/v1/goals/{goal}': {
        'GET': Operation(
            show,
            'goal:get',
            'Show a goal.',
            answers={200: schemas.GOAL},
        ),
    },
}
