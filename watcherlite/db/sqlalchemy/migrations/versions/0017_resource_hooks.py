"""Add the hooks at which resources wait."""

import sqlalchemy as sa
from alembic import op

revision = '0017'
down_revision = '0016'


def upgrade() -> None:
    op.add_column('resources', sa.Column('hook', sa.String(32)))
    op.add_column('resources', sa.Column('hook_action', sa.String(36)))
