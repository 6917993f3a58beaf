"""How goals are shown."""

from typing import Any

from watcherlite.api.infra_optim import links
from watcherlite.api.infra_optim.representations import timestamps
from watcherlite.api.operation import Request
from watcherlite.db.listing import ListedGoal


def represent(request: Request, listed: ListedGoal, detail: bool) -> dict[str, Any]:
    """Return a goal as a JSON object; `detail` adds its times."""
    goal = listed.goal
    shown: dict[str, Any] = {
        'uuid': goal.uuid,
        'name': goal.name,
        'display_name': goal.display_name,
        'efficacy_specification': list(goal.efficacy_specification),
        'links': links.of(request, 'goals', goal.uuid),
    }
    return {**shown, **timestamps.of(goal)} if detail else shown
