"""Creators of audits and action plans, with the authority that they act with.

The column is NULL in all that was stored before: who created it is not known, and it
may act on no stack, cluster or node.
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
