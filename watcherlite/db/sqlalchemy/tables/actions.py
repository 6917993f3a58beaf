"""The tables of action plans, actions and their dependencies."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables import types
from watcherlite.db.sqlalchemy.tables.schema import (
    Computed,
    column,
    counter,
    hidden,
    orders,
    partial,
    table,
)

ACTIVE_PLANS = "state IN ('PENDING', 'ONGOING', 'CANCELLING')"

action_plans = table(
    'action_plans',
    counter(),
    column('uuid', types.UUID),
    sa.Column('name', types.NAME),
    sa.Column('audit_id', types.BIG, sa.ForeignKey('audits.id')),
    sa.Column('strategy_id', types.BIG, sa.ForeignKey('strategies.id')),
    column('on_failure', types.WORD),
    column('on_worker_loss', types.WORD),
    sa.Column('max_parallel', sa.Integer()),
    column('global_efficacy', types.JSON),
    sa.Column('created_at', types.TIME),
    column('state', types.WORD),
    column('stage', types.WORD),
    sa.Column('status_message', types.MESSAGE),
    column('total', sa.Integer()),
    column('unfinished', sa.Integer()),
    column('active', sa.Integer()),
    column('failed', sa.Integer()),
    column('skipped', sa.Integer()),
    sa.Column('fault', types.JSON),
    sa.Column('updated_at', types.TIME),
    sa.Column('deleted_at', types.TIME),
    sa.Column('efficacy_indicators', types.JsonList()),
    sa.Column('creator', types.CreatorJson()),
    hidden(),
    # `updated_at`, but NULL while the plan is active: an index on `updated_at` would be
    # written with every change of an action.
    sa.Column(
        'settled_at',
        types.TIME,
        Computed(f'CASE WHEN {ACTIVE_PLANS} THEN NULL ELSE updated_at END'),
    ),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_action_plans_audit_id_hidden_id', 'audit_id', 'hidden', 'id'),
    sa.Index('ix_action_plans_strategy_id_hidden_id', 'strategy_id', 'hidden', 'id'),
    # For queries by state, deleted plans included.
    sa.Index('ix_action_plans_state_id', 'state', 'id'),
    *orders('action_plans', 'state', 'created_at', 'settled_at', 'deleted_at'),
    sa.Index('ix_action_plans_active', 'state', 'id', **partial(ACTIVE_PLANS)),
    counted=True,
)

#: `not_before` of actions that are not scheduled.
NEVER_SCHEDULED = "'1970-01-01 00:00:00.000000'"

_STILL = "IS NOT NULL AND ended = ''"

# `claimable` is 1 while a worker may claim the action, apart from `not_before`. `ended`
# is the final status, or ''. Both are redundant: without them, a claim would have to
# read or sort all waiting actions, and every change of a status would be written to
# indexes.
actions = table(
    'actions',
    counter(),
    column('uuid', types.UUID),
    column('action_type', types.NAME),
    column('lane', types.WORD),
    sa.Column('name', types.NAME),
    sa.Column('plan_id', types.BIG, sa.ForeignKey('action_plans.id')),
    sa.Column('derived_from', types.BIG),
    sa.Column('target', types.NAME),
    column('cause', types.WORD),
    column('inputs', types.EncryptedJson(always=False)),
    column('context', types.EncryptedJson(always=False)),
    column('parents', types.JsonTuple()),
    column('dependents', sa.Integer()),
    column('run_interval', sa.Integer()),
    column('timeout', sa.Integer()),
    sa.Column('created_at', types.TIME),
    column('status', types.WORD),
    sa.Column('status_message', types.MESSAGE),
    sa.Column('owner', types.UUID),
    column('attempt', sa.Integer()),
    column('recoveries', sa.Integer()),
    column('phase', types.WORD),
    column('pending', sa.Integer()),
    column('not_before', types.TIME),
    sa.Column('blocked_on', types.NAME),
    sa.Column('control', types.WORD),
    sa.Column('token', types.EncryptedJson(always=False)),
    sa.Column('start_time', types.TIME),
    sa.Column('end_time', types.TIME),
    sa.Column('deadline', types.TIME),
    sa.Column('outputs', types.EncryptedJson(always=False)),
    column('data', types.EncryptedJson(always=False)),
    sa.Column('updated_at', types.TIME),
    sa.Column('deleted_at', types.TIME),
    sa.Column('claimable', types.FLAG),
    column('ended', types.WORD),
    # A constant copy of the column of the plan, as an audit may have many plans.
    sa.Column('audit_id', types.BIG),
    sa.Column('tenant', types.NAME),
    sa.Column('within', types.NAME),
    # 2: without a plan, and not deleted.
    hidden('WHEN plan_id IS NULL THEN 2 '),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_actions_plan_id', 'plan_id', 'id'),
    sa.Index(
        'ix_actions_claimable_of_plan',
        'plan_id',
        'claimable',
        'not_before',
        'id',
        **partial('claimable = 1'),
    ),
    sa.Index(
        'ix_actions_claimable_of_lane',
        'lane',
        'claimable',
        'not_before',
        'id',
        **partial('claimable = 1 AND plan_id IS NULL'),
    ),
    sa.Index(
        'ix_actions_scheduled',
        'lane',
        'not_before',
        **partial(f'claimable = 1 AND not_before > {NEVER_SCHEDULED}'),
    ),
    sa.Index(
        'ix_actions_deadline', 'lane', 'deadline', **partial('deadline IS NOT NULL')
    ),
    sa.Index('ix_actions_owner', 'owner', 'id', **partial(f'owner {_STILL}')),
    sa.Index('ix_actions_control', 'control', 'owner', **partial(f'control {_STILL}')),
    sa.Index(
        'ix_actions_blocked_on', 'blocked_on', 'id', **partial(f'blocked_on {_STILL}')
    ),
    sa.Index(
        'ix_actions_derived_from_created_at',
        'derived_from',
        'created_at',
        **partial('derived_from IS NOT NULL'),
    ),
    sa.Index(
        'ix_actions_unfinished', 'plan_id', 'ended', 'id', **partial("ended = ''")
    ),
    sa.Index(
        'ix_actions_target', 'hidden', 'target', 'id', **partial('target IS NOT NULL')
    ),
    sa.Index(
        'ix_actions_audit_id',
        'audit_id',
        'hidden',
        'id',
        **partial('audit_id IS NOT NULL'),
    ),
    # For lists of actions of a project, and searches of actions within a cluster.
    # Actions of plans are not in these indexes.
    sa.Index(
        'ix_actions_tenant_created_at_id',
        'tenant',
        'created_at',
        'id',
        **partial('tenant IS NOT NULL'),
    ),
    *(
        sa.Index(
            f'ix_actions_tenant_{ordered}_id',
            'tenant',
            ordered,
            'id',
            **partial('tenant IS NOT NULL'),
        )
        for ordered in ('name', 'target', 'action_type', 'ended')
    ),
    sa.Index('ix_actions_name_id', 'name', 'id', **partial('tenant IS NOT NULL')),
    sa.Index(
        'ix_actions_within', 'within', 'ended', 'id', **partial('within IS NOT NULL')
    ),
    *orders('actions', 'ended', 'action_type', 'created_at'),
    counted=True,
)

# Without foreign keys, which would double the cost of inserting a large plan. The rows
# of one plan are inserted and deleted together.
action_dependencies = table(
    'action_dependencies',
    sa.Column('parent_id', types.BIG, primary_key=True, autoincrement=False),
    sa.Column('child_id', types.BIG, primary_key=True, autoincrement=False),
    column('needs', types.WORD),
    sa.Index('ix_action_dependencies_child_id', 'child_id'),
)

# Without a foreign key, which would lock the action: a purge deletes the entries of
# actions before these, and the retention deletes all others.
action_log_entries = table(
    'action_log_entries',
    counter('sequence'),
    column('action_id', types.BIG),
    column('attempt', sa.Integer()),
    column('stream', types.WORD),
    column('text', types.EncryptedText(always=False)),
    column('logged_at', types.TIME),
    sa.Index('ix_action_log_entries_action_id_sequence', 'action_id', 'sequence'),
    sa.Index('ix_action_log_entries_logged_at', 'logged_at'),
    counted=True,
)
