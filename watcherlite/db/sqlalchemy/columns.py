"""The columns of each kind of row, in the order of the fields of its dataclass.

Both ways between rows and dataclasses are by position. A column differs from its
field in two names: `interval` is `run_interval`, and `force` is `forced`.
"""

from collections.abc import Iterable

from watcherlite.db.sqlalchemy.dialects import INTEGER, TEXT, TIME

#: All of an action but `claimable` and `ended`, in the order of its fields.
ACTION = {
    'uuid': TEXT,
    'action_type': TEXT,
    'lane': TEXT,
    'id': INTEGER,
    'name': TEXT,
    'plan_id': INTEGER,
    'derived_from': INTEGER,
    'target': TEXT,
    'cause': TEXT,
    'inputs': TEXT,
    'context': TEXT,
    'parents': TEXT,
    'dependents': INTEGER,
    'run_interval': INTEGER,
    'timeout': INTEGER,
    'created_at': TIME,
    'tenant': TEXT,
    'within': TEXT,
    'status': TEXT,
    'status_message': TEXT,
    'owner': TEXT,
    'attempt': INTEGER,
    'recoveries': INTEGER,
    'phase': TEXT,
    'pending': INTEGER,
    'not_before': TIME,
    'blocked_on': TEXT,
    'control': TEXT,
    'token': TEXT,
    'start_time': TIME,
    'end_time': TIME,
    'deadline': TIME,
    'outputs': TEXT,
    'data': TEXT,
    'updated_at': TIME,
    'deleted_at': TIME,
}
#: What an INSERT of an action writes.
NEW_ACTION = {**ACTION, 'claimable': INTEGER, 'ended': TEXT}
#: What a change of an action writes, and how it finds the row.
CHANGED_ACTION = {
    'status': TEXT,
    'status_message': TEXT,
    'owner': TEXT,
    'attempt': INTEGER,
    'recoveries': INTEGER,
    'phase': TEXT,
    'not_before': TIME,
    'blocked_on': TEXT,
    'token': TEXT,
    'start_time': TIME,
    'end_time': TIME,
    'deadline': TIME,
    'outputs': TEXT,
    'data': TEXT,
    'updated_at': TIME,
    'deleted_at': TIME,
    'claimable': INTEGER,
    'ended': TEXT,
    'id': INTEGER,
    'old_status': TEXT,
    'old_owner': TEXT,
    'old_attempt': INTEGER,
}
PLAN = {
    'uuid': TEXT,
    'name': TEXT,
    'id': INTEGER,
    'audit_id': INTEGER,
    'strategy_id': INTEGER,
    'on_failure': TEXT,
    'on_worker_loss': TEXT,
    'max_parallel': INTEGER,
    'global_efficacy': TEXT,
    'efficacy_indicators': TEXT,
    'created_at': TIME,
    'creator': TEXT,
    'state': TEXT,
    'stage': TEXT,
    'status_message': TEXT,
    'total': INTEGER,
    'unfinished': INTEGER,
    'active': INTEGER,
    'failed': INTEGER,
    'skipped': INTEGER,
    'fault': TEXT,
    'updated_at': TIME,
    'deleted_at': TIME,
}
#: The changing half of a plan.
CHANGED_PLAN = dict(list(PLAN.items())[list(PLAN).index('state') :])
EVENT = {
    'subject': TEXT,
    'kind': TEXT,
    'plan_id': INTEGER,
    'action_id': INTEGER,
    'old_status': TEXT,
    'new_status': TEXT,
    'message': TEXT,
    'plan_state': TEXT,
    'plan_message': TEXT,
    'occurred_at': TIME,
    'detail': TEXT,
    'uuid': TEXT,
    'subject_id': INTEGER,
}
WORKER = ('uuid', 'host', 'identity', 'lanes', 'started_at', 'lease_until')
GOAL = (
    'uuid',
    'name',
    'display_name',
    'efficacy_specification',
    'id',
    'created_at',
    'updated_at',
    'deleted_at',
)
STRATEGY = (
    'uuid',
    'name',
    'display_name',
    'goal_id',
    'parameters_spec',
    'id',
    'created_at',
    'updated_at',
    'deleted_at',
)
AUDIT = (
    'uuid',
    'name',
    'audit_type',
    'state',
    'goal_id',
    'strategy_id',
    'parameters',
    'scope',
    'run_interval',
    'auto_trigger',
    'status_message',
    'next_run_time',
    'id',
    'created_at',
    'updated_at',
    'deleted_at',
    'start_time',
    'end_time',
    'forced',
    'action_id',
    'creator',
)
AUDIT_TEMPLATE = (
    'uuid',
    'name',
    'goal_id',
    'strategy_id',
    'description',
    'scope',
    'default_parameters',
    'id',
    'created_at',
    'updated_at',
    'deleted_at',
)


def named(table: str, columns: Iterable[str]) -> str:
    """Return a list of columns for SELECT and RETURNING."""
    return ', '.join(f'{table}.{column}' for column in columns)


ACTION_COLUMNS = named('actions', ACTION)
PLAN_COLUMNS = named('action_plans', PLAN)
WORKER_COLUMNS = named('workers', WORKER)
GOAL_COLUMNS = named('goals', GOAL)
STRATEGY_COLUMNS = named('strategies', STRATEGY)
AUDIT_COLUMNS = named('audits', AUDIT)
AUDIT_TEMPLATE_COLUMNS = named('audit_templates', AUDIT_TEMPLATE)
