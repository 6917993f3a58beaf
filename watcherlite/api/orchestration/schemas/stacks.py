"""JSON schemas of stacks, previews and validated templates."""

from collections.abc import Mapping

from watcherlite.api import search
from watcherlite.api.operation import Schema, Versioned, unversioned
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.states import stack as states

_OUTPUT: Schema = fragments.closed(
    {'output_key': fragments.TEXT, 'description': fragments.TEXT},
    {'output_value': fragments.ANYTHING, 'output_error': fragments.TEXT},
)
_STATE: Schema = {
    'type': 'string',
    'enum': [
        f'{action}_{status}'
        for action in states.STACK_ACTIONS
        for status in states.STATUSES
    ],
}
_LISTED: Mapping[str, Schema] = {
    'id': fragments.TEXT,
    'links': fragments.LINKS,
    'stack_name': fragments.TEXT,
    'description': fragments.TEXT,
    'stack_status': _STATE,
    'stack_status_reason': fragments.TEXT,
    'creation_time': fragments.TIME,
    'updated_time': fragments.TIME,
    'deletion_time': fragments.TIME,
    'stack_owner': fragments.TEXT_OR_NULL,
    'parent': fragments.TEXT_OR_NULL,
    'stack_user_project_id': fragments.TEXT_OR_NULL,
    'tags': {'type': ['array', 'null'], 'items': fragments.TEXT},
}
_PROJECT: Mapping[str, Schema] = {'project': fragments.TEXT}
_SHOWN: Mapping[str, Schema] = {
    **_LISTED,
    'parameters': {'type': 'object', 'additionalProperties': fragments.TEXT},
    'template_description': fragments.TEXT,
    'capabilities': fragments.TEXTS,
    'notification_topics': fragments.TEXTS,
    'disable_rollback': fragments.BOOLEAN,
    'timeout_mins': fragments.INTEGER,
    'stack_base_status': {
        'type': 'string',
        'description': 'The status below that of a lock, an unlock, or a check of a '
        'suspended stack: what the stack is apart from that.',
    },
    'lock_level': {
        'type': ['string', 'null'],
        'enum': [*states.LEVELS, None],
        'description': 'The level of the lock of the stack or of a stack that contains '
        'it; null: it is not locked.',
    },
    'lock_owner': {
        'type': ['string', 'null'],
        'description': 'The id of the locked stack, which is the stack to unlock.',
    },
}
_OUTPUTS: Mapping[str, Schema] = {'outputs': {'type': 'array', 'items': _OUTPUT}}

INDEX: Versioned = fragments.arguments(
    {
        'limit': {
            'type': 'integer',
            'minimum': 0,
            'description': 'The maximum number of stacks.',
        },
        'marker': {
            'type': 'string',
            'description': 'The id of the stack before the page.',
        },
        'sort_keys': {
            **fragments.SEVERAL,
            'description': 'stack_name, stack_status, creation_time or updated_time; '
            'separated by commas, or repeated. Others are ignored.',
        },
        'sort_dir': {'type': 'string', 'enum': ['asc', 'desc']},
        'show_deleted': fragments.BOOLEAN,
        'show_nested': fragments.BOOLEAN,
        'show_hidden': fragments.BOOLEAN,
        'global_tenant': fragments.BOOLEAN,
        'with_count': fragments.BOOLEAN,
        'tags': {'type': 'string', 'description': 'Stacks with all of these.'},
        'tags_any': {'type': 'string', 'description': 'Stacks with any of these.'},
        'not_tags': {'type': 'string', 'description': 'Stacks without all of these.'},
        'not_tags_any': {'type': 'string', 'description': 'Stacks with none of these.'},
        'name': fragments.SEVERAL,
        'id': fragments.SEVERAL,
        'action': fragments.SEVERAL,
        'status': {
            **fragments.SEVERAL,
            'description': 'COMPLETE, FAILED or IN_PROGRESS; or with the action before '
            'it, as stack_status has it.',
        },
        'owner_id': fragments.SEVERAL,
        'username': fragments.SEVERAL,
        'tenant': {
            'type': 'string',
            'description': 'With global_tenant: of this project alone.',
        },
        **search.schemas('creation_time', 'name'),
    }
)
SHOW: Versioned = fragments.arguments(
    {
        'resolve_outputs': {
            'type': 'boolean',
            'description': 'Whether the outputs are shown; true by default.',
        }
    }
)
PREVIEW_UPDATE: Versioned = fragments.arguments({'show_nested': fragments.BOOLEAN})

_TEXT_OR_OBJECT: Schema = {'type': ['string', 'object', 'null']}
#: Members of all bodies with a template.
BROUGHT: Mapping[str, Schema] = {
    'template': {
        **_TEXT_OR_OBJECT,
        'description': 'The template, as an object or as text in YAML or JSON.',
    },
    'template_url': {
        'type': ['string', 'null'],
        'description': 'Not supported: send the template itself.',
    },
    'environment': _TEXT_OR_OBJECT,
    'environment_files': {
        'type': ['array', 'null'],
        'items': fragments.TEXT,
        'description': 'The names of environments in `files`; later ones take '
        'precedence.',
    },
    'files': {
        'type': ['object', 'null'],
        'additionalProperties': fragments.TEXT,
        'description': 'Name to text, for get_file, nested templates and environments.',
    },
    'parameters': {
        'type': ['object', 'null'],
        'description': 'Values of parameters, which override those of the environment.',
    },
}
_OPTIONS: Mapping[str, Schema] = {
    'timeout_mins': {
        'type': ['integer', 'string', 'null'],
        'minimum': 0,
        'maximum': 2**31 - 1,
        'pattern': '^[0-9]{1,9}$',
        'description': 'The timeout of operations in minutes; 0: the default.',
    },
    'disable_rollback': {
        'type': ['boolean', 'string', 'null'],
        'pattern': '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$',
    },
    'tags': {
        'type': ['string', 'array', 'null'],
        'items': fragments.TEXT,
        'description': 'Separated by commas, or a list.',
    },
}
_NAME: Schema = {'type': 'string', 'minLength': 1, 'maxLength': 255}
NEW: Versioned = unversioned(
    {
        'title': 'stack',
        'type': 'object',
        'properties': {
            'stack_name': _NAME,
            **BROUGHT,
            **_OPTIONS,
            'adopt_stack_data': {
                **_TEXT_OR_OBJECT,
                'description': 'The response of abandon, to create a stack of existing '
                'resources.',
            },
        },
        'required': ['stack_name'],
    }
)
CHANGE: Versioned = unversioned(
    {
        'title': 'stack',
        'type': 'object',
        'properties': {
            **BROUGHT,
            **_OPTIONS,
            'clear_parameters': {
                'type': ['array', 'null'],
                'items': fragments.TEXT,
                'description': 'Parameters that get their defaults again.',
            },
            'converge': {'type': ['boolean', 'string', 'null']},
        },
    }
)

COLLECTION: Versioned = fragments.listed(
    'stacks',
    fragments.closed(_LISTED, _PROJECT),
    {'links': fragments.LINKS, 'count': fragments.INTEGER},
)
DETAILED_COLLECTION: Versioned = fragments.listed(
    'stacks',
    fragments.closed(_SHOWN, {**_PROJECT, **_OUTPUTS}),
    {'links': fragments.LINKS, 'count': fragments.INTEGER},
)
STACK: Versioned = fragments.under(
    'stack', fragments.closed(_SHOWN, {**_PROJECT, **_OUTPUTS})
)
CREATED: Versioned = fragments.under(
    'stack', fragments.closed({'id': fragments.TEXT, 'links': fragments.LINKS})
)
OUTPUTS: Versioned = fragments.listed('outputs', _OUTPUT)
OUTPUT: Versioned = fragments.under('output', _OUTPUT)
DOCUMENT: Versioned = unversioned(fragments.OBJECT)
FILES: Versioned = unversioned(
    {'type': 'object', 'additionalProperties': fragments.TEXT}
)

#: Action in a body of `actions` -> the schema of its argument.
_NOTHING: Schema = {'type': ['object', 'null'], 'additionalProperties': False}
_ARGUMENT: Schema = {
    'description': 'No argument; values that clients send are ignored.'
}
ACTIONS: Mapping[str, Schema] = {
    'suspend': _ARGUMENT,
    'resume': _ARGUMENT,
    'check': _ARGUMENT,
    'cancel_update': _ARGUMENT,
    'cancel_without_rollback': _ARGUMENT,
    'lock': {
        'type': ['object', 'null'],
        'properties': {'level': {'type': 'string', 'enum': list(states.LEVELS)}},
        'additionalProperties': False,
    },
    'unlock': _NOTHING,
}
ACTION: Versioned = unversioned(
    {
        'title': 'action',
        'type': 'object',
        'properties': dict(ACTIONS),
        'additionalProperties': False,
        'minProperties': 1,
        'maxProperties': 1,
    }
)


_PLANNED: Mapping[str, Schema] = {
    'resource_name': fragments.TEXT,
    'resource_identity': fragments.OBJECT,
    'stack_identity': fragments.OBJECT,
    'stack_name': fragments.TEXT,
    'resource_type': fragments.TEXT,
    'resource_action': fragments.TEXT,
    'resource_status': fragments.TEXT,
    'resource_status_reason': fragments.TEXT,
    'physical_resource_id': fragments.TEXT,
    'description': fragments.TEXT,
    'creation_time': fragments.TIME,
    'updated_time': fragments.TIME,
    'required_by': fragments.TEXTS,
    'properties': fragments.OBJECT,
    'metadata': fragments.OBJECT,
    'attributes': fragments.OBJECT,
}
_PARENT: Mapping[str, Schema] = {'parent_resource': fragments.TEXT}
_RESOURCE: Schema = fragments.closed(_PLANNED, _PARENT)
_RESOURCES: Schema = {'type': 'array', 'items': _RESOURCE}

#: A nested stack is the list of its resources.
_TREE: Schema = {'type': 'array', 'items': {'type': ['object', 'array']}}
PREVIEW: Versioned = fragments.under(
    'stack',
    fragments.closed(
        {
            'id': fragments.TEXT,
            'links': fragments.LINKS,
            'stack_name': fragments.TEXT,
            'description': fragments.TEXT,
            'template_description': fragments.TEXT,
            'parameters': {'type': 'object', 'additionalProperties': fragments.TEXT},
            'capabilities': fragments.TEXTS,
            'notification_topics': fragments.TEXTS,
            'creation_time': fragments.TIME,
            'updated_time': fragments.TIME,
            'deletion_time': fragments.TIME,
            'disable_rollback': fragments.BOOLEAN,
            'timeout_mins': fragments.INTEGER,
            'stack_owner': fragments.TEXT_OR_NULL,
            'parent': fragments.TEXT_OR_NULL,
            'stack_user_project_id': fragments.TEXT_OR_NULL,
            'tags': {'type': ['array', 'null'], 'items': fragments.TEXT},
            'resources': _TREE,
        }
    ),
)
PREVIEWED_CHANGES: Versioned = fragments.under(
    'resource_changes',
    fragments.closed(
        dict.fromkeys(
            ('unchanged', 'updated', 'replaced', 'added', 'deleted'), _RESOURCES
        )
    ),
)


_PARAMETERS: Schema = {
    'type': 'object',
    'description': 'By name: Type, Description, NoEcho (whether it is hidden), '
    'Label, and, if defined, Default, Value, MinLength and other constraints.',
    'additionalProperties': fragments.OBJECT,
}

VALIDATE: Versioned = fragments.arguments(
    {
        'show_nested': {
            'type': 'boolean',
            'description': 'Whether to show the nested templates of resources as well.',
        },
        'ignore_errors': {'type': 'string', 'description': 'Accepted and ignored.'},
    }
)
TEMPLATE: Versioned = unversioned(
    {'title': 'template', 'type': 'object', 'properties': dict(BROUGHT)}
)
VALIDATED: Versioned = unversioned(
    fragments.closed(
        {
            'Description': fragments.TEXT,
            'Parameters': _PARAMETERS,
            'Environment': fragments.OBJECT,
        },
        {
            'ParameterGroups': {'type': 'array', 'items': fragments.OBJECT},
            'NestedParameters': fragments.OBJECT,
        },
    )
)
