"""Argument parsing of all commands."""

import argparse
import importlib.metadata
import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from watcherlite.cmd import exits

_WITH_VALUE = frozenset({'--config-file', '--config-dir'})


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError, so that errors are printed as one line."""

    def error(self, message: str) -> NoReturn:
        raise exits.UsageError(usage(self.prog, message))


def command(prog: str, description: str) -> Parser:
    """Return the parser of a command with the common options."""
    parser = Parser(prog=prog, description=description)
    parser.add_argument(
        '--version',
        action='version',
        version=f'{prog} {importlib.metadata.version("watcherlite")}',
    )
    add_common_options(parser)
    return parser


def run(
    parser: argparse.ArgumentParser,
    argv: Sequence[str] | None,
    work: Callable[[argparse.Namespace], int],
    failure: int | None = None,
) -> int:
    """Run the command of a command line; return the exit code.

    :param argv: None: the command line of this process
    :param failure: the exit code of all errors; None: see `exits`
    """
    args: argparse.Namespace | None = None
    try:
        args = parser.parse_args(common_first(sys.argv[1:] if argv is None else argv))
        return work(args)
    except (Exception, KeyboardInterrupt) as error:
        if exits.is_unread(error):
            return exits.SUCCESS
        code = exits.print_error(parser.prog, error, getattr(args, 'debug', False))
        return code if failure is None else int(failure)
    finally:
        exits.flush()


def common_first(argv: Sequence[str]) -> list[str]:
    """Return a command line with the common options first.

    They may therefore follow the command.
    """
    first: list[str] = []
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        name, equals, _ = word.partition('=')
        if word == '--':
            rest += [word, *words]
        elif name in _WITH_VALUE and equals:
            first.append(word)
        elif name in _WITH_VALUE:
            first += [word, *itertools.islice(words, 1)]
        elif word == '--debug':
            first.append(word)
        else:
            rest.append(word)
    return [*first, *rest]


def add_command_group(
    parser: Parser, name: str, description: str
) -> 'argparse._SubParsersAction[Any]':
    """Add a group of commands; return the object that its commands are added to."""
    groups = parser.add_subparsers(metavar='GROUP', required=True)
    return groups.add_parser(name, help=description).add_subparsers(
        metavar='COMMAND', required=True
    )


def usage(prog: str, message: str) -> str:
    """Return the message for an invalid command line."""
    return f'{message} (see `{prog} --help`)'


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select the configuration files."""
    group = parser.add_argument_group('configuration')
    add_configuration_options(group)
    add_debug_option(group)


def add_configuration_options(
    parser: argparse._ActionsContainer, shown: str | None = None
) -> None:
    """Add the options for the paths of the configuration files.

    :param shown: their help text; None: the default text
    """
    parser.add_argument(
        '--config-file',
        action='append',
        default=[],
        metavar='FILE',
        help=shown
        or 'read this configuration file instead of the default ones; may be repeated',
    )
    parser.add_argument(
        '--config-dir',
        action='append',
        default=[],
        metavar='DIRECTORY',
        help=shown or 'read the *.conf files in this directory; may be repeated',
    )


def add_debug_option(parser: argparse._ActionsContainer) -> None:
    """Add the option --debug."""
    parser.add_argument(
        '--debug',
        action='store_true',
        help='log to standard error at level DEBUG, and print tracebacks',
    )


def for_configuration(*parsed: argparse.Namespace | None) -> Sequence[str]:
    """Return the configuration arguments of a parsed command line."""
    found = []
    debug = False
    for args in parsed:
        found += [f'--config-file={path}' for path in getattr(args, 'config_file', [])]
        found += [f'--config-dir={path}' for path in getattr(args, 'config_dir', [])]
        debug = debug or getattr(args, 'debug', False)
    return [*found, '--debug'] if debug else found
