"""`watcherlite goal`, `strategy`, `scoringengine` and `service`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watcherlite.cli import formatting
from watcherlite.cli.commands import base
from watcherlite.cli.formatting import Column, Row, fields

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client


class _Goals(base.Remote):
    collection = 'goals'
    listed = fields('uuid name', Column('Display name', 'display_name'))
    columns = (
        *listed,
        Column(
            'Efficacy specification', 'efficacy_specification', formatting.specification
        ),
    )


class GoalList(_Goals, base.List):
    """List goals."""


class GoalShow(_Goals, base.ShowFound):
    """Show a goal."""


class _Strategies(base.Remote):
    collection = 'strategies'
    listed = fields(
        'uuid name', Column('Display name', 'display_name'), Column('Goal', 'goal_name')
    )
    columns = (
        *listed,
        Column('Parameters spec', 'parameters_spec', formatting.properties),
    )


class StrategyList(_Strategies, base.List):
    """List strategies."""

    filters = (base.BY_GOAL,)


class StrategyShow(_Strategies, base.ShowFound):
    """Show a strategy."""


class StrategyState(base.Rows):
    """Show the requirements of a strategy, and which of them are met."""

    columns = fields(
        'type',
        Column('State', 'state', formatting.format_requirements),
        'mandatory comment',
    )
    arguments = (base.identifier_argument,)

    def rows(self, client: 'Client', parsed: argparse.Namespace) -> Sequence[Row]:
        return client.get_rows('strategies', parsed.identifier, 'state')


class _ScoringEngines(base.Remote):
    collection = 'scoring_engines'
    listed = fields('uuid name description')
    columns = fields(*listed, 'metainfo')


class ScoringEngineList(_ScoringEngines, base.List):
    """List scoring engines."""


class ScoringEngineShow(_ScoringEngines, base.ShowFound):
    """Show a scoring engine."""


class _Services(base.Remote):
    collection = 'services'
    identifier = 'ID or name of the object'
    _common = fields('id name host status')
    #: Columns that the API of Watcher does not have.
    _lease = fields('lane lease_until')
    listed = (*_common, *_lease)
    columns = (*_common, Column('Last seen up', 'last_seen_up'), *_lease)


class ServiceList(_Services, base.List):
    """List the daemons."""

    needs_details = True
    # Its marker is a number that the list does not show.
    has_marker = False


class ServiceShow(_Services, base.ShowFound):
    """Show a daemon."""
