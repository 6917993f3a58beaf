"""`watcherlite goal`, `strategy`, `scoringengine` and `service`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watcherlite.cli import formatting
from watcherlite.cli.commands import base
from watcherlite.cli.commands.base import Filter
from watcherlite.cli.formatting import Column, Row, fields

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client


GOALS = fields('uuid name', Column('Display name', 'display_name'))
GOAL = (
    *GOALS,
    Column(
        'Efficacy specification', 'efficacy_specification', formatting.specification
    ),
)
STRATEGIES = fields(
    'uuid name', Column('Display name', 'display_name'), Column('Goal', 'goal_name')
)
STRATEGY = (
    *STRATEGIES,
    Column('Parameters spec', 'parameters_spec', formatting.properties),
)
STRATEGY_STATE = fields(
    'type', Column('State', 'state', formatting.needs), 'mandatory comment'
)
SCORING_ENGINES = fields('uuid name description')
SCORING_ENGINE = fields(*SCORING_ENGINES, 'metainfo')


class GoalList(base.List):
    """List goals."""

    collection = 'goals'
    columns = GOALS
    detail_columns = GOAL


class GoalShow(base.ShowFound):
    """Show a goal."""

    collection = 'goals'
    identifier = 'UUID or name'
    columns = GOAL


class StrategyList(base.List):
    """List strategies."""

    collection = 'strategies'
    columns = STRATEGIES
    detail_columns = STRATEGY
    filters = (Filter('--goal', 'goal', 'GOAL', 'filter by goal: UUID or name'),)


class StrategyShow(base.ShowFound):
    """Show a strategy."""

    collection = 'strategies'
    identifier = 'UUID or name'
    columns = STRATEGY


class StrategyState(base.Rows):
    """Show the requirements of a strategy, and which of them are met."""

    columns = STRATEGY_STATE
    arguments = (base.identifier_argument('UUID or name'),)

    def rows(self, client: 'Client', parsed: argparse.Namespace) -> Sequence[Row]:
        """Return a row for each requirement."""
        return client.get_rows('strategies', parsed.identifier, 'state')


class ScoringEngineList(base.List):
    """List scoring engines."""

    collection = 'scoring_engines'
    columns = SCORING_ENGINES
    detail_columns = SCORING_ENGINE


class ScoringEngineShow(base.ShowFound):
    """Show a scoring engine."""

    collection = 'scoring_engines'
    identifier = 'UUID or name'
    columns = SCORING_ENGINE


LISTED = fields('id name host status')
SHOWN = (*LISTED, Column('Last seen up', 'last_seen_up'))


class ServiceList(base.List):
    """List the daemons."""

    collection = 'services'
    columns = LISTED
    detail_columns = SHOWN
    # Its marker is a number that the list does not show.
    has_marker = False


class ServiceShow(base.ShowFound):
    """Show a daemon."""

    collection = 'services'
    identifier = 'ID or name'
    columns = SHOWN
