"""The number of requests that operations on resources need."""

from tests.unit.plugins.openstack.resources import case
from watcherlite.plugins.openstack.profiles.server import ServerProfile
from watcherlite.plugins.openstack.resources import networks, ports, servers, volumes

UUID = '11111111-2222-3333-4444-555555555555'


class TestRequests(case.ResourceCase):
    """Ids need no translation, and an object that is complete at once no poll."""

    def count(self, handler, properties, **statuses):
        """Return the numbers of requests of creation, check and deletion."""
        services = list(vars(self.connection).values())
        for service in services:
            service.defaults = {statuses['noun']: {'status': statuses['status']}}
        run = self.run_of(handler)
        counted = []
        for operation in (lambda: run.create(properties), run.check, run.delete):
            for service in services:
                service.calls.clear()
            settled = operation()
            self.assertEqual('COMPLETE', settled.status, settled.reason)
            counted.append(sum(len(service.calls) for service in services))
        return counted

    def test_each_operation_needs_few_requests(self):
        for handler, properties, noun, status, expected in (
            (networks.Net, {}, 'network', 'ACTIVE', [1, 1, 1]),
            (ports.Port, {'network': UUID}, 'port', 'DOWN', [1, 1, 1]),
            (volumes.Volume, {'size': 1}, 'volume', 'available', [1, 1, 3]),
            (
                servers.Server,
                {'image': UUID, 'flavor': '1', 'networks': [{'port': UUID}]},
                'server',
                'ACTIVE',
                # The second finds the flavor, whose id is any text.
                [2, 1, 3],
            ),
            (
                ServerProfile,
                {'image': UUID, 'flavor': '1', 'networks': [{'network': UUID}]},
                'server',
                'ACTIVE',
                [2, 1, 3],
            ),
        ):
            with self.subTest(noun=noun):
                self.connection.compute.create_flavor(id='1', name='small')
                counted = self.count(handler, properties, noun=noun, status=status)
                self.assertEqual(expected, counted)
