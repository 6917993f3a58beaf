"""Tests of the Senlin client and its output."""

from tests.acceptance.clients.senlin_case import PROFILE

DELETION = """\
    type: senlin.policy.deletion
    version: "1.1"
    properties: {criteria: OLDEST_FIRST}
"""
OTHER = PROFILE.replace('hello', 'changed')


class ScalingTests:
    """Tests of operations on clusters; a mixin that precedes `SenlinCase`."""

    def test_a_cluster_is_created_updated_and_deleted(self):
        self.create('initial', 2)
        other = self.profile('changed-profile', OTHER)
        shown = self.json('show', 'initial')
        collected = self.json('collect', '--path', 'details.output', 'initial')
        updated = self.json(
            'update', '--name', 'updated', '--profile', other, 'initial'
        )
        self.wait_until_idle(shown['id'])
        later = self.json('collect', '--path', 'details.output', 'updated')
        deleted = self.check_output('delete', '--force', 'updated')
        self.wait_for_end(deleted.split()[-1])
        missing = self.refusal('show', 'updated')

        self.assertEqual(
            ('initial', 'ACTIVE', 2, 'profile-of-initial'),
            tuple(
                shown[key]
                for key in ('name', 'status', 'desired_capacity', 'profile_name')
            ),
        )
        self.assertEqual(shown['id'], updated['id'])
        self.assertEqual(['hello'] * 2, [row['attr_value'] for row in collected])
        self.assertEqual(['changed'] * 2, [row['attr_value'] for row in later])
        self.assertIn('updated', missing)

    def test_a_cluster_grows_and_shrinks(self):
        self.create('resized', 1, '--max-size', '4')

        out = self.run_action('expand', '--count', '2', 'resized')
        larger = self.members('resized')
        back = self.run_action('shrink', 'resized')
        exact = self.run_action('resize', '--capacity', '4', 'resized')
        # The command prints the message of the API, and exits with success.
        refused = self.check_output('resize', '--capacity', '5', '--strict', 'resized')

        self.assertEqual(
            ['SUCCEEDED'] * 3, [action['status'] for action in (out, back, exact)]
        )
        self.assertEqual(dict.fromkeys((1, 2, 3), 'ACTIVE'), larger)
        self.assertEqual(4, len(self.members('resized')))
        self.assertIn('max_size', refused)

    def test_a_cluster_is_checked_recovered_and_operated(self):
        self.create('recovered', 2)

        checked = self.run_action('check', 'recovered')
        recovered = self.run_action('recover', '--check', 'true', 'recovered')
        operated = self.run_action('op', '--operation', 'reboot', 'recovered')

        self.assertEqual(
            [
                ('CLUSTER_CHECK', 'SUCCEEDED'),
                ('CLUSTER_RECOVER', 'SUCCEEDED'),
                ('CLUSTER_OPERATION', 'SUCCEEDED'),
            ],
            [(a['action'], a['status']) for a in (checked, recovered, operated)],
        )
        self.assertEqual({1: 'ACTIVE', 2: 'ACTIVE'}, self.members('recovered'))

    def test_actions_and_events_are_listed(self):
        self.create('listed-actions', 1)
        cluster = self.ask('GET', '/clusters/listed-actions')['cluster']['id']

        rows = self.json(
            'action', 'list', '--full-id', '--filters', f'target={cluster}'
        )
        shown = self.json('action', 'show', rows[0]['id'])
        refused = self.refusal(
            *('action', 'update', '--status', 'CANCELLED', rows[0]['id'])
        )
        events = self.json('event', 'list', '--full-id', '--filters', f'oid={cluster}')
        event = self.json('event', 'show', events[0]['id'])

        self.assertEqual(['CLUSTER_CREATE'], [row['action'] for row in rows])
        self.assertEqual('SUCCEEDED', shown['status'])
        self.assertIn('SUCCEEDED', refused)
        self.assertEqual(
            [('CLUSTER_CREATE', 'start'), ('CLUSTER_CREATE', 'end')],
            [(row['action'], row['status']) for row in events],
        )
        self.assertEqual('listed-actions', event['obj_name'])


class ClusterTests:
    """Tests of the other commands; a mixin that precedes `SenlinCase`."""

    def test_nodes_are_added_replaced_and_removed(self):
        profile = self.create('members', 0)
        for name in ('member-a', 'member-b'):
            self.check_output('node', 'create', '--profile', profile, name)
            node = self.ask('GET', f'/nodes/{name}')['node']['id']
            (action,) = self.ask('GET', f'/actions?target={node}')['actions']
            self.wait_for_end(action['id'])

        self.run_action('members', 'add', '--nodes', 'member-a', 'members')
        self.run_action('members', 'replace', '--nodes', 'member-a=member-b', 'members')
        (member,) = self.json('members', 'list', 'members')
        self.run_action('members', 'del', '--nodes', 'member-b', 'members')

        self.assertEqual(('member-b', 'ACTIVE'), (member['name'], member['status']))
        self.assertEqual([], self.json('members', 'list', 'members'))

    def test_a_node_without_a_cluster(self):
        profile = self.profile('single')
        self.json('node', 'create', '--profile', profile, '--role', 'db', 'single-node')
        node = self.ask('GET', '/nodes/single-node')['node']['id']
        (created,) = self.ask('GET', f'/actions?target={node}')['actions']
        self.wait_for_end(created['id'])

        checked = self.run_action('node', 'check', 'single-node')
        recovered = self.run_action('node', 'recover', '--check', 'true', 'single-node')
        # The command prints the result, and then fails itself.
        operated = self.command('node', 'op', '--operation', 'reboot', 'single-node')
        self.wait_for_end(operated.out.split()[-1])
        shown = self.json('node', 'show', '--details', 'single-node')
        self.json(
            'node', 'update', '--name', 'renamed', '--tainted', 'true', 'single-node'
        )
        (update,) = self.ask('GET', f'/actions?target={node}&action=NODE_UPDATE')[
            'actions'
        ]
        self.wait_for_end(update['id'])
        rows = self.json('node', 'list', '--filters', 'name=renamed')
        deleted = self.check_output('node', 'delete', '--force', 'renamed')
        self.wait_for_end(deleted.split()[-1])

        self.assertEqual(
            [('NODE_CHECK', 'SUCCEEDED'), ('NODE_RECOVER', 'SUCCEEDED')],
            [(a['action'], a['status']) for a in (checked, recovered)],
        )
        self.assertEqual(('db', 'ACTIVE'), (shown['role'], shown['status']))
        self.assertIn('hello', str(shown['details']))
        self.assertEqual([True], [row['tainted'] for row in rows])
        self.assertIn('renamed', self.refusal('node', 'show', 'renamed'))

    def test_an_existing_resource_is_adopted(self):
        words = ('--identity', 'found', '--type', 'os.heat.test_resource-1.0')

        preview = self.json('node', 'adopt', '--preview', *words)
        adopted = self.json('node', 'adopt', *words, '--name', 'adopted')

        self.assertIn('os.heat.test_resource', str(preview))
        self.assertEqual('adopted', adopted['name'])

    def test_a_policy_is_attached_and_detached(self):
        self.create('governed', 1)
        path = self.file('deletion.yaml', DELETION)
        valid = self.json('policy', 'validate', '--spec-file', path)
        self.json('policy', 'create', '--spec-file', path, 'oldest')

        self.run_action('policy', 'attach', '--policy', 'oldest', 'governed')
        words = ('policy', 'binding', 'update', '--policy', 'oldest')
        self.run_action(*words, '--enabled', 'false', 'governed')
        (listed,) = self.json('policy', 'binding', 'list', 'governed')
        shown = self.json('policy', 'binding', 'show', '--policy', 'oldest', 'governed')
        refused = self.refusal('policy', 'delete', '--force', 'oldest')
        self.run_action('policy', 'detach', '--policy', 'oldest', 'governed')
        self.json('policy', 'update', '--name', 'older', 'oldest')
        found = self.json('policy', 'show', 'older')
        names = [row['name'] for row in self.json('policy', 'list')]
        self.check_output('policy', 'delete', '--force', 'older')

        self.assertEqual('senlin.policy.deletion-1.1', valid['type'])
        self.assertEqual(
            ('oldest', False), (listed['policy_name'], listed['is_enabled'])
        )
        self.assertFalse(shown['is_enabled'])
        self.assertIn('Failed to delete 1', refused)
        self.assertEqual('older', found['name'])
        self.assertIn('older', names)
        self.assertIn('older', self.refusal('policy', 'show', 'older'))

    def test_a_profile_and_its_type(self):
        path = self.file('spec.yaml', PROFILE)
        valid = self.json('profile', 'validate', '--spec-file', path)
        self.check_output('profile', 'create', '--spec-file', path, 'first')

        self.json('profile', 'update', '--name', 'second', 'first')
        self.json('profile', 'update', '--metadata', 'tier=web', 'second')
        shown = self.json('profile', 'show', 'second')
        names = [row['name'] for row in self.json('profile', 'list')]
        types = self.json('profile', 'type', 'list')
        one = self.check_output('profile', 'type', 'show', 'os.heat.test_resource-1.0')
        operations = self.check_output(
            'profile', 'type', 'ops', 'os.heat.test_resource-1.0'
        )
        self.check_output('profile', 'delete', '--force', 'second')

        self.assertEqual('os.heat.test_resource-1.0', valid['type'])
        self.assertEqual('second', shown['name'])
        self.assertIn('web', str(shown['metadata']))
        self.assertIn('second', names)
        self.assertIn('local.process', {row['name'] for row in types})
        self.assertIn('wait_secs', one)
        self.assertIn('reboot', operations)
        self.assertIn('second', self.refusal('profile', 'show', 'second'))

    def test_a_receiver_requests_an_action_for_callers_with_its_url(self):
        self.create('receiving', 1)
        words = ('--cluster', 'receiving', '--action', 'CLUSTER_SCALE_OUT')
        created = self.json('receiver', 'create', *words, 'more')
        self.json('receiver', 'update', '--params', 'count=2', 'more')
        shown = self.json('receiver', 'show', 'more')
        self.assertIn('&token=***', str(shown['channel']))
        rows = self.json('receiver', 'list')

        # The client shows what it reads after the request, which no longer has the
        # token.
        renewed = self.ask(
            'PATCH',
            f'/receivers/{created["id"]}',
            json={'receiver': {'renew_token': True}},
        )
        url = renewed['receiver']['channel']['alarm_url']
        triggered = self.ask('POST', url.partition('/v1')[2])
        self.wait_for_end(triggered['action'])
        self.check_output('receiver', 'delete', '--force', 'more')

        self.assertIn('count', str(shown['params']))
        self.assertEqual(
            ['more'], [r['name'] for r in rows if r['id'] in created['id']]
        )
        self.assertEqual(3, len(self.members('receiving')))
        self.assertIn('more', self.refusal('receiver', 'show', 'more'))

    def test_catalogs_are_listed(self):
        policies = {row['name'] for row in self.json('policy', 'type', 'list')}
        one = self.check_output('policy', 'type', 'show', 'senlin.policy.deletion-1.1')
        services = self.json('service', 'list')
        build = self.check_output('build', 'info')

        self.assertLessEqual(
            {f'senlin.policy.{name}' for name in ('scaling', 'health', 'loadbalance')},
            policies,
        )
        self.assertIn('criteria', one)
        self.assertIn('up', {row['state'] for row in services})
        self.assertIn('revision', build)

    def test_pages_of_a_list_are_followed(self):
        for name in ('page-a', 'page-b', 'page-c'):
            self.profile(name)

        rows = self.json('profile', 'list', '--limit', '1', '--sort', 'name')

        names = [row['name'] for row in rows if row['name'].startswith('page-')]
        self.assertEqual(['page-a', 'page-b', 'page-c'], names)

    def test_refusals_have_the_texts_of_senlin(self):
        for _ in range(2):
            self.profile('duplicate')
        self.profile('same')
        spec = PROFILE.replace('value:', 'colour:')
        words = ('profile', 'validate', '--spec-file')

        for refused, text in (
            (
                ('profile', 'show', 'duplicate'),
                "Multiple results found matching the query criteria 'duplicate'. "
                'Please be more specific',
            ),
            (('show', 'missing'), 'Cluster not found: missing'),
            (('list', '--sort', 'colour'), "Unsupported sort key 'colour' for 'sort'."),
            (
                ('event', 'list', '--filters', 'action=NODE_CREAT'),
                'Field value NODE_CREAT is invalid',
            ),
            (
                ('profile', 'update', '--name', 'same', 'same'),
                'No property needs an update.',
            ),
            (
                (*words, self.file('unknown.yaml', spec)),
                "Unrecognizable spec item 'colour'",
            ),
        ):
            with self.subTest(refused=refused):
                self.assertIn(text, self.refusal(*refused))
