"""Stacks in a real OpenStack: the operations, and what happens behind their back."""

import pathlib
import urllib.parse

from tests.acceptance.daemons import wait_until
from tests.cloud import service_gate, stack_case
from tests.functional.messaging.proxy import Proxy
from watcherlite.domain.templates import document
from watcherlite.states import stack as states

ROOT = pathlib.Path(__file__).parents[2]
THREE_TIERS = ROOT / 'etc/watcherlite/examples/three_tier.yaml'
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


class TestThreeTiers(stack_case.StackCase):
    def test_a_stack_is_created_checked_updated_repaired_locked_and_deleted(self):
        self.start_engine()
        parsed = document.parse(THREE_TIERS.read_text(), 'three_tier.yaml')
        stack = self.created(parsed, parameters=stack_case.KEYS)
        before = self.ids(stack)
        self.assertEqual(3, len(self.servers(stack)))
        address = self.stacks.rows(stack)['address'].attributes['floating_ip_address']
        (found,) = self.connection.network.ips(floating_ip_address=address)
        self.assertEqual(before['web_port'], found.port_id)
        volume = self.connection.block_storage.get_volume(before['data'])
        self.assertEqual(before['database'], volume.attachments[0]['server_id'])

        checked = self.stacks.operate(stack, states.CHECK)
        self.assert_settled('CHECK_COMPLETE', checked)

        self.assert_settled('UPDATE_COMPLETE', self.stacks.update(stack, volume_size=2))
        self.assertEqual(before, self.ids(stack))
        volume = self.connection.block_storage.get_volume(before['data'])
        self.assertEqual(2, volume.size)

        self.stacks.operations.mark_unhealthy(
            stack.name, stack_case.TENANT, 'application', True, 'no response'
        )
        self.assert_settled('UPDATE_COMPLETE', self.stacks.update(stack))
        after = self.ids(stack)
        replaced = {name for name in before if before[name] != after[name]}
        self.assertEqual({'application'}, replaced)
        self.assertEqual(3, len(self.servers(stack)))

        self.assert_settled('LOCK_COMPLETE', self.stacks.operate(stack, states.LOCK))
        self.assertEqual({True}, {item.is_locked for item in self.servers(stack)})
        unlocked = self.stacks.operate(stack, states.UNLOCK)
        self.assert_settled('UNLOCK_COMPLETE', unlocked)
        self.assertEqual({False}, {item.is_locked for item in self.servers(stack)})

        self.remove(stack)

    def ids(self, stack):
        """Return the physical ids of the resources by name."""
        rows = self.stacks.rows(stack).items()
        return {name: row.physical_id for name, row in rows}


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

    def test_a_server_deleted_by_others_is_found_and_replaced(self):
        self.start_engine()
        stack = self.created(template(**network(), server=server(networks=NET)))
        (first,) = self.servers(stack)
        self.connection.compute.delete_server(first)
        wait_until(lambda: not self.servers(stack), lambda: 'the server exists')

        checked = self.stacks.operate(stack, states.CHECK)

        self.assert_settled('CHECK_FAILED', checked)
        reason = self.stacks.rows(stack)['server'].state.reason
        self.assertIn(f'server {first.id} no longer exists', reason)
        self.assert_settled('UPDATE_COMPLETE', self.stacks.update(stack))
        (second,) = self.servers(stack)
        self.assertNotEqual(first.id, second.id)

    def test_an_exhausted_quota_is_the_reason(self):
        self.start_engine()
        stack = self.stacks.create(
            self.unique_name('stack'),
            template(
                volume={'type': 'OS::Cinder::Volume', 'properties': {'size': 100_000}}
            ),
        )
        self.addCleanup(self.remove, stack)

        self.assert_settled('CREATE_FAILED', stack)
        reason = self.stacks.rows(stack)['volume'].state.reason
        self.assertIn('the quota of the block-storage service is exhausted', reason)
        self.assertEqual({}, self.left(stack))

    def test_a_wait_condition_receives_the_signals_of_its_handle(self):
        self.start_engine()
        handle = {'type': 'OS::Heat::WaitConditionHandle'}
        condition = {
            'type': 'OS::Heat::WaitCondition',
            'properties': {
                'handle': {'get_resource': 'handle'},
                'timeout': stack_case.TIMEOUT,
                'count': 5,
            },
        }
        stack = self.stacks.request(
            self.unique_name('stack'), template(handle=handle, condition=condition)
        )
        self.addCleanup(self.remove, stack)
        wait_until(
            lambda: 'handle: CREATE_COMPLETE' in self.stacks.describe(stack),
            lambda: self.stacks.describe(stack),
        )

        for number in range(5):
            self.stacks.operations.signal(
                stack.name, stack_case.TENANT, 'handle', {'data': number}
            )

        self.assert_settled('CREATE_COMPLETE', stack)
