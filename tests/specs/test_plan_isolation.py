"""Plans may act only on the objects that their creators may change."""

from typing import Any

from tests.cluster_worlds import TENANT, ClusterCase
from tests.specs.test_clusters_in_plans import NEVER, ClusterPlanWorld
from tests.specs.test_stacks_in_plans import TWO, PlanWorld
from tests.stack_worlds import StackWorldCase
from tests.worlds import action
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.creators import Creator
from watcherlite.domain.documents import plan_document
from watcherlite.engine.clusters.lock_admission import PartLockAdmission
from watcherlite.engine.clusters.model import ClusterModel
from watcherlite.engine.plan_scope import PlanScope
from watcherlite.engine.stacks.model import StackModel
from watcherlite.execution.worker import Worker

OWNER = Creator('a user', TENANT)
FOREIGN = Creator('another-user', 'another-project')
SAYS = {'message': 'here'}
#: A uuid of no object.
MISSING = '00000000-0000-4000-8000-00000000dead'
INPUTS: dict[str, dict[str, Any]] = {
    'resource_mark_unhealthy': {'resource': 'a'},
    'stack_check': {},
    'stack_lock': {},
    'stack_unlock': {},
    'stack_update': {},
}


class GuardedStacks(PlanWorld):
    """A world whose workers check the authority of plans."""

    def worker(self, **keys: Any) -> Worker:
        return super().worker(admission=PartLockAdmission(self.store), **keys)


class GuardedClusters(ClusterPlanWorld):
    """A cluster world whose workers check the authority of plans."""

    def __init__(self, store: Store, **settings: Any) -> None:
        super().__init__(store, **{'sweep_interval': NEVER, **settings})


class TestStacks(StackWorldCase):
    def setUp(self) -> None:
        super().setUp()
        self.world = GuardedStacks(self.make_store())
        self.addCleanup(self.world.stop)
        self.world.worker()
        self.stack = self.world.make(TWO)

    def steps(self, stack: str) -> list[dict[str, Any]]:
        steps = [
            action(kind, kind, input_parameters={'stack': stack, **inputs})
            for kind, inputs in INPUTS.items()
        ]
        return [
            *steps,
            action('target', 'nop', target=f'stack:{stack}', input_parameters=SAYS),
        ]

    def run_unchecked(self, creator: Creator, stack: str) -> dict[str, tuple[str, str]]:
        """Return the results of a plan that was not validated at its creation."""
        self.world.creator = creator
        plan = self.world.wait_until_ended(self.world.start(*self.steps(stack)))
        return {
            row.name or '': (
                row.status,
                (row.status_message or '').replace(stack, 'UUID'),
            )
            for row in self.world.store.list_actions(plan_id=plan.id)
        }

    def test_a_plan_cannot_act_on_a_stack_of_another_project(self) -> None:
        before = self.world.reload(self.stack)

        foreign = self.run_unchecked(FOREIGN, self.stack.uuid)
        # A plan without a creator may act on no stack.
        without_authority = self.run_unchecked(Creator(), self.stack.uuid)

        self.assertEqual(before, self.world.reload(self.stack))
        self.assertEqual(
            {
                (
                    'SKIPPED',
                    'Action was skipped automatically: The Stack (UUID) could not be '
                    'found.',
                )
            },
            set(foreign.values()),
        )
        self.assertEqual(
            {'SKIPPED'}, {status for status, _ in without_authority.values()}
        )
        self.assertEqual(foreign, self.run_unchecked(FOREIGN, MISSING))

    def test_a_plan_acts_on_stacks_of_its_project_and_names_no_other(self) -> None:
        check, lock = 'stack_check', 'stack_lock'
        for creator, kind, inputs, skipped, state in (
            (FOREIGN, lock, {'stack': 's', 'tenant': TENANT}, 1, 'CREATE_COMPLETE'),
            (OWNER, check, {'stack': 's'}, 0, 'CHECK_COMPLETE'),
        ):
            self.world.creator = creator
            step = action('c', kind, input_parameters=inputs)

            plan = self.world.wait_until_ended(self.world.start(step))

            self.assertEqual(
                ('SUCCEEDED', skipped, state),
                (plan.state, plan.skipped, self.world.reload(self.stack).state.name),
            )

    def test_a_document_is_refused_alike_for_foreign_and_missing_stacks(self) -> None:
        scope = PlanScope(self.world.store)

        def refusal(stack: str) -> str:
            document = plan_document.from_mapping({'actions': self.steps(stack)})
            scope.check(document, OWNER if stack == 's' else FOREIGN)
            return ''

        def text(stack: str) -> str:
            error = self.assertRaises(exceptions.InvalidDocument, refusal, stack)
            return str(error).replace(stack, 'UUID')

        self.assertEqual(6, text(self.stack.uuid).count('could not be found'))
        self.assertEqual(text(MISSING), text(self.stack.uuid))
        self.assertEqual('', refusal('s'))

    def test_a_document_cannot_name_another_project_with_its_own_stack(self) -> None:
        def check(tenant: str) -> None:
            inputs = {'stack': self.stack.uuid, 'tenant': tenant}
            step = action('c', 'stack_check', input_parameters=inputs)
            document = plan_document.from_mapping({'actions': [step]})
            PlanScope(self.world.store).check(document, OWNER)

        check(TENANT)
        error = self.assertRaises(
            exceptions.InvalidDocument, check, str(FOREIGN.tenant)
        )
        self.assertIn('could not be found', str(error))

    def test_a_strategy_sees_only_stacks_of_its_project(self) -> None:
        def visible_names(creator: Creator, tenant: str | None = None) -> list[str]:
            model = StackModel(self.world.store, (), creator)
            return [stack.name for stack in model.stacks(tenant=tenant)]

        self.assertEqual(['s'], visible_names(OWNER))
        self.assertEqual(['s'], visible_names(Creator(everywhere=True)))
        for other in (FOREIGN, Creator()):
            self.assertEqual(
                ([], []), (visible_names(other), visible_names(other, TENANT))
            )


class TestClusters(ClusterCase):
    def setUp(self) -> None:
        super().setUp()
        self.world = GuardedClusters(self.make_store())
        self.addCleanup(self.world.stop)
        self.world.worker()
        self.cluster = self.world.cluster(1, config={'node.name.format': 'n$I'})
        self.node = self.world.nodes(self.cluster)[0]

    def steps(self, cluster: str, node: str) -> list[dict[str, Any]]:
        add = {'nodes': [node]}
        return [
            action('delete', 'CLUSTER_DELETE', target=f'cluster:{cluster}'),
            action('node', 'NODE_DELETE', target=f'node:{node}'),
            action(
                *('add', 'CLUSTER_ADD_NODES'),
                target=f'cluster:{cluster}',
                input_parameters=add,
            ),
            action(
                'of-cluster', 'nop', target=f'cluster:{cluster}', input_parameters=SAYS
            ),
            action('of-node', 'nop', target=f'node:{node}', input_parameters=SAYS),
            action('bare', 'nop', target=cluster, input_parameters=SAYS),
        ]

    def run_unchecked(self, cluster: str, node: str) -> dict[str, tuple[str, str]]:
        self.world.creator = FOREIGN
        plan = self.world.wait_until_ended(self.world.start(*self.steps(cluster, node)))
        texts = {
            row.name or '': (row.status, row.status_message or '')
            for row in self.world.store.list_actions(plan_id=plan.id)
        }
        return {
            name: (status, text.replace(cluster, 'CLUSTER').replace(node, 'NODE'))
            for name, (status, text) in texts.items()
        }

    def test_a_plan_cannot_act_on_clusters_of_another_project(self) -> None:
        before = self.world.reload(self.cluster), self.world.nodes(self.cluster)

        foreign = self.run_unchecked(self.cluster.uuid, self.node.uuid)

        after = self.world.reload(self.cluster), self.world.nodes(self.cluster)
        self.assertEqual(before, after)
        self.assertEqual({'SKIPPED'}, {status for status, _ in foreign.values()})
        missing = self.run_unchecked(MISSING, MISSING.replace('dead', 'beef'))
        self.assertEqual(foreign, missing)

    def test_inputs_cannot_name_a_node_of_another_project(self) -> None:
        scope = PlanScope(self.world.store)
        own = {'nodes': [self.node.uuid]}
        document = plan_document.from_mapping(
            {
                'actions': [
                    action(
                        *('a', 'CLUSTER_OPERATION'),
                        target=f'cluster:{self.cluster.uuid}',
                        input_parameters={'operation': 'x', **own},
                    ),
                    action(
                        *('b', 'CLUSTER_REPLACE_NODES'),
                        target=f'cluster:{self.cluster.uuid}',
                        input_parameters={'candidates': {self.node.uuid: MISSING}},
                    ),
                ]
            }
        )

        error = self.assertRaises(
            exceptions.InvalidDocument, scope.check, document, OWNER
        )

        self.assertEqual(
            'actions[1].input_parameters.candidates: action b: '
            f"The node '{MISSING}' could not be found.",
            str(error),
        )

    def test_a_strategy_sees_only_clusters_of_its_project(self) -> None:
        def visible_names(creator: Creator, tenant: str | None = None) -> list[str]:
            model = ClusterModel(self.world.store, (), creator)
            return [cluster.name for cluster in model.clusters(tenant=tenant)]

        self.assertEqual(['c'], visible_names(OWNER))
        for other in (FOREIGN, Creator()):
            self.assertEqual(
                ([], []), (visible_names(other), visible_names(other, TENANT))
            )
