"""The tables of stacks, their resources and definitions."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables.schema import (
    Computed,
    column,
    counter,
    hidden,
    partial,
    table,
)
from watcherlite.db.sqlalchemy.tables.types import (
    BIG,
    NAME,
    TEXT,
    TIME,
    UUID,
    WORD,
    EncryptedJson,
    EncryptedText,
    Flag,
    JsonNames,
    StackState,
)

# Definitions are immutable and shared by stacks with equal ones.
definitions = table(
    'definitions',
    counter(),
    column('digest', sa.String(64)),
    column('template', EncryptedJson()),
    column('environment', EncryptedJson()),
    column('files', EncryptedJson()),
    column('parameters', EncryptedJson()),
    # The time of its last use, by the clock of the database. A transaction that has
    # found a definition is about to refer to it: it must not be purged before.
    column('used_at', TIME),
    sa.UniqueConstraint('digest'),
    counted=True,
)

stacks = table(
    'stacks',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('tenant', NAME),
    sa.Column('definition_id', BIG, sa.ForeignKey('definitions.id'), nullable=False),
    column('action', WORD),
    column('status', WORD),
    column('status_reason', TEXT),
    sa.Column('previous_id', BIG, sa.ForeignKey('definitions.id')),
    # Without foreign keys: the stacks of a tree are inserted together, and a purge
    # deletes nested stacks first.
    sa.Column('owner_id', BIG),
    sa.Column('owner_resource', NAME),
    sa.Column('root_id', BIG),
    column('depth', sa.Integer()),
    sa.Column('operation', UUID),
    sa.Column('under_lock', StackState()),
    sa.Column('lock_level', WORD),
    sa.Column('inherited_level', WORD),
    column('disable_rollback', Flag()),
    column('timeout', sa.Integer()),
    sa.Column('deadline', TIME),
    column('tags', JsonNames()),
    column('description', TEXT),
    # USER is a reserved word of PostgreSQL.
    sa.Column('user_name', NAME),
    column('context', EncryptedJson(always=False)),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    # 2: nested.
    hidden('WHEN owner_id IS NOT NULL THEN 2 '),
    # The name in searches: NULL for deleted and nested stacks.
    sa.Column(
        'live_name',
        NAME,
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
    column('uuid', UUID),
    sa.Column('stack_id', BIG, sa.ForeignKey('stacks.id'), nullable=False),
    column('name', NAME),
    # Both may be the URL of a template.
    column('type', TEXT),
    column('handler', TEXT),
    column('action', WORD),
    column('status', WORD),
    column('status_reason', TEXT),
    sa.Column('physical_id', TEXT),
    sa.Column('nested_id', BIG),
    sa.Column('definition_id', BIG, sa.ForeignKey('definitions.id')),
    column('properties', EncryptedJson()),
    column('attributes', EncryptedJson()),
    column('metadata', EncryptedJson()),
    column('data', EncryptedJson()),
    column('requires', JsonNames()),
    column('deletion_policy', WORD),
    sa.Column('superseded_by', BIG),
    sa.Column('under_lock', StackState()),
    sa.Column('under_mark', StackState()),
    column('protected', Flag()),
    sa.Column('reference', EncryptedText()),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_resources_stack_id_deleted_at_id', 'stack_id', 'deleted_at', 'id'),
    sa.Index('ix_resources_definition_id', 'definition_id'),
    sa.Index('ix_resources_in_progress', 'status', **partial("status = 'IN_PROGRESS'")),
    sa.Index(
        'ix_resources_deleted_at', 'deleted_at', **partial('deleted_at IS NOT NULL')
    ),
    counted=True,
)
