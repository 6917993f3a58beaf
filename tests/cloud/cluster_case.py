"""The base of tests of clusters in a real OpenStack, with tokens of keystone."""

import json
from typing import Any

from openstack.clustering.v1 import cluster as sdk_cluster

from tests.acceptance.daemons import wait_until
from tests.cloud import user_case

#: Seconds that an action on a cluster may take on a busy machine.
TIMEOUT = 120
ENDED = frozenset({'SUCCEEDED', 'FAILED', 'CANCELLED'})
#: The properties of the smallest server.
SERVER: dict[str, Any] = {
    'flavor': 'm1.nano',
    'image': 'tiny',
    'networks': [{'network': 'shared'}],
}


class ClusterCase(user_case.UserCase):
    """A test of clusters of the user; all are deleted after it."""

    def setUp(self) -> None:
        super().setUp()
        self.clustering = self.user.clustering
        self.addCleanup(self.remove_clusters)

    def remove_clusters(self) -> None:
        """Delete all clusters and nodes of the project; fail if servers are left."""
        self.remove_all('clusters')
        self.remove_all('nodes')
        self.assertEqual({}, self.left())

    def remove_all(self, nouns: str) -> None:
        """Delete all clusters, or all nodes."""
        listing = getattr(self.clustering, nouns)
        delete = getattr(self.clustering, f'delete_{nouns.removesuffix("s")}')
        for found in list(listing()):
            delete(found, force_delete=True)
        wait_until(
            lambda: not list(listing()),
            lambda: f'{[found.status_reason for found in listing()]}',
            TIMEOUT,
        )

    # requests

    def profile(self, kind: str = 'os.nova.server', **properties: Any) -> str:
        """Create a profile; return its id."""
        spec = {'type': kind, 'version': '1.0', 'properties': properties}
        name = self.unique_name('profile')
        made: str = self.clustering.create_profile(name=name, spec=spec).id
        return made

    def server_profile(self, **properties: Any) -> str:
        """Create a profile of the smallest server; return its id."""
        return self.profile(**{**SERVER, **properties})

    def cluster(self, profile: str, size: int, **values: Any) -> Any:
        """Create a cluster; return it once its nodes are ACTIVE."""
        made = self.clustering.create_cluster(
            name=self.unique_name('cluster'),
            profile_id=profile,
            desired_capacity=size,
            **values,
        )
        (action,) = self.clustering.actions(target_id=made.id)
        self.wait_for_action(action.id)
        self.assertEqual(['ACTIVE'] * size, self.statuses(made))
        return self.clustering.get_cluster(made.id)

    def start_action(self, target: Any, name: str, *args: Any, **inputs: Any) -> str:
        """Request an action on a cluster or a node; return its uuid.

        :param name: of the method of openstacksdk
        """
        # The SDK returns the body of an error as well.
        answer = getattr(target, name)(self.clustering, *args, **inputs)
        self.assertIn('action', answer)
        return str(answer['action'])

    def act(
        self, target: Any, name: str, status: str = 'SUCCEEDED', **inputs: Any
    ) -> Any:
        """Request an action on a cluster or a node; return it at its end.

        :param status: at its end
        """
        return self.wait_for_action(self.start_action(target, name, **inputs), status)

    def operate(
        self, target: Any, operation: str, status: str = 'SUCCEEDED', **given: Any
    ) -> Any:
        """Request an operation on a cluster or a node; return the action at its end."""
        is_cluster = isinstance(target, sdk_cluster.Cluster)
        parameters = {'params': given} if is_cluster else given
        uuid = self.start_action(target, 'op', operation, **parameters)
        return self.wait_for_action(uuid, status)

    def update(self, cluster: Any, profile: str) -> Any:
        """Update a cluster to a profile; return the action at its end."""
        self.clustering.update_cluster(cluster.id, profile_id=profile)
        # The SDK does not return the action.
        (last, *_) = self.clustering.actions(
            target_id=cluster.id, action='CLUSTER_UPDATE', sort='created_at:desc'
        )
        return self.wait_for_action(last.id)

    def policy(self, kind: str, **properties: Any) -> str:
        """Create a policy; return its id."""
        name, _, version = kind.rpartition('-')
        spec = {'type': name, 'version': version, 'properties': properties}
        made: str = self.clustering.create_policy(
            name=self.unique_name('policy'), spec=spec
        ).id
        return made

    def wait_for_action(self, uuid: str, status: str = 'SUCCEEDED') -> Any:
        """Wait for the end of an action; check its status; return it."""

        def now() -> Any:
            return self.clustering.get_action(uuid)

        wait_until(lambda: now().status in ENDED, lambda: str(now()), TIMEOUT)
        ended = now()
        self.assertEqual(status, ended.status, f'{ended}\n{self.describe()}')
        return ended

    def describe(self) -> str:
        """Return the states of all nodes and their servers."""
        nodes = [
            f'{node.name}: {node.status} {node.status_reason}'
            for node in self.clustering.nodes()
        ]
        servers = [f'{s.name}: {s.status} {s.fault}' for s in self.servers()]
        return '\n'.join([*nodes, *servers])

    # observations

    def nodes(self, cluster: Any) -> list[Any]:
        """Return the nodes of a cluster, by index."""
        found = self.clustering.nodes(cluster_id=cluster.id)
        return sorted(found, key=lambda node: node.index)

    def statuses(self, cluster: Any) -> list[str]:
        """Return the statuses of the nodes of a cluster, by index."""
        return [node.status for node in self.nodes(cluster)]

    def servers(self) -> list[Any]:
        """Return the servers of the project, by name."""
        return sorted(self.user.compute.servers(), key=lambda server: server.name)

    def servers_of(self, cluster: Any) -> list[Any]:
        """Return the server of each node of a cluster, by index."""
        return [
            self.user.compute.get_server(node.physical_id)
            for node in self.nodes(cluster)
        ]

    def delete(self, cluster: Any) -> None:
        """Delete a cluster."""
        self.wait_for_action(self.clustering.delete_cluster(cluster).id)

    def dump(self, found: Any) -> str:
        """Return a JSON text for comparisons."""
        return json.dumps(found, sort_keys=True, default=str)
