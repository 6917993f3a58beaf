"""Notifications as nova, cinder and ironic write them."""

import datetime
import json
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.service_notifications import ServiceNotification

EMITTED = datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC)


def envelope(
    event_type: str,
    payload: Mapping[str, Any],
    publisher_id: str = 'nova-compute:compute-1',
    emitted: datetime.datetime = EMITTED,
) -> bytes:
    """Return the body of a message of oslo.messaging."""
    message = {
        'message_id': 'c6f5d4fb-3cd4-4f7e-8d74-9e8ce1a6e6d1',
        'publisher_id': publisher_id,
        'event_type': event_type,
        'priority': 'INFO',
        'payload': payload,
        'timestamp': emitted.replace(tzinfo=None).isoformat(' ', 'microseconds'),
        '_unique_id': '6a3d0d2a0f1b4a0d8f6e8c1c9b2f7a55',
        '_context_request_id': 'req-5b6c791d-5709-4f36-8fbe-c3e02869e35d',
        '_context_auth_token': None,
    }
    return json.dumps(
        {'oslo.version': '2.0', 'oslo.message': json.dumps(message)}
    ).encode()


def notification(event_type: str, payload: Mapping[str, Any]) -> ServiceNotification:
    """Return a decoded notification."""
    return ServiceNotification(event_type, 'nova-compute:host', payload, EMITTED)


def versioned(name: str, data: Mapping[str, Any], service: str = 'nova') -> Any:
    """Return an object in a versioned notification."""
    return {
        f'{service}_object.name': name,
        f'{service}_object.namespace': service,
        f'{service}_object.version': '1.8',
        f'{service}_object.data': data,
    }


def instance(uuid: str, node: str | None, **changed: Any) -> Any:
    """Return the payload of a notification of nova about a server.

    :param node: the host; the hypervisor has the domain example.org
    """
    flavor = {
        'flavorid': 'a22d5517-147c-4147-a0d1-e698df5cd4e3',
        'name': 'small',
        'root_gb': 10,
        'vcpus': 2,
        'ephemeral_gb': 1,
        'memory_mb': 512,
        'disabled': False,
        'rxtx_factor': 1.0,
        'extra_specs': {'hw:cpu_policy': 'dedicated'},
        'projects': None,
        'swap': 1500,
        'is_public': True,
        'vcpu_weight': 0,
        'description': None,
    }
    data = {
        'architecture': 'x86_64',
        'availability_zone': 'nova',
        'block_devices': [],
        'created_at': '2030-01-01T00:00:00Z',
        'deleted_at': None,
        'display_name': 'web',
        'display_description': 'web',
        'fault': None,
        'host': node,
        'host_name': 'web',
        'ip_addresses': [],
        'kernel_id': '',
        'key_name': None,
        'launched_at': '2030-01-01T00:00:10Z',
        'image_uuid': '155d900f-4e14-4e4c-a73d-069cbf4541e6',
        'metadata': {'role': 'web'},
        'locked': False,
        'node': node and f'{node}.example.org',
        'os_type': None,
        'progress': 0,
        'ramdisk_id': '',
        'reservation_id': 'r-npxv0e40',
        'state': 'active',
        'task_state': None,
        'power_state': 'running',
        'tenant_id': 'project',
        'terminated_at': None,
        'auto_disk_config': 'MANUAL',
        'flavor': versioned('FlavorPayload', flavor),
        'updated_at': '2030-01-01T00:00:10Z',
        'user_id': 'user',
        'uuid': uuid,
        **changed,
    }
    return versioned('InstanceActionPayload', data)


def compute_service(host: str, **changed: Any) -> Any:
    """Return the payload of a notification of nova about a service."""
    data = {
        'host': host,
        'disabled': False,
        'binary': 'nova-compute',
        'topic': 'compute',
        'disabled_reason': None,
        'forced_down': False,
        'version': 66,
        'availability_zone': None,
        'uuid': 'fa69c544-906b-4a6a-a9c6-c1f7a8078c73',
        'last_seen_up': '2030-01-01T00:00:00Z',
        'report_count': 5,
        **changed,
    }
    return versioned('ServiceStatusPayload', data)


def volume(uuid: str, pool: str | None, **changed: Any) -> dict[str, Any]:
    """Return the payload of a notification of cinder about a volume."""
    return {
        'tenant_id': 'project',
        'host': pool,
        'user_id': 'user',
        'availability_zone': 'nova',
        'volume_id': uuid,
        'volume_type': 'type-1',
        'display_name': 'data',
        'launched_at': '2030-01-01T00:00:05',
        'created_at': '2030-01-01T00:00:00',
        'status': 'available',
        'snapshot_id': None,
        'size': 3,
        'replication_status': None,
        'replication_extended_status': None,
        'replication_driver_data': None,
        'metadata': [],
        'volume_attachment': [],
        **changed,
    }


def volume_snapshot(uuid: str, volume_uuid: str) -> dict[str, Any]:
    """Return the payload of a notification of cinder about a snapshot."""
    return {
        'tenant_id': 'project',
        'user_id': 'user',
        'availability_zone': 'nova',
        'volume_id': volume_uuid,
        'volume_size': 3,
        'snapshot_id': uuid,
        'display_name': 'backup',
        'created_at': '2030-01-01T00:00:00',
        'status': 'available',
        'deleted': '',
        'metadata': '',
    }


def baremetal_node(uuid: str, **changed: Any) -> Any:
    """Return the payload of a notification of ironic about a node."""
    data = {
        'uuid': uuid,
        'name': 'rack-1',
        'power_state': 'power on',
        'target_power_state': None,
        'provision_state': 'active',
        'maintenance': False,
        'maintenance_reason': None,
        'instance_uuid': None,
        'extra': {'compute_node_id': 'uuid-1'},
        'properties': {},
        **changed,
    }
    return versioned('NodePayload', data, 'ironic')
