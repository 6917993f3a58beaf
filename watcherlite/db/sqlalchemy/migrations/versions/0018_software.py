"""Add the software configs and deployments."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0018'
down_revision = '0017'

CONFIGS, DEPLOYMENTS = 'software_configs', 'software_deployments'
BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
NAME = sa.String(255)
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')


def upgrade() -> None:
    op.create_table(
        CONFIGS,
        sa.Column('id', BIG, sa.Identity(), nullable=False),
        sa.Column('uuid', sa.String(36), nullable=False),
        sa.Column('tenant', NAME, nullable=False),
        sa.Column('name', NAME, nullable=False),
        sa.Column('group_name', NAME, nullable=False),
        sa.Column('config', TEXT, nullable=False),
        sa.Column('inputs', TEXT, nullable=False),
        sa.Column('outputs', TEXT, nullable=False),
        sa.Column('options', TEXT, nullable=False),
        sa.Column('created_at', TIME, nullable=False),
        sa.PrimaryKeyConstraint('id', name=f'pk_{CONFIGS}'),
        sa.UniqueConstraint('uuid', name=f'uq_{CONFIGS}_uuid'),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=True,
    )
    op.create_index(f'ix_{CONFIGS}_tenant_id', CONFIGS, ['tenant', 'id'])
    op.create_table(
        DEPLOYMENTS,
        sa.Column('id', BIG, sa.Identity(), nullable=False),
        sa.Column('uuid', sa.String(36), nullable=False),
        sa.Column('tenant', NAME, nullable=False),
        sa.Column('server_id', NAME, nullable=False),
        sa.Column('config_id', BIG, nullable=False),
        sa.Column('action', NAME, nullable=False),
        sa.Column('status', sa.String(32), nullable=False),
        sa.Column('status_reason', TEXT, nullable=False),
        sa.Column('input_values', TEXT, nullable=False),
        sa.Column('output_values', TEXT),
        sa.Column('signal_token', TEXT, nullable=False),
        sa.Column('created_at', TIME, nullable=False),
        sa.Column('updated_at', TIME),
        sa.PrimaryKeyConstraint('id', name=f'pk_{DEPLOYMENTS}'),
        sa.UniqueConstraint('uuid', name=f'uq_{DEPLOYMENTS}_uuid'),
        sa.ForeignKeyConstraint(
            ['config_id'], [f'{CONFIGS}.id'], name=f'fk_{DEPLOYMENTS}_config_id'
        ),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=True,
    )
    for columns in (['config_id'], ['tenant', 'id'], ['tenant', 'server_id', 'id']):
        op.create_index(f'ix_{DEPLOYMENTS}_{"_".join(columns)}', DEPLOYMENTS, columns)
