"""The tables.

Every constraint and index has a name, so that a migration can speak of it on
each database. Times are naive and in UTC. What is JSON is kept as text: nobody
searches in it, and databases differ in what they do to it.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql

from watcherlite.domain.actions import MESSAGE_LENGTH

NAMING_CONVENTION = {
    'pk': 'pk_%(table_name)s',
    'fk': 'fk_%(table_name)s_%(column_0_N_name)s',
    'uq': 'uq_%(table_name)s_%(column_0_N_name)s',
    'ix': 'ix_%(table_name)s_%(column_0_N_name)s',
    'ck': 'ck_%(table_name)s_%(constraint_name)s',
}

metadata = sa.MetaData(naming_convention=NAMING_CONVENTION)

#: SQLite makes nothing but an INTEGER its row id.
BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
#: TEXT of MySQL ends at 64 KiB.
JSON = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
#: DATETIME of MySQL has whole seconds unless told otherwise.
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')
UUID = sa.String(36)
NAME_LENGTH = 255
NAME = sa.String(NAME_LENGTH)
WORD = sa.String(32)
MESSAGE = sa.String(MESSAGE_LENGTH)
FLAG = sa.SmallInteger()

# MySQL would ignore the case of names and targets without the collation.
_MYSQL = {
    'mysql_engine': 'InnoDB',
    'mysql_charset': 'utf8mb4',
    'mysql_collate': 'utf8mb4_bin',
}


def _column(name: str, kind: Any) -> sa.Column[Any]:
    """Return a column that is never NULL."""
    return sa.Column(name, kind, nullable=False)


def _table(name: str, *items: Any, counted: bool = False) -> sa.Table:
    """Return a table.

    :param counted: whether its first column is a key that the database counts
        up, and that no row has again after a purge
    """
    options: dict[str, Any] = dict(_MYSQL)
    if counted:
        options['sqlite_autoincrement'] = True
    return sa.Table(name, metadata, *items, **options)


def _counter(name: str = 'id') -> sa.Column[int]:
    return sa.Column(name, BIG, sa.Identity(), primary_key=True)


def _part(condition: str) -> dict[str, Any]:
    """Return what makes an index partial, where there are such."""
    return {'postgresql_where': sa.text(condition), 'sqlite_where': sa.text(condition)}


def _visible(table: str, **options: Any) -> sa.Index:
    """Return the index by which what is not deleted is found in the order of ids.

    However many rows were deleted before. It is not partial: PostgreSQL leaves out a
    condition that an index has, and then does not begin after an id.
    """
    return sa.Index(f'ix_{table}_visible', 'deleted_at', 'id', **options)


def _named(name: str) -> sa.UniqueConstraint:
    """Return what keeps names unique among rows that are not deleted.

    `deleted` is 0, or the row's id once it is deleted: that works on databases
    without partial indexes as well.
    """
    return sa.UniqueConstraint('name', 'deleted', name=f'uq_{name}_name_deleted')


def _in_any_case() -> sa.Column[str]:
    """Return the column by which names are found in any case.

    MariaDB cannot index what a function makes of another column.
    """
    return sa.Column('lower_name', NAME, nullable=False, server_default='')


goals = _table(
    'goals',
    _counter(),
    _column('uuid', UUID),
    _column('name', NAME),
    _column('display_name', NAME),
    _column('efficacy_specification', JSON),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    _column('deleted', BIG),
    _in_any_case(),
    sa.UniqueConstraint('uuid'),
    _named('goals'),
    sa.Index('ix_goals_lower_name', 'lower_name'),
    counted=True,
)

strategies = _table(
    'strategies',
    _counter(),
    _column('uuid', UUID),
    _column('name', NAME),
    _column('display_name', NAME),
    sa.Column('goal_id', BIG, sa.ForeignKey('goals.id')),
    _column('parameters_spec', JSON),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    _column('deleted', BIG),
    _in_any_case(),
    sa.UniqueConstraint('uuid'),
    _named('strategies'),
    sa.Index('ix_strategies_goal_id', 'goal_id'),
    sa.Index('ix_strategies_lower_name', 'lower_name'),
    counted=True,
)

audit_templates = _table(
    'audit_templates',
    _counter(),
    _column('uuid', UUID),
    _column('name', NAME),
    sa.Column('goal_id', BIG, sa.ForeignKey('goals.id'), nullable=False),
    sa.Column('strategy_id', BIG, sa.ForeignKey('strategies.id')),
    sa.Column('description', NAME),
    _column('scope', JSON),
    _column('default_parameters', JSON),
    sa.Column('created_at', TIME),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    _column('deleted', BIG),
    _column('lower_name', NAME),
    sa.UniqueConstraint('uuid'),
    _named('audit_templates'),
    sa.Index('ix_audit_templates_goal_id', 'goal_id'),
    sa.Index('ix_audit_templates_strategy_id', 'strategy_id'),
    sa.Index('ix_audit_templates_lower_name', 'lower_name'),
    counted=True,
)

audits = _table(
    'audits',
    _counter(),
    _column('uuid', UUID),
    _column('name', NAME),
    _column('audit_type', WORD),
    _column('state', WORD),
    sa.Column('goal_id', BIG, sa.ForeignKey('goals.id'), nullable=False),
    sa.Column('strategy_id', BIG, sa.ForeignKey('strategies.id')),
    _column('parameters', JSON),
    _column('scope', JSON),
    # INTERVAL is a reserved word of MySQL.
    sa.Column('run_interval', NAME),
    _column('auto_trigger', sa.Boolean()),
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
    _in_any_case(),
    sa.UniqueConstraint('uuid'),
    # An index, as SQLite cannot add a constraint without making the table anew.
    sa.Index('uq_audits_name_deleted', 'name', 'deleted', unique=True),
    sa.Index('ix_audits_lower_name', 'lower_name'),
    sa.Index('ix_audits_goal_id_id', 'goal_id', 'id'),
    sa.Index('ix_audits_strategy_id_id', 'strategy_id', 'id'),
    sa.Index('ix_audits_state_id', 'state', 'id'),
    sa.Index('ix_audits_created_at_id', 'created_at', 'id'),
    _visible('audits'),
    counted=True,
)

ACTIVE_PLANS = "state IN ('PENDING', 'ONGOING', 'CANCELLING')"

action_plans = _table(
    'action_plans',
    _counter(),
    _column('uuid', UUID),
    sa.Column('name', NAME),
    sa.Column('audit_id', BIG, sa.ForeignKey('audits.id')),
    sa.Column('strategy_id', BIG, sa.ForeignKey('strategies.id')),
    _column('on_failure', WORD),
    _column('on_worker_loss', WORD),
    sa.Column('max_parallel', sa.Integer()),
    _column('global_efficacy', JSON),
    sa.Column('created_at', TIME),
    _column('state', WORD),
    _column('stage', WORD),
    sa.Column('status_message', MESSAGE),
    _column('total', sa.Integer()),
    _column('unfinished', sa.Integer()),
    _column('active', sa.Integer()),
    _column('failed', sa.Integer()),
    _column('skipped', sa.Integer()),
    sa.Column('fault', JSON),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    sa.Column('efficacy_indicators', JSON),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_action_plans_audit_id_id', 'audit_id', 'id'),
    sa.Index('ix_action_plans_strategy_id_id', 'strategy_id', 'id'),
    sa.Index('ix_action_plans_state_id', 'state', 'id'),
    sa.Index('ix_action_plans_created_at_id', 'created_at', 'id'),
    _visible('action_plans'),
    sa.Index('ix_action_plans_active', 'state', 'id', **_part(ACTIVE_PLANS)),
    counted=True,
)

#: What no action was ever scheduled for: `not_before` is compared with it.
NEVER_SCHEDULED = "'1970-01-01 00:00:00.000000'"

_STILL = "IS NOT NULL AND ended = ''"

# `claimable` is 1 as long as a worker may take the action (its time apart), and
# `ended` its status once that is final, '' before. Both repeat what other columns
# say: without them a claim would have to look at, or sort, all that waits, and
# every change of a status would be written to indexes as well.
actions = _table(
    'actions',
    _counter(),
    _column('uuid', UUID),
    _column('action_type', NAME),
    _column('lane', WORD),
    sa.Column('name', NAME),
    sa.Column('plan_id', BIG, sa.ForeignKey('action_plans.id')),
    sa.Column('derived_from', BIG),
    sa.Column('target', NAME),
    _column('cause', WORD),
    _column('inputs', JSON),
    _column('context', JSON),
    _column('parents', JSON),
    _column('dependents', sa.Integer()),
    _column('run_interval', sa.Integer()),
    _column('timeout', sa.Integer()),
    sa.Column('created_at', TIME),
    _column('status', WORD),
    sa.Column('status_message', MESSAGE),
    sa.Column('owner', UUID),
    _column('attempt', sa.Integer()),
    _column('recoveries', sa.Integer()),
    _column('phase', WORD),
    _column('pending', sa.Integer()),
    _column('not_before', TIME),
    sa.Column('blocked_on', NAME),
    sa.Column('control', WORD),
    sa.Column('token', JSON),
    sa.Column('start_time', TIME),
    sa.Column('end_time', TIME),
    sa.Column('outputs', JSON),
    _column('data', JSON),
    sa.Column('updated_at', TIME),
    sa.Column('deleted_at', TIME),
    sa.Column('claimable', FLAG),
    _column('ended', WORD),
    # That of the plan, which never has another one: an audit may have very many.
    sa.Column('audit_id', BIG),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_actions_plan_id', 'plan_id', 'id'),
    sa.Index(
        'ix_actions_claimable_of_plan',
        'plan_id',
        'claimable',
        'not_before',
        'id',
        **_part('claimable = 1'),
    ),
    sa.Index(
        'ix_actions_claimable_of_lane',
        'lane',
        'claimable',
        'not_before',
        'id',
        **_part('claimable = 1 AND plan_id IS NULL'),
    ),
    sa.Index(
        'ix_actions_scheduled',
        'lane',
        'not_before',
        **_part(f'claimable = 1 AND not_before > {NEVER_SCHEDULED}'),
    ),
    sa.Index('ix_actions_owner', 'owner', 'id', **_part(f'owner {_STILL}')),
    sa.Index('ix_actions_control', 'control', 'owner', **_part(f'control {_STILL}')),
    sa.Index(
        'ix_actions_blocked_on', 'blocked_on', 'id', **_part(f'blocked_on {_STILL}')
    ),
    sa.Index(
        'ix_actions_derived_from',
        'derived_from',
        'id',
        **_part('derived_from IS NOT NULL'),
    ),
    sa.Index('ix_actions_unfinished', 'plan_id', 'ended', 'id', **_part("ended = ''")),
    sa.Index('ix_actions_ended_id', 'ended', 'id'),
    sa.Index('ix_actions_action_type_id', 'action_type', 'id'),
    sa.Index('ix_actions_target', 'target', 'id', **_part('target IS NOT NULL')),
    sa.Index('ix_actions_audit_id', 'audit_id', 'id', **_part('audit_id IS NOT NULL')),
    _visible('actions', **_part('plan_id IS NOT NULL')),
    counted=True,
)

# Without foreign keys: the rows of one plan come and go together, and checking
# two keys of each edge would double what storing a large plan costs.
action_dependencies = _table(
    'action_dependencies',
    sa.Column('parent_id', BIG, primary_key=True, autoincrement=False),
    sa.Column('child_id', BIG, primary_key=True, autoincrement=False),
    _column('needs', WORD),
    sa.Index('ix_action_dependencies_child_id', 'child_id'),
)

# A history: its rows outlive what they tell of.
events = _table(
    'events',
    _counter('sequence'),
    _column('uuid', UUID),
    _column('subject', WORD),
    _column('kind', WORD),
    sa.Column('plan_id', BIG),
    sa.Column('action_id', BIG),
    sa.Column('old_status', WORD),
    sa.Column('new_status', WORD),
    sa.Column('message', MESSAGE),
    sa.Column('plan_state', WORD),
    sa.Column('plan_message', MESSAGE),
    sa.Column('detail', JSON),
    _column('occurred_at', TIME),
    sa.Column('pending', FLAG),
    sa.Column('published_at', TIME),
    sa.Column('subject_id', BIG),
    sa.UniqueConstraint('uuid'),
    sa.Index('ix_events_pending', 'pending', 'sequence', **_part('pending = 1')),
    sa.Index('ix_events_plan_id', 'plan_id', 'sequence'),
    sa.Index(
        'ix_events_subject',
        'subject_id',
        'subject',
        'sequence',
        **_part('subject_id IS NOT NULL'),
    ),
    counted=True,
)

locks = _table(
    'locks',
    sa.Column('target', NAME, primary_key=True),
    _column('action_id', BIG),
    sa.Index('ix_locks_action_id', 'action_id'),
)

workers = _table(
    'workers',
    _counter(),
    _column('uuid', UUID),
    _column('host', NAME),
    _column('identity', NAME),
    _column('lanes', JSON),
    _column('started_at', TIME),
    _column('lease_until', TIME),
    sa.UniqueConstraint('uuid'),
    counted=True,
)

roles = _table(
    'roles',
    sa.Column('role', NAME, primary_key=True),
    _column('worker', UUID),
    _column('lease_until', TIME),
)
