"""SQL constructs that each database compiles differently.

Parameters that stand for many values are one parameter: a statement has the same
text for one value and for a thousand, and a server prepares it once.
"""

import datetime
import functools
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.mysql import base as mysql
from sqlalchemy.dialects.mysql import insert as mysql_insert
from sqlalchemy.dialects.postgresql import array as postgresql_array
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import base as sqlite
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.ext import compiler as compiling
from sqlalchemy.sql import functions

from watcherlite.db.sqlalchemy.tables.types import TIME, Convert
from watcherlite.db.sqlalchemy.text import dumps, to_text
from watcherlite.domain.readiness import PRESENT, Rule

Hinted = TypeVar('Hinted', sa.Select[Any], sa.Update, sa.Delete)
_Compiler = Any

#: Numbers and texts that are in the words of a statement, not among its parameters:
#: the condition of a partial index, and the limit of a search that ends at once.
ZERO, ONE = sa.literal_column('0', sa.Integer), sa.literal_column('1', sa.Integer)
EMPTY = sa.literal_column("''", sa.String)
LIMIT = sa.bindparam('limit', type_=sa.Integer)
#: What no row meets. Of `sa.false()` SQLAlchemy leaves nothing beside it, not even the
#: condition of a partial index that the statement names.
NEVER = ONE == ZERO


def constant(text: str) -> sa.ColumnElement[str]:
    """Return a text that is in the words of a statement; no text of a user is."""
    return sa.literal_column(f"'{text}'", sa.String)


def constant_in(
    column: sa.ColumnElement[Any], texts: Iterable[str]
) -> sa.ColumnElement[bool]:
    """Return that a column has one of some texts, each in the words of a statement."""
    return column.in_([constant(text) for text in sorted(texts)])


# the clock of the database


class now(functions.FunctionElement[Any]):
    """The time by the clock of the database, in UTC."""

    type = TIME
    inherit_cache = True


class from_now(functions.FunctionElement[Any]):
    """The time by that clock in some seconds: `from_now(sa.bindparam('lease'))`."""

    type = TIME
    inherit_cache = True


@compiling.compiles(now, 'postgresql')
def _now_postgresql(element: now, compiler: _Compiler, **options: Any) -> str:
    return "(clock_timestamp() AT TIME ZONE 'UTC')"


@compiling.compiles(now, 'mysql')
def _now_mysql(element: now, compiler: _Compiler, **options: Any) -> str:
    return 'utc_timestamp(6)'


@compiling.compiles(now, 'sqlite')
def _now_sqlite(element: now, compiler: _Compiler, **options: Any) -> str:
    # Text, in the form in which times are stored; exact to the millisecond.
    return "strftime('%Y-%m-%d %H:%M:%f000', 'now')"


@compiling.compiles(from_now, 'postgresql')
def _from_now_postgresql(element: from_now, compiler: _Compiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    now_text = _now_postgresql(now(), compiler)
    return f'{now_text} + make_interval(secs => {seconds})'


@compiling.compiles(from_now, 'mysql')
def _from_now_mysql(element: from_now, compiler: _Compiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    return (
        f'utc_timestamp(6) + INTERVAL CAST({seconds} * 1000000 AS SIGNED) MICROSECOND'
    )


@compiling.compiles(from_now, 'sqlite')
def _from_now_sqlite(element: from_now, compiler: _Compiler, **options: Any) -> str:
    seconds = compiler.process(element.clauses, **options)
    return f"strftime('%Y-%m-%d %H:%M:%f000', 'now', {seconds} || ' seconds')"


# one of many


class _IdArray(sa.types.UserDefinedType[Any]):
    """Many ids as one parameter."""

    cache_ok = True

    def bind_processor(self, dialect: sa.Dialect) -> Convert:
        return _ID_ARRAYS[dialect.name]


class _TextArray(sa.types.UserDefinedType[Any]):
    """Many texts as one parameter."""

    cache_ok = True

    def bind_processor(self, dialect: sa.Dialect) -> Convert:
        return _TEXT_ARRAYS[dialect.name]


def _postgresql_ids(values: Iterable[int]) -> str:
    # As text: psycopg would else choose the width of the integers by their values,
    # and prepare the statement anew for each.
    return '{' + ','.join(map(str, values)) + '}'


def _sqlite_array(values: Iterable[Any]) -> str:
    return dumps(list(values))


_ID_ARRAYS: Mapping[str, Convert] = {
    'postgresql': _postgresql_ids,
    'sqlite': _sqlite_array,
    # PyMySQL puts parameters into the text itself: a tuple becomes a list.
    'mysql': tuple,
}
_TEXT_ARRAYS: Mapping[str, Convert] = {
    'postgresql': list,
    'sqlite': _sqlite_array,
    'mysql': tuple,
}


class _OneOf(functions.FunctionElement[Any]):
    """That a column has one of the values of a parameter."""

    inherit_cache = True


class _OneOfIds(_OneOf):
    inherit_cache = True
    array = 'bigint[]'


class _OneOfTexts(_OneOf):
    inherit_cache = True
    array = 'text[]'


def id_in(column: sa.ColumnElement[Any], parameter: str) -> sa.ColumnElement[Any]:
    """Return that an id is one of many, an iterable; MySQL takes at least one."""
    return _OneOfIds(column, sa.bindparam(parameter, type_=_IdArray()))


def text_in(column: sa.ColumnElement[Any], parameter: str) -> sa.ColumnElement[Any]:
    """Return that a text is one of many, likewise."""
    return _OneOfTexts(column, sa.bindparam(parameter, type_=_TextArray()))


def is_only(column: sa.ColumnElement[Any], value: Any) -> sa.ColumnElement[bool]:
    """Return that a column has a value, as PostgreSQL says it of one of many."""
    return column == sa.any_(postgresql_array([value], type_=sa.ARRAY(column.type)))


def _operands(element: _OneOf, compiler: _Compiler, options: Any) -> tuple[str, str]:
    column, values = element.clauses
    return compiler.process(column, **options), compiler.process(values, **options)


@compiling.compiles(_OneOfIds, 'postgresql')
@compiling.compiles(_OneOfTexts, 'postgresql')
def _one_of_postgresql(element: Any, compiler: _Compiler, **options: Any) -> str:
    column, values = _operands(element, compiler, options)
    return f'{column} = ANY (CAST({values} AS {element.array}))'


@compiling.compiles(_OneOfIds, 'sqlite')
@compiling.compiles(_OneOfTexts, 'sqlite')
def _one_of_sqlite(element: Any, compiler: _Compiler, **options: Any) -> str:
    column, values = _operands(element, compiler, options)
    return f'{column} IN (SELECT value FROM json_each({values}))'


@compiling.compiles(_OneOfIds, 'mysql')
@compiling.compiles(_OneOfTexts, 'mysql')
def _one_of_mysql(element: Any, compiler: _Compiler, **options: Any) -> str:
    column, values = _operands(element, compiler, options)
    return f'{column} IN {values}'


# rows as one document


class _Document(sa.types.UserDefinedType[Any]):
    """JSON that was written already."""

    cache_ok = True


class RowSource(sa.TableClause):
    """A table of rows, named `r`, that are handed over as one JSON parameter.

    >>> rows = RowSource(locks.c.target, locks.c.action_id)
    >>> sa.insert(locks).from_select(['target', 'action_id'], sa.select(rows))

    See `Session.execute_rows`. The values are converted as the types of the columns
    say, and their names are those of the columns.

    :param columns: in the order of the values of a row; a label names it otherwise
    :param parameter: the name of the parameter; a statement may have several sources
    """

    inherit_cache = True

    def __init__(
        self, *columns: sa.ColumnElement[Any], parameter: str = 'rows'
    ) -> None:
        # The first letter: ROWS is a reserved word of MySQL.
        super().__init__(parameter[0], *(sa.column(_name(c), c.type) for c in columns))
        self.parameter = parameter
        self._conversions: weakref.WeakKeyDictionary[
            sa.Dialect, list[Convert | None]
        ] = weakref.WeakKeyDictionary()

    def document(self, dialect: sa.Dialect, rows: Sequence[Sequence[Any]]) -> Any:
        """Return the parameter for rows, each with the values of the columns."""
        converts = self._conversions.get(dialect)
        if converts is None:
            converts = [_conversion(column.type, dialect) for column in self.c]
            self._conversions[dialect] = converts
        written = [
            [
                value if convert is None else convert(value)
                for value, convert in zip(row, converts, strict=True)
            ]
            for row in rows
        ]
        if dialect.name == 'sqlite' and len(rows) <= _MOST_VALUES // len(converts):
            return RowValues(self, written)
        if dialect.name != 'postgresql':
            return dumps(written)
        names = [c.name for c in self.c]
        return dumps([dict(zip(names, row, strict=True)) for row in written])


def _name(column: sa.ColumnElement[Any]) -> str:
    name: str = column.name
    return name


def _conversion(kind: sa.types.TypeEngine[Any], dialect: sa.Dialect) -> Convert | None:
    """Return how a value becomes one of JSON; None: it is one."""
    if isinstance(kind, sa.types.TypeDecorator):
        return kind.bind_processor(dialect)
    return None


#: By what types are called in a source of rows: integers, times, and texts.
_SOURCE_TYPES: Mapping[str, tuple[str, str, str]] = {
    'postgresql': ('bigint', 'timestamp', 'text'),
    'mysql': ('BIGINT', 'DATETIME(6)', 'LONGTEXT'),
}


def _source_type(column: sa.ColumnElement[Any], dialect: str) -> str:
    integer, time, text = _SOURCE_TYPES[dialect]
    affinity = column.type._type_affinity
    if affinity is sa.Boolean:
        return 'boolean' if dialect == 'postgresql' else integer
    if affinity is not None and issubclass(affinity, sa.Integer):
        return integer
    return time if affinity is sa.DateTime else text


def _source_parameter(source: RowSource, compiler: _Compiler, options: Any) -> str:
    options.pop('asfrom', None)
    parameter = sa.bindparam(source.parameter, type_=_Document())
    text: str = compiler.process(parameter, **options)
    return text


@compiling.compiles(RowSource, 'postgresql')
def _source_postgresql(source: RowSource, compiler: _Compiler, **options: Any) -> str:
    items = ', '.join(f'{c.name} {_source_type(c, "postgresql")}' for c in source.c)
    parameter = _source_parameter(source, compiler, {})
    return f'json_to_recordset({parameter}) AS {source.name}({items})'


@compiling.compiles(RowSource, 'sqlite')
def _source_sqlite(source: RowSource, compiler: _Compiler, **options: Any) -> str:
    text = _sqlite_document(source)
    parameter = _source_parameter(source, compiler, {})
    return text.replace('?', parameter)


def _sqlite_document(source: RowSource) -> str:
    items = ', '.join(f'value ->> {at} AS {c.name}' for at, c in enumerate(source.c))
    return f'(SELECT {items} FROM json_each(?)) AS {source.name}'


@compiling.compiles(RowSource, 'mysql')
def _source_mysql(source: RowSource, compiler: _Compiler, **options: Any) -> str:
    items = ', '.join(
        f"{column.name} {_source_type(column, 'mysql')} PATH '$[{at}]'"
        for at, column in enumerate(source.c)
    )
    parameter = _source_parameter(source, compiler, {})
    return f"JSON_TABLE({parameter}, '$[*]' COLUMNS ({items})) AS {source.name}"


#: SQLite takes 32766 values in one statement; a few are for its other parameters.
_MOST_VALUES = 32_000


class RowValues:
    """The rows of a source as values of their own, which SQLite takes for less.

    It lives in this process: handing it values costs half of having it read JSON.
    """

    def __init__(self, source: RowSource, rows: Sequence[Sequence[Any]]) -> None:
        # Few sizes, so that the statements stay prepared.
        self.size = 1 << (len(rows) - 1).bit_length()
        self.source = source
        absent = [(None,) * len(source.c)] * (self.size - len(rows))
        self.values = [value for row in (*rows, *absent) for value in row]

    def __len__(self) -> int:
        return len(self.values)


@functools.lru_cache(maxsize=256)
def _with_values(statement: str, source: RowSource, size: int) -> str:
    """Return a statement that reads so many rows as values of their own.

    The first column of a source is never NULL, but in rows that are absent.
    """
    items = ', '.join(f'column{at} AS {c.name}' for at, c in enumerate(source.c, 1))
    row = f'({", ".join("?" * len(source.c))})'
    values = ', '.join([row] * size)
    return statement.replace(
        _sqlite_document(source),
        f'(SELECT {items} FROM (VALUES {values}) WHERE column1 IS NOT NULL) '
        f'AS {source.name}',
    )


def _execute_with_values(
    cursor: Any, statement: str, parameters: Any, _context: Any
) -> bool:
    """Execute a statement that is handed RowValues; return whether it is one."""
    values: list[Any] = []
    text = statement
    for value in parameters or ():
        if type(value) is RowValues:
            text = _with_values(text, value.source, value.size)
            values += value.values
        else:
            values.append(value)
    if text is statement:
        return False
    cursor.execute(text, values)
    return True


# rules


def meets(
    rule: Rule, columns: Mapping[str, sa.ColumnElement[Any]]
) -> sa.ColumnElement[bool]:
    """Return that a row meets a rule of `domain.readiness`.

    :param columns: of the row, or what is to be taken instead of them
    """
    found = [_has(columns[name], wanted) for name, wanted in rule.all_of.items()]
    if rule.any_of:
        ways = (
            sa.and_(*(_has(columns[name], wanted) for name, wanted in each.items()))
            for each in rule.any_of
        )
        found.append(sa.or_(*ways))
    return sa.and_(*found)


def _has(column: sa.ColumnElement[Any], wanted: Any) -> sa.ColumnElement[bool]:
    if wanted is None:
        return column.is_(None)
    if wanted is PRESENT:
        return column.is_not(None)
    if isinstance(wanted, frozenset):
        return constant_in(column, wanted)
    if isinstance(wanted, datetime.datetime):
        return column == constant(to_text(wanted))
    if isinstance(wanted, int):
        return column == sa.literal_column(str(wanted), sa.Integer)
    return column == constant(wanted)


# statements


class InsertIgnore(sa.Insert):
    """An INSERT that leaves out the rows that are there already."""

    inherit_cache = True


def insert_ignore(table: sa.Table) -> InsertIgnore:
    """Return an INSERT that leaves out the rows that are there already."""
    statement = InsertIgnore(table)
    # Inline: what is left out has no id to return.
    statement = statement.inline().prefix_with('OR IGNORE', dialect='sqlite')
    return statement.prefix_with('IGNORE', dialect='mysql')


@compiling.compiles(InsertIgnore, 'postgresql')
def _ignore_postgresql(
    statement: InsertIgnore, compiler: _Compiler, **options: Any
) -> str:
    return f'{compiler.visit_insert(statement, **options)} ON CONFLICT DO NOTHING'


def upserts(
    table: sa.Table, key: str, values: Mapping[str, Any], updated: str
) -> Mapping[str, sa.Insert]:
    """Return, by database, the INSERT of a row that writes a column of one there is.

    :param key: the column that tells them apart
    :param updated: the column that is written
    """
    found: dict[str, sa.Insert] = {
        'mysql': mysql_insert(table)
        .values(values)
        .on_duplicate_key_update({updated: values[updated]})
    }
    for name, insert in (('postgresql', postgresql_insert), ('sqlite', sqlite_insert)):
        statement = insert(table).values(values)
        found[name] = statement.on_conflict_do_update(
            index_elements=[key], set_={updated: statement.excluded[updated]}
        ).returning(table.c.id)
    return found


#: Databases that can be told which index to use -> how.
_HINTS: Mapping[str, str] = {'mysql': 'FORCE INDEX ({})', 'sqlite': 'INDEXED BY {}'}


def use_index(
    statement: Hinted, table: sa.Table, index: str, *databases: str
) -> Hinted:
    """Return a statement that finds the rows of a table by an index.

    :param databases: which of `mysql` and `sqlite` do not find it themselves
    """
    for database in databases:
        hint = _HINTS[database].format(index)
        if isinstance(statement, sa.Select):
            statement = statement.with_hint(table, hint, database)
        else:
            statement = statement.with_hint(hint, table, database)
    return statement


def insert_rows(
    table: sa.Table,
    source: RowSource,
    *,
    ignore: bool = False,
    **computed: sa.ColumnElement[Any],
) -> sa.Insert:
    """Return the INSERT of the rows of a source.

    :param ignore: leave out the rows that are there already
    :param computed: column -> what it gets besides
    """
    names = [*(c.name for c in source.c), *computed]
    statement = insert_ignore(table) if ignore else sa.insert(table)
    return statement.from_select(names, sa.select(*source.c, *computed.values()))


def update_rows(table: sa.Table, source: RowSource, *columns: str) -> sa.Update:
    """Return the UPDATE of rows of a table, found by their ids in a source of rows.

    :param columns: that are written; default: all of the source but the id
    """
    written = columns or [c.name for c in source.c if c.name != 'id']
    values = {name: source.c[name] for name in written}
    return sa.update(table).where(table.c.id == source.c.id).values(values)


class MysqlCompiler(mysql.MySQLCompiler):
    """The compiler for MariaDB and MySQL, which has an UPDATE begin with its source.

    Each row of the source finds its row by its key. Left to itself the server reads a
    small table from end to end, locks all of it on the way, and two transactions that
    have nothing in common are a deadlock.
    """

    def update_tables_clause(
        self, update_stmt: Any, from_table: Any, extra_froms: Any, **kw: Any
    ) -> str:
        tables = super().update_tables_clause(update_stmt, from_table, [], **kw)
        if not extra_froms:
            return tables
        (source,) = extra_froms
        rows = self.process(source, **{**kw, 'asfrom': True})
        return f'{rows} STRAIGHT_JOIN {tables} FORCE INDEX (PRIMARY)'


class SqliteCompiler(sqlite.SQLiteCompiler):
    """The compiler for SQLite, which lets a statement name its index."""

    def get_from_hint_text(self, table: Any, text: str | None) -> str | None:
        return text


#: Compilers that say more than those of SQLAlchemy; see `use_compiler`.
_COMPILERS: Mapping[str, Any] = {
    'mysql': MysqlCompiler,
    'sqlite': SqliteCompiler,
}


def use_compiler(engine: sa.Engine) -> None:
    """Have an engine compile the constructs of this module."""
    dialect = engine.dialect
    dialect.statement_compiler = _COMPILERS.get(
        dialect.name, dialect.statement_compiler
    )
    if dialect.name == 'sqlite':
        sa.event.listen(engine, 'do_execute', _execute_with_values)
