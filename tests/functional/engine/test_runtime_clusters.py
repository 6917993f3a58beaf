"""A runtime as daemons build it: clusters with policies, audits and plans."""

from typing import Any

from tests.functional.engine.runtime_case import RuntimeCase
from watcherlite import exceptions
from watcherlite.domain.audits import AuditRequest
from watcherlite.domain.clusters import Node, Owner
from watcherlite.domain.creators import LOCAL
from watcherlite.engine.clusters.requests.values import (
    ClusterRequest,
    NewClusterAction,
    RequestContext,
)

BY = RequestContext(Owner('a-project'))
SPEC = {'type': 'os.heat.test_resource', 'version': '1.0'}


class RuntimeOfClustersTest(RuntimeCase):
    def setUp(self) -> None:
        super().setUp()
        ini = '[clusters]\nmax_nodes_per_cluster = 3\nuser_action_types = nop\n'
        self.runtime = self.start(self.options(ini))
        self.clusters = self.runtime.clusters
        self.clusters.profiles.create('p', SPEC, BY)
        desired = ClusterRequest(
            'c', 'p', desired_capacity=2, config={'node.name.format': 'n$I'}
        )
        begun = self.clusters.create(desired, BY)
        self.cluster = begun.row
        self.wait_for_end(begun.action)

    def wait_for_end(self, uuid: str) -> Any:
        """Wait for the end of an action, and return it."""
        self.wait_until(lambda: self.runtime.store.get_action(uuid).finished)
        return self.runtime.store.get_action(uuid)

    def nodes(self) -> list[Node]:
        return self.runtime.store.nodes_of([self.cluster.id])

    def test_an_audit_recovers_marked_nodes(self) -> None:
        self.clusters.nodes.mark_unhealthy('n2', BY, True, 'it is slow')
        self.assertEqual(['ACTIVE', 'ERROR'], [node.status for node in self.nodes()])

        self.runtime.audits.create(
            AuditRequest(
                'ONESHOT',
                goal='cluster_health',
                strategy='cluster_health',
                parameters={'clusters': ['c']},
                auto_trigger=True,
            ),
            creator=LOCAL,
        )
        plan = self.ended_plan()

        self.assertEqual(('SUCCEEDED', 2), (plan.state, plan.total))
        self.assertEqual(['ACTIVE', 'ACTIVE'], [node.status for node in self.nodes()])
        efficacy = {i['name']: i['value'] for i in plan.global_efficacy}
        self.assertEqual({'recovered_nodes_ratio': 100}, efficacy)

    def test_installed_policies_are_called(self) -> None:
        spec = {
            'type': 'senlin.policy.scaling',
            'version': '1.0',
            'properties': {'event': 'CLUSTER_SCALE_IN', 'adjustment': {'number': 2}},
        }
        policy = self.clusters.policies.create('two', spec, BY)
        self.wait_for_end(self.clusters.attach_policy('c', BY, policy.uuid).action)

        done = self.wait_for_end(
            self.clusters.scale('c', BY, 'CLUSTER_SCALE_IN').action
        )

        self.assertEqual(('SUCCEEDED', []), (done.status, self.nodes()))
        self.assertEqual(2, done.data['deletion']['count'])

    def test_the_options_of_the_file_apply(self) -> None:
        with self.assertRaisesRegex(
            exceptions.BadRequest, r'allowed per cluster \(3\)'
        ):
            self.clusters.scale('c', BY, 'CLUSTER_SCALE_OUT', 2)
        with self.assertRaisesRegex(exceptions.BadRequest, 'allows are: nop'):
            self.clusters.actions.create(NewClusterAction('sleep', 'c'), BY)

        asked = NewClusterAction('nop', 'n1', inputs={'message': 'hello'})
        done = self.wait_for_end(self.clusters.actions.create(asked, BY).action)
        self.assertEqual('SUCCEEDED', done.status)
