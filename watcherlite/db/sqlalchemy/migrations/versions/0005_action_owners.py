"""Add the owner and the scope of actions, and shared locks.

The columns are NULL in existing rows, so that no table is copied.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = '0005'
down_revision = '0004'

BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
S255 = sa.String(255)
SHARED = 'shared_locks'
#: Index -> (columns, condition).
INDEXES: dict[str, tuple[list[str], str]] = {
    'tenant_created_at_id': (['tenant', 'created_at', 'id'], 'tenant IS NOT NULL'),
    'within': (['within', 'ended', 'id'], 'within IS NOT NULL'),
}


def upgrade() -> None:
    op.add_column('actions', sa.Column('tenant', S255))
    op.add_column('actions', sa.Column('within', S255))
    for name, (columns, condition) in INDEXES.items():
        where: Any = sa.text(condition)
        op.create_index(
            f'ix_actions_{name}',
            'actions',
            columns,
            postgresql_where=where,
            sqlite_where=where,
        )
    op.create_table(
        SHARED,
        sa.Column('target', S255, nullable=False),
        sa.Column('action_id', BIG, autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint('target', 'action_id', name=f'pk_{SHARED}'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
    )
    op.create_index(f'ix_{SHARED}_action_id', SHARED, ['action_id'])
