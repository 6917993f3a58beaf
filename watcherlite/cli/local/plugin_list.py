"""`watcherlite plugin list`: the installed plugins and their errors."""

import argparse
import logging
from collections.abc import Iterable, Sequence

from cliff import lister

from watcherlite.cli.command import Command
from watcherlite.cli.commands import base

COLUMNS = ('Namespace', 'Name', 'Distribution', 'Version', 'Target', 'Status')


class PluginList(base.PrintedResult, Command, lister.Lister):
    """List the installed plugins and their errors."""

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[str]]]:
        # Plugins may be slow to import.
        from watcherlite.plugins import loader

        if not self.debug(parsed_args):
            # The list contains the errors of plugins.
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
