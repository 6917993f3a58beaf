"""Add the host of the last run of an audit."""

import sqlalchemy as sa
from alembic import op

revision = '0014'
down_revision = '0013'


def upgrade() -> None:
    op.add_column('audits', sa.Column('hostname', sa.String(255)))
