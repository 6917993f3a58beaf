"""How the orchestration API writes errors: what clients of Heat read."""

import http
from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.api.errors import Fault, Shape

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
#: Likewise where nothing but the status is known.
_BY_STATUS: Mapping[int, str] = {
    400: 'HTTPBadRequest',
    401: 'HTTPUnauthorized',
    403: 'HTTPForbidden',
    404: 'HTTPNotFound',
    405: 'HTTPMethodNotAllowed',
    406: 'HTTPNotAcceptable',
    413: 'HTTPRequestEntityTooLarge',
    415: 'HTTPUnsupportedMediaType',
    503: 'HTTPServiceUnavailable',
}
#: What the status means, whatever the message says.
_EXPLANATIONS: Mapping[int, str] = {
    400: 'The request is not valid.',
    401: 'The request does not prove who makes it.',
    403: 'The caller may not do this.',
    404: 'There is no such thing.',
    405: 'The address does not take this method.',
    409: 'This is not possible in the state that the stack is in.',
    413: 'The body is too large.',
    415: 'The body is not JSON.',
    503: 'The service cannot answer at the moment.',
}
_UNEXPECTED = 'The server met an error that it did not expect.'


def _body(fault: Fault) -> Any:
    return {
        'code': fault.status,
        'title': http.HTTPStatus(fault.status).phrase,
        'explanation': _EXPLANATIONS.get(fault.status, _UNEXPECTED),
        'error': {
            'type': _type(fault),
            'message': fault.text,
            # Of no use to a client, and of much to an attacker
            'traceback': None,
        },
    }


def _type(fault: Fault) -> str:
    for kind, name in _TYPES:
        if issubclass(fault.kind, kind):
            return name
    return _BY_STATUS.get(fault.status, 'HTTPInternalServerError')


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
