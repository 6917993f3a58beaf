"""Results of software deployments that servers store in swift, or send to zaqar.

Clients of Heat prepare an object or a queue for a deployment with one of these
transports. The results are read when the deployment is shown, with the token of the
request.
"""

import datetime
import email.utils
import json
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit
from uuid import uuid4

from watcherlite import exceptions
from watcherlite.domain.software import MAX_SIZE, TRANSPORT
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.errors import translated

if TYPE_CHECKING:
    from keystoneauth1.adapter import Adapter

LOG = logging.getLogger(__name__)

SWIFT, ZAQAR = 'TEMP_URL_SIGNAL', 'ZAQAR_SIGNAL'
_OBJECT_STORE, _MESSAGING = 'object-store', 'messaging'
_TARGET = 'the results of the deployment'


class SignalSources:
    """The results of deployments in the services of the cloud."""

    def __init__(self, clouds: Clouds) -> None:
        self._clouds = clouds

    def read(
        self,
        token: str | None,
        inputs: Sequence[Mapping[str, Any]],
        since: datetime.datetime | None,
    ) -> Mapping[str, Any] | None:
        """Return the results of a deployment; None: there are none yet.

        :param token: of the caller, whose authority is used
        :param inputs: of its config, with their values
        :param since: older results are those of an earlier deployment
        :raises ServiceUnavailable, WatcherliteError: see the text
        """
        values = {item['name']: item.get('value') for item in inputs}
        transport = values.get(TRANSPORT)
        if not token or not self._clouds.is_configured:
            return None
        if transport == SWIFT:
            return self._read_object(token, values.get('deploy_signal_id'), since)
        if transport == ZAQAR:
            return self._read_queue(token, values.get('deploy_queue_id'))
        return None

    def _read_object(
        self, token: str, url: Any, since: datetime.datetime | None
    ) -> Mapping[str, Any] | None:
        """Return the results in the object of a temporary URL.

        Only its container and name are used: the address is that of the catalog.
        """
        parts = urlsplit(str(url or '')).path.strip('/').split('/')
        if len(parts) < 2:
            return None
        path = '/'.join(quote(unquote(part), safe='') for part in parts[-2:])
        try:
            with translated('object store', _TARGET):
                swift = self._client(token, _OBJECT_STORE)
                response = swift.get(f'/{path}', stream=True)
        except exceptions.NotFound:
            return None
        with response:
            written = response.headers.get('Last-Modified')
            # It has no fraction of a second.
            if since and written and _time(written) < since.replace(microsecond=0):
                return None
            return _parse(_read(response))

    def _read_queue(self, token: str, queue: Any) -> Mapping[str, Any] | None:
        """Return the results in the first message of a queue, which stays there."""
        if not queue:
            return None
        path = f'/v2/queues/{quote(str(queue), safe="")}/messages'
        try:
            with translated('messaging', _TARGET):
                zaqar = self._client(token, _MESSAGING)
                response = zaqar.get(
                    path,
                    params={'limit': 1, 'echo': 'true'},
                    headers={'Client-ID': str(uuid4())},
                    stream=True,
                )
        except exceptions.NotFound:
            return None
        with response:
            answer = _parse(_read(response)) or {}
        for message in answer.get('messages') or ():
            body = message.get('body')
            return body if isinstance(body, dict) else None
        return None

    def _client(self, token: str, service_type: str) -> 'Adapter':
        return self._clouds.identities().service_client(token, service_type)


def _read(response: Any) -> bytes:
    """Return the body of a response; raise Invalid if it is too long."""
    found = b''
    for chunk in response.iter_content(65536):
        found += chunk
        if len(found) > 4 * MAX_SIZE:
            raise exceptions.Invalid(f'{_TARGET} are longer than {MAX_SIZE} characters')
    return found


def _parse(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a body; None for an empty or another body."""
    if not body.strip():
        return None
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        LOG.warning('%s are not JSON; they are ignored', _TARGET.capitalize())
        return None
    return found if isinstance(found, dict) else None


def _time(text: str) -> datetime.datetime:
    """Return a time of HTTP; the latest one for an invalid text."""
    try:
        return email.utils.parsedate_to_datetime(text)
    except ValueError:
        return datetime.datetime.max.replace(tzinfo=datetime.UTC)
