"""Indexes for every order in which something is listed.

What is hidden from lists, and when a plan was updated that is not active, are made
by the database of other columns. PostgreSQL writes the tables anew for that.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0003'
down_revision = '0002'

TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')
ACTIVE = "state IN ('PENDING', 'ONGOING', 'CANCELLING')"

#: table -> the indexes that are not needed any more
DROPPED: dict[str, tuple[str, ...]] = {
    'audits': ('state_id', 'created_at_id', 'visible'),
    'action_plans': ('created_at_id', 'visible'),
    'actions': ('ended_id', 'action_type_id', 'target', 'audit_id', 'visible'),
}
#: table -> the columns in whose order its rows are listed
ORDERS: dict[str, tuple[str, ...]] = {
    'audits': (
        *('name', 'audit_type', 'state', 'run_interval', 'auto_trigger'),
        *('next_run_time', 'start_time', 'end_time', 'forced'),
        *('created_at', 'updated_at', 'deleted_at'),
    ),
    'action_plans': ('state', 'created_at', 'settled_at', 'deleted_at'),
    'actions': ('ended', 'action_type', 'created_at'),
}
#: table -> what its rows refer to
REFERENCES: dict[str, tuple[str, ...]] = {
    'audits': ('goal_id', 'strategy_id'),
    'action_plans': ('audit_id', 'strategy_id'),
}


def upgrade() -> None:
    _delete_with_plans()
    # Before the columns, so that no index is made anew that is dropped then.
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
            # The new one first: MySQL keeps one for the foreign key at all times.
            _index(table, column, 'hidden', 'id')
            op.drop_index(f'ix_{table}_{column}_id', table)
    for table, columns in ORDERS.items():
        _index(table, 'hidden', 'id')
        for column in columns:
            _index(table, 'hidden', column, 'id')
    _present('target', 'hidden', 'target', 'id')
    _present('audit_id', 'audit_id', 'hidden', 'id')


def _delete_with_plans() -> None:
    """Delete actions whose plan is deleted: lists do not look at the plan."""
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
    """Add a column that is made of others.

    Only PostgreSQL has to store it for an index, and only there that can be added.
    """
    stored = True if op.get_bind().dialect.name == 'postgresql' else None
    op.add_column(table, sa.Column(name, kind, sa.Computed(expression, stored)))


def _index(table: str, *columns: str) -> None:
    op.create_index(f'ix_{table}_{"_".join(columns)}', table, list(columns))


def _present(column: str, *columns: str) -> None:
    """Make an index of those actions that have a value in a column."""
    where = sa.text(f'{column} IS NOT NULL')
    op.create_index(
        f'ix_actions_{column}',
        'actions',
        list(columns),
        postgresql_where=where,
        sqlite_where=where,
    )
