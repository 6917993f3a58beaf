"""What all commands have in common: their options, and the configuration."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from cliff import command

from watcherlite.cmd import arguments, exits

if TYPE_CHECKING:
    from cliff.app import App

    from watcherlite.conf import Configuration


class Command(command.Command):
    """A command; `take_action` returns its exit code.

    What is heavy, the database for instance, is imported in `take_action`: help
    and mistakes in the command line must not wait for it.
    """

    def __init__(self, app: 'App', app_args: argparse.Namespace | None) -> None:
        # Without a name: cliff would search all distributions for hooks of it
        super().__init__(app, app_args)

    def get_epilog(self) -> str:
        """Return nothing: cliff's would read the metadata of all distributions."""
        return ''

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)

        def error(message: str) -> NoReturn:
            raise exits.UsageError(arguments.usage(prog_name, message))

        parser.error = error  # type: ignore[method-assign]
        self.add_options(parser)
        return parser

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that all commands of a kind have."""
        arguments.add_common_options(parser)

    def arguments(self, parsed: argparse.Namespace) -> Sequence[str]:
        """Return what of the command line is the configuration's."""
        return arguments.for_configuration(self.app_args, parsed)

    def configuration(self, parsed: argparse.Namespace) -> 'Configuration':
        """Return the configuration; raises ConfigurationError."""
        # oslo.config takes a tenth of a second, which help need not
        from watcherlite import conf

        return conf.new(self.arguments(parsed))

    def debug(self, parsed: argparse.Namespace) -> bool:
        return '--debug' in self.arguments(parsed)
