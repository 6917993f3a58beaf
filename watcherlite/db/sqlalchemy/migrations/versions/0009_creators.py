"""Add the creators of audits and action plans, with their authority.

The column is NULL in existing rows: their creator is unknown, and they may not change
stacks, clusters and nodes.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0009'
down_revision = '0008'

JSON = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')


def upgrade() -> None:
    for table in ('audits', 'action_plans'):
        op.add_column(table, sa.Column('creator', JSON))
