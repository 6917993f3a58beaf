"""The unmodified `openstack cluster` of python-senlinclient, with servers of nova."""

import json
import os
import textwrap
from typing import Any

import requests

from tests.acceptance.clients import environments
from tests.acceptance.daemons import wait_until
from tests.cloud import case
from tests.cloud.cluster_case import TIMEOUT, ClusterCase

PROFILE = """\
    type: os.nova.server
    version: 1.0
    properties:
      name: web-server
      flavor: {flavor}
      image: tiny
      security_groups: [default]
      networks: [{{network: shared}}]
      metadata: {{tier: {tier}}}
      user_data: |
        #!/bin/sh
        echo hello
"""
SCALING = """\
    type: senlin.policy.scaling
    version: 1.0
    properties:
      event: CLUSTER_SCALE_{way}
      adjustment: {{type: CHANGE_IN_CAPACITY, number: 2}}
"""
AFFINITY = """\
    type: senlin.policy.affinity
    version: 1.0
    properties:
      servergroup: {policies: anti-affinity}
      availability_zone: nova
"""
ZONES = """\
    type: senlin.policy.zone_placement
    version: 1.0
    properties:
      zones: [{name: nova, weight: 100}]
"""
BATCH = """\
    type: senlin.policy.batch
    version: 1.0
    properties: {min_in_service: 1, max_batch_size: 1, pause_time: 600}
"""
HEALTH = """\
    type: senlin.policy.health
    version: 1.1
    properties:
      detection:
        interval: 1
        node_update_timeout: 0
        detection_modes: [{type: NODE_STATUS_POLLING}]
      recovery:
        actions: [{name: RECREATE}]
"""
#: Prints its arguments instead of logging in to a server.
SSH = '#!/bin/sh\necho "$@"\n'


class ClientCase(ClusterCase):
    """Runs `openstack cluster ...` as the user.

    :ivar name: a unique name, for objects of each kind
    """

    def setUp(self) -> None:
        super().setUp()
        self.name = self.unique_name('cluster')

    def run_command(self, *argv: str, **variables: str) -> Any:
        """Run a command; return its result."""
        return self.run_openstack(environments.SENLIN, 'cluster', *argv, **variables)

    def json(self, *argv: str) -> Any:
        """Run a command that must succeed; return its JSON output."""
        return self.run_command(*argv, '-f', 'json').json()

    def as_admin(self, *argv: str) -> Any:
        """Run a command as the administrator of the cloud; return its JSON output."""
        with open(self.clouds_file, encoding='utf-8') as file:
            clouds = json.load(file)['clouds']
        endpoint = clouds[case.DEMO]['clustering_endpoint_override']
        admin = {**clouds[case.ADMIN], 'clustering_endpoint_override': endpoint}
        path = self.file('admin.yaml', json.dumps({'clouds': {case.DEMO: admin}}))
        shown = self.run_command(*argv, '-f', 'json', OS_CLIENT_CONFIG_FILE=path)
        return shown.json()

    def print(self, *argv: str, **variables: str) -> str:
        """Run a command that must succeed; return its output."""
        done = self.run_command(*argv, **variables)
        self.assertEqual(0, done.code, str(done))
        return str(done.out)

    def refusal(self, *argv: str) -> str:
        """Run a command that must fail; return its error message."""
        return str(self.run_command(*argv).refusal())

    def run_action(self, *argv: str, status: str = 'SUCCEEDED') -> Any:
        """Run a command that starts an action; return the action at its end."""
        printed = self.print(*argv)
        return self.wait_for_action(printed.rstrip(' .\n').rpartition(' ')[2], status)

    def wait_for_last(self, target: str, kind: str) -> Any:
        """Wait for the last action of a kind on a target; return it."""
        (last, *_) = self.actions_of(target, kind)
        return self.wait_for_action(last['id'])

    def actions_of(self, target: str, kind: str) -> Any:
        """Return the actions of a kind on a target, the last one first."""
        return self.json(
            *('action', 'list', '--full-id', '--sort', 'created_at:desc'),
            *('--filters', f'target={target};action={kind}'),
        )

    def file(self, name: str, text: str) -> str:
        """Write a file; return its path."""
        path = self.home / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    def create_profile(self, name: str, flavor: str = 'm1.nano', tier: str = '') -> str:
        """Create a profile; return its name."""
        path = self.file('profile.yaml', PROFILE.format(flavor=flavor, tier=tier))
        self.json('profile', 'create', '--spec-file', path, name)
        return name

    def create_cluster(self, size: int, *argv: str) -> Any:
        """Create a cluster and its profile; return it with its nodes ACTIVE."""
        self.create_profile(self.name, tier='web')
        made = self.json(
            *('create', '--profile', self.name, '--desired-capacity', str(size)),
            *(*argv, self.name),
        )
        self.wait_for_last(made['id'], 'CLUSTER_CREATE')
        shown = self.json('show', self.name)
        self.assertEqual(('ACTIVE', size), (shown['status'], len(self.members())))
        return self.clustering.get_cluster(made['id'])

    def attach(self, name: str, spec: str) -> str:
        """Create a policy and attach it to the cluster; return its name."""
        name = f'{self.name}-{name}'
        path = self.file('policy.yaml', spec)
        self.json('policy', 'create', '--spec-file', path, name)
        self.run_action('policy', 'attach', '--policy', name, self.name)
        return name

    def members(self) -> dict[str, str]:
        """Return the status of each member of the cluster, by the id of its server."""
        rows = self.json('members', 'list', '--full-id', self.name)
        return {row['physical_id']: row['status'] for row in rows}

    def assert_servers(self, *expected: Any) -> None:
        """Check the servers of the project, and that each is of an ACTIVE member."""
        self.assertEqual(
            dict.fromkeys((server.id for server in self.servers()), 'ACTIVE'),
            self.members(),
        )
        self.assertEqual(sorted(expected), sorted(self.members()))

    def delete_cluster(self) -> None:
        """Delete the cluster; check that nothing is left."""
        self.run_action('delete', '--force', self.name)
        self.assertIn('not found', self.refusal('show', self.name))
        self.assertEqual({}, self.left())


class TestScaling(ClientCase):
    def test_a_cluster_is_created_resized_updated_and_deleted(self) -> None:
        self.check_specifications()
        made = self.create_cluster(1, '--max-size', '5')
        for argv, size in (
            (('expand', '--count', '2'), 3),
            (('shrink',), 2),
            (('resize', '--capacity', '4'), 4),
            (('resize', '--adjustment', '-2'), 2),
            (('resize', '--percentage', '50', '--min-step', '2'), 4),
            # Without --strict, what the limits allow.
            (('resize', '--adjustment', '9'), 5),
            (('resize', '--capacity', '2', '--min-size', '1', '--max-size', '3'), 2),
        ):
            self.run_action(*argv, self.name)
            self.assertEqual(size, len(self.members()), argv)
            self.assert_servers(*(server.id for server in self.servers()))
        refused = self.print('resize', '--capacity', '4', '--strict', self.name)
        self.assertIn('max_size', refused)

        self.check_update(made)
        self.check_scaling_policies()
        self.check_records(made)
        self.delete_cluster()

    def check_specifications(self) -> None:
        """Check the validation of profiles, by their schema and by the cloud."""
        text = PROFILE.format(flavor='m1.nano', tier='web')
        valid = self.json('profile', 'validate', '--spec-file', self.file('a', text))
        unknown = self.refusal(
            *('profile', 'validate', '--spec-file'),
            self.file('b', text.replace('image:', 'picture:')),
        )
        missing = self.refusal(
            *('profile', 'validate', '--spec-file'),
            self.file('c', text.replace('m1.nano', 'nothing')),
        )
        operations = self.print('profile', 'type', 'ops', 'os.nova.server-1.0')

        self.assertEqual('os.nova.server-1.0', valid['type'])
        self.assertIn("Unrecognizable spec item 'picture'", unknown)
        self.assertIn("The specified flavor 'nothing' could not be found.", missing)
        self.assertIn('reboot', operations)

    def check_update(self, made: Any) -> None:
        """Check the update of the servers to another profile."""
        before = sorted(self.members())
        other = self.create_profile(f'{self.name}-new', 'm1.tiny', 'app')
        self.json('profile', 'update', '--metadata', 'version=2', other)
        unchanged = self.refusal('profile', 'update', '--name', other, other)
        self.json('update', '--profile', other, '--metadata', 'by=me', self.name)
        self.wait_for_last(made.id, 'CLUSTER_UPDATE')

        shown = self.json('show', self.name)
        self.assertEqual((other, 'ACTIVE'), (shown['profile_name'], shown['status']))
        self.assert_servers(*before)
        self.assertEqual(
            {('web-server', 'm1.tiny', 'app')},
            {
                (s.name, s.flavor.original_name, s.metadata['tier'])
                for s in self.servers()
            },
        )
        self.assertIn('No property needs an update.', unchanged)

    def check_scaling_policies(self) -> None:
        """Check policies that decide how many nodes are created and deleted."""
        self.run_action('resize', '--max-size', '-1', self.name)
        out = self.attach('out', SCALING.format(way='OUT'))
        self.attach('in', SCALING.format(way='IN'))
        self.run_action('expand', self.name)
        self.assertEqual(4, len(self.members()))
        self.run_action('shrink', self.name)
        self.assertEqual(2, len(self.members()))
        words = ('policy', 'binding', 'update', '--policy', out, '--enabled', 'false')
        self.run_action(*words, self.name)
        self.run_action('expand', self.name)
        bindings = self.json('policy', 'binding', 'list', self.name)
        self.run_action('policy', 'detach', '--policy', out, self.name)

        self.assertEqual(3, len(self.members()))
        self.assertEqual(
            {out: False, f'{self.name}-in': True},
            {row['policy_name']: row['is_enabled'] for row in bindings},
        )
        self.json('policy', 'update', '--name', f'{out}-2', out)
        self.print('policy', 'delete', '--force', f'{out}-2')
        refused = self.refusal('policy', 'delete', '--force', f'{self.name}-in')
        self.assertIn('Failed to delete 1', refused)

    def check_records(self, made: Any) -> None:
        """Check what is shown of actions, events, attributes and services."""
        (created,) = self.actions_of(made.id, 'CLUSTER_CREATE')
        shown = self.json('action', 'show', created['id'])
        done = self.refusal(
            *('action', 'update', '--status', 'CANCELLED', created['id'])
        )
        events = self.json(
            *('event', 'list', '--full-id', '--filters'),
            f'oid={made.id};action=CLUSTER_CREATE',
        )
        event = self.json('event', 'show', events[0]['id'])
        collected = self.json('collect', '--path', 'details.status', self.name)
        clusters = self.json('list', '--filters', f'name={self.name}')
        hidden = self.refusal('service', 'list')
        services = self.as_admin('service', 'list')
        build = self.print('build', 'info')

        self.assertEqual(('SUCCEEDED', made.id), (shown['status'], shown['target_id']))
        self.assertIn('SUCCEEDED', done)
        self.assertEqual(['start', 'end'], [row['status'] for row in events])
        self.assertEqual(self.name, event['obj_name'])
        self.assertEqual(['ACTIVE'] * 3, [row['attr_value'] for row in collected])
        self.assertEqual(
            [(self.name, 'ACTIVE')], [(c['name'], c['status']) for c in clusters]
        )
        self.assertIn(('here', 'up'), {(s['host'], s['state']) for s in services})
        self.assertIn("Policy doesn't allow services:index", hidden)
        self.assertIn('revision', build)
        for argv, text in (
            (('list', '--sort', 'colour'), "Unsupported sort key 'colour' for 'sort'."),
            (('event', 'list', '--filters', 'action=X'), 'Field value X is invalid'),
        ):
            self.assertIn(text, self.refusal(*argv))


class TestHealth(ClientCase):
    def test_servers_that_were_deleted_or_stopped_by_others_are_replaced(self) -> None:
        made = self.create_cluster(2)
        first, second = self.servers_of(made)
        self.user.compute.delete_server(first)
        self.user.compute.wait_for_delete(first, wait=TIMEOUT)
        self.run_action('check', self.name)
        self.assertEqual(['ACTIVE', 'ERROR'], sorted(self.statuses(made)))
        self.run_action('recover', self.name)
        third, _ = self.servers_of(made)
        self.assert_servers(second.id, third.id)

        self.user.compute.stop_server(second)
        self.user.compute.wait_for_server(second, status='SHUTOFF', wait=TIMEOUT)
        self.run_action('recover', '--check', 'true', self.name)
        _, fourth = self.servers_of(made)
        self.assertNotEqual(second.id, fourth.id)
        self.assert_servers(third.id, fourth.id)

        self.check_operations(made)
        self.check_script(made)

        # Without a request for a recovery.
        policy = self.attach('health', HEALTH)
        self.user.compute.delete_server(third)
        wait_until(
            lambda: (
                third.id not in self.members()
                and self.statuses(made) == ['ACTIVE', 'ACTIVE']
            ),
            self.describe,
            TIMEOUT,
        )
        wait_until(self.can_detach(policy), self.describe, TIMEOUT)
        self.delete_cluster()

    def can_detach(self, policy: str) -> Any:
        """Return a function that detaches a policy; False while others recover."""

        def detach() -> bool:
            printed = self.print('policy', 'detach', '--policy', policy, self.name)
            if 'Request error' in printed:
                return False
            self.wait_for_action(printed.rpartition(' ')[2].strip())
            return True

        return detach

    def check_operations(self, made: Any) -> None:
        """Check operations on all servers, with and without parameters."""
        ids = sorted(self.members())
        for operation, parameters, status in (
            ('reboot', ('--params', 'type=HARD'), 'ACTIVE'),
            ('change_password', ('--params', 'admin_pass=secret-word'), 'ACTIVE'),
            ('stop', (), 'SHUTOFF'),
            ('start', (), 'ACTIVE'),
        ):
            action = self.run_action(
                'op', '--operation', operation, *parameters, self.name
            )
            self.assertEqual([status] * 2, [s.status for s in self.servers_of(made)])
            self.assertNotIn('secret-word', self.dump(action.to_dict()))
        self.assert_servers(*ids)
        reboots = [
            one['action']
            for one in self.user.compute.server_actions(self.servers_of(made)[0])
        ]
        self.assertIn('reboot', reboots)

    def check_script(self, made: Any) -> None:
        """Check which servers the client would log in to for `cluster run`."""
        ssh = self.home / 'bin' / 'ssh'
        ssh.parent.mkdir()
        ssh.write_text(SSH)
        ssh.chmod(0o755)
        printed = self.print(
            *('run', '--address-type', 'fixed', '--user', 'debian'),
            *('--script', self.file('script.sh', 'uptime'), self.name),
            PATH=f'{ssh.parent}:{os.environ["PATH"]}',
        )

        for server in self.servers_of(made):
            ((address, *_),) = server.addresses.values()
            self.assertIn(f'debian@{address["addr"]} uptime', printed)
        self.assertEqual(2, printed.count('SUCCEEDED (0)'))


class TestNodes(ClientCase):
    def test_nodes_are_created_adopted_operated_and_become_members(self) -> None:
        made = self.create_cluster(0)
        compute = self.user.compute
        found = compute.create_server(
            name=self.unique_name('server'),
            image_id=self.user.image.find_image('tiny').id,
            flavor_id=compute.find_flavor('m1.nano').id,
            networks=[{'uuid': self.user.network.find_network('shared').id}],
        )
        compute.wait_for_server(found, wait=TIMEOUT)
        new, old = f'{self.name}-new', f'{self.name}-old'
        self.json('node', 'create', '--profile', self.name, '--role', 'db', new)
        words = ('--identity', found.id, '--type', 'os.nova.server-1.0')
        preview = self.json('node', 'adopt', '--preview', *words)
        self.json('node', 'adopt', *words, '--name', old)
        for name, kind in ((new, 'NODE_CREATE'), (old, 'NODE_CHECK')):
            self.wait_for_last(self.json('node', 'show', name)['id'], kind)

        self.check_node(new)
        self.run_action('members', 'add', '--nodes', old, self.name)
        self.assertEqual({found.id: 'ACTIVE'}, self.members())
        self.run_action('members', 'replace', '--nodes', f'{old}={new}', self.name)
        server = self.json('node', 'show', new)['physical_id']
        self.assertEqual({server: 'ACTIVE'}, self.members())
        self.assertEqual(made.id, compute.get_server(server).metadata['cluster_id'])
        self.run_action(
            *('members', 'del', '--nodes', new, '--destroy-after-deletion', 'true'),
            self.name,
        )
        self.assertEqual({}, self.members())
        rows = self.json('node', 'list', '--full-id')
        self.assertEqual(
            [(old, found.id)], [(r['name'], r['physical_id']) for r in rows]
        )
        self.run_action('node', 'delete', '--force', old)

        self.assertIn('m1.nano', str(preview))
        self.assertEqual([], self.json('node', 'list'))
        self.delete_cluster()

    def check_node(self, name: str) -> None:
        """Check, operate, recover and update a node."""
        node = self.json('node', 'show', '--details', name)
        server = node['physical_id']
        self.run_action('node', 'check', name)
        # The command prints the action, and then fails itself.
        done = self.run_command(
            *('node', 'op', '--operation', 'reboot', '--params', 'type=SOFT', name)
        )
        self.wait_for_action(done.out.split()[-1])
        self.user.compute.stop_server(server)
        self.user.compute.wait_for_server(
            self.user.compute.get_server(server), status='SHUTOFF', wait=TIMEOUT
        )
        self.run_action('node', 'recover', '--check', 'true', name)
        recovered = self.json('node', 'show', name)
        other = self.create_profile(f'{name}-profile', tier='db')
        self.json('node', 'update', '--profile', other, '--tainted', 'false', name)
        self.wait_for_last(node['id'], 'NODE_UPDATE')
        shown = self.json('node', 'show', name)

        self.assertIn(server, node['details'])
        self.assertEqual('db', node['role'])
        self.assertNotEqual(server, recovered['physical_id'])
        self.assertEqual(('ACTIVE', other), (shown['status'], shown['profile_name']))
        after = self.user.compute.get_server(recovered['physical_id'])
        self.assertEqual('db', after.metadata['tier'])


class TestPolicies(ClientCase):
    def test_servers_are_spread_updated_one_by_one_and_created_by_a_webhook(
        self,
    ) -> None:
        made = self.create_cluster(0)
        self.attach('affinity', AFFINITY)
        zones = self.attach('zones', ZONES)
        self.run_action('expand', '--count', '2', self.name)

        servers = [self.admin.compute.get_server(uuid) for uuid in self.members()]
        self.assertEqual(
            {('compute-1', 'nova'), ('compute-2', 'nova')},
            {(s.compute_host, s.availability_zone) for s in servers},
        )
        (group,) = self.user.compute.server_groups()
        self.assertEqual(set(self.members()), set(group.member_ids))

        self.check_cancellation(made)
        for policy in (zones, f'{self.name}-affinity', f'{self.name}-batch'):
            self.run_action('policy', 'detach', '--policy', policy, self.name)
        self.check_receivers(made)
        self.delete_cluster()

    def check_cancellation(self, made: Any) -> None:
        """Cancel an update after its first server."""

        def tiers() -> list[str]:
            return sorted(server.metadata['tier'] for server in self.servers())

        self.attach('batch', BATCH)
        other = self.create_profile(f'{self.name}-new', tier='app')
        self.json('update', '--profile', other, self.name)
        wait_until(lambda: tiers() == ['app', 'web'], self.describe, TIMEOUT)
        (action,) = self.actions_of(made.id, 'CLUSTER_UPDATE')
        self.json('action', 'update', '--status', 'CANCELLED', action['id'])
        self.wait_for_action(action['id'], 'CANCELLED')

        self.assertEqual(['app', 'web'], tiers())
        self.assert_servers(*(server.id for server in self.servers()))

    def check_receivers(self, made: Any) -> None:
        """Call the webhook of a receiver, without a token of keystone."""
        size = len(self.members())
        words = ('--cluster', self.name, '--action', 'CLUSTER_SCALE_OUT')
        shown = self.json('receiver', 'create', *words, f'{self.name}-shown')
        # `openstack cluster` shows the receiver by a second request, which has no URL.
        url = self.clustering.create_receiver(
            name=self.name,
            type='webhook',
            cluster_id=self.name,
            action='CLUSTER_SCALE_OUT',
            params={'count': 2},
        ).channel['alarm_url']
        called = requests.post(url, timeout=TIMEOUT)
        self.assertEqual(202, called.status_code, called.text)
        self.wait_for_action(called.json()['action'])
        rows = self.json('receiver', 'list')
        self.print('receiver', 'delete', '--force', self.name)
        gone = requests.post(url, timeout=TIMEOUT)

        self.assertIn('token=***', str(shown['channel']))
        self.assertEqual(
            {self.name, f'{self.name}-shown'}, {row['name'] for row in rows}
        )
        self.assertEqual(size + 2, len(self.members()))
        self.assertEqual(size + 2, len(self.servers()))
        self.assertEqual(404, gone.status_code)
