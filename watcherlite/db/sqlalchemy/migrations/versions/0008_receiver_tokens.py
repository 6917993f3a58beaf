"""Add the digests of the tokens of receivers.

The column is NULL in existing rows, whose webhooks were triggered by the predictable
uuid of the receiver. They can be triggered again when they have a token.
"""

import sqlalchemy as sa
from alembic import op

revision = '0008'
down_revision = '0007'


def upgrade() -> None:
    op.add_column('receivers', sa.Column('token_digest', sa.String(64)))
