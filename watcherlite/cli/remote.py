"""What the commands that talk to the API have in common.

Whatever takes long to load waits until the command line makes sense.
"""

import abc
import argparse
import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TextIO

from cliff import lister, show
from cliff.formatters import base as formatters
from cliff.formatters import commaseparated

from watcherlite import exceptions
from watcherlite.cli import access, cells
from watcherlite.cli.cells import Column, Row
from watcherlite.cli.command import Command
from watcherlite.cli.output import Output
from watcherlite.cmd import arguments, exits

if TYPE_CHECKING:
    from watcherlite.cli.client import Client

NAME = 'watcherlite'


class Filter(NamedTuple):
    """An option that says which rows of a collection are wanted.

    :param argument: what the API calls it
    """

    option: str
    argument: str
    metavar: str
    help: str

    @property
    def dest(self) -> str:
        return f'filter_{self.argument}'


class Remote(Command):
    """A command that talks to the API.

    :cvar service: the vocabulary that it speaks
    :cvar not_connecting: options of the connection that mean something else here
    """

    service: ClassVar[str] = access.INFRA_OPTIM
    not_connecting: ClassVar[frozenset[str]] = frozenset()

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add where the API is and who asks; the configuration is the daemons'."""
        access.add_options(parser, self.not_connecting)
        arguments.add_debug_option(parser)

    @contextlib.contextmanager
    def client(self, parsed: argparse.Namespace) -> 'Iterator[Client]':
        """Give a client of the API."""
        connecting = {
            name: value
            for name, value in vars(parsed).items()
            if name not in self.not_connecting
        }
        options = access.merged(self.app_args, argparse.Namespace(**connecting))
        found = access.find(options, service=self.service)
        # Loading requests takes as long as all the rest of a command
        from watcherlite.cli import client

        if self.debug(parsed):
            client.log_to(sys.stderr)
        with contextlib.closing(client.Client(found)) as made:
            yield made

    def say(self, text: str) -> None:
        """Show a line on standard error."""
        Output(sys.stderr).line(f'{NAME}: {exits.one_line(text)}')


class Printed:
    """How results are printed: by cliff, all at once, whatever the terminal takes."""

    app: Any
    _formatter_plugins: Any

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = super().get_parser(prog_name)  # type: ignore[misc]
        parser.add_argument(
            '-o',
            '--output',
            dest='formatter',
            choices=sorted(self._formatter_plugins.names()),
            default=argparse.SUPPRESS,
            help='the same as --format',
        )
        return parser

    def produce_output(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str], data: Any
    ) -> int:
        """Print; a reader that goes away is no error."""
        out, self.app.stdout = self.app.stdout, io.StringIO()
        try:
            super().produce_output(parsed_args, column_names, data)  # type: ignore[misc]
            text = self.app.stdout.getvalue()
        finally:
            self.app.stdout = out
        Output(out).write(text)
        return exits.SUCCESS

    def _generate_columns_and_selector(
        self, parsed_args: argparse.Namespace, column_names: Sequence[str]
    ) -> Any:
        try:
            return super()._generate_columns_and_selector(  # type: ignore[misc]
                parsed_args, column_names
            )
        except ValueError:
            raise exits.UsageError(
                f'there is no column {", ".join(parsed_args.columns)}; there are '
                f'{", ".join(column_names)}'
            ) from None


class List(Printed, Remote, lister.Lister):
    """A command that prints rows of a collection.

    :cvar collection: its name in the address
    :cvar columns: those of the list
    :cvar detail_columns: those of --detail
    """

    collection: str
    columns: Sequence[Column]
    detail_columns: Sequence[Column]
    filters: Sequence[Filter] = ()
    has_marker = True

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        for one in self.filters:
            parser.add_argument(
                one.option, dest=one.dest, metavar=one.metavar, help=one.help
            )
        parser.add_argument(
            '--detail', action='store_true', help='show all there is of each'
        )
        parser.add_argument(
            '--limit',
            type=limit,
            metavar='N',
            help='show so many; 0 for all; as many as the API gives at once if not '
            'given',
        )
        parser.add_argument(
            '--sort-key',
            metavar='FIELD',
            help='sort by this field, or column; by age if not given',
        )
        parser.add_argument(
            '--sort-dir', choices=('asc', 'desc'), help='asc if not given'
        )
        if self.has_marker:
            parser.add_argument(
                '--marker', metavar='UUID', help='begin behind this one'
            )
        parser.add_argument(
            '--deleted',
            action='store_true',
            help='show what was deleted, too, until it is purged',
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        """Return the columns and the rows."""
        with self.client(parsed_args) as client:
            rows, more = client.list(
                self.collection,
                *(['detail'] if parsed_args.detail else []),
                query=self.query(parsed_args),
                limit=parsed_args.limit,
                deleted=parsed_args.deleted,
            )
        if more and parsed_args.limit is None:
            self.say(f'these are the first {len(rows)}; --limit 0 shows all')
        columns = self.detail_columns if parsed_args.detail else self.columns
        return table(columns, rows, parsed_args.formatter)

    def query(self, parsed: argparse.Namespace) -> dict[str, Any]:
        """Return the arguments of the request, except those of paging."""
        found = {one.argument: getattr(parsed, one.dest) for one in self.filters}
        found['sort_key'] = self._sort_key(parsed.sort_key)
        found['sort_dir'] = parsed.sort_dir
        found['marker'] = getattr(parsed, 'marker', None)
        return {name: value for name, value in found.items() if value is not None}

    def _sort_key(self, given: str | None) -> str | None:
        """Return the field that is meant; the API knows which it can sort by."""
        for column in (*self.detail_columns, *self.columns):
            if given is not None and column.label.lower() == given.lower():
                return column.field
        return given


class Show(Printed, Remote, show.ShowOne):
    """A command that prints one object.

    :cvar columns: the rows of the output
    """

    columns: Sequence[Column]

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        """Return the columns and the values."""
        with self.client(parsed_args) as client:
            found = self.fetch(client, parsed_args)
        columns = cells.known(self.columns, found)
        return (
            [column.label for column in columns],
            cells.cells(columns, found, parsed_args.formatter),
        )

    @abc.abstractmethod
    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Do what is asked; return what is to be shown."""

    def _load_formatter_plugins(self) -> Any:
        return _WithCsv(super()._load_formatter_plugins())


class ShowFound(Show):
    """A command that prints one object of a collection.

    :cvar identifier: what names it
    """

    collection: str
    identifier: str

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_identifier(parser, self.identifier)
        return parser

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Return the object."""
        return client.get(self.collection, parsed.identifier)


class Update(ShowFound):
    """A command that changes one object by `add|replace|remove path[=value]`.

    :cvar as_text: the attributes whose values are taken as they are written
    """

    as_text: frozenset[str] = frozenset()

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'op', metavar='OP', choices=('add', 'replace', 'remove'), help='what to do'
        )
        parser.add_argument(
            'attributes',
            metavar='PATH=VALUE',
            nargs='+',
            help='what to change; a value is JSON if it can be read as such, else '
            'text; remove takes the PATH alone',
        )
        return parser

    def fetch(self, client: 'Client', parsed: argparse.Namespace) -> Row:
        """Change the object; return it as it is then."""
        changes = [change(parsed.op, text, self.as_text) for text in parsed.attributes]
        return client.patch(self.collection, parsed.identifier, changes=changes)


class Delete(Remote):
    """A command that deletes objects of a collection."""

    collection: str
    identifier: str

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_identifier(parser, self.identifier, nargs='+')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Delete what can be deleted; tell what cannot."""
        with self.client(parsed_args) as client:
            return self.for_each(
                parsed_args,
                lambda identifier: client.delete(self.collection, identifier),
            )

    def for_each(
        self, parsed: argparse.Namespace, call: Callable[[str], object]
    ) -> int:
        """Call for every object that was named; return the exit code."""
        code = exits.SUCCESS
        for identifier in parsed.identifier:
            try:
                call(identifier)
            except exceptions.ApiUnavailable:
                raise
            except exceptions.WatcherliteError as error:
                found = exits.tell(NAME, error, self.debug(parsed))
                code = code or found
        return code


class _WithCsv:
    """The formatters of one object, and csv, which cliff has for lists only."""

    def __init__(self, loaded: Any) -> None:
        self._loaded = {found.name: found for found in loaded}
        self._loaded['csv'] = _Loaded('csv', _CsvOne())

    def names(self) -> list[str]:
        return list(self._loaded)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._loaded.values())

    def __getitem__(self, name: str) -> Any:
        return self._loaded[name]


class _Loaded:
    """A formatter in the shape in which cliff finds the others."""

    def __init__(self, name: str, obj: formatters.SingleFormatter) -> None:
        self.name = name
        self.obj = obj


class _CsvOne(commaseparated.CSVLister, formatters.SingleFormatter):
    """One object as a heading and a line."""

    def emit_one(
        self,
        column_names: Sequence[str],
        data: Sequence[Any],
        stdout: TextIO,
        parsed_args: argparse.Namespace,
    ) -> None:
        self.emit_list(column_names, [data], stdout, parsed_args)


def table(
    columns: Sequence[Column], rows: Sequence[Row], formatter: str
) -> tuple[Sequence[str], list[list[Any]]]:
    """Return headings and rows; without what an early version does not tell."""
    shown = cells.known(columns, rows[0]) if rows else list(columns)
    return (
        [column.label for column in shown],
        [cells.cells(shown, row, formatter) for row in rows],
    )


def add_identifier(
    parser: argparse.ArgumentParser, identifier: str, nargs: str | None = None
) -> None:
    """Add the argument that says which object is meant.

    :param identifier: `UUID`, or `UUID or name`
    """
    parser.add_argument(
        'identifier',
        metavar=identifier.split()[0] if ' ' not in identifier else 'ID',
        nargs=nargs,
        help=f'{identifier} of the object',
    )


def change(op: str, text: str, as_text: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return a line of a patch: `name=x` adds or replaces, `name` removes.

    :param as_text: the attributes whose values are taken as they are written
    :raises UsageError: there is no value
    """
    if op == 'remove':
        return {'op': op, 'path': f'/{text.removeprefix("/")}'}
    name, value = assignment(text, as_text)
    return {'op': op, 'path': f'/{name}', 'value': value}


def assignment(text: str, as_text: frozenset[str] = frozenset()) -> tuple[str, Any]:
    """Return the name and the value of `name=value`; UsageError without an `=`."""
    name, equals, value = text.partition('=')
    name = name.removeprefix('/')
    if not equals or not name:
        raise exits.UsageError(f'{text!r} is not of the form NAME=VALUE')
    if name in as_text:
        return name, value
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def parameters(texts: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that `name=value` each say; the last one counts."""
    return dict(assignment(text) for text in texts)


def intermixed(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return a parser that also takes a last, optional argument behind options."""
    parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
    return parser


def limit(text: str) -> int:
    """Return a number of rows; 0 stands for all."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a number of rows; 0 stands for all'
        )
    return number
