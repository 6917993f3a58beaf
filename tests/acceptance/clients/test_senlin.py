"""The unmodified client of OpenStack Senlin, with processes of watcherlite.

Every command that does not need cloud services, with SQLite and one process; also
openstacksdk by itself. Operations on whole clusters with PostgreSQL, RabbitMQ and one
process per task.
"""

import ast
import inspect
import itertools

from tests.acceptance.clients import cluster_tests
from tests.acceptance.clients.openstack_case import OnStandalone
from tests.acceptance.clients.senlin_case import SenlinCase
from tests.acceptance.clients.serving import start_servers

#: It connects to virtual machines by SSH.
UNSUPPORTED = {'cluster_run'}
NAMES = """
import importlib.metadata
for point in importlib.metadata.entry_points(group='openstack.clustering.v1'):
    print(point.name)
"""
#: A program that uses the SDK.
PROGRAM = """
import json
import sys
import openstack
cloud = openstack.connect(
    auth_type='none', endpoint=sys.argv[1], clustering_api_version='1'
)
clustering = cloud.clustering
spec = {'type': 'os.heat.test_resource', 'version': '1.0', 'properties': {}}
profile = clustering.create_profile(name='by-sdk', spec=spec)
cluster = clustering.create_cluster(
    name='by-sdk', profile_id=profile.id, desired_capacity=2
)
clustering.wait_for_status(cluster, 'ACTIVE', ['ERROR'], interval=1, wait=30)
answer = clustering.scale_out_cluster(cluster, 1)
action = clustering.get_action(answer['action'])
clustering.wait_for_status(
    action, 'SUCCEEDED', ['FAILED', 'CANCELLED'], interval=1, wait=30
)
nodes = list(clustering.nodes(cluster_id=cluster.id))
events = list(clustering.events(cluster_id=cluster.id, limit=2))
clustering.delete_cluster(cluster, ignore_missing=False)
clustering.wait_for_delete(cluster, interval=1, wait=30)
print(json.dumps([sorted(node.status for node in nodes), len(events)]))
"""


def list_commands():
    """Return all prefixes of the commands that the tests run, joined."""
    found = set()
    for node in ast.walk(ast.parse(inspect.getsource(cluster_tests))):
        args = getattr(node, 'elts', getattr(node, 'args', None))
        taken = itertools.takewhile(
            lambda arg: isinstance(arg, ast.Constant),
            args if isinstance(args, list) else [],
        )
        words = [str(arg.value) for arg in taken]
        found |= {'_'.join(words[: at + 1]) for at in range(len(words))}
    return {f'cluster_{name}' for name in found}


class TestSenlinClient(cluster_tests.ClusterTests, OnStandalone, SenlinCase):
    """One process with SQLite."""

    def test_every_command_of_the_client_is_tested(self):
        done = self.clients.run('python', '-c', NAMES)

        names = set(done.out.split()) - UNSUPPORTED
        documented = list_commands() | {
            # The base case contains `create` and `list` of clusters.
            *('cluster_create', 'cluster_list'),
            'cluster_members_list',
        }
        self.assertLess(50, len(names))
        self.assertEqual(set(), names - documented)

    def test_clusters_are_listed(self):
        self.create('listed', 0)

        rows = self.json('list', '--filters', 'name=listed')

        self.assertEqual(
            [('listed', 'ACTIVE')], [(r['name'], r['status']) for r in rows]
        )

    def test_a_program_that_uses_the_sdk(self):
        done = self.clients.run('python', '-c', PROGRAM, self.endpoint())

        self.assertEqual([['ACTIVE'] * 3, 10], done.json())

    def test_a_token_is_accepted_without_authentication(self):
        done = self.clients.run(
            *('openstack', '--os-auth-type=admin_token', '--os-token=unused'),
            *(f'--os-endpoint={self.endpoint()}', 'cluster', 'list'),
        )

        self.assertEqual(0, done.code, str(done))


class TestSenlinClientWithServers(cluster_tests.ScalingTests, SenlinCase):
    """An API and two engines, with PostgreSQL and RabbitMQ."""

    @classmethod
    def serve(cls):
        return start_servers(cls)
