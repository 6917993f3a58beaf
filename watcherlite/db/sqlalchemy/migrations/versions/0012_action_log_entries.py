"""Add the logs of actions."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0012'
down_revision = '0011'

ENTRIES = 'action_log_entries'
BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
WORD = sa.String(32)
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')


def upgrade() -> None:
    op.create_table(
        ENTRIES,
        sa.Column('sequence', BIG, sa.Identity(), nullable=False),
        sa.Column('action_id', BIG, nullable=False),
        sa.Column('attempt', sa.Integer(), nullable=False),
        sa.Column('stream', WORD, nullable=False),
        sa.Column('text', TEXT, nullable=False),
        sa.Column('logged_at', TIME, nullable=False),
        sa.PrimaryKeyConstraint('sequence', name=f'pk_{ENTRIES}'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=True,
    )
    op.create_index(
        f'ix_{ENTRIES}_action_id_sequence', ENTRIES, ['action_id', 'sequence']
    )
    op.create_index(f'ix_{ENTRIES}_logged_at', ENTRIES, ['logged_at'])
