"""Stacks in a real OpenStack: the operations, and what happens behind their back."""

import base64
import email
import json
import pathlib
import urllib.parse

import yaml

from tests.acceptance.daemons import wait_until
from tests.acceptance.test_api import ApiCase
from tests.cloud import service_gate, stack_case
from tests.functional.messaging.proxy import Proxy
from watcherlite.domain.templates import document
from watcherlite.states import stack as states

ROOT = pathlib.Path(__file__).parents[2]
THREE_TIERS = ROOT / 'etc/watcherlite/examples/three_tier.yaml'
SERVERS = 20
#: A script in the user data.
SETUP = '#!/bin/sh\necho ready\n'


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


class TestSignals(stack_case.StackCase, ApiCase):
    """The API, whose URLs servers call to read their deployments and to signal."""

    def setUp(self):
        super().setUp()
        _, self.port = self.serve()
        endpoint = {'endpoint': f'http://127.0.0.1:{self.port}'}
        types = 'os_heat_softwaredeployment', 'os_heat_waitconditionhandle'
        self.groups = {
            f'watcherlite.resource_handlers.{name}': endpoint
            for name in (*types, 'os_nova_server')
        }
        self.configure()
        self.start_engine()

    def call_url(self, method, url, body=None):
        """Call a URL of the API without a token of keystone; return the response."""
        parts = urllib.parse.urlsplit(url)
        self.assertEqual(f'127.0.0.1:{self.port}', parts.netloc)
        return self.ask(self.port, method, f'{parts.path}?{parts.query}', body)

    def wait_for_resource(self, stack, name, is_reached):
        """Wait until the row of a resource meets a condition; return it."""

        def found():
            row = self.stacks.rows(stack).get(name)
            return row if row is not None and is_reached(row) else None

        return wait_until(
            found, lambda: self.stacks.describe(stack), stack_case.TIMEOUT
        )

    def test_a_server_applies_its_deployment_and_signals_the_result(self):
        # Both configs are created by the API, and belong to no stack.
        script = {'config': 'hostname', 'group': 'script'}
        script, setup = (
            self.stacks.runtime.software.create_config(stack_case.TENANT, values).uuid
            for values in (
                {**script, 'outputs': [{'name': 'result'}]},
                {'config': SETUP},
            )
        )
        deployment = {'type': 'OS::Heat::SoftwareDeployment'}
        deployment['properties'] = {
            'config': script,
            'server': {'get_resource': 'server'},
        }
        stack = self.stacks.request(
            self.unique_name('stack'),
            {
                **template(
                    **network(),
                    server=server(
                        networks=NET,
                        user_data_format='SOFTWARE_CONFIG',
                        user_data=setup,
                    ),
                    deployment=deployment,
                ),
                'outputs': {'o': {'value': {'get_attr': ['deployment', 'result']}}},
            },
        )
        self.addCleanup(self.remove, stack)
        self.wait_for_resource(
            stack, 'deployment', lambda row: 'deployment' in row.data
        )
        status, metadata = self.call_url('GET', self.metadata_url(stack))
        self.assertEqual(200, status, metadata)
        (found,) = metadata['deployments']
        inputs = {item['name']: item['value'] for item in found['inputs']}
        self.assertEqual(('script', 'hostname'), (found['group'], found['config']))
        self.assertTrue(self.stacks.reload(stack).state.busy)

        status, body = self.call_url(
            inputs['deploy_signal_verb'],
            inputs['deploy_signal_id'],
            {'result': 'web-1', 'deploy_status_code': 0},
        )

        self.assertEqual(200, status, body)
        self.assert_settled('CREATE_COMPLETE', stack)
        attributes = self.stacks.rows(stack)['deployment'].attributes
        self.assertEqual('web-1', attributes['result'])

    def metadata_url(self, stack):
        """Return the URL in the user data of the server for os-collect-config."""
        (found,) = self.servers(stack)
        data = self.connection.compute.get_server(found).user_data
        message = email.message_from_bytes(base64.b64decode(data))
        parts = [part.get_payload(decode=True) for part in message.walk()]
        self.assertIn(SETUP.encode(), parts)
        for part in message.walk():
            text = part.get_payload(decode=True) or b''
            if b'write_files' in text:
                (file,) = yaml.safe_load(text)['write_files']
                collected = json.loads(file['content'])['os-collect-config']
                return collected['request']['metadata_url']
        self.fail(f'no configuration of os-collect-config in {message}')

    def test_a_wait_condition_completes_with_the_signals_to_its_url(self):
        condition = {'type': 'OS::Heat::WaitCondition'}
        condition['properties'] = {
            'handle': {'get_resource': 'handle'},
            'timeout': stack_case.TIMEOUT,
            'count': 2,
        }
        stack = self.stacks.request(
            self.unique_name('stack'),
            template(handle={'type': 'OS::Heat::WaitConditionHandle'}, c=condition),
        )
        self.addCleanup(self.remove, stack)
        handle = self.wait_for_resource(
            stack, 'handle', lambda row: row.state.name == 'CREATE_COMPLETE'
        )

        statuses = [
            self.call_url(
                'POST', handle.attributes['endpoint'], {'id': at, 'data': 'ready'}
            )[0]
            for at in ('first', 'second')
        ]

        self.assertEqual([200, 200], statuses)
        self.assert_settled('CREATE_COMPLETE', stack)
