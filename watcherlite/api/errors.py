"""Refusals and failures: the one table from exceptions to statuses, and the answers.

Each mount writes errors in a shape of its own. What is refused before anything is
known of a request has the one of clients of Watcher.
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import falcon

from watcherlite import exceptions
from watcherlite.api.event_streams import TooManyStreams
from watcherlite.api.operation import Schema
from watcherlite.conf import masking

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Any], Iterable[bytes]]

#: Where the `Shape` of the answers to a request is left.
SHAPE = 'watcherlite.error_shape'

CLIENT = 'Client'
SERVER = 'Server'
#: Seconds after which a request that could not be answered is worth another try.
RETRY_AFTER = 2

#: Of all that fits, the first one counts.
STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (exceptions.Invalid, 400),
    (exceptions.PluginNotFound, 400),  # what was asked for names a plugin
    (exceptions.Unauthorized, 401),
    (exceptions.Forbidden, 403),
    (exceptions.NotFound, 404),
    (exceptions.NotAcceptable, 406),
    (exceptions.Conflict, 409),
    (TooManyStreams, 503),
    (exceptions.StoreUnavailable, 503),  # nothing has changed, or nobody knows
    (exceptions.StoreConflict, 503),  # another transaction won; trying again helps
    (exceptions.SchemaMismatch, 503),  # an upgrade is on its way
)

#: What is told of these is in the log, and none of a client's business.
_TEXTS = {
    500: 'The server met an error that it did not expect. The log of the API has '
    'more{request}.',
    503: 'The database cannot be used at the moment. Try again.',
}
#: What the router says of requests that reach no operation.
_PLAIN = {
    404: 'There is nothing at this address.',
    405: 'This address does not take the method; it takes {allow}.',
}


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """What is answered instead of what was asked for.

    :param kind: the class of the exception; Exception where there was none
    :param is_hidden: the text tells a client less than an operator has to know
    """

    status: int
    text: str
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    kind: type[Exception] = Exception
    is_hidden: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """How a mount writes errors.

    :param body: returns the JSON value of a fault, whose text has no credentials
    :param schema: of that value
    """

    body: Callable[[Fault], Any]
    schema: Schema

    def data(self, fault: Fault) -> bytes:
        """Return the body of an answer."""
        masked = dataclasses.replace(fault, text=masking.mask_text(fault.text))
        return json.dumps(self.body(masked)).encode()


def _error_message(fault: Fault) -> Any:
    """Return what clients of Watcher read: JSON, and parsed a second time.

    That is why the fault in it is a text.
    """
    inner = {
        'faultcode': CLIENT if fault.status < 500 else SERVER,
        'faultstring': fault.text,
        'debuginfo': None,
    }
    return {'error_message': json.dumps(inner)}


ERROR_MESSAGE = Shape(
    _error_message,
    {
        'type': 'object',
        'properties': {
            'error_message': {
                'type': 'string',
                'description': 'JSON once more: an object with faultcode (Client or '
                'Server), faultstring (what was wrong) and debuginfo (null).',
                'contentMediaType': falcon.MEDIA_JSON,
            }
        },
        'required': ['error_message'],
        'additionalProperties': False,
    },
)


def answer(
    environ: Environ,
    start_response: Any,
    fault: Fault,
    *headers: tuple[str, str],
) -> Iterable[bytes]:
    """Answer a request with a fault, from any layer.

    :param headers: besides those of the fault
    """
    shape: Shape = environ.get(SHAPE, ERROR_MESSAGE)
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
    """Return a status as WSGI wants it: '404 Not Found'."""
    return falcon.code_to_http_status(status)


def fault_of(error: Exception, request_id: str) -> Fault:
    """Return what an exception is answered with.

    The text of an exception that is not ours is not shown: it may hold secrets.

    :param request_id: '' if the request has none
    """
    kind = type(error)
    if isinstance(error, falcon.HTTPError):
        status = falcon.http_status_to_code(error.status)
        headers = dict(error.headers or ())
        plain = _PLAIN.get(status, '').format(allow=headers.get('Allow'))
        text = error.description or plain or status_line(status)
        return Fault(status, text, headers, kind)
    status = next((s for cls, s in STATUSES if isinstance(error, cls)), 500)
    headers = {}
    if status == 503:
        headers['Retry-After'] = str(getattr(error, 'retry_after', RETRY_AFTER))
    if status in _TEXTS and not isinstance(error, TooManyStreams):
        request = f' under the request id {request_id}' if request_id else ''
        return Fault(
            status, _TEXTS[status].format(request=request), headers, kind, True
        )
    return Fault(status, str(error), headers, kind)


#: What clients that tell errors by their types read where nothing but the status is
#: known: those of Heat and Senlin.
TYPE_BY_STATUS: Mapping[int, str] = {
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
#: What the status means to them, whatever the message says.
EXPLANATIONS: Mapping[int, str] = {
    400: 'The request is not valid.',
    401: 'The request does not prove who makes it.',
    403: 'The caller may not do this.',
    404: 'There is no such thing.',
    405: 'The address does not take this method.',
    413: 'The body is too large.',
    415: 'The body is not JSON.',
    503: 'The service cannot answer at the moment.',
}
UNEXPECTED = 'The server met an error that it did not expect.'


def type_of(fault: Fault, types: Sequence[tuple[type[Exception], str]]) -> str:
    """Return the type of an error as such clients read it.

    :param types: of all that fits, the first one counts
    """
    for kind, name in types:
        if issubclass(fault.kind, kind):
            return name
    return TYPE_BY_STATUS.get(fault.status, 'HTTPInternalServerError')
