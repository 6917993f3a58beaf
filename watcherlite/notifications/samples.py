"""One sample of each notification, made of the versioned objects."""

import datetime
import json
from collections.abc import Callable
from typing import Any

from watcherlite.domain import events
from watcherlite.notifications import cluster_samples, rules, stack_samples
from watcherlite.notifications.notification import Notification
from watcherlite.objects import (
    action,
    action_plan,
    audit,
    base,
    catalogue,
    exception,
    goal,
    strategy,
)

PLAN_UUID = '4a97b9dd-2023-43dc-b713-815bdd94d4d6'
AUDIT_UUID = '55bc1fe8-8030-4bd0-b0d0-2e62937f02a0'
GOAL_UUID = 'bc830f84-8ae3-4fc6-8bc6-e3dd15e8b49a'
STRATEGY_UUID = '75234dfe-87e3-4f11-a0e0-3c3305d86a39'
ACTION_UUID = '10a47dd1-4874-4298-91cf-eff046dbdb8d'
PARENT_UUID = 'd95ffcc4-9f0a-4a4d-9d0b-6c3f0f1ac2bd'
#: Of an event; the second message of the event ends in a 1.
EVENT_UUID = 'cbcf9f2c-7c53-4b4d-91ec-db49cca024b0'
HOST = 'localhost'

_UTC = datetime.UTC
#: When goals and strategies were stored, at the first start of an engine.
STRATEGY_CREATED_AT = datetime.datetime(2016, 11, 4, 16, 25, 35, tzinfo=_UTC)
CREATED_AT = datetime.datetime(2016, 11, 4, 16, 29, 20, tzinfo=_UTC)
OCCURRED_AT = datetime.datetime(2016, 11, 4, 16, 31, 36, 264673, tzinfo=_UTC)
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
    },
}
INPUTS = {'message': 'hello'}
FAULT = {
    'exception': 'ActionFailed',
    'exception_message': 'The instance does not exist.',
    'module_name': 'nop',
    'function_name': 'execute',
}
#: name of the notification of an audit -> what failed
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

#: name of the notification -> state before, state; of plans and of actions
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
#: Those that an event tells after an update.
SECOND = {
    'actionplan.delete',
    'actionplan.execution.start',
    'actionplan.execution.end',
    'actionplan.execution.error',
    'actionplan.cancel.start',
    'actionplan.cancel.end',
    'action.delete',
    'action.execution.start',
    'action.execution.end',
    'action.execution.error',
    'action.cancel.end',
    'audit.delete',
}
#: state of an action -> the state that its plan is in
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


def samples() -> dict[str, dict[str, Any]]:
    """Return the inner part of the envelope, by event type."""
    documents = {}
    for subject, row in rules.SUBJECTS.items():
        for name, notification in row.notifications.items():
            event_type = f'{row.prefix}.{name}'
            second = event_type in SECOND or _follows_update(subject, name)
            documents[event_type] = {
                'event_type': event_type,
                'priority': notification.priority,
                'publisher_id': f'{row.publisher}:{HOST}',
                'message_id': f'{EVENT_UUID[:-1]}1' if second else EVENT_UUID,
                'timestamp': str(OCCURRED_AT.replace(tzinfo=None)),
                'payload': _PAYLOADS[subject](notification),
            }
    return documents


def text(document: dict[str, Any]) -> str:
    """Return a sample as the text of its file."""
    return json.dumps(document, indent=2) + '\n'


def file_name(event_type: str) -> str:
    """Return the name of a sample's file."""
    return f'{event_type.replace(".", "-")}.json'


def _plan_payload(notification: Notification) -> dict[str, Any]:
    old_state, state = PLAN_STATES[notification.name]
    cls: Any = catalogue.payload_classes()[notification.payload]
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
            **_times(None),
        ),
        strategy=_strategy(),
        status_message=None,
        **_times(old_state, state),
    )
    if 'state_update' in cls.fields:
        payload.state_update = action_plan.ActionPlanStateUpdatePayload(
            old_state=old_state, state=state, status_message=None
        )
    if 'fault' in cls.fields:
        payload.fault = _fault(state)
    return payload.to_wire()


def _action_payload(notification: Notification) -> dict[str, Any]:
    old_state, state = ACTION_STATES[notification.name]
    message = MESSAGES.get(state)
    cls: Any = catalogue.payload_classes()[notification.payload]
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
            **_times(old_state, plan_state),
        ),
        status_message=message,
        **_times(old_state, state),
    )
    if 'state_update' in cls.fields:
        payload.state_update = action.ActionStateUpdatePayload(
            old_state=old_state, state=state, status_message=message
        )
    if 'fault' in cls.fields:
        payload.fault = _fault(state)
    return payload.to_wire()


def _audit_payload(notification: Notification) -> dict[str, Any]:
    old_state, state = AUDIT_STATES[notification.name]
    cls: Any = catalogue.payload_classes()[notification.payload]
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
        goal=goal.GoalPayload(
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
        **_times(old_state, state),
    )
    if 'state_update' in cls.fields:
        payload.state_update = audit.AuditStateUpdatePayload(
            old_state=old_state, state=state, status_message=None
        )
    if 'fault' in cls.fields:
        fault = AUDIT_FAULTS.get(notification.name)
        payload.fault = exception.ExceptionPayload(**fault) if fault else None
    return payload.to_wire()


#: subject -> what makes the payload of its samples
_PAYLOADS: dict[str, Callable[[Notification], dict[str, Any]]] = {
    events.ACTION_PLAN: _plan_payload,
    events.ACTION: _action_payload,
    events.AUDIT: _audit_payload,
    events.STACK: lambda told: stack_samples.stack_payload(told, OCCURRED_AT),
    events.RESOURCE: lambda told: stack_samples.resource_payload(told, OCCURRED_AT),
    events.CLUSTER: lambda told: cluster_samples.cluster_payload(told, OCCURRED_AT),
    events.NODE: lambda told: cluster_samples.node_payload(told, OCCURRED_AT),
}


def _follows_update(subject: str, name: str) -> bool:
    """Say whether a sample is of a step of a stack that an update tells of first."""
    born = stack_samples.BEFORE.get(name.partition('.')[0], name) is None
    begins = name.endswith('.start')
    return subject == events.STACK and name != 'update' and not (born and begins)


def _strategy() -> base.Payload:
    return strategy.StrategyPayload(
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


def _times(old_state: str | None, state: str | None = None) -> dict[str, Any]:
    return {
        'created_at': CREATED_AT,
        'updated_at': OCCURRED_AT if old_state else None,
        'deleted_at': OCCURRED_AT if state == 'DELETED' else None,
    }


def _fault(state: str) -> exception.ExceptionPayload | None:
    return exception.ExceptionPayload(**FAULT) if state == 'FAILED' else None
