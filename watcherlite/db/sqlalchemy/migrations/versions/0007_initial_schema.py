"""The initial schema.

It repeats the tables of that version instead of importing `tables`, which change.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = '0007'
down_revision = None

BIG = sa.BigInteger().with_variant(sa.Integer(), 'sqlite')
TEXT = sa.Text().with_variant(mysql.LONGTEXT(), 'mysql')
TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), 'mysql')
INT, FLAG, BOOL = sa.Integer(), sa.SmallInteger(), sa.Boolean()
S32, S36, S64, S255 = (sa.String(length) for length in (32, 36, 64, 255))
#: A generated key that is never reused, not even after a purge.
COUNTED = object()

ACTIVE = "state IN ('PENDING', 'ONGOING', 'CANCELLING')"
DELETED = 'CASE WHEN deleted_at IS NOT NULL THEN 1'
HIDDEN = (FLAG, f'{DELETED} ELSE 0 END')
OWNER: dict[str, Any] = {'tenant': S255, 'user_name': [S255], 'domain': [S255]}
CHANGED: dict[str, Any] = {'created_at': [TIME], 'updated_at': [TIME]}
TIMES: dict[str, Any] = {**CHANGED, 'deleted_at': [TIME]}
LOWER_NAME = sa.Column(S255, server_default='', nullable=False)
#: Table -> columns; a type in a list is that of a nullable column, one with an
#: expression that of a generated column.
TABLES: dict[str, dict[str, Any]] = {
    'goals': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        'display_name': S255,
        'efficacy_specification': TEXT,
        **TIMES,
        'deleted': BIG,
        'lower_name': LOWER_NAME,
    },
    'strategies': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        'display_name': S255,
        'goal_id': [BIG],
        'parameters_spec': TEXT,
        **TIMES,
        'deleted': BIG,
        'lower_name': LOWER_NAME,
    },
    'audit_templates': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        'goal_id': BIG,
        'strategy_id': [BIG],
        'description': [S255],
        'scope': TEXT,
        'default_parameters': TEXT,
        **TIMES,
        'deleted': BIG,
        'lower_name': S255,
    },
    'audits': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        'audit_type': S32,
        'state': S32,
        'goal_id': BIG,
        'strategy_id': [BIG],
        'parameters': TEXT,
        'scope': TEXT,
        'run_interval': [S255],
        'auto_trigger': BOOL,
        'status_message': [S255],
        'next_run_time': [TIME],
        **TIMES,
        'start_time': [TIME],
        'end_time': [TIME],
        'forced': sa.Column(BOOL, server_default=sa.false(), nullable=False),
        'action_id': [BIG],
        'deleted': sa.Column(BIG, server_default='0', nullable=False),
        'lower_name': LOWER_NAME,
        'hidden': HIDDEN,
    },
    'action_plans': {
        'id': COUNTED,
        'uuid': S36,
        'name': [S255],
        'audit_id': [BIG],
        'strategy_id': [BIG],
        'on_failure': S32,
        'on_worker_loss': S32,
        'max_parallel': [INT],
        'global_efficacy': TEXT,
        'created_at': [TIME],
        'state': S32,
        'stage': S32,
        'status_message': [S255],
        'total': INT,
        'unfinished': INT,
        'active': INT,
        'failed': INT,
        'skipped': INT,
        'fault': [TEXT],
        'updated_at': [TIME],
        'deleted_at': [TIME],
        'efficacy_indicators': [TEXT],
        'hidden': HIDDEN,
        'settled_at': (TIME, f'CASE WHEN {ACTIVE} THEN NULL ELSE updated_at END'),
    },
    'actions': {
        'id': COUNTED,
        'uuid': S36,
        'action_type': S255,
        'lane': S32,
        'name': [S255],
        'plan_id': [BIG],
        'derived_from': [BIG],
        'target': [S255],
        'cause': S32,
        'inputs': TEXT,
        'context': TEXT,
        'parents': TEXT,
        'dependents': INT,
        'run_interval': INT,
        'timeout': INT,
        'created_at': [TIME],
        'status': S32,
        'status_message': [S255],
        'owner': [S36],
        'attempt': INT,
        'recoveries': INT,
        'phase': S32,
        'pending': INT,
        'not_before': TIME,
        'blocked_on': [S255],
        'control': [S32],
        'token': [TEXT],
        'start_time': [TIME],
        'end_time': [TIME],
        'outputs': [TEXT],
        'data': TEXT,
        'updated_at': [TIME],
        'deleted_at': [TIME],
        'claimable': [FLAG],
        'ended': S32,
        'audit_id': [BIG],
        'hidden': (FLAG, f'{DELETED} WHEN plan_id IS NULL THEN 2 ELSE 0 END'),
        'tenant': [S255],
        'within': [S255],
        'deadline': [TIME],
    },
    'action_dependencies': {'parent_id': BIG, 'child_id': BIG, 'needs': S32},
    'events': {
        'sequence': COUNTED,
        'uuid': S36,
        'subject': S32,
        'kind': S32,
        'plan_id': [BIG],
        'action_id': [BIG],
        'old_status': [S32],
        'new_status': [S32],
        'message': [S255],
        'plan_state': [S32],
        'plan_message': [S255],
        'detail': [TEXT],
        'occurred_at': TIME,
        'pending': [FLAG],
        'published_at': [TIME],
        'subject_id': [BIG],
        'name': [S255],
        'type': [TEXT],
        'tenant': [S255],
        'within': [S36],
        'level': [S32],
    },
    'locks': {'target': S255, 'action_id': BIG},
    'shared_locks': {'target': S255, 'action_id': BIG},
    'tenants': {'tenant': S255},
    'workers': {
        'id': COUNTED,
        'uuid': S36,
        'host': S255,
        'identity': S255,
        'lanes': TEXT,
        'started_at': TIME,
        'lease_until': TIME,
    },
    'roles': {'role': S255, 'worker': S36, 'lease_until': TIME},
    'definitions': {
        'id': COUNTED,
        'digest': S64,
        'template': TEXT,
        'environment': TEXT,
        'files': TEXT,
        'parameters': TEXT,
        'used_at': TIME,
    },
    'stacks': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        'tenant': S255,
        'definition_id': BIG,
        'action': S32,
        'status': S32,
        'status_reason': TEXT,
        'previous_id': [BIG],
        'owner_id': [BIG],
        'owner_resource': [S255],
        'root_id': [BIG],
        'depth': INT,
        'operation': [S36],
        'under_lock': [TEXT],
        'lock_level': [S32],
        'inherited_level': [S32],
        'disable_rollback': FLAG,
        'timeout': INT,
        'deadline': [TIME],
        'tags': TEXT,
        'description': TEXT,
        'user_name': [S255],
        'context': TEXT,
        **TIMES,
        'hidden': (FLAG, f'{DELETED} WHEN owner_id IS NOT NULL THEN 2 ELSE 0 END'),
        'live_name': (
            S255,
            'CASE WHEN deleted_at IS NULL AND owner_id IS NULL THEN name END',
        ),
    },
    'resources': {
        'id': COUNTED,
        'uuid': S36,
        'stack_id': BIG,
        'name': S255,
        'type': TEXT,
        'handler': TEXT,
        'action': S32,
        'status': S32,
        'status_reason': TEXT,
        'physical_id': [TEXT],
        'nested_id': [BIG],
        'definition_id': [BIG],
        'properties': TEXT,
        'attributes': TEXT,
        'metadata': TEXT,
        'data': TEXT,
        'requires': TEXT,
        'deletion_policy': S32,
        'superseded_by': [BIG],
        'under_lock': [TEXT],
        'under_mark': [TEXT],
        'protected': FLAG,
        'reference': [TEXT],
        **TIMES,
    },
    'profiles': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        'type': S255,
        'handler': TEXT,
        'spec': TEXT,
        **OWNER,
        'metadata': TEXT,
        **CHANGED,
    },
    'policies': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        'type': S255,
        'spec': TEXT,
        **OWNER,
        'data': TEXT,
        **CHANGED,
    },
    'clusters': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        **OWNER,
        'profile_id': BIG,
        'desired_capacity': INT,
        'min_size': INT,
        'max_size': INT,
        'next_index': INT,
        'timeout': INT,
        'status': S32,
        'status_reason': TEXT,
        'metadata': TEXT,
        'config': TEXT,
        'data': TEXT,
        'dependents': TEXT,
        'init_at': [TIME],
        **TIMES,
        'hidden': HIDDEN,
    },
    'nodes': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        **OWNER,
        'profile_id': BIG,
        'handler': TEXT,
        'cluster_id': [BIG],
        'node_index': INT,
        'role': TEXT,
        'tainted': FLAG,
        'status': S32,
        'status_reason': TEXT,
        'metadata': TEXT,
        'data': TEXT,
        'dependents': TEXT,
        'physical_id': [TEXT],
        'properties': TEXT,
        'attributes': TEXT,
        'kept': TEXT,
        'origin': [S36],
        'last_action': [S36],
        'init_at': [TIME],
        **TIMES,
        'hidden': HIDDEN,
    },
    'bindings': {
        'id': COUNTED,
        'uuid': S36,
        'cluster_id': BIG,
        'policy_id': BIG,
        'priority': INT,
        'enabled': FLAG,
        'data': TEXT,
        'last_op': [TIME],
    },
    'receivers': {
        'id': COUNTED,
        'uuid': S36,
        'name': S255,
        'type': S255,
        **OWNER,
        'cluster_id': [BIG],
        'action': [S255],
        'actor': TEXT,
        'params': TEXT,
        'channel': TEXT,
        **CHANGED,
    },
}
#: Table -> its primary key, if that is not its first column.
KEYS = {
    'action_dependencies': ('parent_id', 'child_id'),
    'shared_locks': ('target', 'action_id'),
}
#: Table -> the columns of its unique constraints.
UNIQUE: dict[str, tuple[tuple[str, ...], ...]] = {
    **dict.fromkeys(('goals', 'strategies'), (('uuid',), ('name', 'deleted'))),
    'audit_templates': (('name', 'deleted'), ('uuid',)),
    'definitions': (('digest',),),
}
#: Table -> column -> the table that it refers to.
REFERENCES = {
    'strategies': {'goal_id': 'goals'},
    'audit_templates': {'goal_id': 'goals', 'strategy_id': 'strategies'},
    'audits': {'goal_id': 'goals', 'strategy_id': 'strategies'},
    'action_plans': {'audit_id': 'audits', 'strategy_id': 'strategies'},
    'actions': {'plan_id': 'action_plans'},
    'stacks': {'definition_id': 'definitions', 'previous_id': 'definitions'},
    'resources': {'stack_id': 'stacks', 'definition_id': 'definitions'},
}
NOT_ENDED = "IS NOT NULL AND ended = ''"


def _lists(columns: str, *leads: str) -> dict[str, str]:
    """Return indexes of rows in the order of each column, within some columns."""
    indexes = [f'{lead}{column}, id' for column in columns.split() for lead in leads]
    return {index.replace(', ', '_'): index for index in indexes}


#: Table -> index -> its columns, and the condition of a partial one.
INDEXES: dict[str, dict[str, str]] = {
    'goals': {'lower_name': 'lower_name'},
    'strategies': {'goal_id': 'goal_id', 'lower_name': 'lower_name'},
    'audit_templates': {
        'goal_id': 'goal_id',
        'strategy_id': 'strategy_id',
        'lower_name': 'lower_name',
    },
    'audits': {
        'lower_name': 'lower_name',
        'uq_audits_name_deleted': 'name, deleted',
        'goal_id_hidden_id': 'goal_id, hidden, id',
        'strategy_id_hidden_id': 'strategy_id, hidden, id',
        'hidden_id': 'hidden, id',
        **_lists(
            'name audit_type state run_interval auto_trigger next_run_time start_time '
            'end_time forced created_at updated_at deleted_at',
            'hidden, ',
        ),
    },
    'action_plans': {
        'active': f'state, id WHERE {ACTIVE}',
        'state_id': 'state, id',
        'audit_id_hidden_id': 'audit_id, hidden, id',
        'strategy_id_hidden_id': 'strategy_id, hidden, id',
        'hidden_id': 'hidden, id',
        **_lists('state created_at settled_at deleted_at', 'hidden, '),
    },
    'actions': {
        'plan_id': 'plan_id, id',
        'claimable_of_plan': ('plan_id, claimable, not_before, id WHERE claimable = 1'),
        'claimable_of_lane': (
            'lane, claimable, not_before, id WHERE claimable = 1 AND plan_id IS NULL'
        ),
        'scheduled': (
            'lane, not_before WHERE '
            "claimable = 1 AND not_before > '1970-01-01 00:00:00.000000'"
        ),
        'owner': f'owner, id WHERE owner {NOT_ENDED}',
        'control': f'control, owner WHERE control {NOT_ENDED}',
        'blocked_on': f'blocked_on, id WHERE blocked_on {NOT_ENDED}',
        'unfinished': "plan_id, ended, id WHERE ended = ''",
        'hidden_id': 'hidden, id',
        **_lists('ended action_type created_at', 'hidden, '),
        'target': 'hidden, target, id WHERE target IS NOT NULL',
        'audit_id': 'audit_id, hidden, id WHERE audit_id IS NOT NULL',
        'tenant_created_at_id': 'tenant, created_at, id WHERE tenant IS NOT NULL',
        'within': 'within, ended, id WHERE within IS NOT NULL',
        'tenant_name_id': 'tenant, name, id WHERE tenant IS NOT NULL',
        'tenant_target_id': 'tenant, target, id WHERE tenant IS NOT NULL',
        'tenant_action_type_id': 'tenant, action_type, id WHERE tenant IS NOT NULL',
        'tenant_ended_id': 'tenant, ended, id WHERE tenant IS NOT NULL',
        'name_id': 'name, id WHERE tenant IS NOT NULL',
        'deadline': 'lane, deadline WHERE deadline IS NOT NULL',
        'derived_from_created_at': (
            'derived_from, created_at WHERE derived_from IS NOT NULL'
        ),
    },
    'action_dependencies': {'child_id': 'child_id'},
    'events': {
        'pending': 'pending, sequence WHERE pending = 1',
        'plan_id': 'plan_id, sequence',
        'subject': 'subject_id, subject, sequence WHERE subject_id IS NOT NULL',
        'of_stack': "subject_id, sequence WHERE subject IN ('stack', 'resource')",
        'tenant': 'tenant, sequence WHERE tenant IS NOT NULL',
        'within': 'within, sequence WHERE within IS NOT NULL',
        'level': 'level, sequence WHERE level IS NOT NULL',
    },
    'locks': {'action_id': 'action_id'},
    'shared_locks': {'action_id': 'action_id'},
    'stacks': {
        'uq_stacks_live_name_tenant': 'live_name, tenant',
        'definition_id': 'definition_id',
        'previous_id': 'previous_id',
        'root_id': 'root_id, id',
        'owner_id': 'owner_id WHERE owner_id IS NOT NULL',
        'hidden_status': 'hidden, status',
        'tenant_hidden_created_at_id': 'tenant, hidden, created_at, id',
        'deleted_at': 'deleted_at WHERE deleted_at IS NOT NULL',
    },
    'resources': {
        'stack_id_deleted_at_id': 'stack_id, deleted_at, id',
        'definition_id': 'definition_id',
        'in_progress': "status WHERE status = 'IN_PROGRESS'",
        'deleted_at': 'deleted_at WHERE deleted_at IS NOT NULL',
    },
    **dict.fromkeys(
        ('profiles', 'policies'),
        _lists('type name created_at updated_at', 'tenant, ', ''),
    ),
    'clusters': {
        **_lists(
            'name status init_at created_at updated_at', 'tenant, hidden, ', 'hidden, '
        ),
        'profile_id': 'profile_id',
        'deleted_at': 'deleted_at WHERE deleted_at IS NOT NULL',
    },
    'nodes': {
        **_lists(
            'node_index name status init_at created_at updated_at',
            'tenant, hidden, ',
            'hidden, ',
        ),
        'cluster_id_hidden_id': 'cluster_id, hidden, id',
        'profile_id': 'profile_id',
        'deleted_at': 'deleted_at WHERE deleted_at IS NOT NULL',
    },
    'bindings': {
        'uq_bindings_cluster_id_policy_id': 'cluster_id, policy_id',
        'policy_id': 'policy_id',
    },
    'receivers': _lists('name type action cluster_id created_at', 'tenant, ', ''),
}


def upgrade() -> None:
    tables = {name: _create_table(name) for name in TABLES}
    if op.get_bind().dialect.name == 'postgresql':
        # Free space for the next version of a row on its page: half of the changes of a
        # status then update no index.
        op.execute('ALTER TABLE actions SET (fillfactor = 60)')
    for name, indexes in INDEXES.items():
        _create_indexes(tables[name], indexes)


def _is_mysql() -> bool:
    return bool(op.get_bind().dialect.name == 'mysql')


def _rank(table: str, index: str, name: str) -> str:
    """Return the sort key of an index among those of its table.

    Older databases of MySQL have added some indexes of generated columns again. The
    order of indexes is the same in all databases, as planners prefer the first of
    equally good ones.
    """
    again = _is_mysql() and table in ('audits', 'action_plans', 'actions', 'stacks')
    generated = {'hidden', 'settled_at', 'live_name'} & set(index.split(', '))
    return name if again and generated else ''


def _create_table(table: str) -> sa.Table:
    columns = TABLES[table]
    if _is_mysql():
        # As in older databases: generated columns are the last ones.
        columns = dict(sorted(columns.items(), key=lambda c: isinstance(c[1], tuple)))
    first = next(iter(columns))
    counted = columns[first] is COUNTED
    unique = UNIQUE.get(table, (('uuid',),) * ('uuid' in columns))
    return op.create_table(
        table,
        *(_column(name, kind) for name, kind in columns.items()),
        sa.PrimaryKeyConstraint(*KEYS.get(table, (first,)), name=f'pk_{table}'),
        *(sa.UniqueConstraint(*n, name=f'uq_{table}_{"_".join(n)}') for n in unique),
        *(
            sa.ForeignKeyConstraint([name], [f'{to}.id'], name=f'fk_{table}_{name}')
            for name, to in REFERENCES.get(table, {}).items()
        ),
        mysql_engine='InnoDB',
        mysql_charset='utf8mb4',
        mysql_collate='utf8mb4_bin',
        sqlite_autoincrement=counted,
    )


def _column(name: str, kind: Any) -> sa.Column[Any]:
    if kind is COUNTED:
        return sa.Column(name, BIG, sa.Identity(), nullable=False)
    if isinstance(kind, list):
        return sa.Column(name, kind[0])
    if isinstance(kind, tuple):
        # PostgreSQL cannot index virtual columns, and lists by such an index of MariaDB
        # miss rows.
        stored = True if op.get_bind().dialect.name != 'sqlite' else None
        return sa.Column(name, kind[0], sa.Computed(kind[1], stored))
    if isinstance(kind, sa.Column):
        column: sa.Column[Any] = kind.copy()
        column.name = name
        return column
    return sa.Column(name, kind, nullable=False)


def _create_indexes(table: sa.Table, indexes: dict[str, str]) -> None:
    # Without `op.create_index`, which makes a model of the table for each index.
    for name in sorted(
        indexes, key=lambda name: _rank(table.name, indexes[name], name)
    ):
        columns, _, condition = indexes[name].partition(' WHERE ')
        where = sa.text(condition) if condition else None
        unique = name.startswith('uq_')
        sa.Index(
            name if unique else f'ix_{table.name}_{name}',
            *(table.c[column] for column in columns.split(', ')),
            unique=unique,
            postgresql_where=where,
            sqlite_where=where,
        ).create(op.get_bind())
