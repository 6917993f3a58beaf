"""Store generated columns on MariaDB and MySQL.

With an index on a virtual column, a sorted list of MariaDB misses rows that change at
the same time. Each table is rewritten once.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = '0007'
down_revision = '0006'

DELETED = 'CASE WHEN deleted_at IS NOT NULL THEN 1 '
ACTIVE = "state IN ('PENDING', 'ONGOING', 'CANCELLING')"
#: Table -> column -> type and expression.
MADE: dict[str, dict[str, tuple[str, str]]] = {
    'audits': {'hidden': ('SMALLINT', f'{DELETED}ELSE 0 END')},
    'action_plans': {
        'hidden': ('SMALLINT', f'{DELETED}ELSE 0 END'),
        'settled_at': (
            'DATETIME(6)',
            f'CASE WHEN {ACTIVE} THEN NULL ELSE updated_at END',
        ),
    },
    'actions': {
        'hidden': ('SMALLINT', f'{DELETED}WHEN plan_id IS NULL THEN 2 ELSE 0 END')
    },
    'stacks': {
        'hidden': ('SMALLINT', f'{DELETED}WHEN owner_id IS NOT NULL THEN 2 ELSE 0 END'),
        'live_name': (
            'VARCHAR(255)',
            'CASE WHEN deleted_at IS NULL AND owner_id IS NULL THEN name END',
        ),
    },
}


def upgrade() -> None:
    if op.get_bind().dialect.name != 'mysql':
        # PostgreSQL already stores them, and SQLite misses no rows.
        return
    inspector = sa.inspect(op.get_bind())
    for table, columns in MADE.items():
        indexes = [
            index
            for index in inspector.get_indexes(table)
            if set(columns) & set(index['column_names'])
        ]
        # A virtual column cannot become a stored one: it is dropped and added in one
        # statement, because of foreign keys and to rewrite large tables once.
        changes = [
            *(f'DROP INDEX {index["name"]}' for index in indexes),
            *(f'DROP COLUMN {name}' for name in columns),
            *(
                f'ADD COLUMN {name} {kind} GENERATED ALWAYS AS ({expression}) STORED'
                for name, (kind, expression) in columns.items()
            ),
            *(f'ADD {_written(index)}' for index in indexes),
        ]
        op.execute(f'ALTER TABLE {table} {", ".join(changes)}')


def _written(index: Any) -> str:
    unique = 'UNIQUE ' if index['unique'] else ''
    return f'{unique}INDEX {index["name"]} ({", ".join(index["column_names"])})'
