"""The interface to the plugins that propose plans."""

from collections.abc import Mapping
from typing import Any, Protocol

from watcherlite.domain.solutions import IndicatorSpecification
from watcherlite.plugins.base import GOALS, STRATEGIES, Goal, Planner, Strategy

__all__ = ['GOALS', 'STRATEGIES', 'ProposalPlugins']


class ProposalPlugins(Protocol):
    """Loads goals, strategies and planners, see `plugins.loader.Plugins`."""

    def make_goal(self, name: str) -> Goal:
        """Return an instance; raises PluginNotFound or PluginError."""

    def make_strategy(self, name: str) -> Strategy:
        """Return an instance; raises PluginNotFound or PluginError."""

    def make_planner(self, name: str) -> Planner:
        """Return an instance; raises PluginNotFound or PluginError."""

    def loadable(self, namespace: str) -> dict[str, Any]:
        """Return the classes of a namespace that can be used, by name."""

    def fill_parameters(
        self, spec: Mapping[str, Any], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return parameters with defaults; raises InvalidInput and PluginError."""

    def check_indicator(
        self, specification: IndicatorSpecification, value: object
    ) -> None:
        """Raise InvalidInput unless a value matches the specification."""
