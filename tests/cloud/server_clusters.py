"""The base of tests of clusters of servers in a real OpenStack."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tests import bounded
from tests.cloud import api_case, case
from watcherlite import bootstrap, conf
from watcherlite.db.api import Store
from watcherlite.domain.clusters import Node

PROPERTIES = {
    'image': 'tiny',
    'flavor': 'm1.nano',
    'networks': [{'network': 'private'}],
}


class ServerSite(api_case.CloudApiFixture):
    """The API and an engine with all installed plugins."""

    def __init__(self, test: 'ServerClusterCase') -> None:
        super().__init__(test)
        self._case = test

    def configure(self, configuration: conf.Configuration) -> None:
        super().configure(configuration)
        for (group, option), value in self._case.site_options().items():
            configuration.set_override(option, value, group)

    def make_runtime(
        self, configuration: conf.Configuration, store: Store
    ) -> bootstrap.Runtime:
        return bootstrap.Runtime(configuration, lanes=self.lanes, store=store)


class ServerClusterCase(api_case.CloudApiCase):
    """A test of a cluster of servers of the user demo."""

    site: ClassVar = ServerSite

    def setUp(self) -> None:
        super().setUp()
        self.demo = self.user(case.DEMO)
        self.admin = self.connect(case.ADMIN)
        self.name = self.unique_name('cluster')

    def site_options(self) -> Mapping[tuple[str, str], Any]:
        """Return the options of the site: (group, name) -> value."""
        return {}

    def create(self, noun: str, **body: Any) -> Any:
        """Create an object of the clustering API."""
        singular = {'policies': 'policy'}.get(noun, noun.removesuffix('s'))
        given = {singular: {'name': self.name, **body}}
        response = self.call(self.demo, 'POST', f'/clustering/v1/{noun}', given)
        self.assertIn(response.status_code, (201, 202), response.text)
        return next(iter(response.json.values()))

    def create_cluster(self, size: int = 1) -> Any:
        """Create a cluster; it is deleted after the test."""
        named = {**PROPERTIES, 'name': f'{self.name}-%index%'}
        spec = {'type': 'os.nova.server', 'version': '1.0', 'properties': named}
        profile = self.create('profiles', spec=spec)
        cluster = self.create(
            'clusters', profile_id=profile['id'], desired_capacity=size
        )
        self.addCleanup(self.remove, cluster)
        self.wait_for_status(cluster, 'ACTIVE')
        return cluster

    def run_action(self, cluster: Any, name: str, **inputs: Any) -> Any:
        """Run an action on the cluster, and return it when it has ended."""
        return self.wait_for_end(self.request_action(cluster, name, **inputs))

    def request_action(self, cluster: Any, name: str, **inputs: Any) -> str:
        """Request an action on the cluster; return its uuid."""
        path = f'/clustering/v1/clusters/{cluster["id"]}/actions'
        response = self.call(self.demo, 'POST', path, {name: inputs})
        self.assertEqual(202, response.status_code, response.text)
        return str(response.json['action'])

    def attach(self, cluster: Any, type_: str, **properties: Any) -> Any:
        """Attach a new policy to the cluster; return the policy."""
        name, _, version = type_.rpartition('-')
        spec = {'type': name, 'version': version, 'properties': properties}
        policy = self.create('policies', spec=spec)
        action = self.run_action(cluster, 'policy_attach', policy_id=policy['id'])
        self.assertEqual('SUCCEEDED', action.status, action.status_message)
        return policy

    def wait_for_end(self, uuid: str) -> Any:
        """Return an action when it has ended."""
        store = self.runtime.store
        bounded.wait_until(lambda: store.get_action(uuid).finished)
        return store.get_action(uuid)

    def wait_for_status(self, cluster: Any, *statuses: str) -> None:
        """Wait until the cluster has a status; fail if it is in ERROR."""

        def is_there() -> bool:
            row = self.row(cluster)
            if row.status == 'ERROR':
                self.fail(row.status_reason)
            return row.status in statuses

        bounded.wait_until(is_there)

    def row(self, cluster: Any) -> Any:
        """Return the row of the cluster."""
        return self.runtime.store.clusters_by_uuid([cluster['id']])[cluster['id']]

    def nodes(self, cluster: Any) -> list[Node]:
        """Return the nodes of the cluster, by index."""
        found = self.runtime.store.nodes_of([self.row(cluster).id])
        return sorted(found, key=lambda node: node.index)

    def servers(self) -> list[Any]:
        """Return the servers of the cluster."""
        found = self.demo.connection.compute.servers(name=self.name)
        # nova shows a server for a moment after its deletion.
        return [
            one
            for one in found
            if one.name.startswith(self.name) and one.status != 'DELETED'
        ]

    def wait_for_recovery(self, cluster: Any, before: Node) -> Node:
        """Wait until a node has another server, and works; return it."""

        def is_there() -> bool:
            (node,) = [n for n in self.nodes(cluster) if n.uuid == before.uuid]
            changed = node.physical_id not in (None, before.physical_id)
            return changed and node.status == 'ACTIVE'

        bounded.wait_until(is_there)
        (after,) = [n for n in self.nodes(cluster) if n.uuid == before.uuid]
        return after

    def remove(self, cluster: Any) -> None:
        """Delete the cluster; fail if a server is left."""

        def is_accepted() -> bool:
            path = f'/clustering/v1/clusters/{cluster["id"]}'
            # It is refused while nodes are being recovered.
            return self.call(self.demo, 'DELETE', path).status_code == 202

        bounded.wait_until(is_accepted)
        bounded.wait_until(lambda: self.row(cluster).deleted_at is not None)
        # The engine revokes trusts later than the test ends.
        self.runtime.delegations.revoke_unused()
        self.assertEqual([], self.servers())
