"""SQL dialect differences between the databases.

Statements are written once, in the SQL that PostgreSQL and SQLite share, with
`:name` for parameters and a few words in capitals for the rest. A dialect
translates each of them once.

| word | meaning |
| --- | --- |
| `IN_IDS(:x)`, `IN_TEXTS(:x)` | is one of many, given as ONE parameter |
| `ROWS(:rows)` | a table `r` of rows, given as ONE parameter: see `Batch` |
| `NOW()`, `FROM_NOW(:seconds)` | the clock of the database, naive and in UTC |
| `INSERT NEW INTO ... OR NOTHING` | leaves out what is there already |
| `FOR UPDATE`, `SKIP LOCKED` | left out where only one transaction can write |
| `FOR KEY SHARE` | likewise; keeps a row from being deleted, and nothing else |
| `BY(index)` | after a table, where MySQL does not find the right index itself |
| `ALONG(index)` | likewise, where SQLite does not either |
"""

import dataclasses
import datetime
import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.clock import UTC

_PARAMETER = re.compile(r'(?<![:\w]):([a-z_]+)')
_ROWS = 'ROWS(:rows)'
_NO_HINTS = (r'\s+(?:BY|ALONG)\(\w+\)', '')
#: Compact, and ASCII only: what it returns can be stored on any database.
dumps = json.JSONEncoder(separators=(',', ':')).encode

#: Statements whose translation is kept: what users list by is many more.
MOST_STATEMENTS = 1000

INTEGER = 'integer'
TEXT = 'text'
TIME = 'time'
#: One value per column, in the order of the columns; times as text.
Row = Sequence[Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """A statement that is handed any number of rows as one parameter.

    :param template: has `ROWS(:rows)` where it reads them
    :param columns: name -> INTEGER, TEXT or TIME
    :param divisible: whether it may be executed in parts when the rows are large
    :param one: the same for one row, with `?` for each value, or ''
    """

    template: str
    columns: Mapping[str, str]
    divisible: bool = True
    one: str = ''


def insertion(table: str, columns: Mapping[str, str], new: bool = False) -> Batch:
    """Return the batch that inserts rows into a table.

    :param new: leave out what is there already
    """
    names = ', '.join(columns)
    into = f'INSERT {"NEW " if new else ""}INTO {table} ({names})'
    end = ' OR NOTHING' if new else ''
    return Batch(
        f'{into} SELECT {names} FROM {_ROWS}{end}',
        columns,
        one=f'{into} VALUES ({", ".join("?" * len(columns))}){end}',
    )


class Dialect:
    """PostgreSQL, and what the others have in common with it.

    :cvar macros: (pattern, replacement), applied in this order
    :cvar types: what the columns of `ROWS` are called
    :cvar returning: whether an UPDATE can say what it has changed
    :cvar modifying_with: whether one statement may change several tables, and a
        statement costs more than what it does
    :cvar guesses: whether it trusts statistics more than an index in the right order
    :cvar compares_rows: whether `(a, b) > (x, y)` is a range of an index of both
    """

    name = 'postgresql'
    returning = True
    modifying_with = True
    guesses = True
    compares_rows = True
    macros: Sequence[tuple[str, str]] = (
        (r'IN_IDS\((:\w+)\)', r'= ANY (CAST(\1 AS bigint[]))'),
        (r'IN_TEXTS\((:\w+)\)', r'= ANY (CAST(\1 AS text[]))'),
        (r'FROM_NOW\((:\w+)\)', r'NOW() + make_interval(secs => \1)'),
        (r'NOW\(\)', "(clock_timestamp() AT TIME ZONE 'UTC')"),
        (r'INSERT NEW INTO', 'INSERT INTO'),
        (r'OR NOTHING', 'ON CONFLICT DO NOTHING'),
        _NO_HINTS,
    )
    types: Mapping[str, str] = {INTEGER: 'bigint', TEXT: 'text', TIME: 'timestamp'}

    def __init__(self) -> None:
        self._statements: dict[str, str] = {}
        self._batches: dict[str, str] = {}
        self._macros = [(re.compile(p), replacement) for p, replacement in self.macros]

    def sql(self, template: str) -> str:
        """Return a statement as this database and its driver take it."""
        try:
            return self._statements[template]
        except KeyError:
            if len(self._statements) >= MOST_STATEMENTS:
                self._statements.clear()
            sql = self._statements[template] = self._translated(template)
            return sql

    def batch_sql(self, batch: Batch) -> str:
        """Return the statement of a batch."""
        try:
            return self._batches[batch.template]
        except KeyError:
            template = batch.template.replace(_ROWS, self.rows_source(batch.columns))
            sql = self._batches[batch.template] = self._translated(template)
            return sql

    def _translated(self, template: str) -> str:
        for pattern, replacement in self._macros:
            template = pattern.sub(replacement, template)
        return self.with_parameters(template)

    # what a subclass says differently

    def with_parameters(self, sql: str) -> str:
        """Return a statement with parameters as its driver writes them."""
        return _PARAMETER.sub(r'%(\1)s', sql)

    def ids(self, values: Iterable[int]) -> Any:
        """Return the parameter of `IN_IDS`.

        As text: psycopg would else choose the width of the integers by their
        values, and prepare the statement anew for each.
        """
        return '{' + ','.join(map(str, values)) + '}'

    def texts(self, values: Iterable[str]) -> Any:
        """Return the parameter of `IN_TEXTS`."""
        return list(values)

    def rows_source(self, columns: Mapping[str, str]) -> str:
        """Return what stands for `ROWS`."""
        types = ', '.join(f'{name} {self.types[t]}' for name, t in columns.items())
        return f'json_to_recordset(:rows) AS r({types})'

    def rows(self, columns: Mapping[str, str], rows: Iterable[Row]) -> str:
        """Return the parameter of `ROWS`."""
        return dumps([dict(zip(columns, row, strict=True)) for row in rows])

    def to_time(self, value: Any) -> datetime.datetime:
        """Return a time of the database, aware."""
        aware: datetime.datetime = value.replace(tzinfo=UTC)
        return aware


class SqliteDialect(Dialect):
    """SQLite from 3.40: UPDATE FROM, RETURNING, IS NOT DISTINCT FROM, `->>`."""

    name = 'sqlite'
    modifying_with = False
    guesses = False
    compares_rows = False
    macros = (
        (r'IN_IDS\((:\w+)\)', r'IN (SELECT value FROM json_each(\1))'),
        (r'IN_TEXTS\((:\w+)\)', r'IN (SELECT value FROM json_each(\1))'),
        # Text, in the form in which times are stored; exact to the millisecond.
        (
            r'FROM_NOW\((:\w+)\)',
            r"strftime('%Y-%m-%d %H:%M:%f000', 'now', \1 || ' seconds')",
        ),
        (r'NOW\(\)', "strftime('%Y-%m-%d %H:%M:%f000', 'now')"),
        (r'INSERT NEW INTO', 'INSERT OR IGNORE INTO'),
        (r'\s+OR NOTHING', ''),
        (r'\s+FOR (?:UPDATE|KEY SHARE)(\s+SKIP LOCKED)?', ''),
        (r'\bALONG\((\w+)\)', r'INDEXED BY \1'),
        _NO_HINTS,
    )

    def with_parameters(self, sql: str) -> str:
        return sql

    def ids(self, values: Iterable[int]) -> Any:
        return '[' + ','.join(map(str, values)) + ']'

    def texts(self, values: Iterable[str]) -> Any:
        return dumps(list(values))

    def rows_source(self, columns: Mapping[str, str]) -> str:
        items = ', '.join(f'value ->> {n} AS {name}' for n, name in enumerate(columns))
        return f'(SELECT {items} FROM json_each(:rows)) AS r'

    def rows(self, columns: Mapping[str, str], rows: Iterable[Row]) -> str:
        return dumps(list(rows))

    def to_time(self, value: Any) -> datetime.datetime:
        return datetime.datetime.fromisoformat(value + '+00:00')


class MysqlDialect(Dialect):
    """MariaDB from 10.6 and MySQL from 8.0.

    Their UPDATE cannot say what it has changed: `mysql` reads and locks first,
    and then writes.
    """

    name = 'mysql'
    returning = False
    modifying_with = False
    guesses = False
    compares_rows = False
    macros = (
        # PyMySQL puts parameters into the text itself: a tuple becomes a list.
        (r'IN_IDS\((:\w+)\)', r'IN \1'),
        (r'IN_TEXTS\((:\w+)\)', r'IN \1'),
        (
            r'FROM_NOW\((:\w+)\)',
            r'NOW() + INTERVAL CAST(\1 * 1000000 AS SIGNED) MICROSECOND',
        ),
        (r'NOW\(\)', 'utc_timestamp(6)'),
        (r'\bFOR KEY SHARE', 'LOCK IN SHARE MODE'),
        (r'INSERT NEW INTO', 'INSERT IGNORE INTO'),
        (r'\s+OR NOTHING', ''),
        (r'\b(?:BY|ALONG)\((\w+)\)', r'FORCE INDEX (\1)'),
    )
    types: Mapping[str, str] = {
        INTEGER: 'BIGINT',
        TEXT: 'LONGTEXT',
        TIME: 'DATETIME(6)',
    }

    def ids(self, values: Iterable[int]) -> Any:
        return tuple(values)

    def texts(self, values: Iterable[str]) -> Any:
        return tuple(values)

    def rows_source(self, columns: Mapping[str, str]) -> str:
        items = ', '.join(
            f"{name} {self.types[kind]} PATH '$[{at}]'"
            for at, (name, kind) in enumerate(columns.items())
        )
        return f"JSON_TABLE(:rows, '$[*]' COLUMNS ({items})) AS r"

    def rows(self, columns: Mapping[str, str], rows: Iterable[Row]) -> str:
        return dumps(list(rows))


#: One of each: what it has translated serves all stores of the process.
DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect() for dialect in (Dialect, SqliteDialect, MysqlDialect)
}


# One batch has few different times, most of them EPOCH and now.
@functools.lru_cache(maxsize=1024)
def to_text(time: datetime.datetime) -> str:
    """Return an aware time as it is handed to every database: naive, in UTC."""
    if time.tzinfo is not UTC:
        time = time.astimezone(UTC)
    return time.isoformat(' ', 'microseconds')[:26]
