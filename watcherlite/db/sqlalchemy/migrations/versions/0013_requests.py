"""Add the recorded requests."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0013'
down_revision = '0012'

REQUESTS = 'requests'
BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
NAME = sa.String(255)
WORD = sa.String(32)
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')
INDEXED = ('user_id', 'user_name', 'project_id', 'object_uuid')


def upgrade() -> None:
    op.create_table(
        REQUESTS,
        sa.Column('sequence', BIG, sa.Identity(), nullable=False),
        sa.Column('request_id', NAME, nullable=False),
        sa.Column('occurred_at', TIME, nullable=False),
        sa.Column('user_id', NAME),
        sa.Column('user_name', NAME),
        sa.Column('project_id', NAME),
        sa.Column('roles', TEXT, nullable=False),
        sa.Column('method', WORD, nullable=False),
        sa.Column('path', TEXT, nullable=False),
        sa.Column('changes', TEXT),
        sa.Column('object_type', WORD),
        sa.Column('object_uuid', sa.String(36)),
        sa.Column('object_name', NAME),
        sa.Column('created', sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint('sequence', name=f'pk_{REQUESTS}'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=True,
    )
    order = ['occurred_at', 'sequence']
    op.create_index(f'ix_{REQUESTS}_occurred_at', REQUESTS, order)
    for column in INDEXED:
        op.create_index(
            f'ix_{REQUESTS}_{column}_occurred_at', REQUESTS, [column, *order]
        )
