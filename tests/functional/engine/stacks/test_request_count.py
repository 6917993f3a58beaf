"""The requests that a large stack sends to the services of OpenStack."""

import collections
import json
import re
import threading
import uuid
from typing import Any

from tests.functional.plugins.http_server import Server
from tests.functional.plugins.test_openstack_services import FakeCloud
from tests.stack_worlds import StackWorldCase, res
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.resources import ports, servers
from watcherlite.plugins.openstack.settings import OpenStackSettings

SERVERS = 50
UUID = '11111111-2222-3333-4444-555555555555'


class Cloud(FakeCloud):
    """Nova and neutron with servers, which are built until they are read, and ports.

    :ivar counted: method and path of all requests, with `*` for ids -> their number
    """

    def __init__(self) -> None:
        super().__init__()
        self.catalog = {'compute': '/compute/v2.1', 'network': '/network'}
        self.counted: collections.Counter[str] = collections.Counter()
        self._records: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def __call__(self, exchange: Any, request: Any) -> None:
        path = request.path.partition('?')[0].rstrip('/')
        noun = re.search(r'/(server|port|flavor)s(?:/([^/]+))?$', path)
        name = path if noun is None or not noun[2] else path.removesuffix(noun[2]) + '*'
        with self._lock:
            self.counted[f'{request.method} {name}'] += 1
            if noun is None:
                super().__call__(exchange, request)
            elif request.method == 'POST':
                body = json.loads(request.body)[noun[1]]
                self._create(exchange, noun[1], body)
            elif request.method == 'DELETE':
                del self._records[noun[2]]
                exchange.answer(204)
            else:
                self._read(exchange, noun[1], noun[2])

    def _create(self, exchange: Any, noun: str, body: dict[str, Any]) -> None:
        status = 'BUILD' if noun == 'server' else 'DOWN'
        # Other ids would be translated as names.
        record = {**body, 'id': str(uuid.uuid4()), 'status': status}
        self._records[record['id']] = record
        _answer(exchange, 201, {noun: record})

    def _read(self, exchange: Any, noun: str, key: str) -> None:
        record = self._records.get(key)
        if noun == 'flavor':
            record = {'id': key, 'name': 'small'}
        if record is None:
            _answer(exchange, 404, {})
            return
        if noun == 'server':
            record['status'] = 'ACTIVE'
        _answer(exchange, 200, {noun: record})


def _answer(exchange: Any, status: int, body: dict[str, Any]) -> None:
    content = json.dumps(body).encode()
    exchange.answer(status, content, content_type='application/json')


class TestRequestCount(StackWorldCase):
    def setUp(self) -> None:
        super().setUp()
        self.cloud = Cloud()
        self.cloud.url = self.useFixture(Server(self.cloud)).url
        auth = {
            'auth_url': f'{self.cloud.url}/identity/v3',
            'username': 'u',
            'password': 'p',  # nosec B105
            'project_name': 'p',
            'user_domain_id': 'd',
            'project_domain_id': 'd',
        }
        clouds = Clouds(
            OpenStackSettings(
                auth=auth, region_name='one', allow_service_authority=True
            )
        )
        self.addCleanup(clouds.close)
        self.world = self.create_stack_world(
            {'OS::Nova::Server': servers.Server, 'OS::Neutron::Port': ports.Port},
            clouds=clouds,
        )

    def take_counts(self) -> dict[str, int]:
        """Return the numbers of requests since the last call."""
        counted = dict(self.cloud.counted)
        self.cloud.counted.clear()
        return counted

    def per_server(self, counted: dict[str, int]) -> dict[str, float]:
        """Return the numbers of requests for each server, without those for all."""
        shared = {
            name: count
            for name, count in counted.items()
            if not name.endswith(('s', '*')) or name.endswith('/tokens')
        }
        # Authentication and discovery, which threads may do at the same time.
        self.assertLess(sum(shared.values()), SERVERS, shared)
        return {
            name: count / SERVERS
            for name, count in counted.items()
            if name not in shared
        }

    def test_servers_with_ports_need_a_bounded_number_of_requests_each(self) -> None:
        resources = {}
        for at in range(SERVERS):
            network = [{'port': {'get_resource': f'port{at}'}}]
            resources[f'port{at}'] = res('OS::Neutron::Port', network=UUID)
            resources[f'server{at}'] = res(
                'OS::Nova::Server', image=UUID, flavor='1', networks=network
            )

        stack = self.world.make(resources)
        created = self.take_counts()
        self.world.stacks.delete(stack.uuid, stack.tenant)
        deleted = self.world.wait_until_settled(stack)

        self.assertEqual('CREATE_COMPLETE', stack.state.name, self.world.full_report())
        self.assertEqual('DELETE_COMPLETE', deleted.state.name)
        self.assertEqual(
            {
                'POST /network/v2.0/ports': 1,
                # The id of a flavor is any text, which may be a name.
                'GET /compute/v2.1/flavors/*': 1,
                'POST /compute/v2.1/servers': 1,
                'GET /compute/v2.1/servers/*': 1,
            },
            self.per_server(created),
        )
        self.assertEqual(
            {
                'DELETE /compute/v2.1/servers/*': 1,
                # Before the deletion, and until it is gone.
                'GET /compute/v2.1/servers/*': 2,
                'DELETE /network/v2.0/ports/*': 1,
            },
            self.per_server(self.take_counts()),
        )
