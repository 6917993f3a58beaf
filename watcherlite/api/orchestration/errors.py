"""How the orchestration API writes errors: what clients of Heat read."""

import http
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.api.errors import EXPLANATIONS, UNEXPECTED, Fault, Shape, type_of

#: The types that clients tell errors by. Of all that fits, the first one counts.
_TYPES: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.UnknownUserParameter, 'UnknownUserParameter'),
    (exceptions.UserParameterMissing, 'UserParameterMissing'),
    (exceptions.CircularDependency, 'CircularDependencyException'),
    (exceptions.StackValidationFailed, 'StackValidationFailed'),
    (exceptions.RequestLimitExceeded, 'RequestLimitExceeded'),
    (exceptions.ImmutableParameterModified, 'ImmutableParameterModified'),
    (exceptions.NotSupported, 'NotSupported'),
    (exceptions.ResourceActionNotSupported, 'ResourceActionNotSupported'),
    (exceptions.PhysicalResourceIDAmbiguity, 'PhysicalResourceIDAmbiguity'),
    # A template names a type that there is not
    (exceptions.PluginNotFound, 'StackValidationFailed'),
    (exceptions.ResourceNotFound, 'ResourceNotFound'),
    (exceptions.StackNotFound, 'EntityNotFound'),
    (exceptions.NotFound, 'NotFound'),
    (exceptions.StackExists, 'StackExists'),
    (exceptions.ActionInProgress, 'ActionInProgress'),
    (exceptions.Conflict, 'Conflict'),
    (exceptions.Forbidden, 'Forbidden'),
)
#: What the status means, whatever the message says.
_EXPLANATIONS: Mapping[int, str] = {
    **EXPLANATIONS,
    409: 'This is not possible in the state that the stack is in.',
}


def _body(fault: Fault) -> Any:
    return {
        'code': fault.status,
        'title': http.HTTPStatus(fault.status).phrase,
        'explanation': _EXPLANATIONS.get(fault.status, UNEXPECTED),
        'error': {
            'type': type_of(fault, _TYPES),
            'message': fault.text,
            # Of no use to a client, and of much to an attacker
            'traceback': None,
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
                    'type': {
                        'type': 'string',
                        'description': 'What kind of error it is: StackExists, '
                        'EntityNotFound, ActionInProgress and so on.',
                    },
                    'message': {
                        'type': 'string',
                        'description': 'What was wrong with this request.',
                    },
                    'traceback': {'type': 'null'},
                },
                'required': ['type', 'message', 'traceback'],
                'additionalProperties': False,
            },
        },
        'required': ['code', 'title', 'explanation', 'error'],
        'additionalProperties': False,
    },
)
