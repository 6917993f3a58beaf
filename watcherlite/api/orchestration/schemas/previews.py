"""JSON schemas of what would be done."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema, Versioned
from watcherlite.api.orchestration.schemas import shapes

_PLANNED: Mapping[str, Schema] = {
    'resource_name': shapes.TEXT,
    'resource_identity': shapes.OBJECT,
    'stack_identity': shapes.OBJECT,
    'stack_name': shapes.TEXT,
    'resource_type': shapes.TEXT,
    'resource_action': shapes.TEXT,
    'resource_status': shapes.TEXT,
    'resource_status_reason': shapes.TEXT,
    'physical_resource_id': shapes.TEXT,
    'description': shapes.TEXT,
    'creation_time': shapes.TIME,
    'updated_time': shapes.TIME,
    'required_by': shapes.TEXTS,
    'properties': shapes.OBJECT,
    'metadata': shapes.OBJECT,
    'attributes': shapes.OBJECT,
}
_PARENT: Mapping[str, Schema] = {'parent_resource': shapes.TEXT}
_RESOURCE: Schema = shapes.whole(_PLANNED, _PARENT)
_RESOURCES: Schema = {'type': 'array', 'items': _RESOURCE}

#: A resource that is a stack is shown as the list of what that would have.
_TREE: Schema = {
    'type': 'array',
    'items': {'type': ['object', 'array']},
}
STACK: Versioned = shapes.under(
    'stack',
    shapes.whole(
        {
            'id': shapes.TEXT,
            'links': shapes.LINKS,
            'stack_name': shapes.TEXT,
            'description': shapes.TEXT,
            'template_description': shapes.TEXT,
            'parameters': {'type': 'object', 'additionalProperties': shapes.TEXT},
            'capabilities': shapes.TEXTS,
            'notification_topics': shapes.TEXTS,
            'creation_time': shapes.TIME,
            'updated_time': shapes.TIME,
            'deletion_time': shapes.TIME,
            'disable_rollback': shapes.BOOLEAN,
            'timeout_mins': shapes.INTEGER,
            'stack_owner': shapes.TEXT_OR_NULL,
            'parent': shapes.TEXT_OR_NULL,
            'stack_user_project_id': shapes.TEXT_OR_NULL,
            'tags': {'type': ['array', 'null'], 'items': shapes.TEXT},
            'resources': _TREE,
        }
    ),
)
CHANGES: Versioned = shapes.under(
    'resource_changes',
    shapes.whole(
        dict.fromkeys(
            ('unchanged', 'updated', 'replaced', 'added', 'deleted'), _RESOURCES
        )
    ),
)
