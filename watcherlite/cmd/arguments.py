"""What the command lines of all commands have in common."""

import argparse
import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from watcherlite.cmd import exits


class Parser(argparse.ArgumentParser):
    """A parser that raises what is wrong, so that it is one line like all errors."""

    def error(self, message: str) -> NoReturn:
        raise exits.UsageError(usage(self.prog, message))


def command(prog: str, description: str) -> Parser:
    """Return the parser of a command, with the options that all commands have."""
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
    """Do what a command line asks for; return the exit code.

    :param argv: None: that of this process
    :param failure: the exit code of whatever goes wrong; None: see `exits`
    """
    args: argparse.Namespace | None = None
    try:
        args = parser.parse_args(argv)
        return work(args)
    except (Exception, KeyboardInterrupt) as error:
        code = exits.tell(parser.prog, error, getattr(args, 'debug', False))
        return code if failure is None else int(failure)


def add_part(parser: Parser, name: str, said: str) -> 'argparse._SubParsersAction[Any]':
    """Add the first word of what a command can do; return where to add the second."""
    parts = parser.add_subparsers(metavar='PART', required=True)
    return parts.add_parser(name, help=said).add_subparsers(
        metavar='ACTION', required=True
    )


def usage(prog: str, message: str) -> str:
    """Return what to say of a wrong command line."""
    return f'{message} (see `{prog} --help`)'


def add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which configuration to read."""
    group = parser.add_argument_group('configuration')
    group.add_argument(
        '--config-file',
        action='append',
        default=[],
        metavar='FILE',
        help='read this ini file, and not those of the usual places; may be repeated',
    )
    group.add_argument(
        '--config-dir',
        action='append',
        default=[],
        metavar='DIRECTORY',
        help='read the *.conf files of this directory; may be repeated',
    )
    add_debug_option(group)


def add_debug_option(parser: argparse._ActionsContainer) -> None:
    """Add the option that says to tell more of what goes on."""
    parser.add_argument(
        '--debug',
        action='store_true',
        help='log everything to standard error, and show where an error came from',
    )


def for_configuration(*parsed: argparse.Namespace | None) -> Sequence[str]:
    """Return what of parsed command lines the configuration is to be made from."""
    found = []
    debug = False
    for args in parsed:
        found += [f'--config-file={path}' for path in getattr(args, 'config_file', [])]
        found += [f'--config-dir={path}' for path in getattr(args, 'config_dir', [])]
        debug = debug or getattr(args, 'debug', False)
    return [*found, '--debug'] if debug else found
