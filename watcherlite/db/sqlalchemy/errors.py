"""Translation of driver errors to exceptions of the store.

The error code of the server decides; for errors without one, the filters of oslo.db. An
error that neither the environment nor a request causes is a bug, and is not translated.
"""

import sqlite3

import sqlalchemy as sa
from oslo_db import exception as oslo
from oslo_db.sqlalchemy import exc_filters
from sqlalchemy.engine.interfaces import ExceptionContext

from watcherlite import exceptions

UPGRADE = 'run "watcherlite-manage db upgrade"'

# SQLSTATE of PostgreSQL, or its class of two characters; error numbers of MySQL.
Codes = frozenset[str | int]
CONFLICTS: Codes = frozenset({'40001', '40P01', '55P03', 1020, 1205, 1213, 3572})
TIMEOUTS: Codes = frozenset({'57014', 1317, 1969, 3024})
NO_SUCH_TABLE: Codes = frozenset({'42P01', '42703', 1054, 1146})
DUPLICATES: Codes = frozenset({'23505', 1062})
BAD_DATA: Codes = frozenset({'22', 1264, 1292, 1366, 1406})
UNAVAILABLE: Codes = frozenset(
    {'08', '25006', '25P03', '28', '3D000', '53', '57', '58'}
    | {1021, 1037, 1038, 1040, 1041, 1044, 1045, 1049, 1053, 1114, 1129, 1130, 1203}
    | {1290, 1792, 1836, 1927, 2002, 2003, 2006, 2013, 4031}
)
#: SQLite: start of the message -> SQLSTATE, as many errors share one code.
SQLITE = {
    'database is locked': '40001',
    'database table is locked': '40001',
    'no such table': '42P01',
    'no such column': '42703',
    'UNIQUE constraint failed': '23505',
    'unable to open database': '58030',
    'attempt to write a readonly database': '25006',
    'database or disk is full': '53100',
    'disk I/O error': '58030',
    'database disk image is malformed': '58030',
    'file is not a database': '58030',
    'interrupted': '57014',
}


def masked(url: sa.URL) -> str:
    """Return a URL without password, and without its query, which may have one."""
    return url.set(query={}).render_as_string(hide_password=True)


def unavailable(url: sa.URL, reason: str) -> exceptions.StoreUnavailable:
    """Return the error for a database that cannot be reached."""
    check = (
        'the file, its directory and the space on its disk'
        if url.get_backend_name() == 'sqlite'
        else 'that the server runs and accepts the credentials'
    )
    return exceptions.StoreUnavailable(
        f'The database {masked(url)} cannot be used: {reason}. Check {check}; '
        '[database] connection has its location'
    )


def listen(engine: sa.Engine) -> None:
    """Make all statements of an engine raise exceptions of the store."""

    def handle(context: ExceptionContext) -> BaseException | None:
        return _translated(context, engine.url)

    sa.event.listen(engine, 'handle_error', handle, retval=True)


def _translated(context: ExceptionContext, url: sa.URL) -> BaseException | None:
    if not isinstance(context.sqlalchemy_exception, sa.exc.DBAPIError):
        # A column type failed to convert a value.
        return context.original_exception
    if (context.statement or '').startswith('DESCRIBE '):
        # SQLAlchemy tests by this error whether a table exists on MySQL.
        return None
    reason = _reason(context.original_exception)
    if context.connection is None or context.is_disconnect:
        return unavailable(url, reason)
    codes = _codes(context.original_exception)
    if codes & CONFLICTS:
        return exceptions.StoreConflict(
            f'The database rejected a transaction: {reason}'
        )
    if codes & TIMEOUTS:
        return exceptions.StoreUnavailable(
            f'The database {masked(url)} took too long: {reason}; see [database] '
            'statement_timeout'
        )
    if codes & NO_SUCH_TABLE:
        return exceptions.SchemaMismatch(
            f'The database {masked(url)} does not have the schema of this version '
            f'({reason}); {UPGRADE}'
        )
    if codes & DUPLICATES:
        return exceptions.Conflict(f'The object already exists: {reason}')
    if codes & BAD_DATA:
        return exceptions.Invalid(f'The database cannot store this: {reason}')
    if codes & UNAVAILABLE:
        return unavailable(url, reason)
    return _known_to_oslo(context, url, reason)


def _known_to_oslo(
    context: ExceptionContext, url: sa.URL, reason: str
) -> BaseException | None:
    try:
        known: BaseException | None = exc_filters.handler(context)
    except sa.exc.DBAPIError:
        # It raises an error that it has no class for.
        return None
    if isinstance(known, oslo.DBConnectionError):
        return unavailable(url, reason)
    if isinstance(known, oslo.DBDeadlock):
        return exceptions.StoreConflict(
            f'The database rejected a transaction: {reason}'
        )
    return known


def _codes(error: BaseException | None) -> Codes:
    """Return the codes of a driver error."""
    state = getattr(error, 'sqlstate', None)
    if isinstance(error, sqlite3.Error):
        text = str(error)
        state = next((code for t, code in SQLITE.items() if text.startswith(t)), None)
    codes: set[str | int] = {state, state[:2]} if state else set()
    if error is not None and error.args and isinstance(error.args[0], int):
        codes.add(error.args[0])
    return frozenset(codes)


def _reason(error: BaseException | None) -> str:
    """Return the first line of the message of a driver.

    The other lines contain rows and statements with their values.
    """
    text = str(error.args[-1]) if error is not None and error.args else ''
    return (text.strip() or type(error).__name__).splitlines()[0].rstrip('.')
