"""The tables of stacks, their resources and definitions."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables import types
from watcherlite.db.sqlalchemy.tables.schema import (
    Computed,
    column,
    counter,
    hidden,
    partial,
    table,
)

# Definitions are immutable and shared by stacks with equal ones.
definitions = table(
    'definitions',
    counter(),
    column('digest', sa.String(64)),
    column('template', types.EncryptedJson()),
    column('environment', types.EncryptedJson()),
    column('files', types.EncryptedJson()),
    column('parameters', types.EncryptedJson()),
    # The time of its last use, by the clock of the database. A transaction that has
    # found a definition is about to refer to it: it must not be purged before.
    column('used_at', types.TIME),
    sa.UniqueConstraint('digest'),
    counted=True,
)

stacks = table(
    'stacks',
    counter(),
    column('uuid', types.UUID),
    column('name', types.NAME),
    column('tenant', types.NAME),
    sa.Column(
        'definition_id', types.BIG, sa.ForeignKey('definitions.id'), nullable=False
    ),
    column('action', types.WORD),
    column('status', types.WORD),
    column('status_reason', types.TEXT),
    sa.Column('previous_id', types.BIG, sa.ForeignKey('definitions.id')),
    # Without foreign keys: the stacks of a tree are inserted together, and a purge
    # deletes nested stacks first.
    sa.Column('owner_id', types.BIG),
    sa.Column('owner_resource', types.NAME),
    sa.Column('root_id', types.BIG),
    column('depth', sa.Integer()),
    sa.Column('operation', types.UUID),
    sa.Column('under_lock', types.StackState()),
    sa.Column('lock_level', types.WORD),
    sa.Column('inherited_level', types.WORD),
    column('disable_rollback', types.Flag()),
    column('timeout', sa.Integer()),
    sa.Column('deadline', types.TIME),
    column('tags', types.JsonNames()),
    column('description', types.TEXT),
    # USER is a reserved word of PostgreSQL.
    sa.Column('user_name', types.NAME),
    column('context', types.EncryptedJson(always=False)),
    sa.Column('created_at', types.TIME),
    sa.Column('updated_at', types.TIME),
    sa.Column('deleted_at', types.TIME),
    # 2: nested.
    hidden('WHEN owner_id IS NOT NULL THEN 2 '),
    # The name in searches: NULL for deleted and nested stacks.
    sa.Column(
        'live_name',
        types.NAME,
        Computed('CASE WHEN deleted_at IS NULL AND owner_id IS NULL THEN name END'),
    ),
    sa.UniqueConstraint('uuid'),
    # NULLs are distinct on each database.
    sa.Index('uq_stacks_live_name_tenant', 'live_name', 'tenant', unique=True),
    sa.Index('ix_stacks_definition_id', 'definition_id'),
    sa.Index('ix_stacks_previous_id', 'previous_id'),
    sa.Index('ix_stacks_root_id', 'root_id', 'id'),
    sa.Index('ix_stacks_owner_id', 'owner_id', **partial('owner_id IS NOT NULL')),
    sa.Index('ix_stacks_hidden_status', 'hidden', 'status'),
    sa.Index(
        'ix_stacks_tenant_hidden_created_at_id', 'tenant', 'hidden', 'created_at', 'id'
    ),
    sa.Index('ix_stacks_deleted_at', 'deleted_at', **partial('deleted_at IS NOT NULL')),
    counted=True,
)

resources = table(
    'resources',
    counter(),
    column('uuid', types.UUID),
    sa.Column('stack_id', types.BIG, sa.ForeignKey('stacks.id'), nullable=False),
    column('name', types.NAME),
    # Both may be the URL of a template.
    column('type', types.TEXT),
    column('handler', types.TEXT),
    column('action', types.WORD),
    column('status', types.WORD),
    column('status_reason', types.TEXT),
    sa.Column('physical_id', types.TEXT),
    sa.Column('nested_id', types.BIG),
    sa.Column('definition_id', types.BIG, sa.ForeignKey('definitions.id')),
    column('properties', types.EncryptedJson()),
    column('attributes', types.EncryptedJson()),
    column('metadata', types.EncryptedJson()),
    column('data', types.EncryptedJson()),
    column('requires', types.JsonNames()),
    column('deletion_policy', types.WORD),
    sa.Column('superseded_by', types.BIG),
    sa.Column('under_lock', types.StackState()),
    sa.Column('under_mark', types.StackState()),
    column('protected', types.Flag()),
    sa.Column('reference', types.EncryptedText()),
    sa.Column('hook', types.WORD),
    sa.Column('hook_action', types.UUID),
    sa.Column('created_at', types.TIME),
    sa.Column('updated_at', types.TIME),
    sa.Column('deleted_at', types.TIME),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_resources_stack_id_deleted_at_id', 'stack_id', 'deleted_at', 'id'),
    sa.Index('ix_resources_definition_id', 'definition_id'),
    sa.Index('ix_resources_in_progress', 'status', **partial("status = 'IN_PROGRESS'")),
    sa.Index(
        'ix_resources_deleted_at', 'deleted_at', **partial('deleted_at IS NOT NULL')
    ),
    counted=True,
)
