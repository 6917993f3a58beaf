"""Resource types of the clustering service."""

from typing import ClassVar

from openstack import exceptions as sdk

from tests.unit.plugins.openstack.resources import case
from tests.unit.plugins.openstack.resources.fake_cloud import FakeObject, FakeService
from tests.unit.plugins.openstack.resources.test_services import FakeResponse
from watcherlite import exceptions
from watcherlite.plugins.openstack.resources import clustering

CLUSTER = '11111111-2222-3333-4444-555555555555'
OTHER = '22222222-2222-3333-4444-555555555555'
PROFILE = '33333333-2222-3333-4444-555555555555'
URL = {'alarm_url': 'http://host/webhooks/1/trigger?token=SECRET'}


class FakeClustering(FakeService):
    """The clustering service: each change is an action.

    :ivar bindings: (cluster, policy) -> whether it is enabled
    :ivar requests: the changes, in order
    :ivar results: the status and the reason of the next actions
    """

    def __init__(self):
        super().__init__()
        self.bindings = {}
        self.requests = []
        self.results = []
        self.defaults = {
            'cluster': {'status': 'ACTIVE'},
            'node': {'status': 'ACTIVE'},
            'receiver': {'channel': URL},
        }

    def _started(self, *request):
        self.requests.append(request)
        return {'action': 'an-action'}

    def get_action(self, action):
        status, reason = self.results.pop(0) if self.results else ('SUCCEEDED', '')
        record = {'status': status, 'status_reason': reason, 'action': 'CLUSTER_X'}
        return FakeObject(record)

    def patch(self, path, json, **options):
        plural, physical_id = path.strip('/').split('/')
        ((noun, body),) = json.items()
        self.objects[noun][physical_id].update(body)
        self._started('patch', plural, body)
        is_action = noun in ('cluster', 'node')
        headers = {'Location': '/actions/an-action'} if is_action else {}
        return FakeResponse(202, {}, headers)

    def post(self, path, json):
        """Start an action on a cluster."""
        cluster = path.split('/')[2]
        ((name, values),) = json.items()
        pair = cluster, values.get('policy_id')
        if self.failures[name]:
            self.requests.append((name,))
            return self.failures[name].pop(0)
        if name == 'resize':
            found = self._started('resize', values)
        elif name == 'policy_attach':
            found = self._started('attach', *pair, values['enabled'])
            self.bindings[pair] = values['enabled']
        elif name == 'policy_update':
            found = self._started('change', *pair, values['enabled'])
            self.bindings[pair] = values['enabled']
        elif name == 'policy_detach':
            found = self._started('detach', *pair)
            del self.bindings[pair]
        else:
            added = name == 'add_nodes'
            node = self.objects['node'][values['nodes'][0]]
            node['cluster_id'] = cluster if added else ''
            found = self._started('add' if added else 'remove', cluster)
        return FakeResponse(202, found)

    def get_cluster_policy(self, policy, cluster):
        if (cluster, policy) not in self.bindings:
            raise sdk.NotFoundException('not found')
        return FakeObject({'is_enabled': self.bindings[cluster, policy]})

    def cluster_policies(self, cluster):
        return [
            FakeObject({'policy_id': policy, 'enabled': enabled})
            for (one, policy), enabled in self.bindings.items()
            if one == cluster
        ]


class ClusteringCase(case.ResourceCase):
    def setUp(self):
        super().setUp()
        self.service = self.connection.clustering = FakeClustering()

    def cluster(self, **properties):
        """Return a created cluster."""
        return self.created(
            clustering.Cluster, {'profile': PROFILE, 'min_size': 0, **properties}
        )

    def updated(self, run, **properties):
        """Update a resource; return the requests."""
        self.service.requests.clear()
        settled = run.update(properties)
        self.assertEqual('COMPLETE', settled.status, settled.reason)
        return self.service.requests


class TestClusters(ClusteringCase):
    def test_a_cluster_is_created_with_its_policies(self):
        policy = self.service.create_policy(name='p').id

        run = self.cluster(
            name='web', policies=[{'policy': 'p', 'enabled': False}], metadata={'a': 1}
        )

        self.assertEqual(
            [('attach', run.physical_id, policy, False)], self.service.requests
        )
        record = self.service.objects['cluster'][run.physical_id]
        self.assertEqual(
            ('web', PROFILE, 0, 0, -1),
            tuple(
                record[name]
                for name in (
                    'name',
                    'profile_id',
                    'desired_capacity',
                    'min_size',
                    'max_size',
                )
            ),
        )
        self.assertEqual({'a': 1}, run.attributes['metadata'])
        (shown,) = run.attributes['policies']
        self.assertEqual((policy, False), (shown['policy_id'], shown['enabled']))

    def test_a_creation_after_a_lost_response_finds_the_cluster(self):
        self.service.lost.append('create_cluster')

        self.cluster()

        self.assertEqual(1, len(self.service.objects['cluster']))

    def test_changes_are_actions_one_after_the_other(self):
        one, two = (self.service.create_policy(name=name).id for name in 'pq')
        run = self.cluster(policies=[{'policy': 'p'}])
        self.service.results = [('RUNNING', ''), ('SUCCEEDED', '')]

        requests = self.updated(
            run,
            profile=PROFILE,
            name='renamed',
            timeout=60,
            desired_capacity=2,
            max_size=3,
            policies=[{'policy': 'q'}],
        )

        self.assertEqual(
            [
                ('patch', 'clusters', {'name': 'renamed', 'timeout': 60}),
                (
                    'resize',
                    {
                        'adjustment_type': 'EXACT_CAPACITY',
                        'number': 2,
                        'min_size': 0,
                        'max_size': 3,
                    },
                ),
                ('attach', run.physical_id, two, True),
                ('detach', run.physical_id, one),
            ],
            requests,
        )

    def test_policies_that_others_attached_stay(self):
        other = self.service.create_policy(name='other').id
        run = self.cluster()
        self.service.bindings[run.physical_id, other] = True
        self.service.create_policy(name='p')

        self.updated(run, profile=PROFILE, policies=[{'policy': 'p'}])
        requests = self.updated(run, profile=PROFILE, policies=[])

        self.assertEqual(['detach'], [request[0] for request in requests])
        self.assertIn((run.physical_id, other), self.service.bindings)

    def test_a_failed_action_is_the_reason(self):
        run = self.cluster()
        self.service.results = [('FAILED', 'the quota is exhausted')]

        settled = run.update({'profile': PROFILE, 'desired_capacity': 1})

        self.assertEqual('FAILED', settled.status)
        self.assertIn(
            'the action CLUSTER_X is FAILED: the quota is exhausted', settled.reason
        )

    def test_a_request_is_repeated_while_another_action_runs(self):
        run = self.cluster()
        locked = FakeResponse(409, {'error': {'message': 'it is locked'}})
        self.service.failures['resize'] = [locked, locked]

        requests = self.updated(run, profile=PROFILE, desired_capacity=1)

        self.assertEqual(['resize'] * 3, [request[0] for request in requests])

    def test_sizes_must_fit_together(self):
        handler = clustering.Cluster()
        for values in (
            {'min_size': 2, 'max_size': 1, 'desired_capacity': 2},
            {'min_size': 2, 'max_size': -1, 'desired_capacity': 1},
            {'min_size': 0, 'max_size': 1, 'desired_capacity': 2},
        ):
            self.assertRaises(
                exceptions.StackValidationFailed,
                handler.validate,
                {'profile': PROFILE, **values},
            )


class TestNodes(ClusteringCase):
    def test_a_node_moves_between_clusters(self):
        run = self.created(
            clustering.Node, {'profile': PROFILE, 'cluster': CLUSTER, 'name': 'n'}
        )
        self.assertEqual(CLUSTER, run.attributes['cluster_id'])

        requests = self.updated(run, profile=PROFILE, cluster=OTHER, name='m')

        self.assertEqual(
            [('patch', 'nodes', {'name': 'm'}), ('remove', CLUSTER), ('add', OTHER)],
            requests,
        )
        self.assertEqual(OTHER, run.attributes['cluster_id'])


class TestProfilesAndPolicies(ClusteringCase):
    def test_a_profile_has_a_spec_and_changes_its_name_and_metadata(self):
        properties = {'type': 'os.nova.server-1.0', 'properties': {'flavor': 'f'}}

        run = self.created(clustering.Profile, properties)
        requests = self.updated(run, **properties, metadata={'b': 2})

        self.assertEqual(
            {'type': 'os.nova.server', 'version': '1.0', 'properties': {'flavor': 'f'}},
            self.service.objects['profile'][run.physical_id]['spec'],
        )
        self.assertEqual([('patch', 'profiles', {'metadata': {'b': 2}})], requests)

    def test_a_policy_is_attached_and_detached(self):
        properties = {'type': 'senlin.policy.scaling-1.0', 'name': 'p'}
        run = self.created(
            clustering.Policy, {**properties, 'bindings': [{'cluster': CLUSTER}]}
        )
        policy = run.physical_id
        self.assertEqual({(CLUSTER, policy): True}, self.service.bindings)
        self.assertEqual('p', self.service.objects['policy'][policy]['name'])

        requests = self.updated(
            run, **properties, bindings=[{'cluster': OTHER, 'enabled': False}]
        )

        self.assertEqual(
            [('attach', OTHER, policy, False), ('detach', CLUSTER, policy)], requests
        )
        requests.clear()
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual([('detach', OTHER, policy)], requests)
        self.assertEqual({}, self.service.objects['policy'])


class TestReceivers(ClusteringCase):
    properties: ClassVar = {
        'cluster': CLUSTER,
        'action': 'CLUSTER_SCALE_OUT',
        'name': 'r',
    }

    def test_the_url_is_known_from_the_creation(self):
        run = self.created(clustering.Receiver, self.properties)
        record = self.service.objects['receiver'][run.physical_id]
        record['channel'] = {'alarm_url': 'http://host/?token=***'}

        self.assertEqual('r', record['name'])
        self.assertEqual(URL, run.attributes['channel'])
        self.assertEqual('COMPLETE', run.check().status)
        self.assertEqual(URL, run.attributes['channel'])

    def test_a_receiver_whose_url_was_lost_is_created_again(self):
        self.service.lost.append('create_receiver')

        run = self.created(clustering.Receiver, self.properties)

        self.assertEqual([run.physical_id], list(self.service.objects['receiver']))
        self.assertEqual(2, self.service.names().count('create_receiver'))
