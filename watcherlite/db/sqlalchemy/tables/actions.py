"""The tables of action plans, actions and their dependencies."""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy.tables.schema import (
    Computed,
    column,
    counter,
    hidden,
    orders,
    partial,
    table,
)
from watcherlite.db.sqlalchemy.tables.types import (
    BIG,
    FLAG,
    JSON,
    MESSAGE,
    NAME,
    TIME,
    UUID,
    WORD,
    CreatorJson,
    EncryptedJson,
    JsonList,
    JsonTuple,
)

ACTIVE_PLANS = "state IN ('PENDING', 'ONGOING', 'CANCELLING')"

action_plans = table(
    'action_plans',
    counter(),
    column('uuid', UUID),
    sa.Column('name', NAME),
    sa.Column('audit_id', BIG, sa.ForeignKey('audits.id')),
    sa.Column('strategy_id', BIG, sa.ForeignKey('strategies.id')),
    column('on_failure', WORD),
    column('on_worker_loss', WORD),
    sa.Column('max_parallel', sa.Integer()),
    column('global_efficacy', JSON),
    sa.Column('created_at', TIME),
    column('state', WORD),
    column('stage', WORD),
    sa.Column('status_message', MESSAGE),
    column('total', sa.Integer()),
    column('unfinished', sa.Integer()),
    column('active', sa.Integer()),
    column('failed', sa.Integer()),
    column('skipped', sa.Integer()),
    sa.Column('fault', JSON),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    sa.Column('efficacy_indicators', JsonList()),
    sa.Column('creator', CreatorJson()),
    hidden(),
    # When it was updated, but NULL as long as that is at every change of an action:
    # with an index on it, each of those would be written to all indexes.
    sa.Column(
        'settled_at',
        TIME,
        Computed(f'CASE WHEN {ACTIVE_PLANS} THEN NULL ELSE updated_at END'),
    ),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_action_plans_audit_id_hidden_id', 'audit_id', 'hidden', 'id'),
    sa.Index('ix_action_plans_strategy_id_hidden_id', 'strategy_id', 'hidden', 'id'),
    # For those who look for plans in a state, deleted or not.
    sa.Index('ix_action_plans_state_id', 'state', 'id'),
    *orders('action_plans', 'state', 'created_at', 'settled_at', 'deleted_at'),
    sa.Index('ix_action_plans_active', 'state', 'id', **partial(ACTIVE_PLANS)),
    counted=True,
)

#: What no action was ever scheduled for: `not_before` is compared with it.
NEVER_SCHEDULED = "'1970-01-01 00:00:00.000000'"

_STILL = "IS NOT NULL AND ended = ''"

# `claimable` is 1 as long as a worker may take the action (its time apart), and
# `ended` its status once that is final, '' before. Both repeat what other columns
# say: without them a claim would have to look at, or sort, all that waits, and
# every change of a status would be written to indexes as well.
actions = table(
    'actions',
    counter(),
    column('uuid', UUID),
    column('action_type', NAME),
    column('lane', WORD),
    sa.Column('name', NAME),
    sa.Column('plan_id', BIG, sa.ForeignKey('action_plans.id')),
    sa.Column('derived_from', BIG),
    sa.Column('target', NAME),
    column('cause', WORD),
    column('inputs', EncryptedJson(always=False)),
    column('context', EncryptedJson(always=False)),
    column('parents', JsonTuple()),
    column('dependents', sa.Integer()),
    column('run_interval', sa.Integer()),
    column('timeout', sa.Integer()),
    sa.Column('created_at', TIME),
    column('status', WORD),
    sa.Column('status_message', MESSAGE),
    sa.Column('owner', UUID),
    column('attempt', sa.Integer()),
    column('recoveries', sa.Integer()),
    column('phase', WORD),
    column('pending', sa.Integer()),
    column('not_before', TIME),
    sa.Column('blocked_on', NAME),
    sa.Column('control', WORD),
    sa.Column('token', EncryptedJson(always=False)),
    sa.Column('start_time', TIME),
    sa.Column('end_time', TIME),
    sa.Column('deadline', TIME),
    sa.Column('outputs', EncryptedJson(always=False)),
    column('data', EncryptedJson(always=False)),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    sa.Column('claimable', FLAG),
    column('ended', WORD),
    # That of the plan, which never has another one: an audit may have very many.
    sa.Column('audit_id', BIG),
    sa.Column('tenant', NAME),
    sa.Column('within', NAME),
    # 2: of no plan, but not deleted.
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
    # For those who list what a project asked for, and who look for what goes on in
    # a thing; plans pay nothing for these.
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

# Without foreign keys: the rows of one plan come and go together, and checking
# two keys of each edge would double what storing a large plan costs.
action_dependencies = table(
    'action_dependencies',
    sa.Column('parent_id', BIG, primary_key=True, autoincrement=False),
    sa.Column('child_id', BIG, primary_key=True, autoincrement=False),
    column('needs', WORD),
    sa.Index('ix_action_dependencies_child_id', 'child_id'),
)
