"""The tables of workers, roles, locks, locked projects and request keys."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables.schema import column, counter, table
from watcherlite.db.sqlalchemy.tables.types import (
    BIG,
    DIGEST,
    JSON,
    NAME,
    TIME,
    UUID,
    JsonTuple,
)

# `action_id` is 0 for a shared lock, and -1 for one that no further action can share.
locks = table(
    'locks',
    sa.Column('target', NAME, primary_key=True),
    column('action_id', BIG),
    sa.Index('ix_locks_action_id', 'action_id'),
)

# The actions that share a lock.
shared_locks = table(
    'shared_locks',
    sa.Column('target', NAME, primary_key=True),
    sa.Column('action_id', BIG, primary_key=True, autoincrement=False),
    sa.Index('ix_shared_locks_action_id', 'action_id'),
)

# The projects that have been locked: see `lock_tenant`.
tenants = table('tenants', sa.Column('tenant', NAME, primary_key=True))

request_keys = table(
    'request_keys',
    counter(),
    column('digest', DIGEST),
    column('fingerprint', DIGEST),
    column('created_at', TIME),
    column('created', JSON),
    sa.UniqueConstraint('digest'),
    sa.Index('ix_request_keys_created_at', 'created_at'),
)
workers = table(
    'workers',
    counter(),
    column('uuid', UUID),
    column('host', NAME),
    column('identity', NAME),
    column('lanes', JsonTuple()),
    column('started_at', TIME),
    column('lease_until', TIME),
    sa.UniqueConstraint('uuid'),
    counted=True,
)

roles = table(
    'roles',
    sa.Column('role', NAME, primary_key=True),
    column('worker', UUID),
    column('lease_until', TIME),
)
