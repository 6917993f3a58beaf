"""The payloads of the samples of stacks and resources."""

import datetime
from typing import Any

from watcherlite.notifications.rules.notification import Notification
from watcherlite.objects import nested, registry, stack

STACK_UUID = '0e3cf3ab-4b4b-4b8f-9a9e-6f0f2d1f3a57'
RESOURCE_UUID = '6b1f6d0c-54a5-4c0e-bd0f-1e7d0f3c2b98'
PHYSICAL_ID = 'web-server-1e7d0f3c2b98'
TENANT = '3d6c5a9b8e7f4c1d'
USERNAME = 'demo'
CREATED_AT = datetime.datetime(2016, 11, 4, 16, 29, 20, tzinfo=datetime.UTC)
#: action -> the state of a stack or resource before it
BEFORE = {
    'create': None,
    'adopt': None,
    'resume': 'SUSPEND_COMPLETE',
    'rollback': 'UPDATE_FAILED',
    'unlock': 'LOCK_COMPLETE',
}
UNTOUCHED = 'INIT_COMPLETE'
BETWEEN = 'CREATE_COMPLETE'
FAULT = {
    'exception': 'ActionFailed',
    'exception_message': 'No port is free.',
    'module_name': 'resource',
    'function_name': 'execute',
}
#: step -> the status, the reason
STEPS = {
    'start': ('IN_PROGRESS', 'Stack {} started'),
    'end': ('COMPLETE', 'Stack {} completed successfully'),
    'error': ('FAILED', 'Resource action failed: resources.server: No port is free.'),
}
RESOURCE_REASONS = {'start': '', 'end': 'state changed', 'error': 'No port is free.'}
HOOK = 'pre-create'
HOOK_REASONS = {
    'start': f'CREATE paused until Hook {HOOK} is cleared',
    'end': f'Hook {HOOK} is cleared',
    'error': f'Hook {HOOK} was not cleared: Timed out',
}
UPDATE = (BETWEEN, 'UPDATE_IN_PROGRESS')
LEVEL = 'all'


def states(notification: Notification, resource: bool) -> tuple[str | None, str]:
    """Return the states before and after the change of a sample."""
    action, _, step = notification.name.partition('.')
    if not step:
        return UPDATE
    if action == 'signal':
        return BETWEEN, BETWEEN
    if action == 'hook':
        return UNTOUCHED, UNTOUCHED
    state = f'{action.upper()}_{STEPS[step][0]}'
    if step == 'start':
        before = BEFORE.get(action, BETWEEN)
        return UNTOUCHED if resource and before is None else before, state
    return f'{action.upper()}_IN_PROGRESS', state


def reason(notification: Notification, resource: bool) -> str:
    """Return the status reason of a sample."""
    action, _, step = notification.name.partition('.')
    if notification.name == 'signal.end':
        return 'Signal received'
    if action == 'hook':
        return HOOK_REASONS[step]
    if resource:
        return RESOURCE_REASONS[step]
    return STEPS[step or 'start'][1].format(action.upper())


def level(notification: Notification) -> str | None:
    """Return the lock level of a sample, or None for other samples."""
    if notification.name == 'unlock.end':
        return None
    return LEVEL if notification.name.startswith(('lock.', 'unlock.')) else None


def stack_payload(
    notification: Notification, occurred_at: datetime.datetime
) -> dict[str, Any]:
    """Return the payload of a sample of a stack."""
    old_state, state = states(notification, resource=False)
    why = reason(notification, resource=False)
    cls: Any = registry.payload_classes()[notification.payload]
    payload = cls(
        uuid=STACK_UUID,
        name='web',
        tenant_id=TENANT,
        username=USERNAME,
        description='A web server',
        tags=['nightly'],
        owner_uuid=None,
        root_uuid=STACK_UUID,
        state=state,
        status_reason=why,
        lock_level=level(notification),
        created_at=CREATED_AT,
        updated_at=occurred_at if old_state else None,
        deleted_at=occurred_at if state == 'DELETE_COMPLETE' else None,
    )
    if 'state_update' in cls.fields:
        payload.state_update = stack.StackStateUpdatePayload(
            old_state=old_state, state=state, status_reason=why
        )
    if 'fault' in cls.fields:
        payload.fault = _fault(notification)
    return payload.to_wire()


def resource_payload(
    notification: Notification, occurred_at: datetime.datetime
) -> dict[str, Any]:
    """Return the payload of a sample of a resource."""
    _, state = states(notification, resource=True)
    cls: Any = registry.payload_classes()[notification.payload]
    unmade = notification.name == 'create.start' or state == UNTOUCHED
    payload = cls(
        uuid=RESOURCE_UUID,
        name='server',
        resource_type='Local::Process',
        physical_resource_id=None if unmade else PHYSICAL_ID,
        stack_uuid=STACK_UUID,
        stack=stack.TerseStackPayload(
            uuid=STACK_UUID,
            name='web',
            tenant_id=TENANT,
            owner_uuid=None,
            root_uuid=STACK_UUID,
        ),
        state=state,
        status_reason=reason(notification, resource=True),
        updated_at=occurred_at,
        deleted_at=occurred_at if state == 'DELETE_COMPLETE' else None,
    )
    if 'hook' in cls.fields:
        payload.hook = HOOK
    if 'fault' in cls.fields:
        payload.fault = _fault(notification)
    return payload.to_wire()


def _fault(notification: Notification) -> nested.ExceptionPayload | None:
    failed = notification.name.endswith('.error')
    return nested.ExceptionPayload(**FAULT) if failed else None
