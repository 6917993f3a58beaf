"""`watcherlite strategy`: how goals are reached."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from cliff import lister

from watcherlite.cli import cells, remote
from watcherlite.cli.cells import Column
from watcherlite.cli.remote import Filter

LISTED = (
    Column('UUID', 'uuid'),
    Column('Name', 'name'),
    Column('Display name', 'display_name'),
    Column('Goal', 'goal_name'),
)
SHOWN = (*LISTED, Column('Parameters spec', 'parameters_spec', cells.properties))
STATE = (
    Column('Type', 'type'),
    Column('State', 'state', cells.needs),
    Column('Mandatory', 'mandatory'),
    Column('Comment', 'comment'),
)


class StrategyList(remote.List):
    """List strategies."""

    collection = 'strategies'
    columns = LISTED
    detail_columns = SHOWN
    filters = (Filter('--goal', 'goal', 'GOAL', 'those of this goal: UUID or name'),)


class StrategyShow(remote.ShowFound):
    """Show a strategy."""

    collection = 'strategies'
    identifier = 'UUID or name'
    columns = SHOWN


class StrategyState(remote.Printed, remote.Remote, lister.Lister):
    """Show what a strategy needs and has."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        remote.add_identifier(parser, 'UUID or name')
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and a row for each need."""
        with self.client(parsed_args) as client:
            rows = client.get_rows('strategies', parsed_args.identifier, 'state')
        return remote.table(STATE, rows, parsed_args.formatter)
