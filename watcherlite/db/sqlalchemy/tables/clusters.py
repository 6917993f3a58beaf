"""The tables of clusters, nodes, profiles, policies, bindings and receivers."""

from typing import Any

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables.schema import (
    column,
    counter,
    hidden,
    partial,
    table,
)
from watcherlite.db.sqlalchemy.tables.types import (
    BIG,
    DIGEST,
    JSON,
    NAME,
    TEXT,
    TIME,
    UUID,
    WORD,
    EncryptedJson,
    Flag,
)


def _owner() -> list[sa.Column[Any]]:
    return [
        column('tenant', NAME),
        # USER is a reserved word of PostgreSQL.
        sa.Column('user_name', NAME),
        sa.Column('domain', NAME),
    ]


def _lists(name: str, *columns: str, first: tuple[str, ...] = ()) -> list[sa.Index]:
    """Return the indexes of listed rows in the order of some columns.

    Those of one project, and those of all.

    :param first: what the rows that are shown have in common
    """
    return [
        sa.Index(f'ix_{name}_{"_".join((*of, ordered))}_id', *of, ordered, 'id')
        for ordered in columns
        for of in (('tenant', *first), first)
    ]


profiles = table(
    'profiles',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('type', NAME),
    # May be the URL of a template.
    column('handler', TEXT),
    column('spec', EncryptedJson()),
    *_owner(),
    column('metadata', EncryptedJson(always=False)),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.UniqueConstraint('uuid'),
    *_lists('profiles', 'type', 'name', 'created_at', 'updated_at'),
    counted=True,
)

policies = table(
    'policies',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('type', NAME),
    column('spec', EncryptedJson()),
    *_owner(),
    column('data', EncryptedJson()),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.UniqueConstraint('uuid'),
    *_lists('policies', 'type', 'name', 'created_at', 'updated_at'),
    counted=True,
)

# Without foreign keys: a profile can be deleted before the row of a deleted cluster.
clusters = table(
    'clusters',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    *_owner(),
    column('profile_id', BIG),
    column('desired_capacity', sa.Integer()),
    column('min_size', sa.Integer()),
    column('max_size', sa.Integer()),
    column('next_index', sa.Integer()),
    column('timeout', sa.Integer()),
    column('status', WORD),
    column('status_reason', TEXT),
    column('metadata', EncryptedJson(always=False)),
    column('config', EncryptedJson(always=False)),
    column('data', EncryptedJson()),
    column('dependents', JSON),
    sa.Column('init_at', TIME),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    hidden(),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_clusters_profile_id', 'profile_id'),
    sa.Index(
        'ix_clusters_deleted_at', 'deleted_at', **partial('deleted_at IS NOT NULL')
    ),
    *_lists(
        'clusters',
        'name',
        'status',
        'init_at',
        'created_at',
        'updated_at',
        first=('hidden',),
    ),
    counted=True,
)

nodes = table(
    'nodes',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    *_owner(),
    column('profile_id', BIG),
    column('handler', TEXT),
    sa.Column('cluster_id', BIG),
    # INDEX is a reserved word of MySQL.
    column('node_index', sa.Integer()),
    column('role', TEXT),
    column('tainted', Flag()),
    column('status', WORD),
    column('status_reason', TEXT),
    column('metadata', EncryptedJson(always=False)),
    column('data', EncryptedJson()),
    column('dependents', JSON),
    sa.Column('physical_id', TEXT),
    column('properties', EncryptedJson()),
    column('attributes', EncryptedJson()),
    column('kept', EncryptedJson()),
    sa.Column('origin', UUID),
    sa.Column('last_action', UUID),
    sa.Column('init_at', TIME),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    hidden(),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_nodes_cluster_id_hidden_id', 'cluster_id', 'hidden', 'id'),
    sa.Index('ix_nodes_profile_id', 'profile_id'),
    sa.Index('ix_nodes_deleted_at', 'deleted_at', **partial('deleted_at IS NOT NULL')),
    *_lists(
        'nodes',
        'node_index',
        'name',
        'status',
        'init_at',
        'created_at',
        'updated_at',
        first=('hidden',),
    ),
    counted=True,
)

bindings = table(
    'bindings',
    counter(),
    column('uuid', UUID),
    column('cluster_id', BIG),
    column('policy_id', BIG),
    column('priority', sa.Integer()),
    column('enabled', Flag()),
    column('data', EncryptedJson()),
    sa.Column('last_op', TIME),
    sa.UniqueConstraint('uuid'),
    sa.Index(
        'uq_bindings_cluster_id_policy_id', 'cluster_id', 'policy_id', unique=True
    ),
    sa.Index('ix_bindings_policy_id', 'policy_id'),
    counted=True,
)

receivers = table(
    'receivers',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('type', NAME),
    *_owner(),
    sa.Column('cluster_id', BIG),
    sa.Column('action', NAME),
    column('actor', EncryptedJson()),
    column('params', EncryptedJson()),
    column('channel', EncryptedJson(always=False)),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('token_digest', DIGEST),
    sa.UniqueConstraint('uuid'),
    *_lists('receivers', 'name', 'type', 'action', 'cluster_id', 'created_at'),
    counted=True,
)
