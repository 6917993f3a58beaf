"""The payloads of the samples of clusters and nodes."""

import datetime
from typing import Any

from watcherlite.notifications.rules.notification import Notification
from watcherlite.objects import cluster, nested, registry

CLUSTER_UUID = '8ca1a1b6-6f4c-4c12-9c1e-9d5ac10e4c7b'
NODE_UUID = '3f0b6b5e-2b0c-4a5e-8a43-1b7f0f6f8d21'
PROFILE_UUID = 'c2f8f0a4-93b4-4f6f-8f0a-6a1c9a1d0e55'
ACTION_UUID = '5d2a9c1e-7b34-4d0a-b0b3-2f6f8c4e1a90'
PHYSICAL_ID = 'web-1-1b7f0f6f8d21'
TENANT = '3d6c5a9b8e7f4c1d'
USER = '0f4b5d1d9b6c4d7c'
METADATA = {'tier': 'web'}
INIT_AT = datetime.datetime(2016, 11, 4, 16, 28, 2, tzinfo=datetime.UTC)
CREATED_AT = datetime.datetime(2016, 11, 4, 16, 29, 20, tzinfo=datetime.UTC)
FAULT = {
    'exception': 'ActionFailed',
    'exception_message': 'No port is free.',
    'module_name': 'node_actions',
    'function_name': 'execute',
}
#: verb -> the state in progress; other verbs do not change the state
DURING = {
    'create': 'CREATING',
    'delete': 'DELETING',
    'update': 'UPDATING',
    'add_nodes': 'RESIZING',
    'del_nodes': 'RESIZING',
    'replace_nodes': 'RESIZING',
    'resize': 'RESIZING',
    'scale_in': 'RESIZING',
    'scale_out': 'RESIZING',
    'recover': 'RECOVERING',
    'operation': 'OPERATING',
}
#: The same for clusters only.
CHECKED = {'check': 'CHECKING'}
#: verb -> the state before it
BEFORE = {'create': 'INIT', 'recover': 'ERROR'}


def states(notification: Notification, of_node: bool) -> tuple[str, str]:
    """Return the states before and after the change of a sample."""
    verb, _, phase = notification.name.partition('.')
    before = BEFORE.get(verb, 'ACTIVE')
    during = (DURING if of_node else {**DURING, **CHECKED}).get(verb, before)
    if phase == 'start':
        return before, during
    if phase == 'error':
        return during, 'ERROR' if during != before else before
    return during, during if verb == 'delete' else 'ACTIVE'


def reason(notification: Notification) -> str:
    """Return the status reason of a sample."""
    verb, _, phase = notification.name.partition('.')
    if phase == 'error':
        return FAULT['exception_message']
    ended = 'in progress' if phase == 'start' else 'succeeded'
    return f'{verb.replace("_", " ").capitalize()} {ended}'


def action(notification: Notification, of_node: bool) -> dict[str, str]:
    """Return the action of a sample, as its event has it."""
    verb = notification.name.partition('.')[0]
    subject, uuid = ('node', NODE_UUID) if of_node else ('cluster', CLUSTER_UUID)
    return {
        'uuid': ACTION_UUID,
        'name': f'{subject}_{verb}_{uuid[:8]}',
        'type': f'{subject}_{verb}'.upper(),
    }


def is_made(notification: Notification) -> bool:
    """Return whether the cluster or node of a sample has been created."""
    verb, _, phase = notification.name.partition('.')
    return verb != 'create' or phase == 'end'


def cluster_payload(
    notification: Notification, occurred_at: datetime.datetime
) -> dict[str, Any]:
    """Return the payload of a sample of a cluster."""
    cls: Any = registry.payload_classes()[notification.payload]
    payload = cls(
        **_common(notification, occurred_at, of_node=False),
        desired_capacity=3,
        min_size=1,
        max_size=5,
        timeout=3600,
    )
    return payload.to_wire()


def node_payload(
    notification: Notification, occurred_at: datetime.datetime
) -> dict[str, Any]:
    """Return the payload of a sample of a node."""
    cls: Any = registry.payload_classes()[notification.payload]
    payload = cls(
        **_common(notification, occurred_at, of_node=True),
        cluster_uuid=CLUSTER_UUID,
        index=1,
        role='',
        physical_id=PHYSICAL_ID if is_made(notification) else None,
    )
    return payload.to_wire()


def _common(
    notification: Notification, occurred_at: datetime.datetime, of_node: bool
) -> dict[str, Any]:
    _, state = states(notification, of_node)
    done = action(notification, of_node)
    failed = notification.name.endswith('.error')
    return {
        'uuid': NODE_UUID if of_node else CLUSTER_UUID,
        'name': 'web-1' if of_node else 'web',
        'tenant_id': TENANT,
        'user_id': USER,
        'domain_id': None,
        'profile_uuid': PROFILE_UUID,
        'metadata': METADATA,
        'state': state,
        'status_reason': reason(notification),
        'init_at': INIT_AT,
        'created_at': CREATED_AT if is_made(notification) else None,
        'updated_at': occurred_at,
        'deleted_at': occurred_at if notification.name == 'delete.end' else None,
        'action': cluster.ClusteringActionPayload(
            uuid=done['uuid'], name=done['name'], action_type=done['type']
        ),
        'fault': nested.ExceptionPayload(**FAULT) if failed else None,
    }
