"""Add the scoring engines."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0016'
down_revision = '0015'

ENGINES = 'scoring_engines'
BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
NAME = sa.String(255)
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')


def upgrade() -> None:
    op.create_table(
        ENGINES,
        sa.Column('id', BIG, sa.Identity(), nullable=False),
        sa.Column('uuid', sa.String(36), nullable=False),
        sa.Column('name', NAME, nullable=False),
        sa.Column('description', TEXT, nullable=False),
        sa.Column('metainfo', TEXT, nullable=False),
        sa.Column('created_at', TIME),
        sa.Column('updated_at', TIME),
        sa.Column('deleted_at', TIME),
        sa.Column('deleted', BIG, nullable=False),
        sa.Column('lower_name', NAME, nullable=False),
        sa.PrimaryKeyConstraint('id', name=f'pk_{ENGINES}'),
        sa.UniqueConstraint('uuid', name=f'uq_{ENGINES}_uuid'),
        sa.UniqueConstraint('name', 'deleted', name=f'uq_{ENGINES}_name_deleted'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=True,
    )
    op.create_index(f'ix_{ENGINES}_lower_name', ENGINES, ['lower_name'])
