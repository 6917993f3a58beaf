"""A view of nova without the servers of others, for tests that need an empty host."""

import json
import urllib.parse

import requests

from tests import bounded
from tests.functional.plugins.http_server import Server

#: Headers that belong to one connection, or to the encoding of a body.
_OWN_HEADERS = frozenset(
    {'connection', 'content-encoding', 'content-length', 'date', 'server'}
    | {'transfer-encoding'}
)


class OwnServers(Server):
    """Forwards requests to nova, and hides servers in its responses.

    :param target: the URL of nova without a path
    :param own: the uuids of the servers that are shown
    """

    def __init__(self, target, *own):
        super().__init__(self._forward)
        self._target = target
        self._own = frozenset(own)

    def _forward(self, exchange, request):
        response = requests.request(
            request.method,
            self._target + request.path,
            headers=request.headers,
            data=request.body,
            timeout=bounded.TIMEOUT,
        )
        body = response.content
        path = urllib.parse.urlsplit(request.path).path
        if path.endswith('/servers/detail') and response.ok:
            document = response.json()
            document['servers'] = self._shown(document['servers'], 'id')
            body = json.dumps(document).encode()
        elif '/os-hypervisors/' in path and 'hypervisor' in response.text:
            document = response.json()
            hypervisor = document.get('hypervisor', {})
            if hypervisor.get('servers'):
                hypervisor['servers'] = self._shown(hypervisor['servers'], 'uuid')
            body = json.dumps(document).encode()
        headers = {
            name.replace('-', '_'): value
            for name, value in response.headers.items()
            if name.lower() not in _OWN_HEADERS
        }
        exchange.answer(response.status_code, body, **headers)

    def _shown(self, servers, key):
        return [server for server in servers if server[key] in self._own]
