"""The cluster_health strategy, from the check to the repair."""

from typing import Any

from tests.cluster_worlds import BY
from tests.specs.test_clusters_in_plans import ClusterPlanCase
from tests.stack_worlds import res, template
from watcherlite.domain.creators import LOCAL
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.engine.clusters.model import ClusterModel
from watcherlite.plugins.goals.cluster_health import ClusterHealth as Goal
from watcherlite.plugins.planners.graph import Graph
from watcherlite.plugins.strategies.cluster_health import ClusterHealth
from watcherlite.testing import run_strategy


class ClusterHealthCase(ClusterPlanCase):
    def model(self) -> ClusterModel:
        return ClusterModel(self.world.store)

    def solution(self, **parameters: Any) -> Any:
        return run_strategy(
            ClusterHealth, parameters, models={'clusters': lambda scope: self.model()}
        )

    def propose(self, **parameters: Any) -> PlanDocument:
        return Graph().plan(self.solution(**parameters), 'health')

    def execute(self, document: PlanDocument) -> str:
        plan = self.world.plans.create(document, {}, LOCAL)
        self.world.plans.start(plan.uuid)
        return self.world.wait_until_ended(plan).state

    def remove_resource(self, index: int) -> None:
        """Let the physical resource of a node vanish unnoticed."""
        node = self.world.nodes(self.cluster)[index]
        del self.world.external.samples[node.physical_id or '']

    def mark(self, name: str) -> None:
        self.operations.nodes.mark_unhealthy(name, BY, reason='it is slow')


class TestPlan(ClusterHealthCase):
    def test_marked_and_unhealthy_nodes_are_recovered(self) -> None:
        self.mark('n1')
        self.remove_resource(1)
        self.world.external.calls.clear()

        self.assertEqual('SUCCEEDED', self.execute(self.propose()))

        nodes = self.world.nodes(self.cluster)
        self.assertEqual(['ACTIVE', 'ACTIVE'], [node.status for node in nodes])
        self.assertEqual('ACTIVE', self.world.reload(self.cluster).status)
        made = [name for call, name in self.world.external.calls if call == 'create']
        self.assertEqual(['n1', 'n2'], sorted(made))
        self.assertEqual((), self.propose().actions)
        self.assertEqual(
            ['CLUSTER_CHECK'],
            [a.action_type for a in self.propose(check='all').actions],
        )
        # Missing nodes are created.
        self.world.save(self.cluster, desired_capacity=3)
        self.assertEqual('SUCCEEDED', self.execute(self.propose(check='none')))
        self.assertEqual(['ACTIVE'] * 3, self.world.statuses_of(self.cluster))

    def test_nodes_are_recovered_by_the_operation_in_the_parameters(self) -> None:
        self.mark('n1')

        (check, recover) = self.propose(operation='REBOOT').actions

        target = f'cluster:{self.cluster.uuid}'
        label = f'c-{self.cluster.uuid}'
        self.assertEqual(
            [
                ('CLUSTER_CHECK', target, {}, ()),
                (
                    'CLUSTER_RECOVER',
                    target,
                    {'check_capacity': True, 'operation': 'REBOOT'},
                    (f'check-{label}',),
                ),
            ],
            [
                (a.action_type, a.target, a.input_parameters, tuple(a.parents))
                for a in (check, recover)
            ],
        )


class TestModel(ClusterHealthCase):
    def test_the_model_has_the_unhealthy_nodes_of_a_cluster(self) -> None:
        self.mark('n1')
        self.world.save(self.cluster, desired_capacity=4)
        one = self.world.nodes(self.cluster)[0]

        (seen,) = self.model().clusters()

        self.assertEqual(
            (self.cluster.uuid, 'c', 'a-project', 2, 2, None),
            (
                seen.uuid,
                seen.name,
                seen.tenant,
                seen.nodes,
                seen.missing,
                seen.blocking_reason,
            ),
        )
        self.assertEqual(
            [(one.uuid, 'n1', 'ERROR', 'it is slow')],
            [(n.uuid, n.name, n.status, n.reason) for n in seen.unhealthy],
        )

    def test_the_model_has_the_named_clusters_of_the_project(self) -> None:
        other = self.world.cluster(0, 'other')

        def names(*references: str, **keys: Any) -> list[str]:
            return [seen.name for seen in self.model().clusters(references, **keys)]

        self.assertEqual(['c', 'other'], names())
        self.assertEqual(['other'], names(other.uuid))
        self.assertEqual([], names('nope'))
        self.assertEqual([], names(tenant='another-project'))

    def test_a_cluster_that_changes_is_skipped_and_counted(self) -> None:
        self.mark('n1')
        self.world.save(self.cluster, status='RESIZING')

        solution = self.solution()

        self.assertEqual(
            'Cluster c is RESIZING', self.model().clusters()[0].blocking_reason
        )
        self.assertEqual(
            {'nodes_count': 2, 'unhealthy_nodes_count': 1, 'recovered_nodes_count': 0},
            dict(solution.indicators),
        )
        self.assertEqual(0, len(Graph().plan(solution, 'health').actions))
        (ratio,) = Goal().global_efficacy(solution.indicators)
        self.assertEqual(('recovered_nodes_ratio', 0.0), (ratio.name, ratio.value))

    def test_a_cluster_with_a_node_that_is_a_locked_stack_is_skipped(self) -> None:
        parsed = template({'a': res(value='1')})
        profile = self.world.profile('stacked', 'os.heat.stack', template=parsed)
        cluster = self.world.cluster(1, 'stacks', profile)
        (node,) = self.world.nodes(cluster)
        stack = self.world.store.find_stack(node.physical_id or '', 'a-project')
        self.world.stacks.start_operation(stack.uuid, 'a-project', 'LOCK')
        self.world.wait_until_idle()

        (seen,) = self.model().clusters(['stacks'])

        self.assertEqual(
            f'Node {node.name} is a stack: Stack {stack.name} is locked '
            '(LOCK_COMPLETE, level all)',
            seen.blocking_reason,
        )
