"""Add the sessions of the dashboard."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0011'
down_revision = '0010'

SESSIONS = 'sessions'
BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
DIGEST = sa.String(64)
JSON = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')


def upgrade() -> None:
    op.create_table(
        SESSIONS,
        sa.Column('id', BIG, sa.Identity(), nullable=False),
        sa.Column('digest', DIGEST, nullable=False),
        sa.Column('credentials', JSON, nullable=False),
        sa.Column('created_at', TIME, nullable=False),
        sa.Column('expires_at', TIME, nullable=False),
        sa.PrimaryKeyConstraint('id', name=f'pk_{SESSIONS}'),
        sa.UniqueConstraint('digest', name=f'uq_{SESSIONS}_digest'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
    )
    op.create_index(f'ix_{SESSIONS}_expires_at', SESSIONS, ['expires_at'])
