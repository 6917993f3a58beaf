"""The first schema: plans and their actions, events, locks and workers.

It repeats the tables of that version instead of importing `tables`, which change.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0001'
down_revision = None

BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')
INT = sa.Integer()
SMALL = sa.SmallInteger()
BOOL = sa.Boolean()
S32, S36, S255 = sa.String(32), sa.String(36), sa.String(255)
#: A generated key that is never reused, not even after a purge.
COUNTED = object()


def _table(name: str, columns: dict[str, Any], *constraints: Any) -> None:
    """Create a table; a type in a list is that of a nullable column."""
    counted = [column for column, kind in columns.items() if kind is COUNTED]
    if counted:
        constraints = (_primary(name, *counted), *constraints)
    op.create_table(
        name,
        *(_column(*item) for item in columns.items()),
        *constraints,
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=bool(counted),
    )


def _column(name: str, kind: Any) -> sa.Column[Any]:
    if kind is COUNTED:
        return sa.Column(name, BIG, sa.Identity(), nullable=False)
    if isinstance(kind, list):
        return sa.Column(name, kind[0])
    return sa.Column(name, kind, nullable=False)


def _primary(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=f'pk_{table}')


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=f'uq_{table}_{"_".join(columns)}')


def _refers(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f'{to}.id'], name=f'fk_{table}_{column}')


def _index(name: str, table: str, columns: list[str], where: str | None = None) -> None:
    condition = sa.text(where) if where else None
    op.create_index(
        f'ix_{table}_{name}',
        table,
        columns,
        postgresql_where=condition,
        sqlite_where=condition,
    )


def upgrade() -> None:
    _table(
        'goals',
        {
            'id': COUNTED,
            'uuid': S36,
            'name': S255,
            'display_name': S255,
            'efficacy_specification': TEXT,
            'created_at': [TIME],
            'updated_at': [TIME],
            'deleted_at': [TIME],
            'deleted': BIG,
        },
        _unique('goals', 'uuid'),
        _unique('goals', 'name', 'deleted'),
    )
    _table(
        'strategies',
        {
            'id': COUNTED,
            'uuid': S36,
            'name': S255,
            'display_name': S255,
            'goal_id': [BIG],
            'parameters_spec': TEXT,
            'created_at': [TIME],
            'updated_at': [TIME],
            'deleted_at': [TIME],
            'deleted': BIG,
        },
        _unique('strategies', 'uuid'),
        _unique('strategies', 'name', 'deleted'),
        _refers('strategies', 'goal_id', 'goals'),
    )
    _index('goal_id', 'strategies', ['goal_id'])
    _table(
        'audits',
        {
            'id': COUNTED,
            'uuid': S36,
            'name': S255,
            'audit_type': S32,
            'state': S32,
            'goal_id': BIG,
            'strategy_id': [BIG],
            'parameters': TEXT,
            'scope': TEXT,
            'run_interval': [S255],
            'auto_trigger': BOOL,
            'status_message': [S255],
            'next_run_time': [TIME],
            'created_at': [TIME],
            'updated_at': [TIME],
            'deleted_at': [TIME],
        },
        _unique('audits', 'uuid'),
        _refers('audits', 'goal_id', 'goals'),
        _refers('audits', 'strategy_id', 'strategies'),
    )
    _index('name', 'audits', ['name'])
    _index('goal_id', 'audits', ['goal_id'])
    _index('strategy_id', 'audits', ['strategy_id'])
    _create_plans()
    _create_actions()
    _create_events()
    _create_locks_and_workers()


def _create_plans() -> None:
    _table(
        'action_plans',
        {
            'id': COUNTED,
            'uuid': S36,
            'name': [S255],
            'audit_id': [BIG],
            'strategy_id': [BIG],
            'on_failure': S32,
            'on_worker_loss': S32,
            'max_parallel': [INT],
            'global_efficacy': TEXT,
            'created_at': [TIME],
            'state': S32,
            'stage': S32,
            'status_message': [S255],
            'total': INT,
            'unfinished': INT,
            'active': INT,
            'failed': INT,
            'skipped': INT,
            'fault': [TEXT],
            'updated_at': [TIME],
            'deleted_at': [TIME],
        },
        _unique('action_plans', 'uuid'),
        _refers('action_plans', 'audit_id', 'audits'),
        _refers('action_plans', 'strategy_id', 'strategies'),
    )
    _index('audit_id', 'action_plans', ['audit_id'])
    _index('strategy_id', 'action_plans', ['strategy_id'])
    active = "state IN ('PENDING', 'ONGOING', 'CANCELLING')"
    _index('active', 'action_plans', ['state', 'id'], active)


def _create_actions() -> None:
    _table(
        'actions',
        {
            'id': COUNTED,
            'uuid': S36,
            'action_type': S255,
            'lane': S32,
            'name': [S255],
            'plan_id': [BIG],
            'derived_from': [BIG],
            'target': [S255],
            'cause': S32,
            'inputs': TEXT,
            'context': TEXT,
            'parents': TEXT,
            'dependents': INT,
            'run_interval': INT,
            'timeout': INT,
            'created_at': [TIME],
            'status': S32,
            'status_message': [S255],
            'owner': [S36],
            'attempt': INT,
            'recoveries': INT,
            'phase': S32,
            'pending': INT,
            'not_before': TIME,
            'blocked_on': [S255],
            'control': [S32],
            'token': [TEXT],
            'start_time': [TIME],
            'end_time': [TIME],
            'outputs': [TEXT],
            'data': TEXT,
            'updated_at': [TIME],
            'deleted_at': [TIME],
            'claimable': [SMALL],
            'ended': S32,
        },
        _unique('actions', 'uuid'),
        _refers('actions', 'plan_id', 'action_plans'),
    )
    _index('plan_id', 'actions', ['plan_id', 'id'])
    _index(
        'claimable_of_plan',
        'actions',
        ['plan_id', 'claimable', 'not_before', 'id'],
        'claimable = 1',
    )
    _index(
        'claimable_of_lane',
        'actions',
        ['lane', 'claimable', 'not_before', 'id'],
        'claimable = 1 AND plan_id IS NULL',
    )
    _index(
        'scheduled',
        'actions',
        ['lane', 'not_before'],
        "claimable = 1 AND not_before > '1970-01-01 00:00:00.000000'",
    )
    still = "IS NOT NULL AND ended = ''"
    _index('owner', 'actions', ['owner', 'id'], f'owner {still}')
    _index('control', 'actions', ['control', 'owner'], f'control {still}')
    _index('blocked_on', 'actions', ['blocked_on', 'id'], f'blocked_on {still}')
    _index(
        'derived_from', 'actions', ['derived_from', 'id'], 'derived_from IS NOT NULL'
    )
    _index('unfinished', 'actions', ['plan_id', 'ended', 'id'], "ended = ''")
    _index('ended', 'actions', ['ended', 'id'], "ended <> ''")
    if op.get_context().dialect.name == 'postgresql':
        # Free space for the next version of a row on its page: half of the changes of a
        # status then update no index.
        op.execute('ALTER TABLE actions SET (fillfactor = 60)')
    _table(
        'action_dependencies',
        {'parent_id': BIG, 'child_id': BIG, 'needs': S32},
        _primary('action_dependencies', 'parent_id', 'child_id'),
    )
    _index('child_id', 'action_dependencies', ['child_id'])


def _create_events() -> None:
    _table(
        'events',
        {
            'sequence': COUNTED,
            'uuid': S36,
            'subject': S32,
            'kind': S32,
            'plan_id': [BIG],
            'action_id': [BIG],
            'old_status': [S32],
            'new_status': [S32],
            'message': [S255],
            'plan_state': [S32],
            'plan_message': [S255],
            'detail': [TEXT],
            'occurred_at': TIME,
            'pending': [SMALL],
            'published_at': [TIME],
        },
        _unique('events', 'uuid'),
    )
    _index('pending', 'events', ['pending', 'sequence'], 'pending = 1')
    _index('plan_id', 'events', ['plan_id', 'sequence'])


def _create_locks_and_workers() -> None:
    _table('locks', {'target': S255, 'action_id': BIG}, _primary('locks', 'target'))
    _index('action_id', 'locks', ['action_id'])
    _table(
        'workers',
        {
            'uuid': S36,
            'host': S255,
            'identity': S255,
            'lanes': TEXT,
            'started_at': TIME,
            'lease_until': TIME,
        },
        _primary('workers', 'uuid'),
    )
    _table(
        'roles',
        {'role': S255, 'worker': S36, 'lease_until': TIME},
        _primary('roles', 'role'),
    )
