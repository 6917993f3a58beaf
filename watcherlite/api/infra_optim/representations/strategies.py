"""How strategies are shown."""

from typing import Any

from watcherlite.api.infra_optim import links
from watcherlite.api.infra_optim.representations import timestamps
from watcherlite.api.operation import Request
from watcherlite.db.listing import ListedStrategy


def represent(request: Request, listed: ListedStrategy, detail: bool) -> dict[str, Any]:
    """Return a strategy; `detail` adds the schema of its parameters and its times."""
    strategy = listed.strategy
    shown: dict[str, Any] = {
        'uuid': strategy.uuid,
        'name': strategy.name,
        'display_name': strategy.display_name,
        'goal_uuid': listed.goal_uuid,
        'goal_name': listed.goal_name,
        'links': links.of(request, 'strategies', strategy.uuid),
    }
    if detail:
        shown['parameters_spec'] = dict(strategy.parameters_spec)
        shown.update(timestamps.of(strategy))
    return shown
