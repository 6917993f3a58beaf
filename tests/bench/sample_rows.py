"""Sample audits, plans and actions, inserted by one statement per table.

Most rows of every table are usual. For each kind of row that a filter selects, there
are `RARE` unusual rows, as many in a large table as in a small one, evenly distributed.
The uuid of a row follows from its id.
"""

import contextlib
import hashlib
import itertools
import uuid
from collections.abc import Iterator, Mapping, Sequence

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.engine import parse

#: Number of rare rows of each kind; half of them are a page of 100 and one more.
RARE = 200
#: A plan with `RARE` actions; its audit has as many plans, and no other actions.
SMALL_OWNER = 4
#: A plan with half of all usual actions, the only one of its audit.
LARGE_PLAN = 8
#: An audit with half of all usual plans, each of which has one action.
LARGE_AUDIT = 14
#: Names of the usual and the rare goal, strategy and target.
USUAL_NAME, RARE_NAME = 'usual', 'rare'
#: Installed action types; others have no description.
USUAL_TYPE, RARE_TYPE = 'nop', 'sleep'

_POSTGRESQL, _SQLITE, _MYSQL = 'postgresql', 'sqlite', 'mysql'

#: The remainders of the ids of rare rows, by kind.
_FAILED, _DELETED, _RARE = (f'i % {{step}} = {remainder}' for remainder in range(3))

_REFERENCE = {
    'uuid': '{uuid}',
    'name': f"CASE i WHEN 1 THEN '{USUAL_NAME}' ELSE '{RARE_NAME}' END",
    'lower_name': f"CASE i WHEN 1 THEN '{USUAL_NAME}' ELSE '{RARE_NAME}' END",
    'display_name': "'Of the bench'",
    'created_at': '{time}',
    'deleted': '0',
}
_GOALS = {**_REFERENCE, 'efficacy_specification': "'[]'"}
_STRATEGIES = {**_REFERENCE, 'goal_id': 'i', 'parameters_spec': "'{{}}'"}

_REFERRED = f'CASE WHEN {_RARE} THEN 2 ELSE 1 END'
_STATE = (
    f"CASE WHEN {_FAILED} THEN 'FAILED' WHEN {_DELETED} THEN 'DELETED' "
    "ELSE 'SUCCEEDED' END"
)
_DELETED_AT = f'CASE WHEN {_DELETED} THEN {{time}} END'
_AUDITS = {
    'uuid': '{uuid}',
    'name': "'audit-' || i",
    'lower_name': "'audit-' || i",
    'audit_type': "'ONESHOT'",
    'state': _STATE,
    'goal_id': _REFERRED,
    'strategy_id': _REFERRED,
    'parameters': """'{{"message": "bench"}}'""",
    'scope': "'[]'",
    'auto_trigger': 'FALSE',
    'created_at': '{time}',
    'updated_at': '{time}',
    'deleted_at': _DELETED_AT,
    'deleted': f'CASE WHEN {_DELETED} THEN i ELSE 0 END',
}


def _owner(large: int, condition: str) -> str:
    return (
        f'CASE WHEN {_RARE} THEN {SMALL_OWNER} WHEN {_FAILED} OR {_DELETED} THEN i '
        f'WHEN {condition} THEN {large} ELSE i END'
    )


_PLANS = {
    'uuid': '{uuid}',
    'audit_id': _owner(LARGE_AUDIT, 'i % 2 = 1'),
    'strategy_id': _REFERRED,
    'on_failure': "'CONTINUE'",
    'on_worker_loss': "'CONTINUE'",
    'global_efficacy': "'[]'",
    'efficacy_indicators': "'[]'",
    'created_at': '{time}',
    'state': _STATE,
    'stage': "'ENDED'",
    **dict.fromkeys(('total', 'unfinished', 'active', 'failed', 'skipped'), '1'),
    'updated_at': '{time}',
    'deleted_at': _DELETED_AT,
}
_ENDED = f"CASE WHEN {_FAILED} THEN 'FAILED' ELSE 'SUCCEEDED' END"
_PLAN = _owner(LARGE_PLAN, 'i % 2 = 0')
_NAMED = f"CASE WHEN {_RARE} THEN '{RARE_NAME}' ELSE '{USUAL_NAME}' END"
_ACTIONS = {
    'uuid': '{uuid}',
    'action_type': f"CASE WHEN {_RARE} THEN '{RARE_TYPE}' ELSE '{USUAL_TYPE}' END",
    'lane': "'applier'",
    'name': "'action-' || i",
    'plan_id': _PLAN,
    'target': _NAMED,
    'cause': "'RPC Request'",
    'inputs': """'{{"message": "bench"}}'""",
    'context': "'{{}}'",
    'parents': "'[]'",
    'dependents': '0',
    'run_interval': '0',
    'timeout': '0',
    'created_at': '{time}',
    'status': _ENDED,
    'ended': _ENDED,
    'attempt': '1',
    'recoveries': '0',
    'phase': "'ENDED'",
    'pending': '0',
    'not_before': '{time}',
    'start_time': '{time}',
    'end_time': '{time}',
    'outputs': "'{{}}'",
    'data': "'{{}}'",
    'updated_at': '{time}',
    'deleted_at': _DELETED_AT,
    'audit_id': f'(SELECT p.audit_id FROM action_plans AS p WHERE p.id = {_PLAN})',
}
#: (table, column -> expression of the id `i`, number of rows if fixed)
_TABLES: Sequence[tuple[str, Mapping[str, str], int | None]] = (
    ('goals', _GOALS, 2),
    ('strategies', _STRATEGIES, 2),
    ('audits', _AUDITS, None),
    ('action_plans', _PLANS, None),
    ('actions', _ACTIONS, None),
)

_COUNTED = (
    '(WITH RECURSIVE counted(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted '
    'WHERE i < {count}) SELECT i FROM counted) AS numbers'
)
_HASH = "md5(concat('{table}', i))"
_DASHED = f"insert(insert(insert(insert({_HASH}, 21, 0, '-'), 17, 0, '-'), 13, 0, '-')"
#: backend -> its row source, UUID expression and time expression
_WORDS: Mapping[str, Mapping[str, str]] = {
    _POSTGRESQL: {
        'rows': 'generate_series(1, {count}) AS numbers(i)',
        'uuid': "CAST(CAST(md5('{table}' || i) AS uuid) AS text)",
        'time': "TIMESTAMP '2026-01-01' + i * INTERVAL '1 second'",
    },
    _SQLITE: {
        'rows': _COUNTED,
        'uuid': "uuid_of('{table}', i)",
        'time': "strftime('%Y-%m-%d %H:%M:%f000', 1767225600 + i, 'unixepoch')",
    },
    _MYSQL: {
        'rows': _COUNTED,
        'uuid': f"{_DASHED}, 9, 0, '-')",
        'time': "TIMESTAMP '2026-01-01 00:00:00' + INTERVAL i SECOND",
    },
}


def uuid_of(table: str, number: int) -> str:
    """Return the UUID of a row."""
    return str(uuid.UUID(hashlib.md5(f'{table}{number}'.encode()).hexdigest()))


def middle(count: int) -> int:
    """Return the id of a usual row with half of each kind after it."""
    return count // 2 - step(count) - 1


def middle_of_uuids(table: str, count: int) -> int:
    """Return the id of a usual row whose UUID is near the median."""
    every = step(count)
    usual = (i for i in range(1, count + 1) if i % every > 2)
    near = itertools.islice(usual, RARE)
    return min(near, key=lambda i: abs(uuid.UUID(uuid_of(table, i)).int - 2**127))


def step(count: int) -> int:
    """Return the distance between rare rows of one kind.

    :raises ValueError: `count` is too small for all kinds
    """
    found = count // RARE
    if found < 5 or count % RARE:
        raise ValueError(f'{count} rows cannot have {RARE} of each rare kind')
    return found


def statements(backend: str, count: int) -> list[str]:
    """Return the INSERT statements, one per table."""
    return [
        _insert(table, columns, _WORDS[backend], own or count, step(count))
        for table, columns, own in _TABLES
    ]


def fill(url: str, count: int) -> None:
    """Insert `count` audits, plans and actions into empty tables."""
    with _connected(url) as connection:
        backend = connection.dialect.name
        # A driver does not interpret percent signs without parameters.
        with contextlib.closing(connection.connection.cursor()) as cursor:
            for sql in statements(backend, count):
                cursor.execute(sql)
        if backend == _SQLITE:
            # SQLite is not analysed automatically.
            return
        # Servers do this automatically, but later.
        if backend == _POSTGRESQL:
            connection.exec_driver_sql('VACUUM ANALYZE')
        else:
            names = ', '.join(table for table, *_ in _TABLES)
            connection.exec_driver_sql(f'ANALYZE TABLE {names}')


def _insert(
    table: str,
    columns: Mapping[str, str],
    words: Mapping[str, str],
    count: int,
    step: int,
) -> str:
    known = {
        'step': step,
        'time': words['time'],
        'uuid': words['uuid'].format(table=table),
    }
    expressions = ', '.join(text.format(**known) for text in columns.values())
    rows = words['rows'].format(count=count)
    return (
        f'INSERT INTO {table} ({", ".join(columns)}) '
        f'SELECT {expressions} FROM {rows} ORDER BY numbers.i'
    )


@contextlib.contextmanager
def _connected(url: str) -> Iterator[sa.Connection]:
    engine = sa.create_engine(parse(url), isolation_level='AUTOCOMMIT')
    try:
        with engine.connect() as connection:
            if engine.dialect.name == _SQLITE:
                driver = connection.connection.driver_connection
                assert driver is not None
                driver.create_function('uuid_of', 2, uuid_of, deterministic=True)
                driver.execute('PRAGMA synchronous = OFF')
                # In KiB; UUIDs are spread over their whole index.
                driver.execute('PRAGMA cache_size = -500000')
            elif engine.dialect.name == _MYSQL:
                # Recursive queries are limited, and || means OR.
                connection.exec_driver_sql(
                    "SET SESSION sql_mode = 'PIPES_AS_CONCAT', "
                    'max_recursive_iterations = 100000000'
                )
            yield connection
    finally:
        engine.dispose()
