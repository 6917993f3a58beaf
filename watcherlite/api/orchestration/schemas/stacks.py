"""JSON schemas of stacks."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema, Versioned, always
from watcherlite.api.orchestration.schemas import shapes
from watcherlite.states import stack as states

_OUTPUT: Schema = shapes.whole(
    {'output_key': shapes.TEXT, 'description': shapes.TEXT},
    {'output_value': shapes.ANYTHING, 'output_error': shapes.TEXT},
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
    'id': shapes.TEXT,
    'links': shapes.LINKS,
    'stack_name': shapes.TEXT,
    'description': shapes.TEXT,
    'stack_status': _STATE,
    'stack_status_reason': shapes.TEXT,
    'creation_time': shapes.TIME,
    'updated_time': shapes.TIME,
    'deletion_time': shapes.TIME,
    'stack_owner': shapes.TEXT_OR_NULL,
    'parent': shapes.TEXT_OR_NULL,
    'stack_user_project_id': shapes.TEXT_OR_NULL,
    'tags': {'type': ['array', 'null'], 'items': shapes.TEXT},
}
_PROJECT: Mapping[str, Schema] = {'project': shapes.TEXT}
_SHOWN: Mapping[str, Schema] = {
    **_LISTED,
    'parameters': {'type': 'object', 'additionalProperties': shapes.TEXT},
    'template_description': shapes.TEXT,
    'capabilities': shapes.TEXTS,
    'notification_topics': shapes.TEXTS,
    'disable_rollback': shapes.BOOLEAN,
    'timeout_mins': shapes.INTEGER,
    'lock_level': {
        'type': ['string', 'null'],
        'enum': [*states.LEVELS, None],
        'description': 'How far the lock of the stack goes, or of one around it; null: '
        'it is not locked.',
    },
    'lock_owner': {
        'type': ['string', 'null'],
        'description': 'The id of the stack whose lock that is, which is the one to be '
        'unlocked.',
    },
}
_OUTPUTS: Mapping[str, Schema] = {'outputs': {'type': 'array', 'items': _OUTPUT}}

INDEX: Versioned = shapes.arguments(
    {
        'limit': {
            'type': 'integer',
            'minimum': 0,
            'description': 'Most stacks of a page.',
        },
        'marker': {
            'type': 'string',
            'description': 'The page begins after the stack of this id.',
        },
        'sort_keys': {
            **shapes.SEVERAL,
            'description': 'Of stack_name, stack_status, creation_time, updated_time; '
            'separated by commas, or given several times. Others are passed over.',
        },
        'sort_dir': {'type': 'string', 'enum': ['asc', 'desc']},
        'show_deleted': shapes.BOOLEAN,
        'show_nested': shapes.BOOLEAN,
        'show_hidden': shapes.BOOLEAN,
        'global_tenant': shapes.BOOLEAN,
        'with_count': shapes.BOOLEAN,
        'tags': {'type': 'string', 'description': 'Stacks with all of these.'},
        'tags_any': {'type': 'string', 'description': 'Stacks with any of these.'},
        'not_tags': {'type': 'string', 'description': 'Stacks without all of these.'},
        'not_tags_any': {
            'type': 'string',
            'description': 'Stacks with none of these.',
        },
        'name': shapes.SEVERAL,
        'id': shapes.SEVERAL,
        'action': shapes.SEVERAL,
        'status': {
            **shapes.SEVERAL,
            'description': 'COMPLETE, FAILED or IN_PROGRESS; or with the action before '
            'it, as stack_status has it.',
        },
        'owner_id': shapes.SEVERAL,
        'username': shapes.SEVERAL,
        'tenant': {
            'type': 'string',
            'description': 'With global_tenant: of this project alone.',
        },
    }
)
SHOW: Versioned = shapes.arguments(
    {
        'resolve_outputs': {
            'type': 'boolean',
            'description': 'Whether the outputs are shown; true by default.',
        }
    }
)
PREVIEW_UPDATE: Versioned = shapes.arguments({'show_nested': shapes.BOOLEAN})

_TEXT_OR_OBJECT: Schema = {'type': ['string', 'object', 'null']}
#: What there is in the body of every request that brings a template.
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
        'items': shapes.TEXT,
        'description': 'Names among the files, of environments; a later one counts '
        'more than the ones before it.',
    },
    'files': {
        'type': ['object', 'null'],
        'additionalProperties': shapes.TEXT,
        'description': 'Name to text, for get_file, nested templates and environments.',
    },
    'parameters': {
        'type': ['object', 'null'],
        'description': 'Values of parameters, over those of the environment.',
    },
}
_OPTIONS: Mapping[str, Schema] = {
    'timeout_mins': {
        'type': ['integer', 'string', 'null'],
        'minimum': 0,
        'maximum': 2**31 - 1,
        'pattern': '^[0-9]{1,9}$',
        'description': 'Minutes that an operation may take; 0 stands for the default.',
    },
    'disable_rollback': {
        'type': ['boolean', 'string', 'null'],
        'pattern': '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$',
    },
    'tags': {
        'type': ['string', 'array', 'null'],
        'items': shapes.TEXT,
        'description': 'Separated by commas, or a list.',
    },
}
_NAME: Schema = {'type': 'string', 'minLength': 1, 'maxLength': 255}
NEW: Versioned = always(
    {
        'title': 'stack',
        'type': 'object',
        'properties': {
            'stack_name': _NAME,
            **BROUGHT,
            **_OPTIONS,
            'adopt_stack_data': {
                **_TEXT_OR_OBJECT,
                'description': 'What abandon answered, for a stack of resources that '
                'are there.',
            },
        },
        'required': ['stack_name'],
    }
)
CHANGE: Versioned = always(
    {
        'title': 'stack',
        'type': 'object',
        'properties': {
            **BROUGHT,
            **_OPTIONS,
            'clear_parameters': {
                'type': ['array', 'null'],
                'items': shapes.TEXT,
                'description': 'Parameters that get their defaults again.',
            },
            'converge': {'type': ['boolean', 'string', 'null']},
        },
    }
)

COLLECTION: Versioned = shapes.listed(
    'stacks',
    shapes.whole(_LISTED, _PROJECT),
    {'links': shapes.LINKS, 'count': shapes.INTEGER},
)
DETAILED_COLLECTION: Versioned = shapes.listed(
    'stacks',
    shapes.whole(_SHOWN, {**_PROJECT, **_OUTPUTS}),
    {'links': shapes.LINKS, 'count': shapes.INTEGER},
)
STACK: Versioned = shapes.under('stack', shapes.whole(_SHOWN, {**_PROJECT, **_OUTPUTS}))
CREATED: Versioned = shapes.under(
    'stack', shapes.whole({'id': shapes.TEXT, 'links': shapes.LINKS})
)
OUTPUTS: Versioned = shapes.listed('outputs', _OUTPUT)
OUTPUT: Versioned = shapes.under('output', _OUTPUT)
DOCUMENT: Versioned = always(shapes.OBJECT)
FILES: Versioned = always({'type': 'object', 'additionalProperties': shapes.TEXT})

#: What a body of `actions` may say, each with what may stand there.
_NOTHING: Schema = {'type': ['object', 'null'], 'additionalProperties': False}
_ARGUMENT: Schema = {
    'description': 'Nothing; what clients send all the same is passed over.'
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
ACTION: Versioned = always(
    {
        'title': 'action',
        'type': 'object',
        'properties': dict(ACTIONS),
        'additionalProperties': False,
        'minProperties': 1,
        'maxProperties': 1,
    }
)
