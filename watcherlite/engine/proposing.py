"""From an audit to a plan document: strategy, figures, planner.

Nothing here reads or writes audits or plans, and nothing is locked meanwhile.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.applier import creation
from watcherlite.db.api import Store
from watcherlite.domain import documents, json_values
from watcherlite.domain.audits import Audit, Goal, Strategy
from watcherlite.domain.documents import PlanDocument
from watcherlite.domain.solutions import Indicator, Solution
from watcherlite.engine.proposers import STRATEGIES, Proposers
from watcherlite.engine.strategy_context import Model, StrategyContext
from watcherlite.execution.runner import ActionTypes
from watcherlite.plugins.base import ActionContext


class NotUsable(exceptions.WatcherliteError):
    """A plugin gave something that no plan can be made of."""


@dataclasses.dataclass(frozen=True, slots=True)
class Proposal:
    """A solution that was found, and its figures.

    :param planner: the name of the one that is to make a plan of it
    """

    solution: Solution
    planner: str
    strategy_id: int | None
    efficacy_indicators: Sequence[Mapping[str, Any]]
    global_efficacy: Sequence[Mapping[str, Any]]


class Proposing:
    """Calls the plugins.

    :param models: what strategies may ask for, by name
    """

    def __init__(
        self,
        store: Store,
        proposers: Proposers,
        types: ActionTypes,
        models: Mapping[str, Model],
    ) -> None:
        self._store = store
        self._proposers = proposers
        self._types = types
        self._models = models

    def strategy(self, goal: Goal, strategy: Strategy | None) -> Strategy:
        """Return the strategy that an audit is run by.

        One that names none is run by the first one for its goal, by name.

        :raises NotFound: there is none for this goal
        """
        if strategy is not None:
            return strategy
        for name, kind in self._proposers.loadable(STRATEGIES).items():
            if kind.goal == goal.name:
                return self._store.find_strategy(name).strategy
        raise exceptions.NotFound(
            f'No strategy for the goal {goal.name} is installed; name one, or '
            'install one'
        )

    def propose(
        self, audit: Audit, goal: Goal, strategy: Strategy, context: ActionContext
    ) -> Proposal:
        """Return what the strategy proposes; raises whatever it raises."""
        plugin = self._proposers.make_strategy(strategy.name)
        parameters = self._proposers.fill_parameters(plugin.schema, audit.parameters)
        solution = plugin.execute(
            StrategyContext(context, audit, goal.name, parameters, self._models)
        )
        if not isinstance(solution, Solution):
            raise NotUsable(
                f'The strategy {strategy.name} returned {json_values.kind(solution)}, '
                'not a Solution'
            )
        indicators, overall = self._efficacy(goal.name, solution)
        return Proposal(
            solution,
            solution.planner or plugin.planner,
            strategy.id,
            [indicator.to_mapping() for indicator in indicators],
            [indicator.to_mapping() for indicator in overall],
        )

    def _efficacy(
        self, goal: str, solution: Solution
    ) -> tuple[list[Indicator], Sequence[Indicator]]:
        """Return the figures of a solution, and what they come to."""
        plugin = self._proposers.make_goal(goal)
        given = solution.indicators
        known = {wanted.name: wanted for wanted in plugin.indicators}
        missing = sorted(set(known) - set(given))
        if missing:
            raise NotUsable(
                f'The goal {goal} needs the indicators {", ".join(missing)}, which the '
                'strategy did not give'
            )
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise NotUsable(f'The goal {goal} has no indicator {", ".join(unknown)}')
        for name, wanted in known.items():
            self._proposers.check_indicator(wanted, given[name])
        found = [
            Indicator(name, given[name], wanted.description, wanted.unit)
            for name, wanted in known.items()
        ]
        return found, list(plugin.global_efficacy(dict(given)))

    def plan(self, proposal: Proposal, name: str) -> PlanDocument:
        """Return the plan that the planner makes, once it is known to be sound."""
        planner = self._proposers.make_planner(proposal.planner)
        planned = planner.plan(proposal.solution, name)
        if not isinstance(planned, PlanDocument):
            raise NotUsable(
                f'The planner {proposal.planner} returned {json_values.kind(planned)}, '
                'not a PlanDocument'
            )
        if not planned.actions and not proposal.solution.actions:
            return planned
        proposed = sorted(action.name for action in proposal.solution.actions)
        if sorted(action.name for action in planned.actions) != proposed:
            raise NotUsable(
                f'The planner {proposal.planner} did not keep the actions of the '
                'solution'
            )
        # A planner of somebody else may have forgotten what a document must be.
        documents.from_mapping(documents.to_mapping(planned))
        # Thousands of actions of a few types: each type is made once.
        creation.check(planned, _Once(self._types))
        return planned


class _Once:
    """Action types that are made once each, to validate many inputs."""

    def __init__(self, types: ActionTypes) -> None:
        self.make_action_type = functools.cache(types.make_action_type)
        self.validate_inputs: Callable[[Any, Mapping[str, Any]], None] = (
            types.validate_inputs
        )
