"""Load balancers of clusters of servers.

The small cloud has no octavia: a local HTTP server imitates its API. Keystone, nova and
neutron are real, and so is the authority of the user.
"""

import json
from collections.abc import Mapping
from typing import Any

from tests import bounded
from tests.acceptance.daemons import wait_until
from tests.cloud import case, cluster_case, server_clusters
from tests.functional.plugins.http_server import Server
from tests.octavia import FakeOctavia

BALANCING = 'senlin.policy.loadbalance-1.3'


class TestOctavia(server_clusters.ServerClusterCase):
    """The members follow the nodes."""

    def site_options(self) -> Mapping[tuple[str, str], Any]:
        self.octavia = FakeOctavia(lambda: self.server.url)
        self.server = self.useFixture(Server(self.octavia))
        path = self.changed_clouds(
            load_balancer_endpoint_override=f'{self.server.url}/v2'
        )
        return {('openstack', 'client_config_file'): path}

    def addresses(self, cluster: Any) -> list[str]:
        """Return the fixed addresses of the servers of ACTIVE nodes."""
        active = {node.physical_id for node in self.nodes(cluster) if node.active}
        return sorted(
            address['addr']
            for server in self.servers()
            if server.id in active
            for address in server.addresses['private']
        )

    def assert_members(self, cluster: Any, count: int) -> None:
        """Assert that the members are the servers of the cluster."""
        (members,) = self.octavia.addresses().values()
        self.assertEqual(self.addresses(cluster), members)
        self.assertEqual(count, len(members))

    def users(self) -> set[tuple[str, str]]:
        """Return the user and the project of the requests that octavia received."""
        tokens = {
            request.headers['x-auth-token']
            for request in self.server.received
            if '/lbaas/' in request.path
        }
        identity = self.connect(case.ADMIN).identity
        found = set()
        for token in tokens:
            answer = identity.get('/auth/tokens', headers={'X-Subject-Token': token})
            body = answer.json()['token']
            found.add((body['user']['id'], body['project']['id']))
        return found

    def test_the_servers_of_a_cluster_are_the_members_of_a_pool(self) -> None:
        subnet = self.private_subnet()
        cluster = self.create_cluster(size=2)
        policy = self.attach(
            cluster,
            BALANCING,
            pool={'subnet': subnet, 'protocol_port': 8080},
            vip={'subnet': subnet},
            health_monitor={'type': 'HTTP', 'url_path': '/'},
        )
        shown = self.row(cluster).data['loadbalancers'][policy['id']]
        (balancer,) = self.octavia.objects['loadbalancers'].values()
        self.assertEqual(balancer['id'], shown['loadbalancer'])
        self.assertEqual('203.0.113.9', shown['vip_address'])
        self.assert_members(cluster, 2)

        self.run_action(cluster, 'scale_out', count=1)
        self.assert_members(cluster, 3)
        self.run_action(cluster, 'scale_in', count=2)
        self.assert_members(cluster, 1)

        # A server that was deleted by others is replaced, and gets requests again.
        (node,) = self.nodes(cluster)
        self.demo.connection.compute.delete_server(node.physical_id)
        bounded.wait_until(lambda: not self.servers())
        self.run_action(cluster, 'check')
        self.assertEqual([[]], list(self.octavia.addresses().values()))
        self.run_action(cluster, 'recover')
        self.assert_members(cluster, 1)

        self.run_action(cluster, 'policy_detach', policy_id=policy['id'])
        self.assertEqual(
            {'loadbalancers': {}, 'listeners': {}, 'pools': {}, 'healthmonitors': {}},
            self.octavia.objects,
        )
        self.assertEqual({}, self.row(cluster).data)
        self.assertEqual({(self.demo.id, self.demo.project)}, self.users())

    def test_an_outage_of_octavia_delays_the_actions_of_a_cluster(self) -> None:
        subnet = self.private_subnet()
        cluster = self.create_cluster(size=1)
        self.attach(cluster, BALANCING, pool={'subnet': subnet}, vip={'subnet': subnet})
        before = len(self.octavia.changes)
        self.octavia.is_down = True
        action = self.request_action(cluster, 'scale_out', count=1)
        self.wait_for_outage(before=len(self.server.received))
        waiting = self.runtime.store.get_action(action)
        self.octavia.is_down = False

        ended = self.wait_for_end(action)
        self.assertEqual(('RUNNING', False), (waiting.status, waiting.finished))
        self.assertEqual('SUCCEEDED', ended.status, ended.status_message)
        self.assertEqual(['PUT pools/members'], self.octavia.changes[before:])
        self.assert_members(cluster, 2)

    def wait_for_outage(self, before: int) -> None:
        """Wait until the action has met the outage."""
        bounded.wait_until(
            lambda: any(
                '/lbaas/' in request.path for request in self.server.received[before:]
            )
        )
        bounded.wait_until(lambda: len(self.servers()) == 2)

    def private_subnet(self) -> str:
        """Return the id of the subnet of the network of the servers."""
        network = self.demo.connection.network.find_network('private')
        return str(network.subnet_ids[0])


class TestKilledEngine(cluster_case.ClusterCase):
    """An engine that is killed while octavia creates a load balancer."""

    def service_clouds(self) -> str:
        self.octavia = FakeOctavia(lambda: self.server.url)
        self.server = self.useFixture(Server(self.octavia))
        clouds = self._clouds()
        url = f'{self.server.url}/v2'
        clouds[case.SERVICE]['load_balancer_endpoint_override'] = url
        path = self.home / 'service.yaml'
        path.write_text(json.dumps({'clouds': clouds}))
        return str(path)

    def test_the_next_engine_makes_no_second_load_balancer(self) -> None:
        self.octavia.polls = 10**9
        network = self.user.network.find_network('shared')
        subnet = network.subnet_ids[0]
        cluster = self.cluster(self.server_profile(), 2)
        policy = self.policy(BALANCING, pool={'subnet': subnet}, vip={'subnet': subnet})
        action = self.start_action(cluster, 'policy_attach', policy_id=policy)
        wait_until(lambda: self.octavia.changes, self.describe, cluster_case.TIMEOUT)

        self.engine.kill()
        self.octavia.polls = 1
        self.octavia.complete_changes()
        self.start_engine()
        self.wait_for_action(action)

        self.assertEqual(
            ['POST loadbalancers', 'POST listeners', 'POST pools', 'PUT pools/members'],
            self.octavia.changes,
        )
        (members,) = self.octavia.addresses().values()
        self.assertEqual(2, len(members))
        self.delete(cluster)
        self.assertEqual({}, self.octavia.objects['loadbalancers'])
        self.assertEqual({}, self.octavia.members)
