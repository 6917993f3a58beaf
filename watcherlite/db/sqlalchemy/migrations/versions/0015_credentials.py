"""Add the credentials of users."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0015'
down_revision = '0014'

CREDENTIALS = 'credentials'
BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
NAME = sa.String(255)
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')


def upgrade() -> None:
    op.create_table(
        CREDENTIALS,
        sa.Column('id', BIG, sa.Identity(), nullable=False),
        sa.Column('uuid', sa.String(36), nullable=False),
        sa.Column('kind', sa.String(32), nullable=False),
        sa.Column('user_id', NAME, nullable=False),
        sa.Column('project_id', NAME, nullable=False),
        sa.Column('roles', TEXT, nullable=False),
        sa.Column('external_id', TEXT, nullable=False),
        sa.Column('secret', TEXT),
        sa.Column('owner', sa.String(36)),
        sa.Column('created_at', TIME, nullable=False),
        sa.PrimaryKeyConstraint('id', name=f'pk_{CREDENTIALS}'),
        sa.UniqueConstraint('uuid', name=f'uq_{CREDENTIALS}_uuid'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=True,
    )
    op.create_index(f'ix_{CREDENTIALS}_owner', CREDENTIALS, ['owner', 'id'])
