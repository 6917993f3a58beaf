"""The goals and strategies that are installed, as rows that audits refer to."""

import logging
import uuid

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.domain.audits import Goal, Strategy
from watcherlite.engine.proposers import GOALS, STRATEGIES, Proposers
from watcherlite.execution.conflicts import again_on_conflict

LOG = logging.getLogger(__name__)


def sync(store: Store, proposers: Proposers, clock: Clock) -> None:
    """Store what is installed here and is new, or has changed, in place.

    What was proposed before stays as it is. What is no longer installed keeps its
    row, because another machine may have it; a run of it fails there where it is
    not, and says so.
    """
    goals = goals_of(proposers)
    strategies = strategies_of(proposers, {goal.name for goal in goals})
    try:
        _store(store, goals, strategies, clock)
    except exceptions.Conflict:
        # Another process has just stored the same; now they are there to be compared.
        _store(store, goals, strategies, clock)
    LOG.info(
        'There are %d goals and %d strategies',
        len(goals),
        sum(len(found) for found in strategies.values()),
    )


@again_on_conflict
def _store(
    store: Store,
    goals: list[Goal],
    strategies: dict[str, list[Strategy]],
    clock: Clock,
) -> None:
    now = clock.now()
    with store.transaction() as tx:
        tx.sync_goals(goals, now)
        tx.sync_strategies(strategies, now)


def goals_of(proposers: Proposers) -> list[Goal]:
    """Return the goals that are installed, as they are to be stored."""
    return [
        Goal(
            str(uuid.uuid4()),
            name,
            kind.display_name or name,
            [indicator.to_mapping() for indicator in kind.indicators],
        )
        for name, kind in proposers.loadable(GOALS).items()
    ]


def strategies_of(proposers: Proposers, goals: set[str]) -> dict[str, list[Strategy]]:
    """Return the strategies that are installed, by goal, as they are to be stored.

    One whose goal is not installed is left out, which is logged.
    """
    found: dict[str, list[Strategy]] = {}
    for name, kind in proposers.loadable(STRATEGIES).items():
        if kind.goal not in goals:
            LOG.warning(
                'The strategy %s cannot be used: its goal %s is not installed',
                name,
                kind.goal,
            )
            continue
        found.setdefault(kind.goal, []).append(
            Strategy(
                str(uuid.uuid4()),
                name,
                kind.display_name or name,
                parameters_spec=dict(kind.schema),
            )
        )
    return found
