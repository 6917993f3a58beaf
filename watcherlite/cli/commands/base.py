"""Base classes of the commands that talk to the API.

Modules that are slow to import are imported after the command line is parsed.
"""

import abc
import argparse
import contextlib
import functools
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TextIO

from cliff import lister, show
from cliff.formatters import base as formatters
from cliff.formatters import commaseparated

from watcherlite import exceptions
from watcherlite.cli import formatting
from watcherlite.cli.command import (
    Command,
    Declarations,
    argument,
    choice,
    flag,
    option,
)
from watcherlite.cli.formatting import Column, Row
from watcherlite.cli.http import access
from watcherlite.cli.output import Output
from watcherlite.cmd import arguments, exits

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

NAME = 'watcherlite'


class Filter(NamedTuple):
    """An option that filters the rows of a collection.

    :param argument: its name in the API
    """

    option: str
    argument: str
    metavar: str
    help: str

    @property
    def dest(self) -> str:
        return f'filter_{self.argument}'


def limit(text: str) -> int:
    """Return a maximum number of rows; 0: all."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a number of rows; use 0 for all'
        )
    return number


def identifier_argument(
    parser: argparse.ArgumentParser, command: Any, nargs: str | None = None
) -> None:
    """Add the argument that identifies the object."""
    argument('identifier', command.metavar, command.identifier, nargs=nargs)(
        parser, command
    )


identifiers_argument = functools.partial(identifier_argument, nargs='+')


def add_filters(parser: argparse.ArgumentParser, command: Any) -> None:
    """Add the options of the filters of a list."""
    repeats = command.repeats_filters
    for one in command.filters:
        parser.add_argument(
            one.option,
            dest=one.dest,
            metavar=one.metavar,
            help=f'{one.help}; may be repeated' if repeats else one.help,
            action='append' if repeats else 'store',
        )


LIMIT = option(
    '--limit',
    'N',
    'maximum number of rows; 0: all; default: one page of the API',
    type=limit,
)
#: Filters of several lists.
BY_AUDIT = Filter(
    '--audit', 'audit_uuid', 'UUID', 'filter by the audit that proposed the plan'
)
BY_NAME = Filter('--name', 'name', 'NAME', 'filter by name')
BY_STATE = Filter('--state', 'state', 'STATE', 'filter by state')
BY_STATUS = Filter('--status', 'status', 'STATUS', 'filter by status')
BY_GOAL = Filter('--goal', 'goal', 'GOAL', 'filter by goal: UUID or name')
BY_STRATEGY = Filter(
    '--strategy', 'strategy', 'STRATEGY', 'filter by strategy: UUID or name'
)
#: Filters of lists that can be searched.
SEARCH = (
    Filter('--text', 'text', 'TEXT', 'filter by a part of a name, message or UUID'),
    Filter('--user', 'user', 'ID', 'filter by the user who created it'),
    Filter('--since', 'since', 'TIME', 'created at this time or later, in UTC'),
    Filter('--until', 'until', 'TIME', 'created at this time or earlier, in UTC'),
)
LONG = flag('--long', 'show more columns')
YES = flag('-y --yes', 'do not ask for confirmation')


class Remote(Command):
    """A command that talks to the API.

    :cvar service: the service type
    :cvar not_connecting: options of the connection with another meaning here
    :cvar collection: the name of the objects' collection in the URL
    :cvar metavar: the name of the argument that identifies an object
    :cvar identifier: its help
    :cvar listed: the columns of a list of these objects
    :cvar columns: the columns of one object, or those of the command
    """

    service: ClassVar[str] = access.INFRA_OPTIM
    not_connecting: ClassVar[frozenset[str]] = frozenset()
    collection: ClassVar[str]
    metavar: ClassVar[str] = 'ID'
    identifier: ClassVar[str] = 'UUID or name of the object'
    listed: ClassVar[Sequence[Column]]
    columns: ClassVar[Sequence[Column]]

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the connection; the configuration is for daemons."""
        access.add_options(parser, self.not_connecting)
        arguments.add_debug_option(parser.add_argument_group('diagnostics'))
        # Accepted but ignored: the options are valid before every command.
        arguments.add_configuration_options(parser, argparse.SUPPRESS)

    def api(self, client: 'Client') -> Any:
        """Return the API of the command."""
        return client

    @contextlib.contextmanager
    def connect(self, parsed: argparse.Namespace) -> Iterator[Any]:
        """Yield `api` of a client, and close the client."""
        connecting = {
            name: value
            for name, value in vars(parsed).items()
            if name not in self.not_connecting
        }
        options = access.merge_options(self.app_args, argparse.Namespace(**connecting))
        found = access.find(options, service=self.service)
        # Importing requests takes as long as the rest of a command.
        from watcherlite.cli.http import client

        if self.debug(parsed):
            client.log_to(sys.stderr)
        with contextlib.closing(client.Client(found)) as made:
            yield self.api(made)

    def for_each(
        self,
        names: Iterable[str],
        call: Callable[[str], object],
        parsed: argparse.Namespace,
    ) -> int:
        """Call a function for each name; report errors, return the first exit code."""
        code = exits.SUCCESS
        for name in names:
            try:
                call(name)
            except exceptions.ApiUnavailable:
                raise
            except exceptions.WatcherliteError as error:
                reported = exits.print_error(NAME, error, self.debug(parsed))
                code = code or reported
        return code

    def print_message(self, text: str) -> None:
        """Show a line on standard error."""
        Output(sys.stderr).line(f'{NAME}: {exits.one_line(text)}')


class PrintedResult:
    """Prints results by cliff, at once and in any encoding."""

    app: Any
    _formatter_plugins: Any
    _formatter_group: Any
    _normalize_column_name: Any

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = super().get_parser(prog_name)  # type: ignore[misc]
        self._formatter_group.add_argument(
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
        """Print the result; a closed pipe is no error."""
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
        normalized = self._normalize_column_name
        known = {normalized(name) for name in column_names}
        unknown = [c for c in parsed_args.columns if normalized(c) not in known]
        if unknown:
            # cliff ignores them unless there are no others.
            raise exits.UsageError(
                f'unknown column {", ".join(unknown)}; the columns are '
                f'{", ".join(column_names)}'
            )
        return super()._generate_columns_and_selector(  # type: ignore[misc]
            parsed_args, column_names
        )


class Rows(PrintedResult, Remote, lister.Lister):
    """A command that prints a table.

    :cvar filters: the options that filter the rows
    :cvar repeats_filters: whether the filters may be repeated
    """

    filters: Sequence[Filter] = ()
    repeats_filters = False

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Iterable[Sequence[Any]]]:
        with self.connect(parsed_args) as api:
            rows = self.rows(api, parsed_args)
        columns = self.columns_of(parsed_args, rows)
        # An early API version does not know all columns.
        shown = formatting.supported_columns(columns, rows[0]) if rows else columns
        return (
            [column.label for column in shown],
            [formatting.cells(shown, row, parsed_args.formatter) for row in rows],
        )

    @abc.abstractmethod
    def rows(self, api: Any, parsed: argparse.Namespace) -> Sequence[Row]:
        """Send the request; return the rows."""

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        """Return the columns of these rows."""
        return self.columns

    def first_page(
        self, page: tuple[Sequence[Row], bool], parsed: argparse.Namespace
    ) -> Sequence[Row]:
        """Return the rows of a list; report that there are more.

        :param page: the rows, and whether there are more
        """
        rows, more = page
        if more and parsed.limit is None:
            self.print_message(
                f'only the first {len(rows)} rows are shown; --limit 0 shows all'
            )
        return rows


def _add_marker(parser: argparse.ArgumentParser, command: Any) -> None:
    if command.has_marker:
        option('--marker', 'UUID', 'list the rows after this one')(parser, command)


class List(Rows):
    """A command that prints rows of a collection.

    :cvar needs_details: whether columns of `listed` are in detailed lists only
    """

    has_marker = True
    needs_details = False
    arguments = (
        add_filters,
        flag('--detail', 'show all columns'),
        LIMIT,
        option(
            '--sort-key', 'FIELD', 'field or column to sort by; default: creation order'
        ),
        choice('--sort-dir', ('asc', 'desc'), 'sort direction; default: asc'),
        _add_marker,
        flag('--deleted', 'include deleted rows that are not purged yet'),
    )

    def rows(self, api: 'Client', parsed: argparse.Namespace) -> Sequence[Row]:
        detail = parsed.detail or self.needs_details
        path = [self.collection, *(['detail'] if detail else [])]
        query = {
            **filter_query(self.filters, parsed),
            'sort_key': self._sort_key(parsed.sort_key),
            'sort_dir': parsed.sort_dir,
            'marker': getattr(parsed, 'marker', None),
        }
        found = api.list(
            *path, query=drop_none(query), limit=parsed.limit, deleted=parsed.deleted
        )
        return self.first_page(found, parsed)

    def columns_of(
        self, parsed: argparse.Namespace, rows: Sequence[Row]
    ) -> Sequence[Column]:
        return self.columns if parsed.detail else self.listed

    def _sort_key(self, given: str | None) -> str | None:
        """Return the field of a name or heading; the API validates it."""
        for column in (*self.columns, *self.listed):
            if given is not None and column.label.lower() == given.lower():
                return column.field
        return given


class Show(PrintedResult, Remote, show.ShowOne):
    """A command that prints one object."""

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[Sequence[str], Sequence[Any]]:
        with self.connect(parsed_args) as api:
            found = self.fetch(api, parsed_args)
        columns = formatting.supported_columns(self.columns, found)
        return (
            [column.label for column in columns],
            formatting.cells(columns, found, parsed_args.formatter),
        )

    @abc.abstractmethod
    def fetch(self, api: Any, parsed: argparse.Namespace) -> Row:
        """Send the request; return the object to print."""

    def _load_formatter_plugins(self) -> Any:
        found: Any = super()._load_formatter_plugins()
        # cliff has csv only for lists
        found.extensions.append(_Loaded('csv', _CsvOne()))
        return found


class ShowFound(Show):
    """A command that prints one object of a collection."""

    arguments: Declarations = (identifier_argument,)

    def fetch(self, api: Any, parsed: argparse.Namespace) -> Row:
        return api.get(self.collection, parsed.identifier)


class Update(ShowFound):
    """A command that changes one object by `add|replace|remove path[=value]`.

    :cvar as_text: the attributes whose values are not parsed as JSON
    """

    as_text: frozenset[str] = frozenset()
    arguments = (
        argument(
            'op',
            'OP',
            'operation on the attributes',
            choices=('add', 'replace', 'remove'),
        ),
        argument(
            'attributes',
            'PATH=VALUE',
            'attributes to change; a value is parsed as JSON if possible, '
            'otherwise it is text; remove takes only the PATH',
            nargs='+',
        ),
    )

    def fetch(self, api: 'Client', parsed: argparse.Namespace) -> Row:
        changes = [change(parsed.op, text, self.as_text) for text in parsed.attributes]
        return api.patch(self.collection, parsed.identifier, changes=changes)


class Delete(Remote):
    """A command that deletes objects of a collection."""

    arguments: Declarations = (identifiers_argument,)

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        with self.connect(parsed_args) as api:
            delete = functools.partial(api.delete, self.collection)
            return self.for_each(parsed_args.identifier, delete, parsed_args)


class _Loaded(NamedTuple):
    """A formatter with the attributes of a stevedore extension."""

    name: str
    obj: formatters.SingleFormatter


class _CsvOne(commaseparated.CSVLister, formatters.SingleFormatter):
    """Prints one object as a heading and a line."""

    def emit_one(
        self,
        column_names: Sequence[str],
        data: Sequence[Any],
        stdout: TextIO,
        parsed_args: argparse.Namespace,
    ) -> None:
        self.emit_list(column_names, [data], stdout, parsed_args)


def filter_query(
    filters: Iterable[Filter], parsed: argparse.Namespace
) -> dict[str, Any]:
    """Return the request arguments of the given filters."""
    return drop_none({one.argument: getattr(parsed, one.dest) for one in filters})


def drop_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def change(op: str, text: str, as_text: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return an operation of a JSON patch: `name=x` adds or replaces, `name` removes.

    :param as_text: the attributes whose values are not parsed as JSON
    :raises UsageError: the value is missing
    """
    if op == 'remove':
        return {'op': op, 'path': f'/{text.removeprefix("/")}'}
    name, value = assignment(text, as_text)
    return {'op': op, 'path': f'/{name}', 'value': value}


def assignment(text: str, as_text: frozenset[str] = frozenset()) -> tuple[str, Any]:
    """Return the name and the value of `name=value`; UsageError without `=`."""
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
    """Return the parameters in `name=value` texts; the last one wins."""
    return dict(assignment(text) for text in texts)


def allow_intermixed(parser: argparse.ArgumentParser, command: Any) -> None:
    """Let a parser accept its last, optional argument after options."""
    parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
