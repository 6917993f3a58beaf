"""The health of servers that are nodes of clusters."""

from typing import Any

from tests import base
from tests.openstack_lists import FakeConnection
from tests.service_notifications import instance, notification, versioned
from tests.unit.plugins.openstack.resources import case
from watcherlite import exceptions
from watcherlite.domain.service_notifications import ResourceFailure
from watcherlite.plugins.openstack.resources.server_health import HypervisorHealth
from watcherlite.plugins.openstack.resources.servers import Server
from watcherlite.testing.clock import ManualClock

NODE = '00000000-0000-4000-8000-000000000001'
LIST = 'compute /os-hypervisors/detail'


def hypervisor(name: str, state: str = 'up', status: str = 'enabled') -> Any:
    return {
        'id': name,
        'hypervisor_hostname': f'{name}.example.org',
        'state': state,
        'status': status,
    }


class TestHypervisors(base.TestCase):
    """The hypervisors of nova."""

    def setUp(self) -> None:
        super().setUp()
        self.cloud = FakeConnection(
            {
                LIST: {
                    'hypervisors': [
                        hypervisor('one'),
                        hypervisor('two', state='down'),
                        hypervisor('three', status='disabled'),
                        # Its list of servers is omitted if it is empty.
                        hypervisor('four', state='down', status='disabled'),
                    ]
                },
                'compute /os-hypervisors/two': {
                    'hypervisor': {'servers': [{'uuid': 'b'}, {'uuid': 'c'}]}
                },
                'compute /os-hypervisors/three': {
                    'hypervisor': {'servers': [{'uuid': 'd'}]}
                },
                'compute /os-hypervisors/four': {'hypervisor': {}},
            }
        )
        self.clock = ManualClock()
        self.health = HypervisorHealth(lambda: self.cloud, self.clock.monotonic)

    def test_servers_on_hypervisors_that_do_not_work_are_unhealthy(self) -> None:
        down = 'its hypervisor two.example.org is down'
        self.assertEqual(
            [None, down, down, 'its hypervisor three.example.org is disabled'],
            [self.health.problem_of(server) for server in 'abcd'],
        )

    def test_all_nodes_share_the_requests_for_some_seconds(self) -> None:
        for _ in range(1000):
            self.health.problem_of('a')
        first = list(self.cloud.requests)
        self.clock.advance(5.0)
        self.cloud.answers[LIST] = {'hypervisors': [hypervisor('two')]}

        self.assertIsNone(self.health.problem_of('b'))
        self.assertEqual(
            [LIST, *(f'compute /os-hypervisors/{n}' for n in ('two', 'three', 'four'))],
            first,
        )
        self.assertEqual([LIST], self.cloud.requests[len(first) :])

    def test_a_failed_request_is_repeated(self) -> None:
        answer = self.cloud.answers[LIST]
        self.cloud.answers[LIST] = 503
        self.assertRaises(exceptions.ServiceUnavailable, self.health.problem_of, 'b')
        self.cloud.answers[LIST] = answer

        self.assertIsNotNone(self.health.problem_of('b'))


class TestNotifications(base.TestCase):
    """The failures that nova reports."""

    def failure(self, event_type: str, payload: Any) -> ResourceFailure | None:
        return Server.failure_in(notification(event_type, payload))

    def test_the_node_of_a_server_is_in_its_metadata(self) -> None:
        for key in ('watcherlite_resource', 'cluster_node_id'):
            payload = instance('a-server', 'compute-1', metadata={key: NODE})
            self.assertEqual(
                ResourceFailure(
                    NODE,
                    'a-server',
                    'Nova reports instance.power_off.end of server a-server',
                ),
                self.failure('instance.power_off.end', payload),
            )

    def test_notifications_without_versions_are_understood(self) -> None:
        payload = {
            'instance_id': 'a-server',
            'metadata': {'watcherlite_resource': NODE},
        }
        found = self.failure('compute.instance.delete.end', payload)

        self.assertEqual(
            ResourceFailure(
                NODE, 'a-server', 'Nova reports instance.delete.end of server a-server'
            ),
            found,
        )

    def test_other_servers_and_malformed_payloads_are_ignored(self) -> None:
        for payload in (
            instance('a-server', 'compute-1', metadata={}),
            versioned('InstanceActionPayload', {'metadata': {'cluster_node_id': NODE}}),
            versioned('InstanceActionPayload', {'uuid': 'a', 'metadata': None}),
            {'nova_object.data': 'none'},
            {'instance_id': 1, 'metadata': {'cluster_node_id': NODE}},
            {'instance_id': 'a', 'metadata': {'cluster_node_id': 1}},
            {'instance_id': 'a', 'metadata': {'cluster_node_id': 'a\0node'}},
        ):
            self.assertIsNone(self.failure('instance.delete.end', payload))


class TestServers(case.ResourceCase):
    """The checks of a server."""

    def setUp(self) -> None:
        super().setUp()
        self.compute = self.connection.compute
        self.compute.defaults['server'] = {'status': 'ACTIVE'}
        self.connection.image.create_image(id='image-id', name='image-1')
        self.compute.create_flavor(id='1', name='small')
        self.server = self.created(Server, {'image': 'image-1', 'flavor': 'small'})

    def test_a_server_that_is_shut_off_exists_and_does_not_work(self) -> None:
        healthy = self.server.check_health()
        record = self.compute.objects['server'][self.server.physical_id]
        record['status'] = 'SHUTOFF'
        unhealthy = self.server.check_health()

        self.assertEqual('COMPLETE', healthy.status, healthy.reason)
        self.assertEqual('FAILED', unhealthy.status)
        self.assertIn('has the status SHUTOFF', unhealthy.reason)
        self.assertEqual('COMPLETE', self.server.check().status)

    def test_the_host_of_a_server_is_its_hypervisor(self) -> None:
        lists = FakeConnection({LIST: 503})
        health = HypervisorHealth(lambda: lists, ManualClock().monotonic)
        self.clouds.keep = lambda key, make: health
        unknown = self.server.check_host()
        lists.answers = {
            LIST: {'hypervisors': [hypervisor('one', state='down')]},
            'compute /os-hypervisors/one': {
                'hypervisor': {'servers': [{'uuid': self.server.physical_id}]}
            },
        }
        down = self.server.check_host()

        self.assertIn('service is not available', unknown.reason)
        self.assertEqual('FAILED', down.status)
        self.assertIn('its hypervisor one.example.org is down', down.reason)

    def test_a_fenced_server_is_deleted_by_force(self) -> None:
        self.server.delete(is_fenced=True)

        deletions = [
            options
            for name, _, options in self.compute.calls
            if name == 'delete_server'
        ]
        self.assertEqual([{'force': True, 'ignore_missing': True}], deletions)
