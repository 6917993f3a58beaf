"""Goals, loaded from plugins; read only."""

from typing import Any

from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim.collection import ObjectCollection
from watcherlite.api.infra_optim.schemas import goals as schemas
from watcherlite.api.operation import Request, Routes
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


GOALS = ObjectCollection(
    'goals',
    'goal',
    lambda store: store.list_goals,
    lambda store, name, deleted: store.find_goal(name, deleted),
    represent,
)
ROUTES: Routes = GOALS.routes(schemas, schemas.GOAL, 'Show a goal.')
