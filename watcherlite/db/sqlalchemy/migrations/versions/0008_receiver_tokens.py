"""Receivers have a token of their own, of which the digest is stored.

The column is NULL in the rows that are there: their webhooks were triggered by the
receiver's uuid alone, which could be predicted. They are triggered again once they
have been given a token.
"""

import sqlalchemy as sa
from alembic import op

revision = '0008'
down_revision = '0007'


def upgrade() -> None:
    op.add_column('receivers', sa.Column('token_digest', sa.String(64)))
