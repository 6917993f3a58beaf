"""The commands on clusters with the real API, from a profile to the deletion."""

import json

from tests.functional.cli.test_real_api import RealApiCase
from tests.functional.plugins.http_server import Server

PROFILE = """\
type: os.heat.test_resource
version: "1.0"
properties: {value: hello}
"""
OTHER = """\
type: os.heat.test_resource
version: "1.0"
properties: {value: bye}
"""
BROKEN = """\
type: os.heat.test_resource
version: "1.0"
properties: {fail: true}
"""
DELETION = """\
type: senlin.policy.deletion
version: "1.1"
properties: {criteria: OLDEST_FIRST}
"""
HOOKED = """\
type: senlin.policy.deletion
version: "1.1"
properties:
  hooks: {{type: webhook, params: {{url: "{url}"}}, timeout: 3600}}
"""


class RealClusterCase(RealApiCase):
    def setUp(self):
        super().setUp()
        path = self.file(PROFILE, 'profile.yaml')
        self.succeed('profile', 'create', 'server', '--spec', path)

    def call_and_wait(self, *argv):
        """Run a command that waits; return the exit code and its messages."""
        code, _, err = self.call(*argv, '--wait')
        return code, err

    def create_cluster(self, name, size):
        """Create a cluster with this size, and wait for it; return it."""
        code, messages = self.call_and_wait(
            *('cluster', 'create', name, '--profile', 'server'),
            *('--desired-capacity', str(size)),
        )
        self.assertEqual(0, code, messages)
        return self.rows('cluster', 'show', name)

    def node_statuses(self, name):
        """Return the status of each node of a cluster, by index."""
        rows = self.rows('cluster', 'members', 'list', name)
        return {row['Index']: row['Status'] for row in rows}


class ClusterLifecycleTest(RealClusterCase):
    """A cluster from its profile to its end."""

    def test_a_cluster_is_created_scaled_checked_updated_and_deleted(self):
        made = self.create_cluster('life', 2)
        out, _ = self.call_and_wait('cluster', 'scale', 'out', 'life')
        larger = self.node_statuses('life')
        self.call_and_wait('cluster', 'resize', 'life', '--capacity', '1')
        smaller = self.node_statuses('life')
        checked, messages = self.call_and_wait('cluster', 'check', 'life')
        path = self.file(OTHER, 'other.yaml')
        self.succeed('profile', 'create', 'other', '--spec', path)
        updated, _ = self.call_and_wait(
            'cluster', 'update', 'life', '--profile', 'other'
        )
        shown = self.rows('cluster', 'show', 'life')
        deleted, gone = self.call_and_wait('cluster', 'delete', 'life', '--yes')

        self.assertEqual(('ACTIVE', 2), (made['Status'], len(made['Nodes'])))
        self.assertEqual((0, dict.fromkeys((1, 2, 3), 'ACTIVE')), (out, larger))
        self.assertEqual(1, len(smaller))
        self.assertEqual(0, checked)
        self.assertIn('life CLUSTER_CHECK end', messages)
        self.assertEqual((0, 'other'), (updated, shown['Profile Name']))
        self.assertEqual(0, deleted)
        self.assertIn('life CLUSTER_DELETE end Deletion succeeded', gone)
        self.assertEqual([], self.rows('cluster', 'list'))
        self.assertEqual([], self.rows('node', 'list'))

    def test_recover_replaces_a_node_marked_as_unhealthy(self):
        self.create_cluster('marked', 2)
        (first, _) = self.rows('cluster', 'members', 'list', 'marked')

        marked = self.rows('node', 'mark-unhealthy', first['ID'], 'it is slow')
        self.call_and_wait('cluster', 'check', 'marked')
        found = self.node_statuses('marked')
        code, _ = self.call_and_wait('cluster', 'recover', 'marked')

        self.assertEqual(
            ('ERROR', 'it is slow'), (marked['Status'], marked['Status Reason'])
        )
        self.assertEqual(['ACTIVE', 'ERROR'], sorted(found.values()))
        self.assertEqual(0, code)
        self.assertEqual({1: 'ACTIVE', 2: 'ACTIVE'}, self.node_statuses('marked'))

    def test_nodes_are_created_added_replaced_and_removed(self):
        self.create_cluster('team', 0)
        for name in ('a', 'b'):
            code, messages = self.call_and_wait(
                'node', 'create', name, '--profile', 'server'
            )
            self.assertEqual(0, code, messages)

        added, _ = self.call_and_wait('cluster', 'members', 'add', 'team', 'a')
        replaced, _ = self.call_and_wait('cluster', 'members', 'replace', 'team', 'a=b')
        names = [row['Name'] for row in self.rows('node', 'list', '--cluster', 'team')]
        self.call_and_wait('cluster', 'members', 'del', 'team', 'b')
        self.call_and_wait('node', 'update', 'a', '--name', 'c', '--tainted')
        left = {row['Name']: row['Tainted'] for row in self.rows('node', 'list')}
        deleted, _ = self.call_and_wait('node', 'delete', 'c')

        self.assertEqual((0, 0, 0), (added, replaced, deleted))
        self.assertEqual(['b'], names)
        self.assertEqual({'b': False, 'c': True}, left)

    def test_lifecycle_complete_ends_the_wait_of_a_deletion(self):
        server = self.useFixture(Server(lambda exchange, _: exchange.answer()))
        self.create_cluster('hooked', 1)
        path = self.file(HOOKED.format(url=server.url), 'hooked.yaml')
        self.succeed('policy', 'create', 'notified', '--spec', path)
        self.call_and_wait('cluster', 'policy', 'attach', 'hooked', 'notified')
        scaled = self.rows('cluster', 'scale', 'in', 'hooked')
        server.wait_until_received()
        token = json.loads(server.received[0].body)['lifecycle_action_token']
        waits = self.node_statuses('hooked')

        hook = self.rows('cluster', 'lifecycle', 'complete', 'hooked', token)

        self.assertEqual({1: 'ACTIVE'}, waits)
        self.assertEqual((token, 'SUCCEEDED'), (hook['ID'], hook['Status']))
        self.call_and_wait('cluster', 'check', 'hooked', '--queue')
        ended = self.rows('cluster', 'action', 'show', scaled['ID'])
        self.assertEqual(
            ('SUCCEEDED', {}), (ended['Status'], self.node_statuses('hooked'))
        )
        code, _, message = self.call(
            *('cluster', 'lifecycle', 'complete', 'hooked', token)
        )
        self.assertNotEqual(0, code)
        self.assertIn('waits for no lifecycle hook', message)


class PoliciesReceiversAndActionsTest(RealClusterCase):
    """Policies, receivers, actions, events and types."""

    def test_a_policy_is_attached_and_detached(self):
        self.create_cluster('ruled', 1)
        path = self.file(DELETION, 'deletion.yaml')
        made = self.rows('policy', 'create', 'oldest', '--spec', path)

        attached, messages = self.call_and_wait(
            'cluster', 'policy', 'attach', 'ruled', 'oldest'
        )
        self.call_and_wait(
            'cluster', 'policy', 'update', 'ruled', 'oldest', '--disable'
        )
        (listed,) = self.rows('cluster', 'policy', 'list', 'ruled')
        bound = self.rows('cluster', 'policy', 'show', 'ruled', 'oldest')
        refused = self.fail('policy', 'delete', 'oldest')
        detached, _ = self.call_and_wait(
            'cluster', 'policy', 'detach', 'ruled', 'oldest'
        )
        self.succeed('policy', 'delete', 'oldest')

        self.assertEqual((0, 0), (attached, detached), messages)
        self.assertEqual('senlin.policy.deletion-1.1', made['Type'])
        self.assertEqual(('oldest', False), (listed['Policy Name'], listed['Enabled']))
        self.assertEqual(400, bound['Priority'])
        self.assertEqual(1, refused[0])

    def test_receivers_actions_and_events_are_shown(self):
        cluster = self.create_cluster('notified', 1)
        made = self.rows(
            *('receiver', 'create', 'more', '--cluster', 'notified'),
            *('--action', 'CLUSTER_SCALE_OUT', '--param', 'count=2'),
        )
        changed = self.rows('receiver', 'update', 'more', '--param', 'count=1')
        self.succeed('receiver', 'delete', 'more')

        self.assertIn('/clustering/v1/webhooks/', made['Channel']['alarm_url'])
        self.assertEqual(
            ({'count': 2}, {'count': 1}), (made['Params'], changed['Params'])
        )
        self.assertEqual([], self.rows('receiver', 'list'))
        rows = self.rows('cluster', 'action', 'list', '--cluster', cluster['ID'])
        (create,) = (row for row in rows if row['Action'] == 'CLUSTER_CREATE')
        shown = self.rows('cluster', 'action', 'show', create['ID'])
        again = self.fail('cluster', 'action', 'signal', create['ID'], 'CANCEL')
        events = self.rows('cluster', 'event', 'list', '--cluster', 'notified')

        self.assertEqual(
            ['CLUSTER_CREATE', 'NODE_CREATE'], sorted(row['Action'] for row in rows)
        )
        self.assertEqual(
            ('SUCCEEDED', cluster['ID']), (shown['Status'], shown['Cluster ID'])
        )
        self.assertEqual(1, again[0])
        self.assertEqual(
            [
                ('CLUSTER_CREATE', 'start'),
                ('NODE_CREATE', 'start'),
                ('NODE_CREATE', 'end'),
                ('CLUSTER_CREATE', 'end'),
            ],
            [(row['Action'], row['Status']) for row in events],
        )

    def test_a_scheduled_action_is_cancelled(self):
        made = self.create_cluster('later', 0)

        scheduled = self.rows(
            *('cluster', 'action', 'create', 'CLUSTER_CHECK', 'later'),
            *('--not-before', '2100-01-01T00:00:00Z'),
        )
        cancelled = self.rows('cluster', 'action', 'signal', scheduled['ID'], 'CANCEL')

        self.assertEqual(made['ID'], scheduled['Target'])
        self.assertEqual('2100-01-01T00:00:00Z', scheduled['Not Before'])
        self.assertEqual('CANCELLED', cancelled['Status'])

    def test_installed_types_and_services_are_listed(self):
        profiles = {row['Name'] for row in self.rows('profile', 'type', 'list')}
        policies = {row['Name'] for row in self.rows('policy', 'type', 'list')}
        one = self.rows('profile', 'type', 'show', 'local.process-1.0')
        operations = self.rows('profile', 'type', 'ops', 'local.process-1.0')
        services = self.rows('cluster', 'service', 'list')

        self.assertLessEqual({'local.process', 'os.heat.stack'}, profiles)
        self.assertLessEqual(
            {'senlin.policy.scaling', 'senlin.policy.health'}, policies
        )
        self.assertIn('argv', one['Schema'])
        self.assertEqual(['reboot'], [row['Operation'] for row in operations])
        self.assertEqual(['up'], [row['State'] for row in services])

    def test_failures_and_errors_of_the_api_are_reported(self):
        self.succeed('profile', 'create', 'broken', '--spec', self.file(BROKEN))
        code, messages = self.call_and_wait(
            'node', 'create', 'bad', '--profile', 'broken'
        )

        self.assertEqual(1, code)
        self.assertIn('watcherlite: the action node_create_', messages)
        self.assertIn(' is FAILED: ', messages)
        path = self.file('type: no.such.sample\nversion: "1.0"\nproperties: {}\n')

        self.assertEqual(
            (2, "The cluster 'missing' could not be found."),
            self.fail('cluster', 'show', 'missing'),
        )
        self.assertEqual(2, self.fail('profile', 'validate', '--spec', path)[0])
        self.assertEqual(
            2, self.fail('cluster', 'create', 'x', '--profile', 'unknown')[0]
        )
        self.assertEqual(2, self.fail('cluster', 'list', '--sort', 'colour')[0])
