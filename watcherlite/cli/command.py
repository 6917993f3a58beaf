"""The base class of all commands: common options, configuration and help."""

import argparse
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from cliff import command

from watcherlite.cli import examples
from watcherlite.cmd import arguments, exits

if TYPE_CHECKING:
    from cliff.app import App

    from watcherlite.conf import Configuration


#: Adds an argument or an option to the parser of a command.
Declaration = Callable[[argparse.ArgumentParser, Any], object]
Declarations = Sequence[Declaration]


def argument(dest: str, metavar: str, text: str, **keywords: Any) -> Declaration:
    """Return the declaration of a positional argument."""
    return lambda parser, _: parser.add_argument(
        dest, metavar=metavar, help=text, **keywords
    )


def option(names: str, metavar: str | None, text: str, **keywords: Any) -> Declaration:
    """Return the declaration of an option: `-t --template`, FILE, its help."""
    return lambda parser, _: parser.add_argument(
        *names.split(), metavar=metavar, help=text, **keywords
    )


def repeated(names: str, metavar: str, text: str, **keywords: Any) -> Declaration:
    """Return the declaration of an option that may be repeated."""
    return option(names, metavar, text, action='append', **keywords)


def flag(names: str, text: str, **keywords: Any) -> Declaration:
    """Return the declaration of an option without a value."""
    return lambda parser, _: parser.add_argument(
        *names.split(), help=text, **{'action': 'store_true', **keywords}
    )


def choice(
    names: str, choices: Sequence[str], text: str, **keywords: Any
) -> Declaration:
    """Return the declaration of an argument or option with fixed choices."""
    return lambda parser, _: parser.add_argument(
        *names.split(), choices=choices, help=text, **keywords
    )


def exclusive(*declared: Declaration, required: bool = False) -> Declaration:
    """Return the declaration of mutually exclusive options."""

    def declare(parser: argparse.ArgumentParser, made: Any) -> None:
        group: Any = parser.add_mutually_exclusive_group(required=required)
        for one in declared:
            one(group, made)

    return declare


class Command(command.Command):
    """A command; `take_action` returns its exit code.

    :cvar arguments: the arguments and options that a class adds to those of its bases

    Expensive modules, for example the database, are imported in `take_action`, so that
    help and usage errors are fast.
    """

    arguments: Declarations = ()

    def __init__(self, app: 'App', app_args: argparse.Namespace | None) -> None:
        # Without a name: cliff searches all distributions for hooks of a named command.
        super().__init__(app, app_args)
        self._program = ''

    def get_epilog(self) -> str:
        """Return '': the epilog of cliff reads the metadata of all distributions."""
        return ''

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)

        def error(message: str) -> NoReturn:
            raise self.usage_error(message)

        self._program = prog_name
        # cliff creates the parser and has no option for its class.
        vars(parser).update(
            error=error,
            format_usage=functools.partial(format_usage, parser),
            format_help=functools.partial(format_help, parser),
        )
        self.add_options(parser)
        for kind in reversed(type(self).__mro__):
            for declare in vars(kind).get('arguments', ()):
                declare(parser, self)
        return parser

    def usage_error(self, message: str) -> exits.UsageError:
        """Return the error for an invalid command line; it refers to the help."""
        return exits.UsageError(arguments.usage(self._program, message))

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the common options of a kind of commands."""
        arguments.add_common_options(parser)

    def configuration_arguments(self, parsed: argparse.Namespace) -> Sequence[str]:
        """Return the configuration arguments of the command line."""
        return arguments.for_configuration(self.app_args, parsed)

    def configuration(self, parsed: argparse.Namespace) -> 'Configuration':
        """Return the configuration; raises ConfigurationError."""
        # Importing oslo.config takes 0.1 seconds; help does not need it.
        from watcherlite import conf

        return conf.new(self.configuration_arguments(parsed))

    def debug(self, parsed: argparse.Namespace) -> bool:
        return '--debug' in self.configuration_arguments(parsed)


def format_usage(parser: argparse.ArgumentParser) -> str:
    """Return the usage line with the command's own options only."""
    formatter = parser._get_formatter()
    own = [*parser._optionals._group_actions, *parser._positionals._group_actions]
    groups = [
        group
        for group in parser._mutually_exclusive_groups
        if all(action in own for action in group._group_actions)
    ]
    formatter.add_usage(parser.usage, own, groups)
    return formatter.format_help()


def format_help(parser: argparse.ArgumentParser) -> str:
    """Return the help: own arguments and options, an example, shared options."""
    formatter = parser._get_formatter()
    formatter.add_text(parser.description)
    own = [parser._positionals, parser._optionals]
    for group in own:
        _add_group(formatter, group)
    example = examples.example_of(parser.prog)
    if example is not None:
        formatter.start_section('example')
        # On one line: the formatter would wrap it.
        formatter._add_item(lambda: f'  $ {example}\n', [])
        formatter.end_section()
    for group in parser._action_groups:
        if group not in own:
            _add_group(formatter, group)
    formatter.add_text(parser.epilog)
    return f'{format_usage(parser)}\n{formatter.format_help()}'


def _add_group(
    formatter: argparse.HelpFormatter, group: argparse._ArgumentGroup
) -> None:
    formatter.start_section(group.title)
    formatter.add_text(group.description)
    formatter.add_arguments(group._group_actions)
    formatter.end_section()
