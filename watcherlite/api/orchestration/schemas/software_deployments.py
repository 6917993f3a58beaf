"""JSON schemas of software deployments."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema, Versioned, unversioned
from watcherlite.api.orchestration.schemas import fragments, software_configs
from watcherlite.domain import bearer_tokens, software

_STATUS: Schema = {'type': ['string', 'null'], 'enum': [*software.STATUSES, None]}
_VALUES: Schema = {'type': ['object', 'null'], 'maxProperties': software_configs.MOST}
_CHANGEABLE: Mapping[str, Schema] = {
    'action': {
        'type': ['string', 'null'],
        'maxLength': 255,
        'description': 'The operation that it is for, such as CREATE or UPDATE.',
    },
    'status': _STATUS,
    'status_reason': {'type': ['string', 'null'], 'maxLength': software.MAX_REASON},
    'input_values': {
        **_VALUES,
        'description': 'The values of the inputs of the config, and of further inputs.',
    },
}
_SERVER: Schema = {'type': 'string', 'minLength': 1, 'maxLength': 255}
_SHOWN: Mapping[str, Schema] = {
    'id': fragments.TEXT,
    'config_id': fragments.TEXT,
    'server_id': fragments.TEXT,
    'action': fragments.TEXT,
    'status': {'type': 'string', 'enum': list(software.STATUSES)},
    'status_reason': fragments.TEXT,
    'input_values': fragments.OBJECT,
    'output_values': {'type': ['object', 'null']},
    'creation_time': fragments.TIME,
    'updated_time': fragments.TIME,
}

INDEX: Versioned = fragments.arguments(
    {
        'server_id': {'type': 'string', 'description': 'The id of the server.'},
        'limit': {
            'type': 'integer',
            'minimum': 0,
            'description': 'The size of a page; not in Heat.',
        },
        'marker': {
            'type': 'string',
            'description': 'The id of the deployment before the page; not in Heat.',
        },
    }
)
NEW: Versioned = unversioned(
    {
        'title': 'new software deployment',
        'type': 'object',
        'properties': {
            **_CHANGEABLE,
            'config_id': software_configs.UUID,
            'server_id': _SERVER,
            'stack_user_project_id': {
                'type': ['string', 'null'],
                'maxLength': 64,
                'description': 'Ignored: servers use URLs with a token.',
            },
        },
        'required': ['config_id', 'server_id'],
    }
)
CHANGE: Versioned = unversioned(
    {
        'title': 'change of a software deployment',
        'type': 'object',
        'properties': {
            **_CHANGEABLE,
            'config_id': {'type': ['string', 'null'], 'maxLength': 255},
            'output_values': _VALUES,
        },
    }
)
COLLECTION: Versioned = fragments.listed(
    'software_deployments', fragments.closed(_SHOWN), {'links': fragments.LINKS}
)
DEPLOYMENT: Versioned = fragments.under('software_deployment', fragments.closed(_SHOWN))
METADATA: Versioned = fragments.listed(
    'metadata', fragments.closed(software_configs.SHOWN)
)
RESULTS: Versioned = unversioned(
    {
        'title': 'results of a software deployment',
        'type': ['object', 'null'],
        'maxProperties': software_configs.MOST,
        'description': 'The values of the outputs, deploy_stdout, deploy_stderr and '
        'deploy_status_code.',
    }
)
SIGNAL_TOKEN: Versioned = unversioned(
    {
        'title': 'signalling',
        'type': 'object',
        'properties': {
            bearer_tokens.ARGUMENT: {
                'type': 'string',
                'description': 'The token that the deploy_signal_id of the deployment '
                'has.',
            }
        },
        'additionalProperties': False,
    }
)
