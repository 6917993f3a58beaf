"""The actions of plans on a real cloud, by a real applier."""

import urllib.parse
import uuid

from tests.acceptance.daemons import wait_until
from tests.cloud.ironic import Ironic
from tests.cloud.plan_case import PlanCase, action, other_host
from tests.functional.messaging.proxy import Proxy

SKIPPED = 'Action was skipped automatically: '


class TestMigrate(PlanCase):
    def migrate(self, name, server, kind, source, *parents, **inputs):
        return action(
            name,
            'migrate',
            *parents,
            resource_id=server,
            migration_type=kind,
            source_node=source,
            **inputs,
        )

    def test_a_server_moves_live_and_cold_and_other_migrations_are_skipped(self):
        server, gone = self.create_server(), str(uuid.uuid4())
        here = server.compute_host
        there = other_host(here)
        self.start_daemons()

        state, actions = self.run_plan(
            self.migrate('live', server.id, 'live', here, destination_node=there),
            self.migrate('cold', server.id, 'cold', there, 'live'),
            self.migrate(
                'there', server.id, 'cold', here, 'cold', destination_node=here
            ),
            self.migrate('elsewhere', server.id, 'live', there, 'cold'),
            self.migrate('gone', gone, 'live', here),
        )

        self.assert_states(
            {
                'live': 'SUCCEEDED',
                'cold': 'SUCCEEDED',
                'there': 'SKIPPED',
                'elsewhere': 'SKIPPED',
                'gone': 'SKIPPED',
            },
            actions,
        )
        self.assertEqual('SUCCEEDED', state)
        self.assertEqual(
            [
                f'{SKIPPED}Instance {server.id} is already on node {here}',
                f'{SKIPPED}Instance {server.id} is not running on source node {there} '
                f'(currently on {here})',
                f'{SKIPPED}Instance {gone} not found',
            ],
            [
                actions[name]['status_message']
                for name in ('there', 'elsewhere', 'gone')
            ],
        )
        self.wait_for_migrations(server.id, 'completed', 'confirmed')
        after = self.server(server.id)
        self.assertEqual((here, 'ACTIVE'), (after.compute_host, after.status))

    def test_a_server_deleted_after_the_start_of_the_plan_is_skipped(self):
        server, slow = (
            self.create_server(),
            self.create_server(cloud_migration_seconds='600'),
        )
        self.start_daemons()
        place = self.start_plan(
            self.migrate('slow', slow.id, 'live', slow.compute_host),
            self.migrate('deleted', server.id, 'live', server.compute_host, 'slow'),
        )
        self.wait_for_server(slow.id, task_state='migrating')

        self.delete_server(server.id)
        self.force(slow.id)

        self.assertEqual('SUCCEEDED', self.wait_for_plan(place))
        self.assert_states(
            {'slow': 'SUCCEEDED', 'deleted': 'SKIPPED'}, self.actions(place)
        )

    def test_cancelling_the_plan_aborts_a_live_migration(self):
        server = self.create_server(cloud_migration_seconds='600')
        self.start_daemons()
        place = self.start_plan(
            self.migrate('live', server.id, 'live', server.compute_host)
        )
        self.wait_for_server(server.id, task_state='migrating')

        self.ask(
            self.port,
            'PATCH',
            place,
            [{'op': 'replace', 'path': '/state', 'value': 'CANCELLING'}],
        )

        self.assertEqual('CANCELLED', self.wait_for_plan(place))
        self.assert_aborted(server)

    def test_the_timeout_of_the_action_aborts_a_live_migration(self):
        server = self.create_server(cloud_migration_seconds='600')
        live = self.migrate('live', server.id, 'live', server.compute_host)
        self.start_daemons()

        state, actions = self.run_plan({**live, 'timeout': 10})

        self.assertEqual('FAILED', state)
        self.assertIn('its timeout', actions['live']['status_message'])
        self.assert_aborted(server)

    def assert_aborted(self, server):
        """Wait until the only migration of a server is aborted, and check it."""
        self.wait_for_migrations(server.id, 'cancelled')
        after = self.wait_for_server(server.id, task_state=None)
        self.assertEqual(
            (server.compute_host, 'ACTIVE'), (after.compute_host, after.status)
        )

    def test_a_killed_applier_causes_no_second_migration(self):
        server = self.create_server(cloud_migration_seconds='600')
        applier = self.start_daemons()
        place = self.start_plan(
            self.migrate('live', server.id, 'live', server.compute_host)
        )
        self.wait_for_server(server.id, task_state='migrating')

        applier.kill()
        self.start_applier()
        self.force(server.id)

        self.assertEqual('SUCCEEDED', self.wait_for_plan(place))
        self.wait_for_migrations(server.id, 'completed')
        self.assertEqual(
            other_host(server.compute_host), self.server(server.id).compute_host
        )

    def test_an_outage_of_nova_delays_a_migration_and_repeats_no_request(self):
        nova = urllib.parse.urlsplit(self.admin.compute.get_endpoint())
        proxy = self.useFixture(Proxy(nova.hostname, nova.port))
        self.clouds_file = self.changed_clouds(
            compute_endpoint_override=f'http://127.0.0.1:{proxy.port}/v2.1'
        )
        server = self.create_server(cloud_migration_seconds='600')
        applier = self.start_daemons()
        place = self.start_plan(
            self.migrate('live', server.id, 'live', server.compute_host)
        )
        self.wait_for_server(server.id, task_state='migrating')

        proxy.refuse()
        applier.wait_for_text('the compute service is not available')
        self.assert_states({'live': 'ONGOING'}, self.actions(place))
        self.force(server.id)
        self.wait_for_server(server.id, task_state=None)
        proxy.accept()

        self.assertEqual('SUCCEEDED', self.wait_for_plan(place))
        self.wait_for_migrations(server.id, 'completed')

    def test_daemons_start_and_an_action_waits_while_keystone_is_down(self):
        keystone = urllib.parse.urlsplit(self.options()['auth_url'])
        proxy = self.useFixture(Proxy(keystone.hostname, keystone.port))
        auth_url = f'http://127.0.0.1:{proxy.port}/v3'
        self.clouds_file = self.changed_clouds(auth=self.options(auth_url=auth_url))
        server = self.create_server()
        proxy.refuse()
        applier = self.start_daemons()

        place = self.start_plan(
            self.migrate('live', server.id, 'live', server.compute_host)
        )
        applier.wait_for_text('Unable to establish connection')
        self.assertEqual('ONGOING', self.ask(self.port, 'GET', place)[1]['state'])
        proxy.accept()

        self.assertEqual('SUCCEEDED', self.wait_for_plan(place))
        self.wait_for_migrations(server.id, 'completed')

    def test_a_paused_server_moves_live(self):
        server = self.create_server()
        self.admin.compute.pause_server(server.id)
        self.wait_for_server(server.id, status='PAUSED', task_state=None)
        self.start_daemons()

        _, actions = self.run_plan(
            self.migrate('live', server.id, 'live', server.compute_host)
        )

        self.assert_states({'live': 'SUCCEEDED'}, actions)
        after = self.server(server.id)
        self.assertEqual(
            (other_host(server.compute_host), 'PAUSED'),
            (after.compute_host, after.status),
        )

    def test_a_rollback_moves_the_server_back(self):
        server = self.create_server()
        self.start_daemons()

        state, actions = self.run_plan(
            self.migrate('live', server.id, 'live', server.compute_host),
            action('nop', 'nop', 'live', message=None, fail_execute=True),
            on_failure='rollback',
        )

        self.assertEqual('FAILED', state)
        self.assertEqual('SUCCEEDED', actions['live']['state'])
        self.assertEqual(server.compute_host, self.server(server.id).compute_host)
        self.wait_for_migrations(server.id, 'completed', 'completed')

    def test_a_failure_has_the_message_of_nova(self):
        server = self.create_server(cloud_fail='migration,live_migration')
        here = server.compute_host
        self.start_daemons()

        state, actions = self.run_plan(
            self.migrate('live', server.id, 'live', here),
            self.migrate('cold', server.id, 'cold', here, 'live'),
            self.migrate('missing', server.id, 'cold', here, destination_node='x'),
            on_failure='continue',
        )

        self.assertEqual('FAILED', state)
        messages = {name: each['status_message'] for name, each in actions.items()}
        self.assertEqual(
            f'Action failed in execute: Live migration of instance {server.id} failed: '
            f'it is on node {here} in status ACTIVE; see the log of nova-compute',
            messages['live'],
        )
        self.assertTrue(
            messages['cold'].endswith(
                "status ACTIVE: Resize error: asked for by the server's metadata"
            ),
            messages['cold'],
        )
        self.assertIn('Destination node x not found', messages['missing'])

    def force(self, server):
        """Complete the live migration of a server."""
        compute = self.admin.compute
        found = wait_until(
            lambda: [
                each
                for each in compute.server_migrations(server)
                if each.status == 'running'
            ],
            lambda: f'a running migration of {server}',
        )
        compute.force_complete_server_migration(found[0].id, server)


class TestServers(PlanCase):
    def test_resize_and_stop_are_rolled_back(self):
        server = self.create_server()
        self.start_daemons()

        state, actions = self.run_plan(
            action('resize', 'resize', resource_id=server.id, flavor='m1.tiny'),
            action(
                'again', 'resize', 'resize', resource_id=server.id, flavor='m1.tiny'
            ),
            action('stop', 'stop', 'again', resource_id=server.id),
            action('nop', 'nop', 'stop', message=None, fail_execute=True),
            on_failure='rollback',
        )

        self.assertEqual('FAILED', state)
        self.assertEqual(
            f'{SKIPPED}Instance {server.id} already has flavor m1.tiny',
            actions['again']['status_message'],
        )
        reverts = {
            name: each['state']
            for name, each in actions.items()
            if name not in ('resize', 'again', 'stop', 'nop')
        }
        self.assertEqual(['SUCCEEDED'] * 2, list(reverts.values()), reverts)
        after = self.server(server.id)
        self.assertEqual(
            ('ACTIVE', 'm1.nano'), (after.status, after.flavor.original_name)
        )

    def test_a_server_is_stopped_and_started(self):
        server, gone = self.create_server(), str(uuid.uuid4())
        self.start_daemons()

        _, actions = self.run_plan(
            action('stop', 'stop', resource_id=server.id),
            action('stopped', 'stop', 'stop', resource_id=server.id),
            action('start', 'start', 'stopped', resource_id=server.id),
            action('started', 'start', 'start', resource_id=server.id),
            action('gone', 'stop', resource_id=gone),
        )

        self.assert_states(
            {
                'stop': 'SUCCEEDED',
                'stopped': 'SKIPPED',
                'start': 'SUCCEEDED',
                'started': 'SKIPPED',
                'gone': 'SKIPPED',
            },
            actions,
        )
        self.assertEqual('ACTIVE', self.server(server.id).status)


class TestHosts(PlanCase):
    def service(self):
        return next(
            self.admin.compute.services(host='compute-2', binary='nova-compute')
        )

    def test_a_service_is_disabled_and_the_rollback_enables_it(self):
        self.addCleanup(lambda: self.admin.compute.enable_service(self.service().id))
        self.start_daemons()

        state, actions = self.run_plan(
            action(
                'disable',
                'change_nova_service_state',
                resource_id=self.service().id,
                resource_name='compute-2',
                state='disabled',
                disabled_reason='watcher_maintaining',
            ),
            action(
                'disabled',
                'change_nova_service_state',
                'disable',
                resource_id='compute-2',
                state='disabled',
            ),
            action('nop', 'nop', 'disabled', message=None, fail_execute=True),
            on_failure='rollback',
        )

        self.assertEqual('FAILED', state)
        self.assertEqual('SUCCEEDED', actions['disable']['state'])
        self.assertEqual(
            f'{SKIPPED}nova-compute service compute-2 is already in state disabled',
            actions['disabled']['status_message'],
        )
        after = self.service()
        self.assertEqual(('enabled', None), (after.status, after.disabled_reason))


class TestVolumes(PlanCase):
    def move(self, name, volume, kind, *parents, **inputs):
        return action(
            name,
            'volume_migrate',
            *parents,
            resource_id=volume,
            migration_type=kind,
            **inputs,
        )

    def test_a_volume_moves_and_changes_its_type(self):
        volume, gone = self.create_volume(), str(uuid.uuid4())
        there = self.other_pool(volume.host)
        self.start_daemons()

        _, actions = self.run_plan(
            self.move('migrate', volume.id, 'migrate', destination_node=there),
            self.move('there', volume.id, 'migrate', 'migrate', destination_node=there),
            self.move('retype', volume.id, 'retype', 'there', destination_type='slow'),
            self.move('same', volume.id, 'retype', 'retype', destination_type='slow'),
            self.move('gone', gone, 'migrate', destination_node=there),
        )

        self.assert_states(
            {
                'migrate': 'SUCCEEDED',
                'there': 'SKIPPED',
                'retype': 'SUCCEEDED',
                'same': 'SKIPPED',
                'gone': 'SKIPPED',
            },
            actions,
        )
        self.assertEqual(
            f'{SKIPPED}Volume is already on node {there}',
            actions['there']['status_message'],
        )
        after = self.admin.block_storage.get_volume(volume.id)
        self.assertEqual(('slow', 'available'), (after.volume_type, after.status))

    def test_an_attached_volume_is_swapped(self):
        volume, server = self.create_volume(), self.create_server()
        self.demo.compute.create_volume_attachment(server.id, volume_id=volume.id)
        self.wait_for_volume(volume.id, 'in-use')
        there = self.other_pool(volume.host)
        self.start_daemons()

        _, actions = self.run_plan(
            self.move('swap', volume.id, 'swap', destination_node=there)
        )

        self.assert_states({'swap': 'SUCCEEDED'}, actions)
        after = self.admin.block_storage.get_volume(volume.id)
        self.assertEqual((there, 'in-use'), (after.host, after.status))
        events = [
            event.result
            for each in self.admin.compute.server_actions(server.id)
            if each.action == 'swap_volume'
            for event in self.admin.compute.get_server_action(
                each.request_id, server.id
            ).events
        ]
        # nova uses the copy when the action has ended.
        self.assertEqual(['Success'], events)


class TestNodes(PlanCase):
    """Nodes of a bare metal service of the test: the small cloud has none."""

    def setUp(self):
        super().setUp()
        self.ironic = self.useFixture(Ironic('rack-1'))
        self.clouds_file = self.changed_clouds(
            baremetal_endpoint_override=self.ironic.url
        )

    def test_a_node_is_switched_off_and_on(self):
        self.start_daemons()

        _, actions = self.run_plan(
            action('off', 'change_node_power_state', resource_id='rack-1', state='off'),
            action(
                'again',
                'change_node_power_state',
                'off',
                resource_id='rack-1',
                state='off',
            ),
            action(
                'on',
                'change_node_power_state',
                'again',
                resource_id='rack-1',
                state='on',
            ),
            action('gone', 'change_node_power_state', resource_id='x', state='off'),
        )

        self.assert_states(
            {
                'off': 'SUCCEEDED',
                'again': 'SKIPPED',
                'on': 'SUCCEEDED',
                'gone': 'SKIPPED',
            },
            actions,
        )
        path = f'/v1/nodes/{self.ironic.nodes["rack-1"]["uuid"]}/states/power'
        self.assertEqual(
            [(path, 'power off'), (path, 'power on')], self.ironic.requests
        )
