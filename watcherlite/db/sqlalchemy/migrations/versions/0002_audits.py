"""Create audits, templates, goals and strategies; add the indexes of lists.

Columns are added at the end of their tables, NOT NULL ones with a default, so that no
table is copied.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0002'
down_revision = '0001'

BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')
S36, S255 = sa.String(36), sa.String(255)
LENGTH = 255
#: Rows that are read at a time.
BLOCK = 10000

WORKERS: dict[str, Any] = {
    'uuid': S36,
    'host': S255,
    'identity': S255,
    'lanes': TEXT,
    'started_at': TIME,
    'lease_until': TIME,
}


def upgrade() -> None:
    _add('goals', 'lower_name', S255, server_default='')
    _add('strategies', 'lower_name', S255, server_default='')
    _add('audits', 'start_time', TIME)
    _add('audits', 'end_time', TIME)
    _add('audits', 'forced', sa.Boolean(), server_default=sa.false())
    _add('audits', 'action_id', BIG)
    _add('audits', 'deleted', BIG, server_default='0')
    _add('audits', 'lower_name', S255, server_default='')
    _add('action_plans', 'efficacy_indicators', TEXT)
    _add('events', 'subject_id', BIG)
    _add('actions', 'audit_id', BIG)
    _find_audits()
    _create_templates()
    _keep_names_apart()
    for table in ('goals', 'strategies', 'audits'):
        _fold_names(table)
        _index(table, 'lower_name')
    op.create_index(
        'uq_audits_name_deleted', 'audits', ['name', 'deleted'], unique=True
    )
    op.drop_index('ix_audits_name', 'audits')
    for table, column in (
        ('audits', 'goal_id'),
        ('audits', 'strategy_id'),
        ('action_plans', 'audit_id'),
        ('action_plans', 'strategy_id'),
    ):
        # The new index first: MySQL always requires one for the foreign key.
        _index(table, column, 'id')
        op.drop_index(f'ix_{table}_{column}', table)
    for table in ('audits', 'action_plans'):
        _index(table, 'state', 'id')
        _index(table, 'created_at', 'id')
    _index('actions', 'ended', 'id')
    op.drop_index('ix_actions_ended', 'actions')
    _index('actions', 'action_type', 'id')
    _partial('ix_actions_target', 'actions', ['target', 'id'], 'target IS NOT NULL')
    _partial(
        'ix_actions_audit_id', 'actions', ['audit_id', 'id'], 'audit_id IS NOT NULL'
    )
    for table in ('audits', 'action_plans'):
        op.create_index(f'ix_{table}_visible', table, ['deleted_at', 'id'])
    _partial(
        'ix_actions_visible', 'actions', ['deleted_at', 'id'], 'plan_id IS NOT NULL'
    )
    _partial(
        'ix_events_subject',
        'events',
        ['subject_id', 'subject', 'sequence'],
        'subject_id IS NOT NULL',
    )
    _count_workers()


def _add(table: str, name: str, kind: Any, **options: Any) -> None:
    """Add a column; it is NOT NULL if it has a default."""
    column = sa.Column(name, kind, nullable=not options, **options)
    op.add_column(table, column)


def _index(table: str, *columns: str) -> None:
    op.create_index(f'ix_{table}_{"_".join(columns)}', table, list(columns))


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(
        name, table, columns, postgresql_where=condition, sqlite_where=condition
    )


def _find_audits() -> None:
    """Set the audit of each action, before the index is created."""
    plan = 'FROM action_plans WHERE action_plans.id = actions.plan_id'
    op.execute(
        f'UPDATE actions SET audit_id = (SELECT action_plans.audit_id {plan}) '
        f'WHERE EXISTS (SELECT 1 {plan} AND action_plans.audit_id IS NOT NULL)'
    )


def _counted(table: str, *items: Any) -> None:
    op.create_table(
        table,
        sa.Column('id', BIG, sa.Identity(), nullable=False),
        *items,
        sa.PrimaryKeyConstraint('id', name=f'pk_{table}'),
        sa.UniqueConstraint('uuid', name=f'uq_{table}_uuid'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=True,
    )


def _create_templates() -> None:
    name = 'audit_templates'
    _counted(
        name,
        sa.Column('uuid', S36, nullable=False),
        sa.Column('name', S255, nullable=False),
        sa.Column('goal_id', BIG, nullable=False),
        sa.Column('strategy_id', BIG),
        sa.Column('description', S255),
        sa.Column('scope', TEXT, nullable=False),
        sa.Column('default_parameters', TEXT, nullable=False),
        sa.Column('created_at', TIME),
        sa.Column('updated_at', TIME),
        sa.Column('deleted_at', TIME),
        sa.Column('deleted', BIG, nullable=False),
        sa.Column('lower_name', S255, nullable=False),
        sa.UniqueConstraint('name', 'deleted', name=f'uq_{name}_name_deleted'),
        sa.ForeignKeyConstraint(['goal_id'], ['goals.id'], name=f'fk_{name}_goal_id'),
        sa.ForeignKeyConstraint(
            ['strategy_id'], ['strategies.id'], name=f'fk_{name}_strategy_id'
        ),
    )
    for column in ('goal_id', 'strategy_id', 'lower_name'):
        _index(name, column)


def _keep_names_apart() -> None:
    """Rename audits that share a name; the oldest of each keeps it."""
    connection = op.get_bind()
    audits = sa.table(
        'audits', *map(sa.column, ('id', 'name', 'deleted', 'deleted_at'))
    )
    connection.execute(
        sa.update(audits)
        .where(audits.c.deleted_at.is_not(None))
        .values(deleted=audits.c.id)
    )
    place = sa.func.row_number().over(partition_by=audits.c.name, order_by=audits.c.id)
    ranked = (
        sa.select(audits.c.id, audits.c.name, place.label('place'))
        .where(audits.c.deleted == 0)
        .subquery()
    )
    again = sa.select(ranked.c.id, ranked.c.name).where(ranked.c.place > 1)
    for key, name in connection.execute(again).all():
        end = f'-{key}'
        connection.execute(
            sa.update(audits)
            .where(audits.c.id == key)
            .values(name=name[: LENGTH - len(end)] + end)
        )


def _fold_names(table: str) -> None:
    """Fill `lower_name` in Python.

    The lower case of characters beyond ASCII differs between databases.
    """
    connection = op.get_bind()
    rows = sa.table(table, *map(sa.column, ('id', 'name', 'lower_name')))
    connection.execute(sa.update(rows).values(lower_name=sa.func.lower(rows.c.name)))
    last = 0
    while True:
        page = connection.execute(
            sa.select(rows).where(rows.c.id > last).order_by(rows.c.id).limit(BLOCK)
        ).all()
        for key, name, lower in page:
            folded = name.lower()[:LENGTH]
            if lower != folded:
                connection.execute(
                    sa.update(rows).where(rows.c.id == key).values(lower_name=folded)
                )
        if len(page) < BLOCK:
            return
        last = page[-1].id


def _count_workers() -> None:
    """Add the number of workers; the table is small, and copied."""
    connection = op.get_bind()
    workers = sa.table('workers', *(sa.column(n, kind) for n, kind in WORKERS.items()))
    rows = connection.execute(
        sa.select(workers).order_by(workers.c.started_at, workers.c.uuid)
    ).all()
    op.drop_table('workers')
    _counted(
        'workers', *(sa.Column(n, kind, nullable=False) for n, kind in WORKERS.items())
    )
    for row in rows:
        connection.execute(sa.insert(workers).values(**row._mapping))
