"""The main program `watcherlite`: runs a command (exit codes: see `cmd.exits`)."""

import argparse
import difflib
import importlib.metadata
import sys
from collections.abc import Sequence
from typing import Any

from cliff import app, command, commandmanager

from watcherlite.cli.command_table import COMMANDS
from watcherlite.cli.http import access
from watcherlite.cmd import arguments, exits

NAME = 'watcherlite'
DESCRIPTION = 'Plan, execute and monitor changes to infrastructure.'


class Commands(commandmanager.CommandManager):
    """The command manager of cliff for the table of commands."""

    def _load_commands(self) -> None:
        for name, (target, _) in COMMANDS.items():
            self.commands[name] = importlib.metadata.EntryPoint(name, target, NAME)

    def add_command(self, name: str, command_class: type[command.Command]) -> None:
        """Add a command of cliff unless the table has that name."""
        if name not in COMMANDS:
            super().add_command(name, command_class)


class _Version(argparse.Action):
    """Prints the version, which is slow to read."""

    def __call__(
        self, parser: argparse.ArgumentParser, *_args: Any, **_kwargs: Any
    ) -> None:
        print(f'{NAME} {importlib.metadata.version(NAME)}')
        parser.exit()


class _Help(argparse.Action):
    """Prints the options and all commands."""

    def __call__(
        self, parser: argparse.ArgumentParser, *_args: Any, **_kwargs: Any
    ) -> None:
        print(help_text(parser))
        parser.exit()


def help_text(parser: argparse.ArgumentParser) -> str:
    """Return the help of the program."""
    lines = [parser.format_help().rstrip(), '', 'commands:']
    width = max(len(name) for name in COMMANDS)
    lines += [
        f'  {name:<{width}}  {description}'
        for name, (_, description) in COMMANDS.items()
    ]
    lines += ['', f'Run `{NAME} COMMAND --help` for the options of a command.']
    return '\n'.join(lines)


class Application(app.App):
    """The program."""

    NAME = NAME

    def __init__(self) -> None:
        super().__init__(DESCRIPTION, None, Commands())

    def build_option_parser(
        self,
        description: str | None,
        version: str | None,
        argparse_kwargs: dict[str, object] | None = None,
    ) -> argparse.ArgumentParser:
        parser = arguments.Parser(
            prog=NAME,
            description=description,
            add_help=False,
            allow_abbrev=False,
            usage=f'{NAME} [options] COMMAND [arguments]',
        )
        parser.add_argument(
            '-h', '--help', nargs=0, action=_Help, help='show this help and exit'
        )
        parser.add_argument(
            '--version', nargs=0, action=_Version, help='show the version and exit'
        )
        arguments.add_common_options(parser)
        access.add_options(parser)
        return parser

    def run(self, argv: Sequence[str]) -> int:
        """Run one command; return its exit code."""
        split = access.index_of_command(argv)
        self.options = self.parser.parse_args(argv[:split])
        self.interactive_mode = False
        if split == len(argv):
            print(help_text(self.parser), file=sys.stderr)
            return exits.BAD_INPUT
        return self.run_subcommand(list(argv[split:]))

    def run_subcommand(self, argv: list[str]) -> int:
        try:
            found, name, rest = self.command_manager.find_command(argv)
        except ValueError:
            raise exits.UsageError(self._unknown(argv)) from None
        chosen = found(self, self.options)
        parsed = chosen.get_parser(f'{NAME} {name}').parse_args(rest)
        # --debug may stand anywhere in the command line.
        self.options.debug |= getattr(parsed, 'debug', False)
        return chosen.run(parsed)

    def _unknown(self, argv: list[str]) -> str:
        word = argv[0]
        names = [name for name in COMMANDS if name.split()[0] == word]
        if names:
            return f'`{word}` is ambiguous: {", ".join(names)}'
        near = difflib.get_close_matches(word, COMMANDS, n=1)
        hint = f'; did you mean {near[0]}?' if near else ''
        return arguments.usage(NAME, f'unknown command {word!r}{hint}')


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    application = Application()
    try:
        return application.run(sys.argv[1:] if argv is None else argv)
    except (Exception, KeyboardInterrupt) as error:
        if exits.is_unread(error):
            return exits.SUCCESS
        debug = getattr(getattr(application, 'options', None), 'debug', False)
        return exits.print_error(NAME, error, debug)
    finally:
        exits.flush()


if __name__ == '__main__':
    sys.exit(main())
