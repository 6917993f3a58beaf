"""The health policy detects and recovers failed servers of a cluster."""

import json
import re
import urllib.parse
from collections.abc import Mapping
from typing import Any

import requests

from tests import bounded
from tests.cloud import case, server_clusters
from tests.functional.plugins.http_server import Server
from watcherlite.engine.clusters.actions import health_monitor

HEALTH = 'senlin.policy.health-1.2'
POLLING = {'type': 'NODE_STATUS_POLLING'}
HYPERVISORS = {'type': 'HYPERVISOR_STATUS_POLLING'}
EVENTS = {'type': 'LIFECYCLE_EVENTS'}


class HealthCase(server_clusters.ServerClusterCase):
    def monitor(
        self,
        cluster: Any,
        *modes: Mapping[str, Any],
        recovery: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Any:
        """Attach a health policy that checks every second."""
        return self.attach(
            cluster,
            HEALTH,
            detection={
                'interval': 1,
                'node_update_timeout': 0,
                'detection_modes': list(modes),
                **more,
            },
            recovery=dict(recovery or {}),
        )


class TestServers(HealthCase):
    """The states of servers in nova."""

    def test_a_server_that_fails_stops_or_disappears_is_replaced(self) -> None:
        cluster = self.create_cluster(size=2)
        self.monitor(cluster, POLLING)
        compute = self.admin.compute
        for harm in (
            lambda server: compute.reset_server_state(server, 'error'),
            lambda server: self.demo.connection.compute.stop_server(server),
            lambda server: self.demo.connection.compute.delete_server(server),
        ):
            first, second = self.nodes(cluster)

            harm(first.physical_id)

            after = self.wait_for_recovery(cluster, first)
            self.assertEqual(
                (first.uuid, second.physical_id),
                (after.uuid, self.nodes(cluster)[1].physical_id),
            )
        self.wait_for_status(cluster, 'ACTIVE')
        self.assertEqual(
            {node.physical_id for node in self.nodes(cluster)},
            {server.id for server in self.servers()},
        )

    def test_a_reboot_or_rebuild_repairs_the_same_server(self) -> None:
        compute = self.admin.compute
        for operation, harm in (
            ('REBOOT', self.demo.connection.compute.stop_server),
            ('REBUILD', lambda server: compute.reset_server_state(server, 'error')),
        ):
            with self.subTest(operation=operation):
                self.name = self.unique_name('cluster')
                cluster = self.create_cluster()
                (node,) = self.nodes(cluster)
                recovery = {'actions': [{'name': operation}]}
                self.monitor(cluster, POLLING, recovery=recovery)

                harm(node.physical_id)

                self.wait_for_reason(cluster, 'Recovery succeeded')
                (after,) = self.nodes(cluster)
                server = compute.get_server(node.physical_id)
                self.assertEqual(
                    (node.physical_id, 'ACTIVE', {'recovery': operation}),
                    (after.physical_id, server.status, after.data),
                )

    def wait_for_reason(self, cluster: Any, text: str) -> None:
        """Wait until the node of the cluster works again for this reason."""
        bounded.wait_until(
            lambda: all(
                (node.status, node.status_reason) == ('ACTIVE', text)
                for node in self.nodes(cluster)
            )
        )


class Hypervisors(Server):
    """A proxy of nova that reports hypervisors as down.

    The cloud is shared, so that a compute service cannot be stopped for a test.

    :ivar down: the names of these hypervisors
    :ivar lists: the number of requests for all hypervisors
    """

    def __init__(self, target: str) -> None:
        super().__init__(self._forward)
        self.down: set[str] = set()
        self.lists = 0
        self._target = target

    def _forward(self, exchange: Any, request: Any) -> None:
        response = requests.request(
            request.method,
            self._target + request.path,
            headers=request.headers,
            data=request.body,
            timeout=bounded.TIMEOUT,
        )
        body = response.content
        if re.search(r'/os-hypervisors/detail', request.path):
            self.lists += 1
            document = response.json()
            for one in document['hypervisors']:
                if one['hypervisor_hostname'] in self.down:
                    one['state'] = 'down'
            body = json.dumps(document).encode()
        own = {'connection', 'content-encoding', 'content-length', 'transfer-encoding'}
        headers = {
            name.replace('-', '_'): value
            for name, value in response.headers.items()
            if name.lower() not in own
        }
        exchange.answer(response.status_code, body, **headers)


class TestHypervisors(HealthCase):
    """The states of hypervisors in nova, which a proxy changes."""

    def site_options(self) -> Mapping[tuple[str, str], Any]:
        nova = urllib.parse.urlsplit(self.connect(case.ADMIN).compute.get_endpoint())
        self.nova = self.useFixture(Hypervisors(f'http://{nova.netloc}'))
        path = self.changed_clouds(
            compute_endpoint_override=f'{self.nova.url}{nova.path}'
        )
        return {('openstack', 'client_config_file'): path}

    def requests_of(self, node: Any) -> set[str]:
        """Return the actions that nova received for the server of a node."""
        path = f'/servers/{node.physical_id}/action'
        return {
            next(iter(json.loads(request.body)))
            for request in self.nova.received
            if request.path.endswith(path)
        }

    def test_the_servers_of_a_hypervisor_that_is_down_are_replaced(self) -> None:
        cluster = self.create_cluster(size=2)
        node = self.nodes(cluster)[0]
        server = self.admin.compute.get_server(node.physical_id)
        self.monitor(cluster, HYPERVISORS, recovery={'fencing': ['COMPUTE']})

        self.nova.down = {server.hypervisor_hostname}
        found = self.wait_for_recovery(cluster, node)
        self.nova.down = set()
        self.wait_for_status(cluster, 'ACTIVE')

        self.assertEqual(node.uuid, found.uuid)
        self.assertIn('forceDelete', self.requests_of(node))
        self.assertEqual(2, len(self.servers()))


class TestNotifications(HealthCase):
    """The notifications of nova on the broker of the cloud."""

    def site_options(self) -> Mapping[tuple[str, str], Any]:
        url = self.variables.get('CLOUD_TRANSPORT_URL')
        if not url:
            self.skip_without('CLOUD_TRANSPORT_URL is not set')
        return {('data_models', 'notification_transport_url'): url}

    def test_a_server_that_is_powered_off_or_deleted_is_replaced_at_once(self) -> None:
        consumer = self.runtime.service_notifications
        self.assertTrue(consumer.wait_until_consuming(bounded.TIMEOUT))
        cluster = self.create_cluster(size=1)
        self.monitor(cluster, EVENTS, interval=3600)
        compute = self.demo.connection.compute
        for harm in (compute.stop_server, compute.delete_server):
            (before,) = self.nodes(cluster)
            harm(before.physical_id)
            self.wait_for_recovery(cluster, before)

        (monitor,) = [
            action
            for action in self.runtime.store.list_actions(limit=1000)
            if action.action_type == health_monitor.CLUSTER_HEALTH and action.interval
        ]
        # It has never run.
        self.assertEqual(('READY', None), (monitor.status, monitor.end_time))
        self.assertEqual(
            {node.physical_id for node in self.nodes(cluster)},
            {server.id for server in self.servers()},
        )
