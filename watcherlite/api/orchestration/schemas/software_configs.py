"""JSON schemas of software configs."""

from collections.abc import Mapping

from watcherlite.api.operation import Schema, Versioned, unversioned
from watcherlite.api.orchestration.schemas import fragments
from watcherlite.domain import software

NAME: Schema = {'type': ['string', 'null'], 'maxLength': 255}
UUID: Schema = {'type': 'string', 'maxLength': 255}
#: The maximum number of inputs, outputs and values.
MOST = 1000
_KIND: Schema = {'type': ['string', 'null'], 'enum': [*software.TYPES, None]}
_IO: Mapping[str, Schema] = {
    'name': {'type': 'string', 'minLength': 1, 'maxLength': 255},
    'description': fragments.TEXT_OR_NULL,
    'type': {**_KIND, 'description': 'By default String.'},
}
_FLAG: Schema = {'type': ['boolean', 'null']}


def _several(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of a list of inputs or outputs."""
    return {
        'type': ['array', 'null'],
        'maxItems': MOST,
        'items': {
            'type': 'object',
            'properties': {**_IO, **properties},
            'required': ['name'],
            'additionalProperties': False,
        },
    }


INPUTS: Schema = _several(
    {
        'default': fragments.ANYTHING,
        'replace_on_change': _FLAG,
        'value': {'description': 'The value of a config derived for a deployment.'},
    }
)
OUTPUTS: Schema = _several(
    {
        'error_output': {
            **_FLAG,
            'description': 'A value of this output fails the deployment.',
        }
    }
)
_CONFIG: Schema = {
    'type': ['string', 'object', 'null'],
    'description': 'The script or configuration, or a mapping.',
}
_GROUP: Schema = {
    **NAME,
    'description': 'The kind of the tool that applies it; by default '
    f'{software.UNGROUPED}.',
}
_LISTED: Mapping[str, Schema] = {
    'id': fragments.TEXT,
    'name': fragments.TEXT,
    'group': fragments.TEXT,
    'creation_time': fragments.TIME,
}
_PROJECT: Mapping[str, Schema] = {
    'project': {'type': 'string', 'description': 'For administrators only.'}
}
SHOWN: Mapping[str, Schema] = {
    **_LISTED,
    'config': {'type': ['string', 'object']},
    'inputs': {'type': 'array', 'items': fragments.OBJECT},
    'outputs': {'type': 'array', 'items': fragments.OBJECT},
    'options': fragments.OBJECT,
}

INDEX: Versioned = fragments.arguments(
    {
        'limit': {'type': 'integer', 'minimum': 0},
        'marker': {
            'type': 'string',
            'description': 'The id of the config before the page.',
        },
        'global_tenant': {
            'type': 'boolean',
            'description': 'List the configs of all projects.',
        },
    }
)
NEW: Versioned = unversioned(
    {
        'title': 'new software config',
        'type': 'object',
        'properties': {
            'name': NAME,
            'group': _GROUP,
            'config': _CONFIG,
            'inputs': INPUTS,
            'outputs': OUTPUTS,
            'options': {'type': ['object', 'null']},
        },
    }
)
COLLECTION: Versioned = fragments.listed(
    'software_configs', fragments.closed(_LISTED, _PROJECT), {'links': fragments.LINKS}
)
CONFIG: Versioned = fragments.under('software_config', fragments.closed(SHOWN))
