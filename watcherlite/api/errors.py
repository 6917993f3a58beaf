"""Errors: the table of exceptions and statuses, and the formats of responses.

Each mount has an error format. Requests outside all mounts get that of Watcher.
"""

import abc
import dataclasses
import http
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import falcon

from watcherlite import exceptions
from watcherlite.api.basic_auth import TooManyPasswords
from watcherlite.api.event_streams import TooManyStreams
from watcherlite.api.fragments import closed
from watcherlite.api.operation import Schema
from watcherlite.conf import masking

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Any], Iterable[bytes]]

#: The key of the `ErrorFormat` of a request in its WSGI environment.
FORMAT_KEY = 'watcherlite.error_shape'

CLIENT = 'Client'
SERVER = 'Server'
#: Seconds after which a client may retry.
RETRY_AFTER = 2
#: Maximum length of the text of an error, in characters.
MAX_TEXT = 65536

#: The first matching class applies.
STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (exceptions.Invalid, 400),
    (exceptions.PluginNotFound, 400),  # the request names a plugin
    (exceptions.Unauthorized, 401),
    (exceptions.Forbidden, 403),
    (exceptions.NotFound, 404),
    (exceptions.NotAcceptable, 406),
    (exceptions.Conflict, 409),
    (TooManyStreams, 503),
    (exceptions.RequestKeyReused, 422),
    (exceptions.RequestKeyTaken, 503),  # rolled back; the holder can be queried
    (exceptions.OutcomeUnknown, 504),
    (exceptions.StoreUnavailable, 503),  # nothing has changed
    (exceptions.StoreConflict, 503),  # another transaction won; a retry helps
    (exceptions.SchemaMismatch, 503),  # an upgrade is in progress
    (TooManyPasswords, 503),
    (exceptions.ServiceUnavailable, 503),  # of the cloud
    (MemoryError, 503),  # resources may be free at the next attempt
)

#: Exceptions with these statuses whose messages are shown.
_OWN_TEXTS = (TooManyStreams, TooManyPasswords, exceptions.ServiceUnavailable)
#: Messages that replace those of exceptions, which are only logged.
_TEXTS = {
    500: 'Internal server error. See the log of the API{request}.',
    503: 'The database is not available. Try again later.',
}
_NO_MEMORY = 'The API does not have enough memory for this request. Try again later.'
#: Messages for requests without an operation.
_PLAIN = {
    404: 'There is nothing at this address.',
    405: 'Method not allowed; allowed methods: {allow}.',
}


@dataclasses.dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An error response.

    :param kind: the class of the exception; Exception if there was none
    :param is_hidden: whether the log has a more specific message
    """

    status: int
    text: str
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    kind: type[Exception] = Exception
    is_hidden: bool = False


class ErrorFormat(abc.ABC):
    """The format in which a mount writes errors.

    :ivar schema: the schema of the body
    """

    schema: Schema

    @abc.abstractmethod
    def body(self, fault: ErrorResponse) -> Any:
        """Return the body of a fault, without credentials."""

    def data(self, fault: ErrorResponse) -> bytes:
        """Return the body of a response."""
        masked = dataclasses.replace(fault, text=masking.mask_text(fault.text))
        return json.dumps(self.body(masked)).encode()


_ERROR_MESSAGE: Schema = {
    'type': 'object',
    'properties': {
        'error_message': {
            'type': 'string',
            'description': 'A JSON document as text: an object with faultcode '
            '(Client or Server), faultstring (what was wrong) and debuginfo (null).',
            'contentMediaType': falcon.MEDIA_JSON,
        }
    },
    'required': ['error_message'],
    'additionalProperties': False,
}


class ErrorMessage(ErrorFormat):
    """The format of Watcher, whose clients parse the JSON text in the JSON body."""

    schema = _ERROR_MESSAGE

    def body(self, fault: ErrorResponse) -> Any:
        inner = {
            'faultcode': CLIENT if fault.status < 500 else SERVER,
            'faultstring': fault.text,
            'debuginfo': None,
        }
        return {'error_message': json.dumps(inner)}


#: The path to a property of a resource before the text of its problem.
_PROPERTY = re.compile(r'(resources\.[^\s:;]+\.properties(?:[.\[][^\s:;]*)?): ')


def label_property_errors(text: str) -> str:
    """Return problems of templates in the form that clients of Heat know."""
    return _PROPERTY.sub(r'Property error: : \1: : ', text)


class TypedError(ErrorFormat):
    """The format of Heat and Senlin, whose clients distinguish errors by type.

    :param types: exception -> type; the first matching class applies
    :param explanations: status -> text, in addition to EXPLANATIONS
    :param examples: examples of types, for the description
    :param has_code: whether the error has the status (Senlin), or a traceback (Heat),
        which is null because it could help attackers
    """

    def __init__(
        self,
        types: Sequence[tuple[type[Exception], str]],
        explanations: Mapping[int, str],
        examples: str,
        has_code: bool,
        rephrase: Callable[[str], str] = str,
    ) -> None:
        self._types = types
        self._rephrase = rephrase
        self._explanations = {**EXPLANATIONS, **explanations}
        self._has_code = has_code
        code: Schema = {'type': 'integer', 'description': 'The status.'}
        error: dict[str, Schema] = {
            'type': {'type': 'string', 'description': f'The type: {examples}, ...'},
            'message': {'type': 'string', 'description': 'The error in this request.'},
            **({'code': code} if has_code else {'traceback': {'type': 'null'}}),
        }
        self.schema = closed(
            {
                'code': code,
                'title': {'type': 'string', 'description': 'The name of the status.'},
                'explanation': {
                    'type': 'string',
                    'description': 'The meaning of the status.',
                },
                'error': closed(error),
            }
        )

    def body(self, fault: ErrorResponse) -> Any:
        extra = {'code': fault.status} if self._has_code else {'traceback': None}
        return {
            'code': fault.status,
            'title': http.HTTPStatus(fault.status).phrase,
            'explanation': self._explanations.get(fault.status, UNEXPECTED),
            'error': {
                'type': self._type(fault),
                'message': self._rephrase(fault.text),
                **extra,
            },
        }

    def _type(self, fault: ErrorResponse) -> str:
        for kind, name in self._types:
            if issubclass(fault.kind, kind):
                return name
        return TYPE_BY_STATUS.get(fault.status, 'HTTPInternalServerError')


ERROR_MESSAGE = ErrorMessage()


def respond(
    environ: Environ,
    start_response: Any,
    fault: ErrorResponse,
    *headers: tuple[str, str],
) -> Iterable[bytes]:
    """Send a fault as the response, from any WSGI layer.

    :param headers: headers in addition to those of the fault
    """
    shape: ErrorFormat = environ.get(FORMAT_KEY, ERROR_MESSAGE)
    data = shape.data(fault)
    start_response(
        status_line(fault.status),
        [
            ('Content-Type', falcon.MEDIA_JSON),
            ('Content-Length', str(len(data))),
            *fault.headers.items(),
            *headers,
        ],
    )
    return [] if environ.get('REQUEST_METHOD') == 'HEAD' else [data]


def status_line(status: int) -> str:
    """Return a status line of WSGI: '404 Not Found'."""
    return falcon.code_to_http_status(status)


def fault_of(error: Exception, request_id: str) -> ErrorResponse:
    """Return the fault of an exception.

    Messages of foreign exceptions are not shown: they may contain secrets.

    :param request_id: the id of the request, or ''
    """
    kind = type(error)
    fault = _fault_of(error, kind, request_id)
    if len(fault.text) > MAX_TEXT:
        fault = dataclasses.replace(fault, text=f'{fault.text[:MAX_TEXT]}...')
    return fault


def _fault_of(
    error: Exception, kind: type[Exception], request_id: str
) -> ErrorResponse:
    if isinstance(error, falcon.HTTPError):
        status = falcon.http_status_to_code(error.status)
        headers = dict(error.headers or ())
        plain = _PLAIN.get(status, '').format(allow=headers.get('Allow'))
        text = error.description or plain or status_line(status)
        return ErrorResponse(status, text, headers, kind)
    status = next((s for cls, s in STATUSES if isinstance(error, cls)), 500)
    headers = {}
    if status == 503:
        headers['Retry-After'] = str(getattr(error, 'retry_after', RETRY_AFTER))
    if status in _TEXTS and not isinstance(error, _OWN_TEXTS):
        request = f' under the request id {request_id}' if request_id else ''
        text = _NO_MEMORY if isinstance(error, MemoryError) else _TEXTS[status]
        return ErrorResponse(status, text.format(request=request), headers, kind, True)
    return ErrorResponse(status, str(error), headers, kind)


#: Status -> the default type of errors of Heat and Senlin.
TYPE_BY_STATUS: Mapping[int, str] = {
    400: 'HTTPBadRequest',
    401: 'HTTPUnauthorized',
    403: 'HTTPForbidden',
    404: 'HTTPNotFound',
    405: 'HTTPMethodNotAllowed',
    406: 'HTTPNotAcceptable',
    413: 'HTTPRequestEntityTooLarge',
    415: 'HTTPUnsupportedMediaType',
    422: 'HTTPUnprocessableEntity',
    503: 'HTTPServiceUnavailable',
    504: 'HTTPGatewayTimeout',
}
#: The meaning of each status in the formats of Heat and Senlin.
EXPLANATIONS: Mapping[int, str] = {
    400: 'The request is not valid.',
    401: 'Authentication is required.',
    403: 'The caller is not allowed to do this.',
    404: 'Not found.',
    405: 'Method not allowed.',
    413: 'The body is too large.',
    415: 'The body is not JSON.',
    422: 'The idempotency key belongs to another request.',
    503: 'The service is temporarily unavailable.',
    504: 'The request may have taken effect.',
}
UNEXPECTED = 'Internal server error.'


#: Exception -> the type of the error; the first matching class applies.
SENLIN_TYPES: tuple[tuple[type[Exception], str], ...] = (
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
SENLIN_ERRORS = TypedError(
    SENLIN_TYPES,
    {
        406: 'The version or the media type is not supported.',
        409: 'The request conflicts with the current state.',
    },
    'ResourceNotFound, ResourceIsLocked, ActionConflict',
    has_code=True,
)


#: Exception -> the type of the error; the first matching class applies.
HEAT_TYPES: tuple[tuple[type[Exception], str], ...] = (
    (exceptions.UnknownUserParameter, 'UnknownUserParameter'),
    (exceptions.UserParameterMissing, 'UserParameterMissing'),
    (exceptions.CircularDependency, 'CircularDependencyException'),
    (exceptions.StackValidationFailed, 'StackValidationFailed'),
    (exceptions.RequestLimitExceeded, 'RequestLimitExceeded'),
    (exceptions.ImmutableParameterModified, 'ImmutableParameterModified'),
    (exceptions.NotSupported, 'NotSupported'),
    (exceptions.ResourceActionNotSupported, 'ResourceActionNotSupported'),
    (exceptions.InvalidBreakPointHook, 'InvalidBreakPointHook'),
    (exceptions.PhysicalResourceIDAmbiguity, 'PhysicalResourceIDAmbiguity'),
    # A template names an unknown type.
    (exceptions.PluginNotFound, 'StackValidationFailed'),
    (exceptions.ResourceNotFound, 'ResourceNotFound'),
    (exceptions.StackNotFound, 'EntityNotFound'),
    (exceptions.NotFound, 'NotFound'),
    (exceptions.StackExists, 'StackExists'),
    (exceptions.ActionInProgress, 'ActionInProgress'),
    (exceptions.Conflict, 'Conflict'),
    (exceptions.Forbidden, 'Forbidden'),
)
HEAT_ERRORS = TypedError(
    HEAT_TYPES,
    {409: 'The request conflicts with the state of the stack.'},
    'StackExists, EntityNotFound, ActionInProgress',
    has_code=False,
    rephrase=label_property_errors,
)
