"""The tables of clusters, nodes, profiles, policies, bindings and receivers."""

from typing import Any

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables import types
from watcherlite.db.sqlalchemy.tables.schema import (
    column,
    counter,
    hidden,
    partial,
    table,
)


def _owner() -> list[sa.Column[Any]]:
    return [
        column('tenant', types.NAME),
        # USER is a reserved word of PostgreSQL.
        sa.Column('user_name', types.NAME),
        sa.Column('domain', types.NAME),
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
    column('uuid', types.UUID),
    column('name', types.NAME),
    column('type', types.NAME),
    # May be the URL of a template.
    column('handler', types.TEXT),
    column('spec', types.EncryptedJson()),
    *_owner(),
    column('metadata', types.EncryptedJson(always=False)),
    sa.Column('created_at', types.TIME),
    sa.Column('updated_at', types.TIME),
    sa.UniqueConstraint('uuid'),
    *_lists('profiles', 'type', 'name', 'created_at', 'updated_at'),
    counted=True,
)

policies = table(
    'policies',
    counter(),
    column('uuid', types.UUID),
    column('name', types.NAME),
    column('type', types.NAME),
    column('spec', types.EncryptedJson()),
    *_owner(),
    column('data', types.EncryptedJson()),
    sa.Column('created_at', types.TIME),
    sa.Column('updated_at', types.TIME),
    sa.UniqueConstraint('uuid'),
    *_lists('policies', 'type', 'name', 'created_at', 'updated_at'),
    counted=True,
)

# Without foreign keys: a profile can be deleted before the row of a deleted cluster.
clusters = table(
    'clusters',
    counter(),
    column('uuid', types.UUID),
    column('name', types.NAME),
    *_owner(),
    column('profile_id', types.BIG),
    column('desired_capacity', sa.Integer()),
    column('min_size', sa.Integer()),
    column('max_size', sa.Integer()),
    column('next_index', sa.Integer()),
    column('timeout', sa.Integer()),
    column('status', types.WORD),
    column('status_reason', types.TEXT),
    column('metadata', types.EncryptedJson(always=False)),
    column('config', types.EncryptedJson(always=False)),
    column('data', types.EncryptedJson()),
    column('dependents', types.JSON),
    sa.Column('init_at', types.TIME),
    sa.Column('created_at', types.TIME),
    sa.Column('updated_at', types.TIME),
    sa.Column('deleted_at', types.TIME),
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
    column('uuid', types.UUID),
    column('name', types.NAME),
    *_owner(),
    column('profile_id', types.BIG),
    column('handler', types.TEXT),
    sa.Column('cluster_id', types.BIG),
    # INDEX is a reserved word of MySQL.
    column('node_index', sa.Integer()),
    column('role', types.TEXT),
    column('tainted', types.Flag()),
    column('status', types.WORD),
    column('status_reason', types.TEXT),
    column('metadata', types.EncryptedJson(always=False)),
    column('data', types.EncryptedJson()),
    column('dependents', types.JSON),
    sa.Column('physical_id', types.TEXT),
    column('properties', types.EncryptedJson()),
    column('attributes', types.EncryptedJson()),
    column('kept', types.EncryptedJson()),
    sa.Column('origin', types.UUID),
    sa.Column('last_action', types.UUID),
    sa.Column('init_at', types.TIME),
    sa.Column('created_at', types.TIME),
    sa.Column('updated_at', types.TIME),
    sa.Column('deleted_at', types.TIME),
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
    column('uuid', types.UUID),
    column('cluster_id', types.BIG),
    column('policy_id', types.BIG),
    column('priority', sa.Integer()),
    column('enabled', types.Flag()),
    column('data', types.EncryptedJson()),
    sa.Column('last_op', types.TIME),
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
    column('uuid', types.UUID),
    column('name', types.NAME),
    column('type', types.NAME),
    *_owner(),
    sa.Column('cluster_id', types.BIG),
    sa.Column('action', types.NAME),
    column('actor', types.EncryptedJson()),
    column('params', types.EncryptedJson()),
    column('channel', types.EncryptedJson(always=False)),
    sa.Column('created_at', types.TIME),
    sa.Column('updated_at', types.TIME),
    sa.Column('token_digest', types.DIGEST),
    sa.UniqueConstraint('uuid'),
    *_lists('receivers', 'name', 'type', 'action', 'cluster_id', 'created_at'),
    counted=True,
)
