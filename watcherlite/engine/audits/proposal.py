"""Proposals: the plan document that plugins produce for an audit.

This module does not write audits or plans, and holds no locks.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.applier import creation
from watcherlite.db.api import Store
from watcherlite.domain.audits import Audit, Goal, Strategy
from watcherlite.domain.creators import Creator
from watcherlite.domain.documents import json_values, plan_document
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.solutions import Indicator, Solution
from watcherlite.engine.audits.goal_sync import ProposalPlugins
from watcherlite.engine.audits.strategy_context import (
    AuditStrategyContext,
    FindDatasource,
)
from watcherlite.engine.plan_scope import PlanScope
from watcherlite.execution.ports import ActionTypes
from watcherlite.plugins import base
from watcherlite.plugins.base import ActionContext


class InvalidProposal(exceptions.WatcherliteError):
    """A plugin returned something that cannot become a plan."""


@dataclasses.dataclass(frozen=True, slots=True)
class Proposal:
    """A solution with its efficacy.

    :param planner: name of the planner for it
    """

    solution: Solution
    planner: str
    strategy_id: int | None
    efficacy_indicators: Sequence[Mapping[str, Any]]
    global_efficacy: Sequence[Mapping[str, Any]]


class ProposalBuilder:
    """Builds plan documents with the plugins.

    :param models: factories of the models that strategies use, by name; called with
        the scope and the creator of the audit
    :param find_datasource: None: no datasource is configured
    """

    def __init__(
        self,
        store: Store,
        proposers: ProposalPlugins,
        types: ActionTypes,
        models: Mapping[str, Callable[..., Any]],
        find_datasource: FindDatasource | None = None,
    ) -> None:
        self._store = store
        self._proposers = proposers
        self._types = types
        self._models = models
        self._find_datasource = find_datasource
        self._scope = PlanScope(store)

    def strategy(self, goal: Goal, strategy: Strategy | None) -> Strategy:
        """Return the strategy of an audit.

        The default is the first strategy for its goal, by name.

        :raises NotFound: no strategy for this goal is installed
        """
        if strategy is not None:
            return strategy
        for name, kind in self._proposers.loadable(base.STRATEGIES).items():
            if kind.goal == goal.name:
                return self._store.find_strategy(name).strategy
        raise exceptions.NotFound(
            f'No strategy for the goal {goal.name} is installed; name one, or '
            'install one'
        )

    def propose(
        self, audit: Audit, goal: Goal, strategy: Strategy, context: ActionContext
    ) -> Proposal:
        """Return the proposal of the strategy; raises what the strategy raises."""
        plugin = self._proposers.make_strategy(strategy.name)
        models = {
            name: functools.partial(make, creator=audit.creator)
            for name, make in self._models.items()
        }
        parameters = self._proposers.fill_parameters(plugin.schema, audit.parameters)
        solution = plugin.execute(
            AuditStrategyContext(
                context,
                audit,
                goal.name,
                parameters,
                models,
                self._proposers.make_scoring_engine,
                self._find_datasource,
            )
        )
        if not isinstance(solution, Solution):
            raise InvalidProposal(
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
        """Return the efficacy indicators of a solution and its global efficacy."""
        plugin = self._proposers.make_goal(goal)
        given = solution.indicators
        known = {desired.name: desired for desired in plugin.indicators}
        missing = sorted(set(known) - set(given))
        if missing:
            raise InvalidProposal(
                f'The goal {goal} needs the indicators {", ".join(missing)}, which the '
                'strategy did not set'
            )
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise InvalidProposal(
                f'The goal {goal} has no indicator {", ".join(unknown)}'
            )
        for name, desired in known.items():
            self._proposers.check_indicator(desired, given[name])
        found = [
            Indicator(name, given[name], desired.description, desired.unit)
            for name, desired in known.items()
        ]
        return found, list(plugin.global_efficacy(dict(given)))

    def plan(self, proposal: Proposal, name: str, creator: Creator) -> PlanDocument:
        """Return the valid plan that the planner makes of a proposal.

        :param creator: the creator of the audit, which limits the plan's targets
        """
        planner = self._proposers.make_planner(proposal.planner)
        planned = planner.plan(proposal.solution, name)
        if not isinstance(planned, PlanDocument):
            raise InvalidProposal(
                f'The planner {proposal.planner} returned {json_values.kind(planned)}, '
                'not a PlanDocument'
            )
        if not planned.actions and not proposal.solution.actions:
            return planned
        proposed = sorted(action.name for action in proposal.solution.actions)
        if sorted(action.name for action in planned.actions) != proposed:
            raise InvalidProposal(
                f'The planner {proposal.planner} did not keep the actions of the '
                'solution'
            )
        # A third-party planner may return an invalid document.
        plan_document.from_mapping(plan_document.to_mapping(planned))
        # Thousands of actions share a few types: instantiate each type once.
        creation.check(planned, _CachedActionTypes(self._types))
        self._scope.check(planned, creator)
        return planned


class _CachedActionTypes:
    """Action types that are instantiated once each, to validate many inputs."""

    def __init__(self, types: ActionTypes) -> None:
        self.make_action_type = functools.cache(types.make_action_type)
        self.validate_inputs: Callable[[Any, Mapping[str, Any]], None] = (
            types.validate_inputs
        )
