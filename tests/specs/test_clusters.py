"""Actions on clusters: their effects on clusters and nodes."""

from typing import Any, ClassVar

from tests.cluster_worlds import BY, QUEUED, ClusterWorld
from tests.specs.cluster_case import ClusterActionCase, create_deciding_policy
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, NewReceiver, Receiver
from watcherlite.domain.events import new_uuid
from watcherlite.engine.clusters import action_types
from watcherlite.plugins.base import Policy
from watcherlite.states import action as action_states

MADE = [('create.start', 'CREATING'), ('create.end', 'ACTIVE')]
ENOUGH = 'number of active nodes is equal or above desired_capacity ({}).'


class TestCreate(ClusterActionCase):
    """CLUSTER_CREATE creates the first nodes, each by an action of its own."""

    def test_actions_create_a_cluster_and_its_nodes_under_its_lock(self) -> None:
        world = self.create_cluster_world()
        world.worker()
        cluster, action = self.start_creation(world, 2)
        action = world.wait_for_end(action)
        cluster = self.reload(world, cluster)
        self.assertEqual(
            {'c': MADE, 'n1': MADE, 'n2': MADE}, self.changes_by_name(world)
        )
        self.assertEqual(
            ('ACTIVE', f'CLUSTER_CREATE: {ENOUGH.format(2)}', 3),
            (cluster.status, cluster.status_reason, cluster.next_index),
        )
        self.assertIsNotNone(cluster.created_at)
        nodes = world.nodes(cluster)
        self.assertEqual(
            [('n1', 1, 'ACTIVE', action.uuid), ('n2', 2, 'ACTIVE', action.uuid)],
            [(node.name, node.index, node.status, node.origin) for node in nodes],
        )
        self.assertEqual(
            {node.physical_id for node in nodes}, set(world.external.samples)
        )
        expected = (
            *('NODE_CREATE', 'Derived Action', cluster.uuid),
            *(action.tenant, 'SUCCEEDED'),
        )
        self.assertEqual(
            [(f'node_create_{n.uuid[:8]}_', n.uuid, *expected) for n in nodes],
            [
                (
                    *((a.name or '')[:-8], a.target, a.action_type, a.cause),
                    *(a.within, a.tenant, a.status),
                )
                for a in self.derived(world, action)
            ],
        )
        self.assertEqual(
            {'nodes_added': [node.uuid for node in nodes]},
            action_types.public_outputs(action.outputs),
        )
        # A cluster without nodes is ACTIVE immediately.
        earlier = len(world.transitions())
        self.assertEqual('ACTIVE', self.make(world, 0).status)
        self.assertEqual({'c': MADE}, self.changes_by_name(world, earlier))

    def test_nodes_are_placed_by_policies(self) -> None:
        properties = {
            'creation': {'count': 2, 'zones': {'a': 1, 'b': 1}},
            'placement': {'placements': [{'servergroup': 'g'}, {'zone': 'c'}]},
        }
        world, cluster = self.create_cluster_with_policy(
            create_deciding_policy(action_types.CLUSTER_SCALE_OUT, properties), 1
        )
        world.run_action(action_types.CLUSTER_SCALE_OUT, cluster)
        self.assertEqual(
            [None, {'zone': 'a', 'servergroup': 'g'}, {'zone': 'c'}],
            [node.data.get('placement') for node in world.nodes(cluster)],
        )

    def test_after_a_failure_the_other_nodes_are_created_and_the_status_shows_it(
        self,
    ) -> None:
        world = self.create_cluster_world()
        world.external.fails.add(('create', 'n2'))
        world.worker()
        cluster, action = self.start_creation(world, 3)
        action = world.wait_for_end(action)
        self.assertEqual(
            ('FAILED', 'Failed in creating nodes: n2: create of n2 does not work'),
            (action.status, (action.outputs or {})['reason']),
        )
        cluster = self.reload(world, cluster)
        self.assertEqual(
            (
                'ERROR',
                'CLUSTER_CREATE: number of active nodes is below desired_capacity (3).',
                None,
            ),
            (cluster.status, cluster.status_reason, cluster.created_at),
        )
        self.assertEqual(
            {'n1': 'ACTIVE', 'n2': 'ERROR', 'n3': 'ACTIVE'},
            self.statuses(world, cluster),
        )
        added = [node.uuid for node in world.nodes(cluster) if node.name != 'n2']
        self.assertEqual(added, (action.outputs or {})['nodes_added'])


class TestDelete(ClusterActionCase):
    """CLUSTER_DELETE deletes everything that belongs to a cluster, then the cluster."""

    def create_full_cluster(self) -> tuple[ClusterWorld, Cluster, Receiver]:
        """Return a world, and a cluster with two nodes, a policy and this receiver."""
        world, cluster = self.create_cluster_with_policy(
            create_deciding_policy(action_types.CLUSTER_UPDATE, {}), 2
        )
        receiver = NewReceiver(
            new_uuid(),
            'r',
            'webhook',
            BY.owner,
            cluster_id=cluster.id,
            action=action_types.CLUSTER_SCALE_OUT,
        )
        with world.store.transaction() as tx:
            return world, cluster, tx.insert_object(receiver)

    def test_a_cluster_is_deleted_with_its_nodes_policies_and_receivers(self) -> None:
        world, cluster, stored = self.create_full_cluster()
        nodes, earlier = world.nodes(cluster), len(world.transitions())
        action = world.run_action(action_types.CLUSTER_DELETE, cluster)
        gone = [('delete.start', 'DELETING'), ('delete.end', 'DELETING')]
        self.assertEqual(
            {'c': gone, 'n1': gone, 'n2': gone}, self.changes_by_name(world, earlier)
        )
        self.assertEqual(({}, []), (world.external.samples, world.nodes(cluster)))
        self.assertIsNotNone(self.reload(world, cluster).deleted_at)
        self.assertEqual([], self.bindings(world, cluster))
        self.assertEqual({}, world.store.objects_by_id(Receiver, [stored.id]))
        self.assertEqual(
            {'nodes_removed': [node.uuid for node in nodes]},
            action_types.public_outputs(action.outputs),
        )

    def test_a_cancelled_or_failed_deletion_keeps_the_cluster_complete(self) -> None:
        world, cluster, stored = self.create_full_cluster()
        world.external.fails.add(('delete', 'n1'))
        gate = self.create_gate_at(world, 'delete', 'n1')
        action = world.request_action(action_types.CLUSTER_DELETE, cluster)
        gate.wait_until_entered()
        world.plans.signal_action(action.uuid, action_states.CANCEL)
        gate.open()
        self.assertEqual('CANCELLED', world.wait_for_end(action).status)
        self.assert_exists(world, cluster, stored)
        action = world.run_action(action_types.CLUSTER_DELETE, cluster)
        self.assertEqual(
            'Failed in deleting nodes: n1: delete of n1 does not work',
            (action.outputs or {})['reason'],
        )
        self.assert_exists(world, cluster, stored)
        self.assertEqual('WARNING', self.reload(world, cluster).status)
        self.assertEqual({'n1': 'ERROR'}, self.statuses(world, cluster))
        world.external.fails.clear()
        world.run_action(action_types.CLUSTER_DELETE, cluster)
        self.assertIsNotNone(self.reload(world, cluster).deleted_at)

    def assert_exists(
        self, world: ClusterWorld, cluster: Cluster, receiver: Receiver
    ) -> None:
        """Check that the cluster, its policy and its receiver exist."""
        self.assertEqual(1, len(self.bindings(world, cluster)))
        known = world.store.objects_by_id(Receiver, [receiver.id])
        self.assertEqual([receiver], list(known.values()))
        self.assertIsNone(self.reload(world, cluster).deleted_at)

    def test_nodes_added_meanwhile_are_deleted_and_waiting_actions_find_no_cluster(
        self,
    ) -> None:
        world = self.create_cluster_world()
        profile = world.profile()
        cluster = self.make(world, 1, profile)
        gate = self.create_gate_at(world, 'delete', 'n1')
        first = world.request_action(action_types.CLUSTER_DELETE, cluster)
        gate.wait_until_entered()
        late = world.insert_node(profile, 'late', cluster, 7)
        second = world.request_action(action_types.CLUSTER_DELETE, cluster)
        third = world.request_action(action_types.CLUSTER_SCALE_OUT, cluster, by=QUEUED)
        gate.open()
        self.assertEqual(
            ['SUCCEEDED', 'SUCCEEDED', 'CANCELLED'],
            [world.wait_for_end(action).status for action in (first, second, third)],
        )
        self.assertIsNotNone(world.reload(late).deleted_at)
        self.assertEqual({}, world.external.samples)


class TestUpdate(ClusterActionCase):
    """CLUSTER_UPDATE changes the row and, with another profile, the nodes."""

    def test_own_values_or_the_profile_are_updated_without_the_nodes(self) -> None:
        world = self.create_cluster_world()
        old, new = world.profile(value='old'), world.profile('q', value='new')
        cluster = self.make(world, 1, old)
        del world.external.calls[:]
        config = {'node.name.format': 'web-$I'}
        values = {'name': 'd', 'metadata': {'a': 1}, 'timeout': 7, 'config': config}
        for inputs in (values, {'new_profile_id': new.uuid, 'profile_only': True}):
            action = world.run_action(action_types.CLUSTER_UPDATE, cluster, inputs)
            self.assertEqual(
                ([], []), (world.external.calls, self.derived(world, action))
            )
        cluster = self.reload(world, cluster)
        self.assertEqual(
            {**values, 'profile_id': new.id, 'status': 'ACTIVE'},
            {
                name: getattr(cluster, name)
                for name in (*values, 'profile_id', 'status')
            },
        )
        self.assertEqual([old.id], [n.profile_id for n in world.nodes(cluster)])

    def test_existing_and_later_nodes_get_the_new_profile(self) -> None:
        world = self.create_cluster_world()
        old = world.profile(value='old')
        cluster = self.make(world, 2, old)
        earlier, profile = len(world.transitions()), world.profile('q', value='new')
        world.run_action(
            action_types.CLUSTER_UPDATE, cluster, {'new_profile_id': profile.uuid}
        )
        changed = [('update.start', 'UPDATING'), ('update.end', 'ACTIVE')]
        self.assertEqual(
            {'c': changed, 'n1': changed, 'n2': changed},
            self.changes_by_name(world, earlier),
        )
        world.run_action(action_types.CLUSTER_SCALE_OUT, cluster)
        self.assertEqual(
            {profile.id},
            {
                *(node.profile_id for node in world.nodes(cluster)),
                self.reload(world, cluster).profile_id,
            },
        )
        self.assertEqual(
            ['new', 'new', 'new'],
            [sample['value'] for sample in world.external.samples.values()],
        )
        # Only nodes that deviate from the profile are updated.
        changed, *_ = world.nodes(cluster)
        world.run_action(
            action_types.NODE_UPDATE, changed, {'new_profile_id': old.uuid}
        )
        inputs = {'new_profile_id': profile.uuid}
        action = world.run_action(action_types.CLUSTER_UPDATE, cluster, inputs)
        self.assertEqual(
            [changed.uuid], [a.target for a in self.derived(world, action)]
        )
        self.assertEqual(
            [(profile.id, 'new')] * 3,
            [(n.profile_id, n.attributes['output']) for n in world.nodes(cluster)],
        )

    def test_nodes_are_updated_in_the_batches_of_a_policy(self) -> None:
        world, cluster = self.create_cluster_with_policy(Planned)
        profile = world.profile('q', value='new')
        gates = [self.create_gate_at(world, 'update', name) for name in ('n2', 'n3')]
        inputs = {'new_profile_id': profile.uuid}
        action = world.request_action(action_types.CLUSTER_UPDATE, cluster, inputs)
        for gate in gates:
            gate.wait_until_entered()
        self.assertEqual(
            {'n1': 'ACTIVE', 'n2': 'UPDATING', 'n3': 'UPDATING'},
            self.statuses(world, cluster),
        )
        self.assertEqual(['n2', 'n3'], sorted(world.external.of('update')))
        for gate in gates:
            gate.open()
        self.assertEqual('SUCCEEDED', world.wait_for_end(action).status)
        self.assertEqual('n1', world.external.of('update')[-1])
        self.assertEqual(
            ['NODE_UPDATE'] * 3, [a.action_type for a in self.derived(world, action)]
        )

    def test_an_update_pauses_and_can_be_cancelled_between_batches(self) -> None:
        world, cluster = self.create_cluster_with_policy(LongPause, 2)
        profile = world.profile('q', value='new')
        inputs = {'new_profile_id': profile.uuid}
        action = world.request_action(action_types.CLUSTER_UPDATE, cluster, inputs)
        world.wait_until(lambda: world.store.get_action(action.uuid).token is not None)
        paused = world.store.get_action(action.uuid)
        self.assertEqual('RUNNING', paused.status)
        world.plans.signal_action(action.uuid, action_states.CANCEL)
        self.assertEqual('CANCELLED', world.wait_for_end(action).status)
        self.assertEqual(['n1'], world.external.of('update'))
        self.assertEqual(
            ('ACTIVE', cluster.profile_id),
            (
                self.reload(world, cluster).status,
                self.reload(world, cluster).profile_id,
            ),
        )

    def test_no_further_batch_starts_after_a_failure(self) -> None:
        world, cluster = self.create_cluster_with_policy(OneNodeBatches)
        old = cluster.profile_id
        world.external.fails.add(('update', 'n2'))
        profile = world.profile('q', value='new')
        action = world.run_action(
            action_types.CLUSTER_UPDATE, cluster, {'new_profile_id': profile.uuid}
        )
        self.assertEqual(
            ('FAILED', 'Failed in updating nodes: n2: update of n2 does not work'),
            (action.status, (action.outputs or {})['reason']),
        )
        self.assertEqual(['n1', 'n2'], world.external.of('update'))
        cluster = self.reload(world, cluster)
        self.assertEqual(('WARNING', old), (cluster.status, cluster.profile_id))


class Planned(Policy):
    """A policy that updates all nodes but the first, then the first."""

    before: ClassVar[frozenset[str]] = frozenset({action_types.CLUSTER_UPDATE})
    pause = 0

    def pre_op(self, context: Any, data: dict[str, Any]) -> None:
        nodes = [node.uuid for node in context.nodes]
        data['update'] = {'pause_time': self.pause, 'plan': self.plan(nodes)}

    def plan(self, nodes: list[str]) -> list[list[str]]:
        return [nodes[1:], nodes[:1]]


class OneNodeBatches(Planned):
    """A policy that updates one node after the other."""

    def plan(self, nodes: list[str]) -> list[list[str]]:
        return [[node] for node in nodes]


class LongPause(OneNodeBatches):
    """A policy that pauses for long between the batches."""

    pause = 3000


class TestCheck(ClusterActionCase):
    """CLUSTER_CHECK checks every node; unhealthy nodes are not a failure of it."""

    def test_missing_nodes_are_detected_by_the_requested_method(self) -> None:
        world = self.create_cluster_world()
        cluster = self.make(world, 2, min_size=2)
        lost = world.nodes(cluster)[0]
        del world.external.samples[lost.physical_id or '']
        earlier = len(world.transitions())
        modes = {'detection_modes': [{'type': 'NODE_STATUS_POLLING'}]}
        inputs = {'detection': modes}
        action = world.run_action(action_types.CLUSTER_CHECK, cluster, inputs)
        self.assertEqual('SUCCEEDED', action.status)
        self.assertEqual([inputs] * 2, [a.inputs for a in self.derived(world, action)])
        self.assertEqual(
            {
                'c': [('check.start', 'CHECKING'), ('check.end', 'ERROR')],
                'n1': [('check.start', 'ACTIVE'), ('check.end', 'ERROR')],
                'n2': [('check.start', 'ACTIVE'), ('check.end', 'ACTIVE')],
            },
            self.changes_by_name(world, earlier),
        )
        self.assertEqual(
            'CLUSTER_CHECK: number of active nodes is below min_size (2).',
            self.reload(world, cluster).status_reason,
        )
        node = world.reload(lost)
        self.assertEqual(f'{lost.physical_id} is not there', node.status_reason)


class TestRecover(ClusterActionCase):
    """CLUSTER_RECOVER repairs the nodes that are not ACTIVE, and no others."""

    def create_broken_cluster(self, size: int = 3, **values: object) -> None:
        """Create a cluster whose node n1 is known to have vanished."""
        self.world = self.create_cluster_world()
        self.cluster = self.make(self.world, size, **values)
        self.lost = self.world.nodes(self.cluster)[0]
        del self.world.external.samples[self.lost.physical_id or '']
        del self.world.external.calls[:]

    def kinds(self, action: Action) -> list[str]:
        return [a.action_type for a in self.derived(self.world, action)]

    def test_marked_and_unhealthy_nodes_are_recreated(self) -> None:
        self.create_broken_cluster()
        world = self.world
        action = world.run_action(action_types.CLUSTER_RECOVER, self.cluster)
        self.assertEqual(('SUCCEEDED', []), (action.status, self.kinds(action)))
        world.save(self.lost, status='ERROR')
        action = world.run_action(action_types.CLUSTER_RECOVER, self.cluster)
        self.assertEqual(
            ('SUCCEEDED', ['NODE_RECOVER'], ['n1'], 'ACTIVE', 3),
            (
                *(action.status, self.kinds(action), world.external.of('create')),
                *(self.reload(world, self.cluster).status, len(world.external.samples)),
            ),
        )
        del world.external.samples[world.reload(self.lost).physical_id]
        action = world.run_action(
            action_types.CLUSTER_RECOVER, self.cluster, {'check': True}
        )
        self.assertEqual(
            ('SUCCEEDED', ['NODE_CHECK'] * 3 + ['NODE_RECOVER'], 3),
            (action.status, self.kinds(action), len(world.external.samples)),
        )

    def test_the_requested_operation_is_executed_and_failed_nodes_are_named(
        self,
    ) -> None:
        self.create_broken_cluster()
        healthy = self.world.nodes(self.cluster)[1]
        self.world.save(healthy, status='ERROR')
        inputs = {'operation': 'REBOOT', 'operation_params': {'type': 'HARD'}}
        self.world.run_action(action_types.CLUSTER_RECOVER, self.cluster, inputs)
        self.assertEqual([('reboot', 'n2')], self.world.external.calls)
        self.world.save(self.lost, status='ERROR')
        self.world.external.fails.add(('create', 'n1'))
        capacity = {'check_capacity': True}
        action = self.world.run_action(
            action_types.CLUSTER_RECOVER, self.cluster, capacity
        )
        self.assertEqual(
            ('FAILED', 'Failed in recovering nodes: n1: create of n1 does not work'),
            (action.status, (action.outputs or {})['reason']),
        )
        self.assertEqual('WARNING', self.reload(self.world, self.cluster).status)

    def test_the_decision_of_a_health_policy_overrides_the_request(self) -> None:
        decision = {'health': {'recover_action': [{'name': 'REBUILD', 'params': {}}]}}
        world, cluster = self.create_cluster_with_policy(
            create_deciding_policy(action_types.CLUSTER_RECOVER, decision), 1
        )
        world.save(world.nodes(cluster)[0], status='ERROR')
        world.run_action(action_types.CLUSTER_RECOVER, cluster, {'operation': 'REBOOT'})
        self.assertEqual(['n1'], world.external.of('rebuild'))
        self.assertEqual([], world.external.of('reboot'))

    def test_missing_nodes_are_created_and_surplus_ones_deleted(self) -> None:
        self.create_broken_cluster(2)
        world, cluster = self.world, self.cluster
        world.save(cluster, desired_capacity=4)
        world.run_action(action_types.CLUSTER_RECOVER, cluster, {'check': True})
        self.assertEqual(['n1', 'n2'], self.names(world, cluster))
        world.run_action(
            action_types.CLUSTER_RECOVER, cluster, {'check_capacity': True}
        )
        self.assertEqual(['n1', 'n2', 'n3', 'n4'], self.names(world, cluster))
        self.assertEqual('ACTIVE', self.reload(world, cluster).status)
        world.save(cluster, desired_capacity=1)
        action = world.run_action(
            action_types.CLUSTER_RECOVER, cluster, {'check_capacity': True}
        )
        self.assertEqual(['NODE_DELETE'] * 3, self.kinds(action))
        self.assertEqual(
            (1, 1), (len(world.nodes(cluster)), len(world.external.samples))
        )


class TestOperation(ClusterActionCase):
    """CLUSTER_OPERATION executes an operation of the profile on nodes."""

    def test_an_operation_is_executed_on_all_or_the_named_nodes(self) -> None:
        world = self.create_cluster_world()
        cluster = self.make(world, 3)
        patch = {'operation': 'patch', 'params': {'colour': 'red'}}
        action = world.run_action(action_types.CLUSTER_OPERATION, cluster, patch)
        self.assertEqual('SUCCEEDED', action.status)
        self.assertEqual(['n1', 'n2', 'n3'], sorted(world.external.of('patch')))
        node = self.ids(world, cluster)['n2']
        world.run_action(
            action_types.CLUSTER_OPERATION,
            cluster,
            {'operation': 'reboot', 'nodes': [node]},
        )
        self.assertEqual(['n2'], world.external.of('reboot'))
        names = {(a.name or '')[:-9] for a in self.derived(world, action)}
        self.assertIn(f'node_patch_{node[:8]}', names)
        foreign = world.insert_node(world.profile())
        inputs = {'operation': 'reboot', 'nodes': [foreign.uuid]}
        action = world.run_action(action_types.CLUSTER_OPERATION, cluster, inputs)
        self.assertEqual('FAILED', action.status)
        self.assertIn(
            f'Nodes not members of specified cluster: {foreign.uuid}.',
            action.status_message or '',
        )
        self.assertEqual('ACTIVE', self.reload(world, cluster).status)
