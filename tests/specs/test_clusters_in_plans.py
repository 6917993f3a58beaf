"""Actions of plans on clusters and nodes, and their locks."""

from collections.abc import Mapping
from typing import Any

from tests.cluster_worlds import BY, ClusterCase
from tests.operated_worlds import OperatedWorld
from tests.stack_worlds import res, template
from tests.worlds import action
from watcherlite.applier.operations import PlanOperations
from watcherlite.db.api import Store
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.stacks import StackRequest
from watcherlite.engine.clusters.projection.cluster_projection import ClusterProjection
from watcherlite.engine.clusters.requests.values import AdoptionRequest
from watcherlite.engine.clusters.services import ClusterLimits
from watcherlite.engine.stacks.projection.stack_projection import StackProjection
from watcherlite.engine.stacks.requests.operations import StackOperations
from watcherlite.execution.ports import CompositeProjection
from watcherlite.states import action_plan as plan_states
from watcherlite.states import stack as stack_states

#: Seconds; no test waits for a sweep.
NEVER = 600.0


class ClusterPlanWorld(OperatedWorld):
    """A world whose plans may contain actions on clusters."""

    def __init__(self, store: Store, **settings: Any) -> None:
        super().__init__(store, **{'sweep_interval': NEVER, **settings})
        self.plans = PlanOperations(
            store,
            self.types,
            self.progress,
            self.clock,
            self,
            plan_states.RESUME,
            CompositeProjection(StackProjection(), ClusterProjection()),
        )
        self.stacks = StackOperations(self.stack_parts(store), self.clock, self)

    def step(self, action_type: str, row: Cluster | Node, **inputs: Any) -> Any:
        """Return an action of a plan document, named like its type."""
        prefix = 'cluster' if isinstance(row, Cluster) else 'node'
        return action(
            action_type,
            action_type,
            target=f'{prefix}:{row.uuid}',
            input_parameters=inputs,
        )

    def message(self, name: str) -> str | None:
        """Return the status message of an action."""
        return self.action(name).status_message


class ClusterPlanCase(ClusterCase):
    """Plans are executed by one worker and clusters by another."""

    def setUp(self) -> None:
        super().setUp()
        limits = ClusterLimits(unique_names=True)
        self.world = ClusterPlanWorld(self.make_store(), limits=limits)
        self.addCleanup(self.world.stop)
        self.applier = self.world.worker(lanes=('applier',))
        self.engine = self.world.worker(lanes=('engine',))
        self.cluster = self.world.cluster(2, config={'node.name.format': 'n$I'})
        self.operations = self.world.operations

    def run_plan(self, *actions: Mapping[str, Any], **plan: Any) -> ActionPlan:
        return self.world.wait_until_ended(self.world.start(*actions, **plan))


class TestPlans(ClusterPlanCase):
    def test_a_plan_requests_the_same_action_as_a_user(self) -> None:
        plan = self.run_plan(
            self.world.step('CLUSTER_SCALE_OUT', self.cluster, count=1)
        )

        self.assertEqual('SUCCEEDED', plan.state)
        self.assertEqual(['ACTIVE'] * 3, self.world.statuses_of(self.cluster))
        asked = self.world.action(self._name('scale_out'))
        self.assertEqual(
            ('RPC Request', self.cluster.uuid, 'engine', None, {'count': 1}, 3600),
            (
                asked.cause,
                asked.target,
                asked.lane,
                asked.plan_id,
                asked.inputs,
                asked.timeout,
            ),
        )
        new = self.world.nodes(self.cluster)[2]
        outputs = self.world.action('CLUSTER_SCALE_OUT').outputs
        self.assertEqual(
            {'nodes_added': [new.uuid], 'target': f'cluster:{self.cluster.uuid}'},
            outputs,
        )
        # A node shares the lock of its cluster.
        plan = self.run_plan(
            self.world.step('NODE_OPERATION', new, operation='reboot', params={})
        )
        self.assertEqual('SUCCEEDED', plan.state)
        asked = self.world.action(self._name('reboot', new))
        self.assertEqual((new.uuid, self.cluster.uuid), (asked.target, asked.within))

    def test_policies_are_evaluated_for_a_plan(self) -> None:
        properties = {'event': 'CLUSTER_SCALE_OUT', 'adjustment': {'number': 2}}
        policy = self.world.policy('senlin.policy.scaling', **properties)
        self.assertEqual('SUCCEEDED', self.world.attach(self.cluster, policy).status)

        plan = self.run_plan(self.world.step('CLUSTER_SCALE_OUT', self.cluster))

        self.assertEqual('SUCCEEDED', plan.state)
        asked = self.world.action(self._name('scale_out'))
        self.assertEqual({'count': 2}, asked.data['creation'])
        self.assertEqual(['ACTIVE'] * 4, self.world.statuses_of(self.cluster))

    def test_a_plan_waits_for_the_same_lock_as_users(self) -> None:
        gate = self.create_gate_at(self.world, 'create', 'n3')
        first = self.operations.scale('c', BY, 'CLUSTER_SCALE_OUT', 1)
        gate.wait_until_entered()

        plan = self.world.start(self.world.step('CLUSTER_CHECK', self.cluster))
        self.world.wait_until(
            lambda: any(a.blocked_on == self.cluster.uuid for a in self._actions())
        )
        waiting = self.world.action('CLUSTER_CHECK')
        self.assertEqual(('WAITING', None), (waiting.status, waiting.owner))
        gate.open()

        self.assertEqual('SUCCEEDED', self.world.wait_until_ended(plan).state)
        ended = self.world.wait_for_end(first.action).end_time
        (check,) = [a for a in self._actions() if a.name == self._name('check')]
        assert ended is not None and check.start_time is not None
        self.assertLessEqual(ended, check.start_time)

    def test_an_action_of_a_plan_fails_with_the_reason_of_the_cluster(self) -> None:
        self.world.external.fails.add(('create', 'n3'))

        plan = self.run_plan(self.world.step('CLUSTER_SCALE_OUT', self.cluster))

        self.assertEqual('FAILED', plan.state)
        asked = self.world.store.find_cluster_action(self._name('scale_out'), None)
        reason = (asked.action.status_message or '').partition(': ')[2]
        self.assertEqual(
            'Action failed in execute: CLUSTER_SCALE_OUT of '
            f'cluster:{self.cluster.uuid} failed: {reason}',
            self.world.message('CLUSTER_SCALE_OUT'),
        )
        self.assertIn('create of n3 does not work', reason)

    def test_an_invalid_request_fails_and_one_on_a_missing_object_skips(self) -> None:
        step = self.world.step('CLUSTER_CHECK', self.cluster)
        self.run_plan(
            {**step, 'target': self.cluster.uuid},
            self.world.step('CLUSTER_CREATE', self.cluster),
            on_failure='continue',
        )
        self.world.row(self.operations.delete('c', BY))
        plan = self.run_plan(self.world.step('CLUSTER_RECOVER', self.cluster))

        self.assertEqual('SUCCEEDED', plan.state)
        self.assertEqual(
            [
                'Action failed in pre_condition: The target of CLUSTER_CHECK is '
                f'cluster:UUID, not {self.cluster.uuid}',
                'Action failed in pre_condition: CLUSTER_CREATE is not for plans',
                f"Action was skipped automatically: The cluster '{self.cluster.uuid}' "
                'could not be found.',
            ],
            [
                self.world.message(name)
                for name in ('CLUSTER_CHECK', 'CLUSTER_CREATE', 'CLUSTER_RECOVER')
            ],
        )

    def test_a_cancelled_plan_ends_the_actions_it_requested(self) -> None:
        gate = self.create_gate_at(self.world, 'create', 'n3')
        plan = self.world.start(self.world.step('CLUSTER_SCALE_OUT', self.cluster))
        gate.wait_until_entered()

        self.world.plans.cancel(plan.uuid)
        gate.open()

        self.assertEqual('CANCELLED', self.world.wait_until_ended(plan).state)
        name = self._name('scale_out')
        self.world.wait_until(
            lambda: self.world.store.find_cluster_action(name, None).action.finished
        )
        self.assertEqual([], [a for a in self._actions() if not a.finished])

    def test_a_signal_is_passed_to_the_requested_action(self) -> None:
        gate = self.create_gate_at(self.world, 'create', 'n3')
        plan = self.world.start(self.world.step('CLUSTER_SCALE_OUT', self.cluster))
        gate.wait_until_entered()
        names = ('CLUSTER_SCALE_OUT', self._name('scale_out'))
        mine, asked = (self.world.action(name).uuid for name in names)

        self.world.plans.signal_action(mine, 'SUSPEND')
        gate.open()

        self.world.wait_until(
            lambda: self.world.statuses_of(self.cluster)[2] == 'ACTIVE'
        )
        found = [self.world.store.get_action(uuid) for uuid in (mine, asked)]
        self.assertEqual(['SUSPENDED', 'SUSPENDED'], [one.status for one in found])
        self.world.plans.signal_action(mine, 'RESUME')
        self.assertEqual('SUCCEEDED', self.world.wait_until_ended(plan).state)
        self.assertEqual('SUCCEEDED', self.world.store.get_action(asked).status)

    def test_a_plan_cannot_use_a_taken_name(self) -> None:
        other = self.world.insert_cluster(self.world.profile('q'), 1, name='d')
        (node,) = self.world.nodes(other)
        for row, kind, name, why in (
            (self.cluster, 'CLUSTER_UPDATE', 'd', "A cluster named 'd'"),
            (node, 'NODE_UPDATE', 'n1', "A node named 'n1'"),
        ):
            with self.subTest(kind=kind):
                plan = self.run_plan(self.world.step(kind, row, name=name))

                self.assertEqual('FAILED', plan.state)
                self.assertIn(f'{why} already exists.', self.world.message(kind) or '')
                self.assertEqual(row.name, self.world.reload(row).name)

    def _actions(self) -> list[Any]:
        return self.world._actions()

    def _name(self, verb: str, node: Node | None = None) -> str:
        """Return the name of the action that was requested on the cluster or node."""
        kind, row = ('cluster', self.cluster) if node is None else ('node', node)
        begin = f'{kind}_{verb}_{row.uuid[:8]}_'
        (name,) = [a.name for a in self._actions() if a.name.startswith(begin)]
        return str(name)


class TestLocks(ClusterPlanCase):
    """Spec 004: actions on a locked stack are skipped, also if it is a node."""

    def setUp(self) -> None:
        super().setUp()
        self.stacked = self.world.profile(
            'stacked', 'os.heat.stack', template=template({'a': res(value='1')})
        )

    def lock(self, name: str) -> None:
        self.world.stacks.start_operation(name, 'a-project', stack_states.LOCK)
        self.world.wait_until_idle()

    def test_requests_of_plans_users_and_health_policies_leave_a_locked_stack_unchanged(
        self,
    ) -> None:
        cluster = self.world.cluster(2, 'stacks', self.stacked)
        node, other = self.world.nodes(cluster)
        self.assertEqual('ACTIVE', node.status)
        stack = self.world.store.find_stack(node.physical_id or '', 'a-project')
        self.lock(stack.uuid)
        text = f'Node {node.name} is a stack: Stack {stack.name} is locked'
        named = {'target': f'node:{node.uuid}', 'input_parameters': {'message': 'x'}}
        self.run_plan(
            self.world.step('CLUSTER_RECOVER', cluster),
            self.world.step('NODE_CHECK', node),
            action('nop', 'nop', **named),
            on_failure='continue',
        )
        for name in ('CLUSTER_RECOVER', 'NODE_CHECK', 'nop'):
            with self.subTest(name=name):
                self.assertEqual(
                    f'Action was skipped automatically: {text} (LOCK_COMPLETE, level '
                    'all).',
                    self.world.message(name),
                )
        nodes = self.operations.nodes
        for ask, name, status in (
            (self.operations.check, cluster.uuid, 'SUCCEEDED'),
            (nodes.check, node.uuid, 'SUCCEEDED'),
            (nodes.recover, node.uuid, 'FAILED'),
            (nodes.delete, node.uuid, 'FAILED'),
        ):
            ended = self.world.wait_for_end(ask(name, BY).action)
            with self.subTest(action=ended.action_type):
                self.assertEqual(status, ended.status, ended.status_message)
                self.assertEqual(
                    ('ACTIVE', node.status_reason, node.physical_id),
                    (
                        self.world.reload(node).status,
                        self.world.reload(node).status_reason,
                        self.world.reload(node).physical_id,
                    ),
                )
                if ended.target == node.uuid:
                    self.assertIn(text, (ended.outputs or {})['reason'])

        nodes.mark_unhealthy(node.uuid, BY, reason='it is slow')
        nodes.mark_unhealthy(other.uuid, BY, reason='it is slow')
        recovered = self.operations.recover(cluster.uuid, BY)

        self.assertEqual('FAILED', self.world.wait_for_end(recovered.action).status)
        self.assertEqual(['ERROR', 'ACTIVE'], self.world.statuses_of(cluster))
        row = self.world.reload(node)
        self.assertEqual(
            ('it is slow', node.physical_id), (row.status_reason, row.physical_id)
        )
        self.world.stacks.start_operation(stack.uuid, 'a-project', stack_states.UNLOCK)
        self.world.wait_until_idle()
        recovered = self.operations.recover(cluster.uuid, BY)
        self.assertEqual('SUCCEEDED', self.world.wait_for_end(recovered.action).status)
        self.assertEqual(['ACTIVE', 'ACTIVE'], self.world.statuses_of(cluster))

    def test_a_node_with_a_resource_of_a_locked_stack_is_unchanged(self) -> None:
        new = StackRequest('s', template({'a': res(value='1')}))
        stack = self.world.stacks.create(new, 'a-project')
        self.world.wait_until_idle()
        (row,) = self.world.store.list_resources([stack.id])
        node = self.operations.nodes.adopt(
            AdoptionRequest(row.physical_id or '', 'sample', 'n'), BY
        )
        self.world.wait_until_idle()
        self.lock('s')

        self.run_plan(self.world.step('NODE_RECOVER', node))

        self.assertEqual(
            'Action was skipped automatically: Node n is resource a of a stack: Stack '
            's is locked (LOCK_COMPLETE, level all).',
            self.world.message('NODE_RECOVER'),
        )


class TestLostWorkers(ClusterCase):
    """A waiting operation survives its worker and is executed once."""

    def test_an_operation_is_executed_once_after_a_loss_at_any_commit(self) -> None:
        for commit in range(1, 7):
            for asked in ('CLUSTER_SCALE_OUT', 'NODE_OPERATION'):
                with self.subTest(commit=commit, asked=asked):
                    self._run_across_worker_loss(commit, asked)

    def _run_across_worker_loss(self, commit: int, asked: str) -> None:
        world = ClusterPlanWorld(self.make_store(), lease=60.0, sweep_interval=0.2)
        try:
            world.worker(lanes=('engine',))
            cluster = world.cluster(1)
            doomed = world.worker(lanes=('applier',), dies_after=commit)
            (node,) = world.nodes(cluster)
            step = world.step(asked, cluster)
            if asked == 'NODE_OPERATION':
                step = world.step(asked, node, operation='reboot', params={})
            plan = world.start(step)
            world.wait_until(
                lambda: (
                    world.is_dead(doomed)
                    or world.store.get_plan(plan.uuid).state == 'SUCCEEDED'
                )
            )
            if world.is_dead(doomed):
                world.kill(doomed)
            world.worker(lanes=('applier',))

            self.assertEqual('SUCCEEDED', world.wait_until_ended(plan).state)
            calls = [call for call, _ in world.external.calls]
            expected = 'create' if asked == 'CLUSTER_SCALE_OUT' else 'reboot'
            self.assertEqual(['create', expected], calls)
        finally:
            world.stop()
