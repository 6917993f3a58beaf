"""Add stacks, their resources and definitions.

Events of stacks have the name and type of the resource in columns, by which they are
filtered.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0004'
down_revision = '0003'

BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')
INT, FLAG = sa.Integer(), sa.SmallInteger()
S32, S36, S64, S255 = (sa.String(length) for length in (32, 36, 64, 255))

#: Table -> columns; a type in a list is that of a nullable column.
TABLES: dict[str, dict[str, Any]] = {
    'definitions': {
        'digest': S64,
        'template': TEXT,
        'environment': TEXT,
        'files': TEXT,
        'parameters': TEXT,
        'used_at': TIME,
    },
    'stacks': {
        'uuid': S36,
        'name': S255,
        'tenant': S255,
        'definition_id': BIG,
        'action': S32,
        'status': S32,
        'status_reason': TEXT,
        'previous_id': [BIG],
        'owner_id': [BIG],
        'owner_resource': [S255],
        'root_id': [BIG],
        'depth': INT,
        'operation': [S36],
        'under_lock': [TEXT],
        'lock_level': [S32],
        'inherited_level': [S32],
        'disable_rollback': FLAG,
        'timeout': INT,
        'deadline': [TIME],
        'tags': TEXT,
        'description': TEXT,
        'user_name': [S255],
        'context': TEXT,
        'created_at': [TIME],
        'updated_at': [TIME],
        'deleted_at': [TIME],
    },
    'resources': {
        'uuid': S36,
        'stack_id': BIG,
        'name': S255,
        'type': TEXT,
        'handler': TEXT,
        'action': S32,
        'status': S32,
        'status_reason': TEXT,
        'physical_id': [TEXT],
        'nested_id': [BIG],
        'definition_id': [BIG],
        'properties': TEXT,
        'attributes': TEXT,
        'metadata': TEXT,
        'data': TEXT,
        'requires': TEXT,
        'deletion_policy': S32,
        'superseded_by': [BIG],
        'under_lock': [TEXT],
        'under_mark': [TEXT],
        'protected': FLAG,
        'reference': [TEXT],
        'created_at': [TIME],
        'updated_at': [TIME],
        'deleted_at': [TIME],
    },
}
#: Generated column -> (type, expression).
MADE: dict[str, tuple[Any, str]] = {
    'hidden': (
        FLAG,
        'CASE WHEN deleted_at IS NOT NULL THEN 1 '
        'WHEN owner_id IS NOT NULL THEN 2 ELSE 0 END',
    ),
    'live_name': (
        S255,
        'CASE WHEN deleted_at IS NULL AND owner_id IS NULL THEN name END',
    ),
}
#: Table -> column -> the table that it refers to.
REFERENCES = {
    'stacks': {'definition_id': 'definitions', 'previous_id': 'definitions'},
    'resources': {'stack_id': 'stacks', 'definition_id': 'definitions'},
}
UNIQUE = {'definitions': 'digest', 'stacks': 'uuid', 'resources': 'uuid'}
#: Table -> index -> (columns, condition).
INDEXES: dict[str, dict[str, tuple[tuple[str, ...], str]]] = {
    'stacks': {
        'definition_id': (('definition_id',), ''),
        'previous_id': (('previous_id',), ''),
        'root_id': (('root_id', 'id'), ''),
        'owner_id': (('owner_id',), 'owner_id IS NOT NULL'),
        'hidden_status': (('hidden', 'status'), ''),
        'tenant_hidden_created_at_id': (('tenant', 'hidden', 'created_at', 'id'), ''),
        'deleted_at': (('deleted_at',), 'deleted_at IS NOT NULL'),
    },
    'resources': {
        'stack_id_deleted_at_id': (('stack_id', 'deleted_at', 'id'), ''),
        'definition_id': (('definition_id',), ''),
        'in_progress': (('status',), "status = 'IN_PROGRESS'"),
        'deleted_at': (('deleted_at',), 'deleted_at IS NOT NULL'),
    },
    'events': {
        'of_stack': (('subject_id', 'sequence'), "subject IN ('stack', 'resource')")
    },
}


def upgrade() -> None:
    op.add_column('events', sa.Column('name', S255))
    op.add_column('events', sa.Column('type', TEXT))
    for table in TABLES:
        _create(table)
    op.create_index(
        'uq_stacks_live_name_tenant', 'stacks', ['live_name', 'tenant'], unique=True
    )
    for table, indexes in INDEXES.items():
        for name, (columns, condition) in indexes.items():
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
    # Only PostgreSQL requires a stored column for an index.
    stored = True if op.get_bind().dialect.name == 'postgresql' else None
    for name, (made, expression) in MADE.items() if table == 'stacks' else ():
        columns.append(sa.Column(name, made, sa.Computed(expression, stored)))
    references = [
        sa.ForeignKeyConstraint([column], [f'{other}.id'], name=f'fk_{table}_{column}')
        for column, other in REFERENCES.get(table, {}).items()
    ]
    unique = UNIQUE[table]
    op.create_table(
        table,
        sa.Column('id', BIG, sa.Identity(), nullable=False),
        *columns,
        *references,
        sa.PrimaryKeyConstraint('id', name=f'pk_{table}'),
        sa.UniqueConstraint(unique, name=f'uq_{table}_{unique}'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=True,
    )
