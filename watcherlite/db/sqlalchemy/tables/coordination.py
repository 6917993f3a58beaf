"""The tables of workers, roles, locks, projects, requests, sessions, credentials."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables import types
from watcherlite.db.sqlalchemy.tables.schema import column, counter, table

# `action_id` is 0 for a shared lock, and -1 for one that no further action can share.
locks = table(
    'locks',
    sa.Column('target', types.NAME, primary_key=True),
    column('action_id', types.BIG),
    sa.Index('ix_locks_action_id', 'action_id'),
)

# The actions that share a lock.
shared_locks = table(
    'shared_locks',
    sa.Column('target', types.NAME, primary_key=True),
    sa.Column('action_id', types.BIG, primary_key=True, autoincrement=False),
    sa.Index('ix_shared_locks_action_id', 'action_id'),
)

# The projects that have been locked: see `lock_tenant`.
tenants = table('tenants', sa.Column('tenant', types.NAME, primary_key=True))

request_keys = table(
    'request_keys',
    counter(),
    column('digest', types.DIGEST),
    column('fingerprint', types.DIGEST),
    column('created_at', types.TIME),
    column('created', types.JSON),
    sa.UniqueConstraint('digest'),
    sa.Index('ix_request_keys_created_at', 'created_at'),
)
requests = table(
    'requests',
    counter('sequence'),
    column('request_id', types.NAME),
    column('occurred_at', types.TIME),
    sa.Column('user_id', types.NAME),
    sa.Column('user_name', types.NAME),
    sa.Column('project_id', types.NAME),
    column('roles', types.JsonTuple()),
    column('method', types.WORD),
    column('path', types.TEXT),
    sa.Column('changes', types.EncryptedJson()),
    sa.Column('object_type', types.WORD),
    sa.Column('object_uuid', types.UUID),
    sa.Column('object_name', types.NAME),
    column('created', types.Flag()),
    sa.Index('ix_requests_occurred_at', 'occurred_at', 'sequence'),
    *(
        sa.Index(f'ix_requests_{name}_occurred_at', name, 'occurred_at', 'sequence')
        for name in ('user_id', 'user_name', 'project_id', 'object_uuid')
    ),
    counted=True,
)
sessions = table(
    'sessions',
    counter(),
    column('digest', types.DIGEST),
    column('credentials', types.EncryptedJson()),
    column('created_at', types.TIME),
    column('expires_at', types.TIME),
    sa.UniqueConstraint('digest'),
    sa.Index('ix_sessions_expires_at', 'expires_at'),
)
# Of the credentials of an owner the newest one is used.
credentials = table(
    'credentials',
    counter(),
    column('uuid', types.UUID),
    column('kind', types.WORD),
    column('user_id', types.NAME),
    column('project_id', types.NAME),
    column('roles', types.JsonTuple()),
    column('external_id', types.EncryptedText()),
    sa.Column('secret', types.EncryptedText()),
    sa.Column('owner', types.UUID),
    column('created_at', types.TIME),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_credentials_owner', 'owner', 'id'),
    counted=True,
)
workers = table(
    'workers',
    counter(),
    column('uuid', types.UUID),
    column('host', types.NAME),
    column('identity', types.NAME),
    column('lanes', types.JsonTuple()),
    column('started_at', types.TIME),
    column('lease_until', types.TIME),
    sa.UniqueConstraint('uuid'),
    counted=True,
)

roles = table(
    'roles',
    sa.Column('role', types.NAME, primary_key=True),
    column('worker', types.UUID),
    column('lease_until', types.TIME),
)
