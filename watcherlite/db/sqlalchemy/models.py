"""The tables.

Every constraint and index has a name, so that a migration can speak of it on
each database. Times are naive and in UTC. What is JSON is kept as text: nobody
searches in it, and databases differ in what they do to it.
"""

import sqlalchemy as sa

from watcherlite.db.sqlalchemy import cluster_models, stack_models
from watcherlite.db.sqlalchemy.schema import (
    BIG,
    FLAG,
    JSON,
    MESSAGE,
    NAME,
    TIME,
    UUID,
    WORD,
    Made,
    column,
    counter,
    hidden,
    in_any_case,
    metadata,
    named,
    orders,
    partial,
    table,
)

__all__ = [
    'ACTIVE_PLANS',
    'NEVER_SCHEDULED',
    'OF_STACKS',
    'cluster_models',
    'metadata',
    'stack_models',
]

goals = table(
    'goals',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('display_name', NAME),
    column('efficacy_specification', JSON),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    column('deleted', BIG),
    in_any_case(),
    sa.UniqueConstraint('uuid'),
    named('goals'),
    sa.Index('ix_goals_lower_name', 'lower_name'),
    counted=True,
)

strategies = table(
    'strategies',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('display_name', NAME),
    sa.Column('goal_id', BIG, sa.ForeignKey('goals.id')),
    column('parameters_spec', JSON),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    column('deleted', BIG),
    in_any_case(),
    sa.UniqueConstraint('uuid'),
    named('strategies'),
    sa.Index('ix_strategies_goal_id', 'goal_id'),
    sa.Index('ix_strategies_lower_name', 'lower_name'),
    counted=True,
)

audit_templates = table(
    'audit_templates',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    sa.Column('goal_id', BIG, sa.ForeignKey('goals.id'), nullable=False),
    sa.Column('strategy_id', BIG, sa.ForeignKey('strategies.id')),
    sa.Column('description', NAME),
    column('scope', JSON),
    column('default_parameters', JSON),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    column('deleted', BIG),
    column('lower_name', NAME),
    sa.UniqueConstraint('uuid'),
    named('audit_templates'),
    sa.Index('ix_audit_templates_goal_id', 'goal_id'),
    sa.Index('ix_audit_templates_strategy_id', 'strategy_id'),
    sa.Index('ix_audit_templates_lower_name', 'lower_name'),
    counted=True,
)

audits = table(
    'audits',
    counter(),
    column('uuid', UUID),
    column('name', NAME),
    column('audit_type', WORD),
    column('state', WORD),
    sa.Column('goal_id', BIG, sa.ForeignKey('goals.id'), nullable=False),
    sa.Column('strategy_id', BIG, sa.ForeignKey('strategies.id')),
    column('parameters', JSON),
    column('scope', JSON),
    # INTERVAL is a reserved word of MySQL.
    sa.Column('run_interval', NAME),
    column('auto_trigger', sa.Boolean()),
    sa.Column('status_message', MESSAGE),
    sa.Column('next_run_time', TIME),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    sa.Column('start_time', TIME),
    sa.Column('end_time', TIME),
    # FORCE is another one.
    sa.Column('forced', sa.Boolean(), nullable=False, server_default=sa.false()),
    # Without a foreign key: actions are purged when they are old.
    sa.Column('action_id', BIG),
    sa.Column('deleted', BIG, nullable=False, server_default='0'),
    in_any_case(),
    hidden(),
    sa.UniqueConstraint('uuid'),
    # An index, as SQLite cannot add a constraint without making the table anew.
    sa.Index('uq_audits_name_deleted', 'name', 'deleted', unique=True),
    sa.Index('ix_audits_lower_name', 'lower_name'),
    # First what it refers to, which the foreign key needs on MySQL.
    sa.Index('ix_audits_goal_id_hidden_id', 'goal_id', 'hidden', 'id'),
    sa.Index('ix_audits_strategy_id_hidden_id', 'strategy_id', 'hidden', 'id'),
    *orders(
        'audits',
        *('name', 'audit_type', 'state', 'run_interval', 'auto_trigger'),
        *('next_run_time', 'start_time', 'end_time', 'forced'),
        *('created_at', 'updated_at', 'deleted_at'),
    ),
    counted=True,
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
    sa.Column('efficacy_indicators', JSON),
    hidden(),
    # When it was updated, but NULL as long as that is at every change of an action:
    # with an index on it, each of those would be written to all indexes.
    sa.Column(
        'settled_at',
        TIME,
        Made(f'CASE WHEN {ACTIVE_PLANS} THEN NULL ELSE updated_at END'),
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
    column('inputs', JSON),
    column('context', JSON),
    column('parents', JSON),
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
    sa.Column('token', JSON),
    sa.Column('start_time', TIME),
    sa.Column('end_time', TIME),
    sa.Column('deadline', TIME),
    sa.Column('outputs', JSON),
    column('data', JSON),
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

#: Which events are those of stacks and of their resources.
OF_STACKS = "subject IN ('stack', 'resource')"

# A history: its rows outlive what they tell of.
events = table(
    'events',
    counter('sequence'),
    column('uuid', UUID),
    column('subject', WORD),
    column('kind', WORD),
    sa.Column('plan_id', BIG),
    sa.Column('action_id', BIG),
    sa.Column('old_status', WORD),
    sa.Column('new_status', WORD),
    sa.Column('message', MESSAGE),
    sa.Column('plan_state', WORD),
    sa.Column('plan_message', MESSAGE),
    sa.Column('detail', JSON),
    column('occurred_at', TIME),
    sa.Column('pending', FLAG),
    sa.Column('published_at', TIME),
    sa.Column('subject_id', BIG),
    # Of the resource that an event of a stack is about; '' for the stack itself. Of
    # the cluster or node, and the type of the action. NULL in events of others.
    sa.Column('name', NAME),
    sa.Column('type', JSON),
    # Of events of clusters and nodes; `within` is the uuid of the cluster.
    sa.Column('tenant', NAME),
    sa.Column('within', UUID),
    sa.Column('level', WORD),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_events_pending', 'pending', 'sequence', **partial('pending = 1')),
    sa.Index('ix_events_plan_id', 'plan_id', 'sequence'),
    sa.Index(
        'ix_events_subject',
        'subject_id',
        'subject',
        'sequence',
        **partial('subject_id IS NOT NULL'),
    ),
    # The history of a stack, with that of its resources.
    sa.Index(
        'ix_events_of_stack',
        'subject_id',
        'sequence',
        **partial(OF_STACKS),
    ),
    *(
        sa.Index(
            f'ix_events_{lead}', lead, 'sequence', **partial(f'{lead} IS NOT NULL')
        )
        for lead in ('tenant', 'within', 'level')
    ),
    counted=True,
)

# `action_id` is 0 for a lock that is shared, and -1 when no more can share it.
locks = table(
    'locks',
    sa.Column('target', NAME, primary_key=True),
    column('action_id', BIG),
    sa.Index('ix_locks_action_id', 'action_id'),
)

# Who shares the locks that are shared.
shared_locks = table(
    'shared_locks',
    sa.Column('target', NAME, primary_key=True),
    sa.Column('action_id', BIG, primary_key=True, autoincrement=False),
    sa.Index('ix_shared_locks_action_id', 'action_id'),
)

# The projects that somebody has locked: see `lock_tenant`.
tenants = table('tenants', sa.Column('tenant', NAME, primary_key=True))

workers = table(
    'workers',
    counter(),
    column('uuid', UUID),
    column('host', NAME),
    column('identity', NAME),
    column('lanes', JSON),
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
