"""The planner that keeps the order of the strategy."""

from watcherlite import exceptions
from watcherlite.domain import graph
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.planners import documents


class Graph(base.Planner):
    """Keep the order and the parents given by the strategy."""

    description = 'Keeps the order and the parents given by the strategy.'

    def plan(self, solution: Solution, name: str | None = None) -> PlanDocument:
        """Return the plan; raises Invalid for unknown parents or a cycle."""
        index = {action.name: at for at, action in enumerate(solution.actions)}
        for action in solution.actions:
            for parent in action.parents:
                if parent not in index:
                    raise exceptions.Invalid(
                        f'The action {action.name} has the parent {parent}, and no '
                        'action of the solution has that name'
                    )
        edges = [[index[p] for p in action.parents] for action in solution.actions]
        for cycle in graph.find_cycles(edges, limit=1):
            names = ' -> '.join(solution.actions[at].name for at in (*cycle, cycle[0]))
            raise exceptions.Invalid(f'These actions wait for each other: {names}')
        return documents.document(
            name,
            [documents.action(action, action.parents) for action in solution.actions],
        )
