"""One sample of each notification, built from the versioned objects."""

import datetime
import json
from collections.abc import Callable
from typing import Any

from tests.notification_samples import clusters, infra_optim, stacks
from watcherlite.domain import events
from watcherlite.notifications.rules import subjects
from watcherlite.notifications.rules.notification import Notification

#: The uuid of the event; the id of its second message ends in 1.
EVENT_UUID = 'cbcf9f2c-7c53-4b4d-91ec-db49cca024b0'
HOST = 'localhost'
OCCURRED_AT = datetime.datetime(2016, 11, 4, 16, 31, 36, 264673, tzinfo=datetime.UTC)
#: The event types that follow an update of the same event.
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


def samples() -> dict[str, dict[str, Any]]:
    """Return the inner part of the envelope, by event type."""
    documents = {}
    for subject, row in subjects.SUBJECTS.items():
        for name, notification in row.notifications.items():
            event_type = f'{row.prefix}.{name}'
            second = event_type in SECOND or _follows_update(subject, name)
            documents[event_type] = {
                'event_type': event_type,
                'priority': notification.priority,
                'publisher_id': f'{row.publisher}:{HOST}',
                'message_id': f'{EVENT_UUID[:-1]}1' if second else EVENT_UUID,
                'timestamp': str(OCCURRED_AT.replace(tzinfo=None)),
                'payload': _PAYLOADS[subject](notification, OCCURRED_AT),
            }
    return documents


def text(document: dict[str, Any]) -> str:
    """Return a sample as the text of its file."""
    return json.dumps(document, indent=2) + '\n'


def file_name(event_type: str) -> str:
    """Return the name of a sample's file."""
    return f'{event_type.replace(".", "-")}.json'


_Payload = Callable[[Notification, datetime.datetime], dict[str, Any]]

#: subject -> a function that returns the payload of its samples
_PAYLOADS: dict[str, _Payload] = {
    events.ACTION_PLAN: infra_optim.plan_payload,
    events.ACTION: infra_optim.action_payload,
    events.AUDIT: infra_optim.audit_payload,
    events.STACK: stacks.stack_payload,
    events.RESOURCE: stacks.resource_payload,
    events.CLUSTER: clusters.cluster_payload,
    events.NODE: clusters.node_payload,
}


def _follows_update(subject: str, name: str) -> bool:
    """Return whether a notification of a stack follows an update."""
    born = stacks.BEFORE.get(name.partition('.')[0], name) is None
    begins = name.endswith('.start')
    return subject == events.STACK and name != 'update' and not (born and begins)
