"""How the clustering API writes errors: what clients of Senlin read."""

import http
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.api.errors import EXPLANATIONS, UNEXPECTED, Fault, Shape, type_of

#: The types that clients tell errors by. Of all that fits, the first one counts.
_TYPES: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.Ambiguous, 'MultipleChoices'),
    (exceptions.RequestLimitExceeded, 'RequestLimitExceeded'),
    (exceptions.VersionTooEarly, 'MethodVersionNotFound'),
    (exceptions.InvalidSpec, 'InvalidSpec'),
    (exceptions.BadRequest, 'BadRequest'),
    (exceptions.PluginNotFound, 'ResourceNotFound'),
    (exceptions.PolicyBindingNotFound, 'PolicyBindingNotFound'),
    (exceptions.NotFound, 'ResourceNotFound'),
    (exceptions.ResourceIsLocked, 'ResourceIsLocked'),
    (exceptions.ActionConflict, 'ActionConflict'),
    (exceptions.ActionCooldown, 'ActionCooldown'),
    (exceptions.ActionImmutable, 'ActionImmutable'),
    (exceptions.ActionInProgress, 'ActionInProgress'),
    (exceptions.FeatureNotSupported, 'FeatureNotSupported'),
    (exceptions.NodeNotOrphan, 'NodeNotOrphan'),
    (exceptions.ResourceInUse, 'ResourceInUse'),
    (exceptions.Conflict, 'ActionConflict'),
    (exceptions.OverQuota, 'OverQuota'),
    (exceptions.Forbidden, 'Forbidden'),
    (exceptions.NoSuchVersion, 'InvalidGlobalAPIVersion'),
)
#: What the status means, whatever the message says.
_EXPLANATIONS: Mapping[int, str] = {
    **EXPLANATIONS,
    406: 'There is no such version, or no such form of the answer.',
    409: 'This is not possible at the moment.',
}


def _body(fault: Fault) -> Any:
    return {
        'code': fault.status,
        'title': http.HTTPStatus(fault.status).phrase,
        'explanation': _EXPLANATIONS.get(fault.status, UNEXPECTED),
        'error': {
            'code': fault.status,
            'message': fault.text,
            'type': type_of(fault, _TYPES),
        },
    }


SHAPE = Shape(
    _body,
    {
        'type': 'object',
        'properties': {
            'code': {'type': 'integer', 'description': 'The status.'},
            'title': {'type': 'string', 'description': 'The name of the status.'},
            'explanation': {
                'type': 'string',
                'description': 'What the status means.',
            },
            'error': {
                'type': 'object',
                'properties': {
                    'code': {'type': 'integer', 'description': 'The status.'},
                    'message': {
                        'type': 'string',
                        'description': 'What was wrong with this request.',
                    },
                    'type': {
                        'type': 'string',
                        'description': 'What kind of error it is: ResourceNotFound, '
                        'ResourceIsLocked, ActionConflict and so on.',
                    },
                },
                'required': ['code', 'message', 'type'],
                'additionalProperties': False,
            },
        },
        'required': ['code', 'title', 'explanation', 'error'],
        'additionalProperties': False,
    },
)
