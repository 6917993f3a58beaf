"""Synchronisation of goals, strategies and scoring engines with their rows."""

import logging
import uuid
from collections.abc import Mapping
from typing import Any, Protocol

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.domain.audits import NewGoal, NewScoringEngine, NewStrategy
from watcherlite.domain.solutions import IndicatorSpecification
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.plugins import base
from watcherlite.plugins.base import GOALS, STRATEGIES

LOG = logging.getLogger(__name__)


class ProposalPlugins(Protocol):
    """Loads the plugins of audits, see `plugins.loader.Plugins`."""

    def make_goal(self, name: str) -> base.Goal:
        """Return an instance; raises PluginNotFound or PluginError."""

    def make_strategy(self, name: str) -> base.Strategy:
        """Return an instance; raises PluginNotFound or PluginError."""

    def make_planner(self, name: str) -> base.Planner:
        """Return an instance; raises PluginNotFound or PluginError."""

    def make_scoring_engine(self, name: str) -> base.ScoringEngine:
        """Return an instance; raises PluginNotFound or PluginError."""

    def scoring_engines(self) -> Mapping[str, base.ScoringEngine]:
        """Return the usable scoring engines, by name."""

    def loadable(self, namespace: str) -> dict[str, Any]:
        """Return the usable classes of a namespace, by name."""

    def fill_parameters(
        self, spec: Mapping[str, Any], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return parameters with defaults; raises InvalidInput and PluginError."""

    def check_indicator(
        self, specification: IndicatorSpecification, value: object
    ) -> None:
        """Raise InvalidInput unless a value matches the specification."""


def sync(store: Store, proposers: ProposalPlugins, clock: Clock) -> None:
    """Insert new goals, strategies and scoring engines, and update changed ones.

    Plans that were proposed before do not change. A plugin that is not installed
    here keeps its row, because another host may have it; a run fails on a host that
    does not.
    """
    goals = installed_goals(proposers)
    strategies = installed_strategies(proposers, {goal.name for goal in goals})
    engines = installed_scoring_engines(proposers)
    try:
        _store(store, goals, strategies, engines, clock)
    except exceptions.Conflict:
        # Another process has inserted the same rows: compare with them.
        _store(store, goals, strategies, engines, clock)
    LOG.info(
        'Synchronised %d goals, %d strategies and %d scoring engines',
        len(goals),
        sum(len(found) for found in strategies.values()),
        len(engines),
    )


@retry_on_conflict
def _store(
    store: Store,
    goals: list[NewGoal],
    strategies: dict[str, list[NewStrategy]],
    engines: list[NewScoringEngine],
    clock: Clock,
) -> None:
    now = clock.now()
    with store.transaction() as tx:
        tx.sync_goals(goals, now)
        tx.sync_strategies(strategies, now)
        tx.sync_scoring_engines(engines, now)


def installed_goals(proposers: ProposalPlugins) -> list[NewGoal]:
    """Return the rows of the installed goals."""
    return [
        NewGoal(
            str(uuid.uuid4()),
            name,
            kind.display_name or name,
            [indicator.to_mapping() for indicator in kind.indicators],
        )
        for name, kind in proposers.loadable(GOALS).items()
    ]


def installed_strategies(
    proposers: ProposalPlugins, goals: set[str]
) -> dict[str, list[NewStrategy]]:
    """Return the rows of the installed strategies, by goal.

    A strategy whose goal is not installed is skipped, with a warning.
    """
    found: dict[str, list[NewStrategy]] = {}
    for name, kind in proposers.loadable(STRATEGIES).items():
        if kind.goal not in goals:
            LOG.warning(
                'Ignoring strategy %s: its goal %s is not installed', name, kind.goal
            )
            continue
        found.setdefault(kind.goal, []).append(
            NewStrategy(
                str(uuid.uuid4()),
                name,
                kind.display_name or name,
                parameters_spec=dict(kind.schema),
            )
        )
    return found


def installed_scoring_engines(proposers: ProposalPlugins) -> list[NewScoringEngine]:
    """Return the rows of the installed scoring engines and of containers."""
    return [
        NewScoringEngine(str(uuid.uuid4()), name, engine.description, engine.metainfo)
        for name, engine in proposers.scoring_engines().items()
    ]
