"""Stacks in a real OpenStack, with engines and services that fail.

The tests of `test_stack_clients.py` request stacks by the API.
"""

import urllib.parse

from tests.cloud import service_gate, stack_case
from tests.functional.messaging.proxy import Proxy

SERVERS = 20


def template(**resources):
    return {'heat_template_version': '2018-08-31', 'resources': resources}


def server(**properties):
    return {'type': 'OS::Nova::Server', 'properties': {**stack_case.KEYS, **properties}}


def network():
    return {
        'net': {'type': 'OS::Neutron::Net'},
        'subnet': {
            'type': 'OS::Neutron::Subnet',
            'properties': {'network': {'get_resource': 'net'}, 'cidr': '10.67.0.0/24'},
        },
    }


NET = [{'network': {'get_resource': 'net'}}]


class TestFaults(stack_case.StackCase):
    def open_gate(self):
        """Put a proxy before nova; return it."""
        nova = urllib.parse.urlsplit(self.connection.compute.get_endpoint())
        target = f'http://{nova.netloc}'
        return self.useFixture(service_gate.ServiceGate(target, 'servers'))

    def request_servers(self, count):
        """Request a stack of a network with servers."""
        servers = {
            f'server{at}': server(networks=NET, name=None) for at in range(count)
        }
        stack = self.stacks.request(
            self.unique_name('stack'), template(**network(), **servers)
        )
        self.addCleanup(self.remove, stack)
        return stack

    def assert_created_once(self, stack, count):
        """Assert that a stack is complete and has each of its servers once."""
        self.assert_settled('CREATE_COMPLETE', stack)
        rows = self.stacks.rows(stack).items()
        self.assertEqual(
            sorted(row.physical_id for name, row in rows if name.startswith('server')),
            sorted(item.id for item in self.servers(stack)),
        )
        self.assertEqual(count, len(self.servers(stack)))

    def test_a_killed_engine_creates_each_server_once(self):
        gate = self.open_gate()
        gate.hold_creations(answered=5, unanswered=5)
        self.configure(compute_endpoint_override=f'{gate.url}/v2.1')
        self.start_engine()
        stack = self.request_servers(SERVERS)
        gate.wait_for_creations(10)
        self.kill_engine()
        self.assertEqual(10, len(self.servers(stack)))

        self.start_engine()
        gate.release_creations()

        self.assert_created_once(stack, SERVERS)
        self.remove(stack)

    def test_an_outage_of_nova_delays_servers_and_creates_each_once(self):
        gate = self.open_gate()
        gate.hold_creations(answered=2, unanswered=2)
        proxy = self.useFixture(Proxy('127.0.0.1', gate.port))
        self.configure(compute_endpoint_override=f'http://127.0.0.1:{proxy.port}/v2.1')
        engine = self.start_engine()
        stack = self.request_servers(6)
        gate.wait_for_creations(4)

        proxy.refuse()
        engine.wait_for_text('the compute service is not available')
        gate.release_creations()
        self.assertEqual(4, len(self.servers(stack)))
        proxy.accept()

        self.assert_created_once(stack, 6)

    def test_an_expired_token_is_renewed_once_keystone_is_available(self):
        gate = self.open_gate()
        gate.hold_creations(answered=2)
        keystone = urllib.parse.urlsplit(self.auth['auth_url'])
        proxy = self.useFixture(Proxy(keystone.hostname, keystone.port))
        self.configure(
            compute_endpoint_override=f'{gate.url}/v2.1',
            # Without discovery, whose response has the URL of keystone itself.
            auth_type='v3password',
            auth={**self.auth, 'auth_url': f'http://127.0.0.1:{proxy.port}/v3'},
        )
        engine = self.start_engine()
        stack = self.request_servers(4)
        gate.wait_for_creations(2)

        proxy.refuse()
        gate.expire_tokens()
        gate.release_creations()
        engine.wait_for_text('is delayed: ')
        proxy.accept()

        self.assert_created_once(stack, 4)
        self.assertGreater(gate.refused, 0)
