"""The weights of action types, by which planners order actions."""

from collections.abc import Mapping, Sequence

from watcherlite import exceptions
from watcherlite.domain.solutions import ProposedAction, Solution


def sort(
    solution: Solution, weights: Mapping[str, int], planner: str
) -> Sequence[ProposedAction]:
    """Return the actions in descending order of weight, else that of the strategy.

    :param planner: the name of the planner with these weights
    :raises Invalid: a type has no weight
    """
    unknown = sorted({a.action_type for a in solution.actions} - set(weights))
    if unknown:
        raise exceptions.Invalid(
            f'There is no weight for the action type {", ".join(unknown)}; add it '
            f'to weights in [watcherlite.planners.{planner}]'
        )
    # A stable sort keeps the order of equal weights.
    return sorted(solution.actions, key=lambda a: -weights[a.action_type])
