"""Add the idempotency keys of requests."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0010'
down_revision = '0009'

KEYS = 'request_keys'
BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
DIGEST = sa.String(64)
JSON = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')


def upgrade() -> None:
    op.create_table(
        KEYS,
        sa.Column('id', BIG, sa.Identity(), nullable=False),
        sa.Column('digest', DIGEST, nullable=False),
        sa.Column('fingerprint', DIGEST, nullable=False),
        sa.Column('created_at', TIME, nullable=False),
        sa.Column('created', JSON, nullable=False),
        sa.PrimaryKeyConstraint('id', name=f'pk_{KEYS}'),
        sa.UniqueConstraint('digest', name=f'uq_{KEYS}_digest'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
    )
    op.create_index(f'ix_{KEYS}_created_at', KEYS, ['created_at'])
