"""SQL constructs that each database compiles differently.

A list of values is one parameter: a statement has the same text for one value and for a
thousand, and a server prepares it once.
"""

import datetime
import functools
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

from watcherlite.db.sqlalchemy.tables.types import TIME, Convert, Converted
from watcherlite.db.sqlalchemy.text import dumps, to_text
from watcherlite.domain.readiness import PRESENT, Rule

Hinted = TypeVar('Hinted', sa.Select[Any], sa.Update, sa.Delete)
_Compiler = Any

#: Literals of a statement, not parameters: the condition of a partial index must be
#: literal, and so must a limit that the planner is to take into account.
ZERO, ONE = sa.literal_column('0', sa.Integer), sa.literal_column('1', sa.Integer)
EMPTY = sa.literal_column("''", sa.String)
LIMIT = sa.bindparam('limit', type_=sa.Integer)
#: The condition that no row meets. SQLAlchemy would remove the conditions beside
#: `sa.false()`, including that of a partial index which the statement names.
NEVER = ONE == ZERO
#: The largest id and event sequence on any database.
LAST_ID = 2**63 - 1


def number(value: int) -> sa.ColumnElement[int]:
    """Return an integer literal."""
    return sa.literal_column(str(value), sa.Integer)


def constant(text: str) -> sa.ColumnElement[str]:
    """Return a text literal; never use it for the input of a user."""
    return sa.literal_column(f"'{text}'", sa.String)


def constant_in(
    column: sa.ColumnElement[Any], texts: Iterable[str]
) -> sa.ColumnElement[bool]:
    """Return the condition that a column has one of some text literals."""
    return column.in_([constant(text) for text in sorted(texts)])


def ordered(
    terms: Iterable[tuple[sa.ColumnElement[Any], bool]],
) -> list[sa.ColumnElement[Any]]:
    """Return the terms of an ORDER BY; each is (expression, descending)."""
    return [term.desc() if descending else term.asc() for term, descending in terms]


def union_of_selects(selects: Iterable[sa.Select[Any]]) -> sa.CompoundSelect[Any]:
    """Return the UNION ALL of SELECTs, each of which has its own ORDER BY and LIMIT.

    As subqueries, because SQLite accepts neither clause in a part of a UNION.
    """
    return sa.union_all(
        *(
            sa.select(select.subquery(f'scan_{position}'))
            for position, select in enumerate(selects)
        )
    )


class now(functions.FunctionElement[Any]):
    """The time of the database, in UTC."""

    type = TIME
    inherit_cache = True


class from_now(functions.FunctionElement[Any]):
    """The time of the database plus seconds: `from_now(sa.bindparam('lease'))`."""

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
    # In the text form of stored times; exact to the millisecond.
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
    # As text: psycopg would choose the integer type by the values, and prepare the
    # statement again for each type.
    return '{' + ','.join(map(str, values)) + '}'


def _sqlite_array(values: Iterable[Any]) -> str:
    return dumps(list(values))


_ID_ARRAYS: Mapping[str, Convert] = {
    'postgresql': _postgresql_ids,
    'sqlite': _sqlite_array,
    # PyMySQL formats a tuple as a list of values.
    'mysql': tuple,
}
_TEXT_ARRAYS: Mapping[str, Convert] = {
    'postgresql': list,
    'sqlite': _sqlite_array,
    'mysql': tuple,
}


class _OneOf(functions.FunctionElement[Any]):
    """The condition that a column has one of the values of a parameter."""

    inherit_cache = True


class _OneOfIds(_OneOf):
    inherit_cache = True
    array = 'bigint[]'


class _OneOfTexts(_OneOf):
    inherit_cache = True
    array = 'text[]'


def id_in(column: sa.ColumnElement[Any], parameter: str) -> sa.ColumnElement[Any]:
    """Return the condition that an id is in an iterable; not empty on MySQL."""
    return _OneOfIds(column, sa.bindparam(parameter, type_=_IdArray()))


def text_in(column: sa.ColumnElement[Any], parameter: str) -> sa.ColumnElement[Any]:
    """Return the condition that a text is in an iterable; not empty on MySQL."""
    return _OneOfTexts(column, sa.bindparam(parameter, type_=_TextArray()))


def is_only(column: sa.ColumnElement[Any], value: Any) -> sa.ColumnElement[bool]:
    """Return a comparison of a column with an array of one value, on PostgreSQL."""
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


class _Document(sa.types.UserDefinedType[Any]):
    """A serialized JSON document."""

    cache_ok = True


class RowSource(sa.TableClause):
    """A table of rows that are passed as one JSON parameter.

    >>> rows = RowSource(locks.c.target, locks.c.action_id)
    >>> sa.insert(locks).from_select(['target', 'action_id'], sa.select(rows))

    See `Session.execute_rows`. The types of the columns convert the values.

    :param columns: in the order of the values of a row; a label changes the name
    :param parameter: the name of the parameter; its first letter names the table. A
        statement may have several sources
    """

    inherit_cache = True

    def __init__(
        self, *columns: sa.ColumnElement[Any], parameter: str = 'rows'
    ) -> None:
        # The first letter: ROWS is a reserved word of MySQL.
        super().__init__(parameter[0], *(sa.column(_name(c), c.type) for c in columns))
        self.parameter = parameter
        self._conversions: weakref.WeakKeyDictionary[
            sa.Dialect, list[tuple[int, Convert]]
        ] = weakref.WeakKeyDictionary()

    def convert(
        self, dialect: sa.Dialect, rows: Sequence[Sequence[Any]]
    ) -> list[list[Any]]:
        """Return rows with the values that the database has."""
        conversions = self._conversions.get(dialect)
        if conversions is None:
            conversions = list(_conversions(self.c, dialect))
            self._conversions[dialect] = conversions
        written = [list(row) for row in rows]
        for at, convert in conversions:
            for row in written:
                if row[at] is not None:
                    row[at] = convert(row[at])
        return written

    def document(self, dialect: sa.Dialect, rows: Sequence[Sequence[Any]]) -> Any:
        """Return the parameter for rows, each with the values of the columns."""
        written = self.convert(dialect, rows)
        if (
            dialect.name == 'sqlite'
            and _padded(len(rows)) * len(self.c) <= _MOST_VALUES
        ):
            return RowValues(self, written)
        if dialect.name != 'postgresql':
            return dumps(written)
        names = [c.name for c in self.c]
        return dumps([dict(zip(names, row, strict=True)) for row in written])


def _name(column: sa.ColumnElement[Any]) -> str:
    name: str = column.name
    return name


def _conversions(
    columns: Iterable[sa.ColumnElement[Any]], dialect: sa.Dialect
) -> Iterator[tuple[int, Convert]]:
    """Yield the conversions of values that are not None, by columns."""
    for at, column in enumerate(columns):
        if isinstance(column.type, Converted):
            convert = column.type.to_database(dialect)
            if convert is not None:
                yield at, convert


#: The names of the types of integers, times and texts in a source of rows.
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


#: SQLite accepts 32766 values in one statement; some are for other parameters.
_MOST_VALUES = 32_000


def _padded(count: int) -> int:
    """Return a number of rows as a power of two: few statements are prepared."""
    return 1 << (count - 1).bit_length()


class RowValues:
    """The rows of a source as separate values, for SQLite.

    As SQLite runs in this process, values cost half as much as a JSON document.
    """

    def __init__(self, source: RowSource, rows: Sequence[Sequence[Any]]) -> None:
        self.size = _padded(len(rows))
        self.source = source
        absent = [(None,) * len(source.c)] * (self.size - len(rows))
        self.values = [value for row in (*rows, *absent) for value in row]

    def __len__(self) -> int:
        return len(self.values)


@functools.lru_cache(maxsize=256)
def _with_values(statement: str, source: RowSource, size: int) -> str:
    """Return a statement that reads a number of rows as separate values.

    The first column of a source is NULL only in rows that fill up the number.
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
    """Execute a statement with RowValues; return whether it has any."""
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


def meets(
    rule: Rule, columns: Mapping[str, sa.ColumnElement[Any]]
) -> sa.ColumnElement[bool]:
    """Return the condition that a row meets a rule of `domain.readiness`.

    :param columns: the columns of the row, or expressions instead of them
    """
    found = [_has(columns[name], desired) for name, desired in rule.all_of.items()]
    if rule.any_of:
        ways = (
            sa.and_(*(_has(columns[name], desired) for name, desired in each.items()))
            for each in rule.any_of
        )
        found.append(sa.or_(*ways))
    return sa.and_(*found)


def _has(column: sa.ColumnElement[Any], desired: Any) -> sa.ColumnElement[bool]:
    if desired is None:
        return column.is_(None)
    if desired is PRESENT:
        return column.is_not(None)
    if isinstance(desired, frozenset):
        return constant_in(column, desired)
    if isinstance(desired, datetime.datetime):
        return column == constant(to_text(desired))
    if isinstance(desired, int):
        return column == sa.literal_column(str(desired), sa.Integer)
    return column == constant(desired)


class InsertIgnore(sa.Insert):
    """An INSERT that skips rows whose key exists."""

    inherit_cache = True


def insert_ignore(table: sa.Table) -> InsertIgnore:
    """Return an INSERT that skips rows whose key exists."""
    statement = InsertIgnore(table)
    # Inline: a skipped row has no id to return.
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
    """Return, by database, an INSERT that updates a column if the key exists.

    :param key: the unique column
    :param updated: the column to update
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


#: Databases with index hints -> the hint.
_HINTS: Mapping[str, str] = {'mysql': 'FORCE INDEX ({})', 'sqlite': 'INDEXED BY {}'}


def use_index(
    statement: Hinted, table: sa.Table, index: str, *databases: str
) -> Hinted:
    """Return a statement with an index hint.

    :param databases: those of `mysql` and `sqlite` whose planner needs the hint
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

    :param ignore: skip rows whose key exists
    :param computed: further columns -> their expressions
    """
    names = [*(c.name for c in source.c), *computed]
    statement = insert_ignore(table) if ignore else sa.insert(table)
    return statement.from_select(names, sa.select(*source.c, *computed.values()))


def update_rows(table: sa.Table, source: RowSource, *columns: str) -> sa.Update:
    """Return the UPDATE of the rows with the ids in a source.

    :param columns: the columns to write; default: all of the source but the id
    """
    written = columns or [c.name for c in source.c if c.name != 'id']
    values = {name: source.c[name] for name in written}
    return sa.update(table).where(table.c.id == source.c.id).values(values)


class MysqlCompiler(mysql.MySQLCompiler):
    """The compiler for MariaDB and MySQL, which puts the source of an UPDATE first.

    Each row of the source then finds its row by the primary key. Otherwise the server
    scans a small table and locks all its rows, so that unrelated transactions deadlock.
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
    """The compiler for SQLite, which supports index hints."""

    def get_from_hint_text(self, table: Any, text: str | None) -> str | None:
        return text


#: The compilers that replace those of SQLAlchemy; see `use_compiler`.
_COMPILERS: Mapping[str, Any] = {'mysql': MysqlCompiler, 'sqlite': SqliteCompiler}


def use_compiler(engine: sa.Engine) -> None:
    """Make an engine compile the constructs of this module."""
    dialect = engine.dialect
    dialect.statement_compiler = _COMPILERS.get(
        dialect.name, dialect.statement_compiler
    )
    if dialect.name == 'sqlite':
        sa.event.listen(engine, 'do_execute', _execute_with_values)
