"""`watcherlite plugin list`: what is installed, and what is wrong with it."""

import argparse
import logging
from collections.abc import Iterable, Sequence

from cliff import lister

from watcherlite.cli.command import Command

COLUMNS = (
    'Namespace',
    'Name',
    'Distribution',
    'Version',
    'Target',
    'Status',
)


class PluginList(Command, lister.Lister):
    """List the plugins that are installed, and why one cannot be used."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '-o',
            '--output',
            dest='formatter',
            choices=sorted(self._formatter_plugins.names()),
            default=argparse.SUPPRESS,
            help='the same as --format',
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
        """Return the columns and a row for each entry point."""
        # The plugins' own imports take as long as they like
        from watcherlite.plugins import loader

        if not self.debug(parsed_args):
            # What is wrong with a plugin is in the list
            logging.getLogger().addHandler(logging.NullHandler())
        plugins = loader.load(options=self.configuration(parsed_args))
        return COLUMNS, [
            (
                entry.namespace,
                entry.name,
                entry.distribution,
                entry.version,
                entry.target,
                entry.error or 'ok',
            )
            for entry in plugins.entries()
        ]
