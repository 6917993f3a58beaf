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
from watcherlite.plugins.openstack.resources import ports, servers, volumes
from watcherlite.plugins.openstack.settings import OpenStackSettings

SERVERS = 50
UUID = '11111111-2222-3333-4444-555555555555'
_ID = re.compile('[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
#: The status of a new object, and the one that it has once it was read.
_NEW = {'server': 'BUILD', 'port': 'DOWN', 'volume': 'creating'}
_USABLE = {'server': 'ACTIVE', 'volume': 'available'}


class Cloud(FakeCloud):
    """Nova, neutron and cinder with servers, ports, volumes and their attachments.

    A new server or volume becomes usable when it is read.

    :ivar counted: method and path of all requests, with `*` for ids -> their number
    """

    def __init__(self) -> None:
        super().__init__()
        self.catalog = {
            'compute': '/compute/v2.1',
            'network': '/network',
            'block-storage': '/volume/v3',
        }
        self.counted: collections.Counter[str] = collections.Counter()
        self._records: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def __call__(self, exchange: Any, request: Any) -> None:
        path = request.path.partition('?')[0].rstrip('/')
        noun = re.search(r'/(server|port|flavor|volume)s(?:/([^/]+))?$', path)
        attachment = re.search(r'/servers/(.+)/os-volume_attachments(?:/(.+))?$', path)
        name = _ID.sub('*', path)
        if noun is not None and noun[2]:
            name = path.removesuffix(noun[2]) + '*'
        with self._lock:
            self.counted[f'{request.method} {name}'] += 1
            if attachment is not None:
                self._attach(exchange, attachment[1], request)
            elif noun is None:
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
        # Other ids would be translated as names.
        record = {**body, 'id': str(uuid.uuid4()), 'status': _NEW[noun]}
        self._records[record['id']] = record
        _answer(exchange, 201, {noun: record})

    def _attach(self, exchange: Any, server: str, request: Any) -> None:
        if request.method == 'DELETE':
            volume = self._records[request.path.rpartition('/')[2]]
            volume |= {'status': 'available', 'attachments': []}
            exchange.answer(202)
            return
        body = json.loads(request.body)['volumeAttachment']
        volume = self._records[body['volumeId']]
        volume |= {'status': 'in-use', 'attachments': [{'server_id': server}]}
        _answer(exchange, 200, {'volumeAttachment': {**body, 'id': body['volumeId']}})

    def _read(self, exchange: Any, noun: str, key: str) -> None:
        record = self._records.get(key)
        if noun == 'flavor':
            record = {'id': key, 'name': 'small'}
        if record is None:
            _answer(exchange, 404, {})
            return
        if record.get('status') == _NEW.get(noun):
            record['status'] = _USABLE.get(noun, record.get('status'))
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
            {
                'OS::Nova::Server': servers.Server,
                'OS::Neutron::Port': ports.Port,
                'OS::Cinder::Volume': volumes.Volume,
                'OS::Cinder::VolumeAttachment': volumes.VolumeAttachment,
            },
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

    def test_servers_with_ports_and_volumes_need_few_requests_each(self) -> None:
        resources = {}
        for at in range(SERVERS):
            network = [{'port': {'get_resource': f'port{at}'}}]
            resources[f'port{at}'] = res('OS::Neutron::Port', network=UUID)
            resources[f'server{at}'] = res(
                'OS::Nova::Server', image=UUID, flavor='1', networks=network
            )
            resources[f'volume{at}'] = res('OS::Cinder::Volume', size=1)
            resources[f'attachment{at}'] = res(
                'OS::Cinder::VolumeAttachment',
                instance_uuid={'get_resource': f'server{at}'},
                volume_id={'get_resource': f'volume{at}'},
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
                'POST /volume/v3/volumes': 1,
                'POST /compute/v2.1/servers/*/os-volume_attachments': 1,
                # Until it is available, and until it is attached.
                'GET /volume/v3/volumes/*': 2,
            },
            self.per_server(created),
        )
        self.assertEqual(
            {
                # Before and after, as for the volume itself.
                'GET /volume/v3/volumes/*': 4,
                'DELETE /compute/v2.1/servers/*/os-volume_attachments/*': 1,
                'DELETE /volume/v3/volumes/*': 1,
                # Before its volume is detached, before its deletion, and until it is
                # gone.
                'GET /compute/v2.1/servers/*': 3,
                'DELETE /compute/v2.1/servers/*': 1,
                'DELETE /network/v2.0/ports/*': 1,
            },
            self.per_server(self.take_counts()),
        )
