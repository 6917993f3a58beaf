"""The payloads of the samples of actions, action plans and audits."""

import datetime
from typing import Any

from watcherlite.notifications.rules.notification import Notification
from watcherlite.objects import action, action_plan, audit, base, nested, registry

PLAN_UUID = '4a97b9dd-2023-43dc-b713-815bdd94d4d6'
AUDIT_UUID = '55bc1fe8-8030-4bd0-b0d0-2e62937f02a0'
GOAL_UUID = 'bc830f84-8ae3-4fc6-8bc6-e3dd15e8b49a'
STRATEGY_UUID = '75234dfe-87e3-4f11-a0e0-3c3305d86a39'
ACTION_UUID = '10a47dd1-4874-4298-91cf-eff046dbdb8d'
PARENT_UUID = 'd95ffcc4-9f0a-4a4d-9d0b-6c3f0f1ac2bd'

_UTC = datetime.UTC
#: The time when goals and strategies were stored, at the first start of an engine.
STRATEGY_CREATED_AT = datetime.datetime(2016, 11, 4, 16, 25, 35, tzinfo=_UTC)
CREATED_AT = datetime.datetime(2016, 11, 4, 16, 29, 20, tzinfo=_UTC)
NEXT_RUN_TIME = datetime.datetime(2016, 11, 4, 17, 29, 20, tzinfo=_UTC)

EFFICACY = {
    'name': 'test_global_efficacy',
    'description': 'Global efficacy',
    'unit': '%',
    'value': 95,
}
PARAMETERS = {'para1': 3.2, 'para2': 'hello'}
PARAMETERS_SPEC = {
    'properties': {
        'para1': {
            'description': 'number parameter example',
            'type': 'number',
            'default': 3.2,
            'minimum': 1.0,
            'maximum': 10.2,
        },
        'para2': {
            'description': 'string parameter example',
            'type': 'string',
            'default': 'hello',
        },
    }
}
INPUTS = {'message': 'hello'}
FAULT = {
    'exception': 'ActionFailed',
    'exception_message': 'The instance does not exist.',
    'module_name': 'watcherlite.plugins.action_types.nop',
    'function_name': 'Nop.execute',
}
#: notification of an audit -> its fault
AUDIT_FAULTS = {
    'strategy.error': {
        'exception': 'StrategyFailed',
        'exception_message': 'There is no host to move anything to.',
        'module_name': 'dummy',
        'function_name': 'execute',
    },
    'planner.error': {
        'exception': 'PlanningFailed',
        'exception_message': 'There is no action type migrate.',
        'module_name': 'weight',
        'function_name': 'plan',
    },
}
FAULT_MESSAGE = 'Action failed in execute: The instance does not exist.'

#: notification -> state before, state; of plans and of actions
PLAN_STATES: dict[str, tuple[str | None, str]] = {
    'create': (None, 'RECOMMENDED'),
    'update': ('RECOMMENDED', 'PENDING'),
    'delete': ('SUCCEEDED', 'DELETED'),
    'execution.start': ('PENDING', 'ONGOING'),
    'execution.end': ('ONGOING', 'SUCCEEDED'),
    'execution.error': ('ONGOING', 'FAILED'),
    'cancel.start': ('ONGOING', 'CANCELLING'),
    'cancel.end': ('CANCELLING', 'CANCELLED'),
}
ACTION_STATES: dict[str, tuple[str | None, str]] = {
    'create': (None, 'PENDING'),
    'update': ('PENDING', 'SKIPPED'),
    'delete': ('SUCCEEDED', 'DELETED'),
    'execution.start': ('PENDING', 'ONGOING'),
    'execution.end': ('ONGOING', 'SUCCEEDED'),
    'execution.error': ('ONGOING', 'FAILED'),
    'cancel.start': ('ONGOING', 'ONGOING'),
    'cancel.end': ('ONGOING', 'CANCELLED'),
}
AUDIT_STATES: dict[str, tuple[str | None, str]] = {
    'create': (None, 'PENDING'),
    'update': ('PENDING', 'ONGOING'),
    'delete': ('SUCCEEDED', 'DELETED'),
    'strategy.start': ('ONGOING', 'ONGOING'),
    'strategy.end': ('ONGOING', 'ONGOING'),
    'strategy.error': ('ONGOING', 'ONGOING'),
    'planner.start': ('ONGOING', 'ONGOING'),
    'planner.end': ('ONGOING', 'ONGOING'),
    'planner.error': ('ONGOING', 'ONGOING'),
}
#: state of an action -> the state of its plan
PLAN_OF_ACTION = {
    'PENDING': 'RECOMMENDED',
    'SKIPPED': 'RECOMMENDED',
    'DELETED': 'DELETED',
    'CANCELLED': 'CANCELLING',
}
#: state of an action -> its status message
MESSAGES = {
    'SKIPPED': 'Action skipped by user. Reason: the host is in use',
    'FAILED': FAULT_MESSAGE,
    'CANCELLED': 'Action was cancelled while it ran.',
}


def plan_payload(
    notification: Notification, occurred_at: datetime.datetime
) -> dict[str, Any]:
    """Return the payload of a sample of an action plan."""
    old_state, state = PLAN_STATES[notification.name]
    cls: Any = registry.payload_classes()[notification.payload]
    payload = cls(
        **_plan(state),
        audit=audit.AuditPayload(
            uuid=AUDIT_UUID,
            audit_type='ONESHOT',
            state='SUCCEEDED',
            parameters=PARAMETERS,
            interval=None,
            scope=[],
            goal_uuid=GOAL_UUID,
            strategy_uuid=STRATEGY_UUID,
            fault=None,
            status_message=None,
            **_times(occurred_at, None),
        ),
        strategy=_strategy(),
        status_message=None,
        **_times(occurred_at, old_state, state),
    )
    if 'state_update' in cls.fields:
        payload.state_update = action_plan.ActionPlanStateUpdatePayload(
            old_state=old_state, state=state, status_message=None
        )
    if 'fault' in cls.fields:
        payload.fault = _fault(state)
    return payload.to_wire()


def action_payload(
    notification: Notification, occurred_at: datetime.datetime
) -> dict[str, Any]:
    """Return the payload of a sample of an action."""
    old_state, state = ACTION_STATES[notification.name]
    message = MESSAGES.get(state)
    cls: Any = registry.payload_classes()[notification.payload]
    plan_state = PLAN_OF_ACTION.get(state, 'ONGOING')
    payload = cls(
        uuid=ACTION_UUID,
        action_type='nop',
        input_parameters=INPUTS,
        state=state,
        parents=[PARENT_UUID],
        action_plan_uuid=PLAN_UUID,
        action_plan=action_plan.TerseActionPlanPayload(
            **_plan(plan_state),
            status_message=None,
            **_times(occurred_at, old_state, plan_state),
        ),
        status_message=message,
        **_times(occurred_at, old_state, state),
    )
    if 'state_update' in cls.fields:
        payload.state_update = action.ActionStateUpdatePayload(
            old_state=old_state, state=state, status_message=message
        )
    if 'fault' in cls.fields:
        payload.fault = _fault(state)
    return payload.to_wire()


def audit_payload(
    notification: Notification, occurred_at: datetime.datetime
) -> dict[str, Any]:
    """Return the payload of a sample of an audit."""
    old_state, state = AUDIT_STATES[notification.name]
    cls: Any = registry.payload_classes()[notification.payload]
    payload = cls(
        uuid=AUDIT_UUID,
        name='nightly',
        audit_type='CONTINUOUS',
        state=state,
        parameters=PARAMETERS,
        interval='3600',
        scope=[],
        goal_uuid=GOAL_UUID,
        strategy_uuid=STRATEGY_UUID,
        goal=nested.GoalPayload(
            uuid=GOAL_UUID,
            name='dummy',
            display_name='Dummy goal',
            efficacy_specification=[],
            created_at=STRATEGY_CREATED_AT,
            updated_at=None,
            deleted_at=None,
        ),
        strategy=_strategy(),
        auto_trigger=False,
        next_run_time=NEXT_RUN_TIME,
        status_message=None,
        **_times(occurred_at, old_state, state),
    )
    if 'state_update' in cls.fields:
        payload.state_update = audit.AuditStateUpdatePayload(
            old_state=old_state, state=state, status_message=None
        )
    if 'fault' in cls.fields:
        fault = AUDIT_FAULTS.get(notification.name)
        payload.fault = nested.ExceptionPayload(**fault) if fault else None
    return payload.to_wire()


def _strategy() -> base.Payload:
    return nested.StrategyPayload(
        uuid=STRATEGY_UUID,
        name='dummy',
        display_name='Dummy strategy',
        parameters_spec=PARAMETERS_SPEC,
        created_at=STRATEGY_CREATED_AT,
        updated_at=None,
        deleted_at=None,
    )


def _plan(state: str) -> dict[str, Any]:
    return {
        'uuid': PLAN_UUID,
        'state': state,
        'global_efficacy': EFFICACY,
        'audit_uuid': AUDIT_UUID,
        'strategy_uuid': STRATEGY_UUID,
    }


def _times(
    occurred_at: datetime.datetime, old_state: str | None, state: str | None = None
) -> dict[str, Any]:
    return {
        'created_at': CREATED_AT,
        'updated_at': occurred_at if old_state else None,
        'deleted_at': occurred_at if state == 'DELETED' else None,
    }


def _fault(state: str) -> nested.ExceptionPayload | None:
    return nested.ExceptionPayload(**FAULT) if state == 'FAILED' else None
