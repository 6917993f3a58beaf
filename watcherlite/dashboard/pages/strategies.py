"""Goals and strategies: what audits can reach, and how."""

from collections.abc import Mapping
from typing import Any

from watcherlite.dashboard.views import PageTable, View

PAGES = PageTable()


@PAGES.page('/goals', 'goals.html')
def list_goals(view: View) -> Mapping[str, Any]:
    """List the goals with their strategies."""
    strategies: dict[str, list[Any]] = {}
    if view.allows('strategy:get_all'):
        for strategy in view.api.get('/v1/strategies')['strategies']:
            strategies.setdefault(strategy['goal_name'], []).append(strategy)
    goals = view.api.get('/v1/goals', sort_key='name')['goals']
    return {'goals': goals, 'strategies': strategies}


@PAGES.page('/strategies/{name}', 'strategy.html')
def show_strategy(view: View, name: str) -> Mapping[str, Any]:
    """Show a strategy: its parameters and what it needs."""
    strategy = view.api.get(f'/v1/strategies/{name}')
    requirements = []
    if view.allows('strategy:state'):
        requirements = view.api.get(f'/v1/strategies/{name}/state')
    return {
        'strategy': strategy,
        'requirements': requirements,
        'can': {'create': view.allows('audit:create')},
    }
