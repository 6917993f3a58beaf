"""Add indexes for every order of lists.

`hidden`, and the update time of inactive plans, are generated columns. PostgreSQL
rewrites the tables to add them.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0003'
down_revision = '0002'

TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')
ACTIVE = "state IN ('PENDING', 'ONGOING', 'CANCELLING')"

#: Table -> obsolete indexes.
DROPPED: dict[str, tuple[str, ...]] = {
    'audits': ('state_id', 'created_at_id', 'visible'),
    'action_plans': ('created_at_id', 'visible'),
    'actions': ('ended_id', 'action_type_id', 'target', 'audit_id', 'visible'),
}
#: Table -> the sort keys of its lists.
ORDERS: dict[str, tuple[str, ...]] = {
    'audits': (
        'name',
        'audit_type',
        'state',
        'run_interval',
        'auto_trigger',
        'next_run_time',
        'start_time',
        'end_time',
        'forced',
        'created_at',
        'updated_at',
        'deleted_at',
    ),
    'action_plans': ('state', 'created_at', 'settled_at', 'deleted_at'),
    'actions': ('ended', 'action_type', 'created_at'),
}
#: Table -> its foreign keys.
REFERENCES: dict[str, tuple[str, ...]] = {
    'audits': ('goal_id', 'strategy_id'),
    'action_plans': ('audit_id', 'strategy_id'),
}


def upgrade() -> None:
    _delete_with_plans()
    # Before the columns, so that obsolete indexes are not rebuilt.
    for table, names in DROPPED.items():
        for name in names:
            op.drop_index(f'ix_{table}_{name}', table)
    _hide('audits')
    _hide('action_plans')
    settled = f'CASE WHEN {ACTIVE} THEN NULL ELSE updated_at END'
    _make('action_plans', 'settled_at', TIME, settled)
    _hide('actions', 'WHEN plan_id IS NULL THEN 2 ')
    for table, columns in REFERENCES.items():
        for column in columns:
            # The new index first: MySQL always requires one for the foreign key.
            _index(table, column, 'hidden', 'id')
            op.drop_index(f'ix_{table}_{column}_id', table)
    for table, columns in ORDERS.items():
        _index(table, 'hidden', 'id')
        for column in columns:
            _index(table, 'hidden', column, 'id')
    _present('target', 'hidden', 'target', 'id')
    _present('audit_id', 'audit_id', 'hidden', 'id')


def _delete_with_plans() -> None:
    """Mark actions of deleted plans as deleted: lists do not read the plan."""
    deleted = (
        'FROM action_plans WHERE action_plans.id = actions.plan_id '
        'AND action_plans.deleted_at IS NOT NULL'
    )
    op.execute(
        f'UPDATE actions SET deleted_at = (SELECT action_plans.deleted_at {deleted}) '
        f'WHERE deleted_at IS NULL AND EXISTS (SELECT 1 {deleted})'
    )


def _hide(table: str, otherwise: str = '') -> None:
    case = f'CASE WHEN deleted_at IS NOT NULL THEN 1 {otherwise}ELSE 0 END'
    _make(table, 'hidden', sa.SmallInteger(), case)


def _make(table: str, name: str, kind: Any, expression: str) -> None:
    """Add a generated column.

    Only PostgreSQL requires a stored column for an index, and only it can add one.
    """
    stored = True if op.get_bind().dialect.name == 'postgresql' else None
    op.add_column(table, sa.Column(name, kind, sa.Computed(expression, stored)))


def _index(table: str, *columns: str) -> None:
    op.create_index(f'ix_{table}_{"_".join(columns)}', table, list(columns))


def _present(column: str, *columns: str) -> None:
    """Create a partial index of actions with a value in a column."""
    where = sa.text(f'{column} IS NOT NULL')
    op.create_index(
        f'ix_actions_{column}',
        'actions',
        list(columns),
        postgresql_where=where,
        sqlite_where=where,
    )
