"""A proxy of the image service that offers the import method web-download.

The small cloud of the tests offers only glance-direct. The gate downloads the URL as
the service itself would, and passes the data on: all else is done by the service.
"""

import json

import requests

from tests import bounded
from tests.cloud import service_gate

METHODS = ['glance-direct', 'web-download']
VERSION = '/v2/'


class ImageGate(service_gate.ServiceGate):
    """Forwards requests to the image service.

    :param target: the URL of the service without a path
    """

    def __init__(self, target: str) -> None:
        super().__init__(target, 'images')

    def _forward(self, exchange, request):
        if request.path == VERSION:
            # The service has no such document, which the client reads if the endpoint
            # is not that of the catalog.
            link = {'rel': 'self', 'href': f'{self.url}{VERSION}'}
            version = {'id': 'v2.17', 'status': 'CURRENT', 'links': [link]}
            self._answer(exchange, {'version': version})
        elif request.path.endswith('/info/import'):
            methods = {'type': 'array', 'value': METHODS}
            self._answer(exchange, {'import-methods': methods})
        elif request.method == 'POST' and request.path.endswith('/import'):
            exchange.answer(self._download(request))
        else:
            super()._forward(exchange, request)

    def _answer(self, exchange, found):
        body = json.dumps(found).encode()
        exchange.answer(200, body, content_type='application/json')

    def _download(self, request):
        """Stage the data of a URL, and import it; return the status."""
        method = json.loads(request.body)['method']
        data = requests.get(method['uri'], timeout=bounded.TIMEOUT)
        data.raise_for_status()
        token = {'X-Auth-Token': request.headers['x-auth-token']}
        place = self.target + request.path.removesuffix('/import')
        requests.put(
            f'{place}/stage',
            data=data.content,
            headers={**token, 'Content-Type': 'application/octet-stream'},
            timeout=bounded.TIMEOUT,
        ).raise_for_status()
        direct = {'method': {'name': 'glance-direct'}}
        return requests.post(
            f'{place}/import', json=direct, headers=token, timeout=bounded.TIMEOUT
        ).status_code
