"""A cloud of a local HTTP server, for tests through openstacksdk."""

import json
import re

from tests.functional.plugins.http_server import Server
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.settings import OpenStackSettings

#: Type in the catalog -> the path of its endpoint.
CATALOG = {
    'alarming': '/alarming',
    'load-balancer': '/load-balancer',
    'dns': '/dns',
    'key-manager': '/key-manager',
    'object-store': '/swift/v1/AUTH_p',
    'reservation': '/reservation/v1',
}


class FakeCloud:
    """Keystone, and services whose responses are prescribed by method and path.

    :ivar answers: (method, path) -> (status, body, headers); a deleted object is not
        found
    :ivar requests: (method, path, body) of the services, without discovery
    """

    def __init__(self):
        self.catalog = dict(CATALOG)
        self.answers = {}
        self.requests = []
        self.url = ''

    def __call__(self, exchange, request):
        path = request.path.partition('?')[0]
        if path.startswith('/identity'):
            return self._identify(exchange, path)
        root = re.sub(r'/v[0-9.]*$', '', path.rstrip('/'))
        roots = {root, path.rstrip('/')} & set(self.catalog.values())
        if request.method == 'GET' and roots:
            return self._discover(exchange, roots.pop())
        body = json.loads(request.body) if request.body else None
        self.requests.append((request.method, path, body))
        status, answer, headers = self.answers.get(
            (request.method, path), (404, {'error': 'not found'}, {})
        )
        if request.method == 'DELETE':
            self.answers.pop(('GET', path), None)
        content = b'' if answer is None else json.dumps(answer).encode()
        kind = {'content_type': 'application/json'} if content else {}
        return exchange.answer(status, content, **kind, **headers)

    def _identify(self, exchange, path):
        if path.endswith('/tokens'):
            catalog = [
                {
                    'type': kind,
                    'name': kind,
                    'id': kind,
                    'endpoints': [
                        {
                            'id': kind,
                            'interface': 'public',
                            'region': 'one',
                            'region_id': 'one',
                            'url': self.url + path,
                        }
                    ],
                }
                for kind, path in self.catalog.items()
            ]
            token = {
                'methods': ['password'],
                'expires_at': '2100-01-01T00:00:00.000000Z',
                'issued_at': '2000-01-01T00:00:00.000000Z',
                'user': {'id': 'u', 'name': 'u', 'domain': {'id': 'd', 'name': 'd'}},
                'project': {'id': 'p', 'name': 'p', 'domain': {'id': 'd', 'name': 'd'}},
                'roles': [],
                'catalog': catalog,
            }
            content = json.dumps({'token': token}).encode()
            exchange.answer(201, content, x_subject_token='t')  # nosec B106
        else:
            version = {
                'id': 'v3.14',
                'status': 'stable',
                'links': [{'rel': 'self', 'href': f'{self.url}/identity/v3'}],
            }
            exchange.answer(200, json.dumps({'version': version}).encode())

    def describe_version(self, path):
        """Return the version of a service, for its discovery."""
        version = {
            'id': 'v2.0',
            'status': 'CURRENT',
            'links': [{'rel': 'self', 'href': f'{self.url}{path}/v2'}],
        }
        if path == '/key-manager':
            version |= {
                'id': 'v1',
                'links': [{'rel': 'self', 'href': f'{self.url}{path}/v1'}],
            }
        if path.endswith('/v1'):
            # The version is in the catalog.
            links = [{'rel': 'self', 'href': self.url + path}]
            version |= {'id': 'v1.0', 'links': links}
        return version

    def _discover(self, exchange, path):
        version = self.describe_version(path)
        exchange.answer(
            200,
            json.dumps({'versions': [version]}).encode(),
            content_type='application/json',
        )


def connect(test, cloud, **values):
    """Return the connections to a cloud, which is served until the end of a test.

    :param values: other settings
    """
    cloud.url = test.useFixture(Server(cloud)).url
    clouds = Clouds(
        OpenStackSettings(
            auth={
                'auth_url': f'{cloud.url}/identity/v3',
                'username': 'u',
                'password': 'p',  # nosec B105
                'project_name': 'p',
                'user_domain_id': 'd',
                'project_domain_id': 'd',
            },
            region_name='one',
            allow_service_authority=True,
            **values,
        )
    )
    test.addCleanup(clouds.close)
    return clouds
