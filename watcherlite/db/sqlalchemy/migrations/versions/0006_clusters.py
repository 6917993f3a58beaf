"""Add clusters, nodes, profiles, policies, bindings and receivers.

Events of clusters and nodes, and actions, have the project and the cluster in columns;
actions that wait for others have a deadline. No existing table is copied.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0006'
down_revision = '0005'

BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')
INT, FLAG = sa.Integer(), sa.SmallInteger()
S32, S36, S255 = (sa.String(length) for length in (32, 36, 255))

OWNER: dict[str, Any] = {'tenant': S255, 'user_name': [S255], 'domain': [S255]}
CHANGED: dict[str, Any] = {'created_at': [TIME], 'updated_at': [TIME]}
MYSQL: dict[str, Any] = {
    'mysql_engine': 'InnoDB',
    'mysql_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
}
#: Table -> columns; a type in a list is that of a nullable column.
TABLES: dict[str, dict[str, Any]] = {
    'profiles': {
        'uuid': S36,
        'name': S255,
        'type': S255,
        'handler': TEXT,
        'spec': TEXT,
        **OWNER,
        'metadata': TEXT,
        **CHANGED,
    },
    'policies': {
        'uuid': S36,
        'name': S255,
        'type': S255,
        'spec': TEXT,
        **OWNER,
        'data': TEXT,
        **CHANGED,
    },
    'clusters': {
        'uuid': S36,
        'name': S255,
        **OWNER,
        'profile_id': BIG,
        'desired_capacity': INT,
        'min_size': INT,
        'max_size': INT,
        'next_index': INT,
        'timeout': INT,
        'status': S32,
        'status_reason': TEXT,
        'metadata': TEXT,
        'config': TEXT,
        'data': TEXT,
        'dependents': TEXT,
        'init_at': [TIME],
        **CHANGED,
        'deleted_at': [TIME],
    },
    'nodes': {
        'uuid': S36,
        'name': S255,
        **OWNER,
        'profile_id': BIG,
        'handler': TEXT,
        'cluster_id': [BIG],
        'node_index': INT,
        'role': TEXT,
        'tainted': FLAG,
        'status': S32,
        'status_reason': TEXT,
        'metadata': TEXT,
        'data': TEXT,
        'dependents': TEXT,
        'physical_id': [TEXT],
        'properties': TEXT,
        'attributes': TEXT,
        'kept': TEXT,
        'origin': [S36],
        'last_action': [S36],
        'init_at': [TIME],
        **CHANGED,
        'deleted_at': [TIME],
    },
    'bindings': {
        'uuid': S36,
        'cluster_id': BIG,
        'policy_id': BIG,
        'priority': INT,
        'enabled': FLAG,
        'data': TEXT,
        'last_op': [TIME],
    },
    'receivers': {
        'uuid': S36,
        'name': S255,
        'type': S255,
        **OWNER,
        'cluster_id': [BIG],
        'action': [S255],
        'actor': TEXT,
        'params': TEXT,
        'channel': TEXT,
        **CHANGED,
    },
}
#: Table -> the sort keys of its lists.
ORDERS: dict[str, tuple[str, ...]] = {
    'profiles': ('type', 'name', 'created_at', 'updated_at'),
    'policies': ('type', 'name', 'created_at', 'updated_at'),
    'clusters': ('name', 'status', 'init_at', 'created_at', 'updated_at'),
    'nodes': ('node_index', 'name', 'status', 'init_at', 'created_at', 'updated_at'),
    'receivers': ('name', 'type', 'action', 'cluster_id', 'created_at'),
}
#: Tables with softly deleted rows.
HIDDEN = ('clusters', 'nodes')
#: Table -> index -> (columns, condition).
INDEXES: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {
    'clusters': {
        'profile_id': (('profile_id',), ''),
        'deleted_at': (('deleted_at',), 'deleted_at IS NOT NULL'),
    },
    'nodes': {
        'cluster_id_hidden_id': (('cluster_id', 'hidden', 'id'), ''),
        'profile_id': (('profile_id',), ''),
        'deleted_at': (('deleted_at',), 'deleted_at IS NOT NULL'),
    },
    'bindings': {'policy_id': (('policy_id',), '')},
    'actions': {
        **{
            f'tenant_{column}_id': (('tenant', column, 'id'), 'tenant IS NOT NULL')
            for column in ('name', 'target', 'action_type', 'ended')
        },
        'name_id': (('name', 'id'), 'tenant IS NOT NULL'),
        'deadline': (('lane', 'deadline'), 'deadline IS NOT NULL'),
        'derived_from_created_at': (
            ('derived_from', 'created_at'),
            'derived_from IS NOT NULL',
        ),
    },
    'events': {
        column: ((column, 'sequence'), f'{column} IS NOT NULL')
        for column in ('tenant', 'within', 'level')
    },
}


def upgrade() -> None:
    for name, kind in (('tenant', S255), ('within', S36), ('level', S32)):
        op.add_column('events', sa.Column(name, kind))
    op.add_column('actions', sa.Column('deadline', TIME))
    op.drop_index('ix_actions_derived_from', 'actions')
    for table in TABLES:
        _create(table)
    op.create_table(
        'tenants',
        sa.Column('tenant', S255, nullable=False),
        sa.PrimaryKeyConstraint('tenant', name='pk_tenants'),
        **MYSQL,
    )
    op.create_index(
        'uq_bindings_cluster_id_policy_id',
        'bindings',
        ['cluster_id', 'policy_id'],
        unique=True,
    )
    for table, columns in ORDERS.items():
        shown = ('hidden',) if table in HIDDEN else ()
        for column in columns:
            for first in (('tenant', *shown), shown):
                _index(table, '_'.join((*first, column, 'id')), (*first, column, 'id'))
    for table, indexes in INDEXES.items():
        for name, (columns, condition) in indexes.items():
            _index(table, name, columns, condition)


def _index(
    table: str, name: str, columns: tuple[str, ...], condition: str = ''
) -> None:
    where = sa.text(condition) if condition else None
    op.create_index(
        f'ix_{table}_{name}',
        table,
        list(columns),
        postgresql_where=where,
        sqlite_where=where,
    )


def _create(table: str) -> None:
    columns: list[sa.Column[Any]] = []
    for name, kind in TABLES[table].items():
        null = isinstance(kind, list)
        columns.append(sa.Column(name, kind[0] if null else kind, nullable=null))
    if table in HIDDEN:
        # PostgreSQL cannot index virtual columns, and lists by such an index of MariaDB
        # miss rows.
        stored = True if op.get_bind().dialect.name != 'sqlite' else None
        case = 'CASE WHEN deleted_at IS NOT NULL THEN 1 ELSE 0 END'
        columns.append(sa.Column('hidden', FLAG, sa.Computed(case, stored)))
    op.create_table(
        table,
        sa.Column('id', BIG, sa.Identity(), nullable=False),
        *columns,
        sa.PrimaryKeyConstraint('id', name=f'pk_{table}'),
        sa.UniqueConstraint('uuid', name=f'uq_{table}_uuid'),
        **MYSQL,
        sqlite_autoincrement=True,
    )
