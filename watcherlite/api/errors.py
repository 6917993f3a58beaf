"""Refusals and failures: the one table from exceptions to statuses, and the body.

Clients of Watcher read `error_message` as JSON and parse it a second time, which
is why the fault in it is a text.
"""

import dataclasses
import json
from collections.abc import Mapping

import falcon

from watcherlite import exceptions
from watcherlite.conf import masking

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
    (exceptions.TooManyRequests, 429),
    (exceptions.StoreUnavailable, 503),  # nothing has changed, or nobody knows
    (exceptions.StoreConflict, 503),  # another transaction won; trying again helps
    (exceptions.SchemaMismatch, 503),  # an upgrade is on its way
)
_RETRY = frozenset({429, 503})

#: What is told of these is in the log, and none of a client's business.
_TEXTS = {
    500: 'The server met an error that it did not expect. The log of the API has '
    'more under the request id {request_id}.',
    503: 'The database cannot be used at the moment. Try again.',
}
#: What the router says of requests that reach no operation.
_PLAIN = {
    404: 'There is nothing at this address.',
    405: 'This address does not take the method; it takes {allow}.',
}


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """What is answered instead of what was asked for."""

    status: int
    text: str
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def body(self) -> bytes:
        """Return the JSON that upstream answers."""
        return body(self.status, self.text)


def body(status: int, text: str) -> bytes:
    """Return the body of an answer with an error status."""
    fault = {
        'faultcode': CLIENT if status < 500 else SERVER,
        'faultstring': masking.mask_text(text),
        'debuginfo': None,
    }
    return json.dumps({'error_message': json.dumps(fault)}).encode()


def status_line(status: int) -> str:
    """Return a status as WSGI wants it: '404 Not Found'."""
    return falcon.code_to_http_status(status)


def fault_of(error: Exception, request_id: str) -> Fault:
    """Return what an exception is answered with.

    The text of an exception that is not ours is not shown: it may hold secrets.
    """
    if isinstance(error, falcon.HTTPError):
        status = falcon.http_status_to_code(error.status)
        headers = dict(error.headers or ())
        plain = _PLAIN.get(status, '').format(allow=headers.get('Allow'))
        text = error.description or plain or status_line(status)
        return Fault(status, text, headers)
    status = next((s for kind, s in STATUSES if isinstance(error, kind)), 500)
    headers = {'Retry-After': str(RETRY_AFTER)} if status in _RETRY else {}
    if status in _TEXTS:
        return Fault(status, _TEXTS[status].format(request_id=request_id), headers)
    return Fault(status, str(error), headers)
