"""Idempotency keys: a request takes effect once, however often it is sent.

Each request that changes something is also recorded here: see `db.requests`.

The key of a POST with the header Idempotency-Key is looked up first; `db.request_keys`
describes how it is stored. A repeated request gets the current state of the objects
that the first one created. The first response is not stored, as it may hold a
credential. This also serves clients whose response was lost after the commit.

503 means that nothing has changed, 504 that this is unknown.
"""

import datetime
import functools
import hashlib
import hmac
import json
import logging
import re
import threading
import time
from collections.abc import Callable

from watcherlite import exceptions
from watcherlite.api import request_records
from watcherlite.api.operation import Operation, Request, Response
from watcherlite.clock import Clock
from watcherlite.db.api import Store
from watcherlite.db.request_keys import RequestKey, RequestRecord

LOG = logging.getLogger(__name__)

HEADER = 'Idempotency-Key'
#: The header of responses to repeated requests.
REPLAYED = 'Idempotency-Replayed'
#: Safe methods.
SAFE = frozenset({'GET', 'HEAD', 'OPTIONS'})
#: Seconds between two purges of keys and recorded requests by one process.
PURGE_INTERVAL = 600.0

_KEY = re.compile('[\x21-\x7e]{1,255}')
#: Errors after which a request may have taken effect.
_UNFINISHED = (
    exceptions.StoreUnavailable,
    exceptions.StoreConflict,
    exceptions.SchemaMismatch,
)
_UNKNOWN = (
    'The database became unavailable during the request, which may have taken effect. '
)
_REPEAT = 'Repeat it with the same Idempotency-Key: it takes effect once.'
_LOOK = 'Check the result before you repeat it.'


class Idempotency:
    """Executes and records requests, once for each key.

    :param lifetime: seconds after which a key expires
    :param retention: days for which requests are recorded; 0: they are kept
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        lifetime: float,
        retention: float = 0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._clock = clock
        self._lifetime = datetime.timedelta(seconds=lifetime)
        self._retention = datetime.timedelta(days=retention)
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._purge_at = monotonic() + PURGE_INTERVAL

    def call(
        self,
        operation: Operation,
        request: Request,
        method: str,
        mount: str,
        text: str | None,
    ) -> Response:
        """Return the response to a request.

        :param mount: the prefix of the mount
        :param text: the header Idempotency-Key, or None
        :raises RequestKeyReused: the key was used with another request
        :raises OutcomeUnknown: the request may have taken effect
        """
        if method in SAFE:
            return operation.call(request)
        key = None
        if method == 'POST' and text is not None:
            key = self._key(operation, request, mount, text)
            answer = self._replay(operation, request, key)
            if answer is not None:
                return answer
        describe = functools.partial(
            request_records.record, operation, request, method, mount, self._clock.now()
        )
        names = tuple(request.path.values())
        record = RequestRecord(key, request.initiator, describe, names)
        try:
            with record.active():
                return operation.call(request)
        except exceptions.WatcherliteError as error:
            # A concurrent request with the same key may be the reason, also of a
            # conflict: it has created the object of that name.
            answer = (
                None if key is None else self._find_response(operation, request, key)
            )
            if answer is not None:
                return answer
            if isinstance(error, _UNFINISHED):
                _check_outcome(record, request, key, error)
            raise
        finally:
            self._purge()

    def _key(
        self, operation: Operation, request: Request, mount: str, text: str
    ) -> RequestKey:
        # The draft of the IETF has it in quotation marks; most leave them out.
        text = text.strip()
        if len(text) > 1 and text[0] == text[-1] == '"':
            text = text[1:-1]
        if not _KEY.fullmatch(text):
            raise exceptions.Invalid(
                f'{HEADER} has to be 1 to 255 visible ASCII characters, for example a '
                'UUID'
            )
        who = [request.caller.project_id, request.caller.user_id]
        asked = [mount, request.route_path, request.query_string]
        if operation.rule is None:
            # The caller is unknown; the credential is in the address.
            who += asked
        digest = hashlib.sha256(_encoded([*who, text])).hexdigest()
        # The body may hold a password that can be guessed; the key cannot be.
        fingerprint = hmac.digest(
            text.encode(), _encoded([*asked, request.body]), hashlib.sha256
        ).hex()
        return RequestKey(digest, fingerprint, self._clock.now())

    def _find_response(
        self, operation: Operation, request: Request, key: RequestKey
    ) -> Response | None:
        """Return the response to a repeated request; None also without the store."""
        try:
            return self._replay(operation, request, key)
        except _UNFINISHED as error:
            LOG.debug('The idempotency key cannot be looked up: %s', error)
            return None

    def _replay(
        self, operation: Operation, request: Request, key: RequestKey
    ) -> Response | None:
        """Return the response to a repeated request; None for a new one."""
        found = self._store.find_request_key(key.digest)
        if found is None:
            return None
        if found.created_at < key.created_at - self._lifetime:
            self._store.purge_request_keys(key.created_at - self._lifetime)
            return None
        if not hmac.compare_digest(found.fingerprint, key.fingerprint):
            raise exceptions.RequestKeyReused(
                f'This {HEADER} was used with a different request: each request needs '
                'a key of its own'
            )
        made = ', '.join(f'{kind} {uuid}' for kind, uuid in found.created.items())
        done = exceptions.RequestDone(
            f'The request took effect before. It created: {made}'
        )
        if operation.restore is None:
            raise done
        try:
            answer = operation.restore(request, found.created)
        except (exceptions.NotFound, KeyError):
            raise done from None
        return answer.with_header(REPLAYED, 'true')

    def _purge(self) -> None:
        """Purge expired keys and recorded requests, once in PURGE_INTERVAL."""
        with self._lock:
            if self._monotonic() < self._purge_at:
                return
            self._purge_at = self._monotonic() + PURGE_INTERVAL
        now = self._clock.now()
        try:
            self._store.purge_request_keys(now - self._lifetime)
            if self._retention:
                self._store.purge_requests(now - self._retention)
        except exceptions.WatcherliteError as error:
            LOG.warning(
                'Expired idempotency keys and recorded requests were not purged: %s',
                error,
            )


def _check_outcome(
    record: RequestRecord,
    request: Request,
    key: RequestKey | None,
    error: exceptions.WatcherliteError,
) -> None:
    """Raise OutcomeUnknown if a failed request may have taken effect."""
    if record.committed or record.is_unknown:
        LOG.error('Request %s may have taken effect: %s', request.request_id, error)
        advice = _LOOK if key is None else _REPEAT
        raise exceptions.OutcomeUnknown(_UNKNOWN + advice) from error


def _encoded(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(',', ':')).encode()
