"""Goals: loaded from plugins, read only."""

from typing import Any

from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import goals as schemas
from watcherlite.api.operation import Operation, Request, Response, Routes, merge_routes
from watcherlite.db.query import ListedGoal


def represent(request: Request, listed: ListedGoal, detail: bool) -> dict[str, Any]:
    """Return a goal as a JSON object; `detail` adds its times."""
    goal = listed.goal
    shown: dict[str, Any] = {
        'uuid': goal.uuid,
        'name': goal.name,
        'display_name': goal.display_name,
        'efficacy_specification': list(goal.efficacy_specification),
        'links': links.object_links(request, 'goals', goal.uuid),
    }
    return {**shown, **timestamps.of(goal)} if detail else shown


index, detail = pages.list_handlers('goals', lambda store: store.list_goals, represent)


def show(request: Request) -> Response:
    """Return one goal, by uuid, id or name; NotFound."""
    goal = request.services.store.find_goal(request.path['goal'], request.show_deleted)
    return Response(represent(request, goal, True))


ROUTES: Routes = merge_routes(
    pages.list_routes('goals', 'goal', index, detail, schemas),
    {
        '/v1/goals/{goal}': {
            'GET': Operation(
                show,
                'goal:get',
                'Show a goal.',
                responses={200: schemas.GOAL},
            ),
        },
    },
)
