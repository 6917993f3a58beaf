"""Actions that change the size or the members of clusters."""

from typing import Any, ClassVar

from tests.cluster_worlds import ClusterWorld
from tests.specs.cluster_case import ClusterActionCase, create_deciding_policy
from watcherlite.db.query import Query
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
from watcherlite.plugins.base import Policy
from watcherlite.states import action as action_states

MADE = [('create.start', 'CREATING'), ('create.end', 'ACTIVE')]
GONE = [('delete.start', 'DELETING'), ('delete.end', 'DELETING')]


class SizesCase(ClusterActionCase):
    """A world with a cluster of three nodes and the limits one and five."""

    def setUp(self) -> None:
        super().setUp()
        self.world: ClusterWorld = self.create_cluster_world()
        self.profile = self.world.profile()
        sizes = {'min_size': 1, 'max_size': 5}
        self.cluster = self.make(self.world, 3, self.profile, **sizes)

    def run_action(self, action_type: str, **inputs: Any) -> Action:
        return self.world.run_action(action_type, self.cluster, inputs)

    def refusal(self, action_type: str, **inputs: Any) -> str:
        """Check that an action fails and changes nothing; return its message."""
        before = self.reload(self.world, self.cluster), self.world.nodes(self.cluster)
        action = self.run_action(action_type, **inputs)
        self.assertEqual(('FAILED', []), (action.status, self.derived_types(action)))
        after = self.reload(self.world, self.cluster), self.world.nodes(self.cluster)
        self.assertEqual(before[1], after[1])
        self.assertEqual(
            self.sizes(before[0]), self.sizes(after[0]), 'the sizes have changed'
        )
        self.assertEqual('ACTIVE', after[0].status)
        return str((action.outputs or {})['reason'])

    def derived_types(self, action: Action) -> list[str]:
        return [one.action_type for one in self.derived(self.world, action)]

    def sizes(self, cluster: Cluster | None = None) -> tuple[int, int, int]:
        row = cluster or self.reload(self.world, self.cluster)
        return row.desired_capacity, row.min_size, row.max_size

    def orphans(self, *names: str) -> list[Node]:
        """Return ACTIVE nodes without a cluster."""
        return [
            self.world.create_node(self.world.insert_node(self.profile, name))
            for name in names
        ]

    def assert_nodes(self, *names: str) -> None:
        """Check that exactly these nodes are in the cluster, and that it is ACTIVE."""
        self.assertEqual(list(names), self.names(self.world, self.cluster))
        cluster = self.reload(self.world, self.cluster)
        self.assertEqual(
            ('ACTIVE', len(names)), (cluster.status, cluster.desired_capacity)
        )


class TestScaleOut(SizesCase):
    """CLUSTER_SCALE_OUT creates nodes."""

    def test_scale_out_adds_one_or_the_given_number_within_limits(self) -> None:
        self.assertEqual(
            "The target capacity (6) is greater than the cluster's max_size (5).",
            self.refusal(action_types.CLUSTER_SCALE_OUT, count=3),
        )
        earlier = len(self.world.transitions())
        gate = self.create_gate_at(self.world, 'create', 'n4')
        action = self.world.request_action(action_types.CLUSTER_SCALE_OUT, self.cluster)
        gate.wait_until_entered()
        # The new desired capacity is visible while nodes are created.
        cluster = self.reload(self.world, self.cluster)
        self.assertEqual(('RESIZING', 4), (cluster.status, cluster.desired_capacity))
        gate.open()
        self.assertEqual('SUCCEEDED', self.world.wait_for_end(action).status)
        self.assertEqual(
            {
                'c': [('scale_out.start', 'RESIZING'), ('scale_out.end', 'ACTIVE')],
                'n4': MADE,
            },
            self.changes_by_name(self.world, earlier),
        )
        self.assert_nodes('n1', 'n2', 'n3', 'n4')
        action = self.run_action(action_types.CLUSTER_SCALE_OUT, count=1)
        self.assert_nodes('n1', 'n2', 'n3', 'n4', 'n5')
        added = [self.ids(self.world, self.cluster)['n5']]
        self.assertEqual({'nodes_added': added}, action.outputs)

    def test_after_a_failure_the_cluster_shows_missing_nodes(self) -> None:
        self.world.external.fails.add(('create', 'n4'))
        action = self.run_action(action_types.CLUSTER_SCALE_OUT, count=2)
        cluster = self.reload(self.world, self.cluster)
        self.assertEqual(
            ('FAILED', 'WARNING', 5),
            (action.status, cluster.status, cluster.desired_capacity),
        )
        self.assertEqual(
            'CLUSTER_SCALE_OUT: number of active nodes is below desired_capacity (5).',
            cluster.status_reason,
        )

    def test_a_repeated_scale_out_adds_the_same_number_in_each_run(self) -> None:
        world, cluster = self.world, self.cluster
        action = world.request_action(
            action_types.CLUSTER_SCALE_OUT, cluster, interval=3600
        )
        world.wait_until(lambda: len(world.nodes(cluster)) == 4, world.full_report)
        world.wait_until(
            lambda: world.store.get_action(action.uuid).end_time is not None
        )
        first = world.store.get_action(action.uuid)
        self.assertEqual('READY', first.status)
        world.make_due(first)
        world.wait_until(
            lambda: (
                world.store.get_action(action.uuid).end_time
                not in (None, first.end_time)
            ),
            world.full_report,
        )
        self.assert_nodes('n1', 'n2', 'n3', 'n4', 'n5')
        outputs = world.store.get_action(action.uuid).outputs
        self.assertEqual({'nodes_added': [self.ids(world, cluster)['n5']]}, outputs)


class TestByPolicy(SizesCase):
    """The decision of a policy overrides the request."""

    def test_a_policy_determines_the_number_of_nodes(self) -> None:
        growth = {'adjustment_type': 'CHANGE_IN_CAPACITY', 'number': 2, 'min_size': 2}
        for action_type, decision, inputs, derived, sizes in (
            (
                *(action_types.CLUSTER_SCALE_OUT, {'creation': {'count': 2}}),
                *({'count': 1}, ['NODE_CREATE'] * 2, (5, 0, -1)),
            ),
            (
                *(action_types.CLUSTER_SCALE_OUT, {'creation': {'count': 0}}),
                *({}, [], (3, 0, -1)),
            ),
            (
                *(action_types.CLUSTER_RESIZE, {'deletion': {'count': 1}}),
                *(growth, ['NODE_DELETE'], (2, 2, -1)),
            ),
        ):
            with self.subTest(decision):
                self.world, self.cluster = self.create_cluster_with_policy(
                    create_deciding_policy(action_type, decision)
                )
                action = self.run_action(action_type, **inputs)
                self.assertEqual(
                    ('SUCCEEDED', derived, sizes),
                    (action.status, self.derived_types(action), self.sizes()),
                )
                self.assert_nodes(*self.names(self.world, self.cluster))


class TestScaleIn(SizesCase):
    """CLUSTER_SCALE_IN removes nodes, unhealthy ones first."""

    def test_scale_in_removes_one_or_the_given_number_within_limits(self) -> None:
        sick = self.world.nodes(self.cluster)[1]
        self.assertEqual(
            "The target capacity (0) is less than the cluster's min_size (1).",
            self.refusal(action_types.CLUSTER_SCALE_IN, count=7),
        )
        self.world.save(sick, status='ERROR')
        earlier = len(self.world.transitions())
        action = self.run_action(action_types.CLUSTER_SCALE_IN)
        self.assertEqual(
            {
                'c': [('scale_in.start', 'RESIZING'), ('scale_in.end', 'ACTIVE')],
                'n2': GONE,
            },
            self.changes_by_name(self.world, earlier),
        )
        self.assert_nodes('n1', 'n3')
        self.assertEqual({'nodes_removed': [sick.uuid]}, action.outputs)
        self.assertEqual(2, len(self.world.external.samples))
        self.world.save(self.cluster, min_size=0)
        self.run_action(action_types.CLUSTER_SCALE_IN, count=7)
        self.assert_nodes()

    def test_a_node_that_cannot_be_deleted_is_named_and_kept(self) -> None:
        sick = self.world.nodes(self.cluster)[1]
        self.world.save(sick, status='ERROR')
        self.world.external.fails.add(('delete', 'n2'))
        action = self.run_action(action_types.CLUSTER_SCALE_IN)
        self.assertEqual(
            'Failed in deleting nodes: n2: delete of n2 does not work',
            (action.outputs or {})['reason'],
        )
        self.assertEqual('ERROR', self.statuses(self.world, self.cluster)['n2'])
        self.assertEqual(2, self.reload(self.world, self.cluster).desired_capacity)


class Chosen(Policy):
    """A policy that chooses the first node, which is removed and not destroyed."""

    before: ClassVar[frozenset[str]] = frozenset({action_types.CLUSTER_SCALE_IN})
    decision: ClassVar[dict[str, Any]] = {'destroy_after_deletion': False}

    def pre_op(self, context: Any, data: dict[str, Any]) -> None:
        data['deletion'] = {
            'count': 1,
            'candidates': [context.nodes[0].uuid],
            **self.decision,
        }


class Graceful(Chosen):
    """A policy that deletes the chosen node after a grace period."""

    decision: ClassVar[dict[str, Any]] = {'grace_period': 3000}


class CapacityKeepingPolicy(Chosen):
    """A policy that also keeps the desired capacity."""

    decision: ClassVar[dict[str, Any]] = {'reduce_desired_capacity': False}


class TestScaleInByPolicy(SizesCase):
    """The decision of a policy on deletions is applied."""

    def test_the_chosen_node_is_removed_without_destruction(self) -> None:
        self.world, self.cluster = self.create_cluster_with_policy(Chosen)
        first = self.world.nodes(self.cluster)[0]
        action = self.run_action(action_types.CLUSTER_SCALE_IN, count=2)
        self.assertEqual(['NODE_LEAVE'], self.derived_types(action))
        self.assert_nodes('n2', 'n3')
        node = self.world.reload(first)
        self.assertEqual(
            (None, -1, 'ACTIVE', None),
            (node.cluster_id, node.index, node.status, node.deleted_at),
        )
        self.assertEqual(3, len(self.world.external.samples))

    def test_a_grace_period_holds_no_thread(self) -> None:
        self.world, self.cluster = self.create_cluster_with_policy(Graceful)
        action = self.world.request_action(action_types.CLUSTER_SCALE_IN, self.cluster)
        world = self.world
        world.wait_until(lambda: world.store.get_action(action.uuid).token is not None)
        self.assertEqual(
            ('RUNNING', 'RESIZING', [], True),
            (
                world.store.get_action(action.uuid).status,
                self.reload(world, self.cluster).status,
                self.derived_types(action),
                self.is_locked(world, self.cluster),
            ),
        )
        world.plans.signal_action(action.uuid, action_states.CANCEL)
        self.assertEqual('CANCELLED', world.wait_for_end(action).status)
        self.assertEqual(3, len(world.nodes(self.cluster)))

    def test_a_policy_may_keep_the_desired_capacity(self) -> None:
        self.world, self.cluster = self.create_cluster_with_policy(
            CapacityKeepingPolicy
        )
        self.run_action(action_types.CLUSTER_SCALE_IN)
        cluster = self.reload(self.world, self.cluster)
        self.assertEqual(('WARNING', 3), (cluster.status, cluster.desired_capacity))
        self.assertEqual(['n2', 'n3'], self.names(self.world, self.cluster))


class TestResize(SizesCase):
    """CLUSTER_RESIZE changes the limits and the number of nodes."""

    def test_a_resize_changes_nodes_and_limits_unless_it_is_strict(self) -> None:
        def resize(**inputs: Any) -> list[str]:
            return self.derived_types(
                self.run_action(action_types.CLUSTER_RESIZE, **inputs)
            )

        doubled = {'adjustment_type': 'CHANGE_IN_PERCENTAGE', 'number': 100}
        self.assertEqual(
            "The target capacity (6) is greater than the cluster's max_size (5).",
            self.refusal(action_types.CLUSTER_RESIZE, **doubled, strict=True),
        )
        earlier = len(self.world.transitions())
        resize(**doubled)
        self.assert_nodes('n1', 'n2', 'n3', 'n4', 'n5')
        self.assertEqual(
            [('resize.start', 'RESIZING'), ('resize.end', 'ACTIVE')],
            self.changes_by_name(self.world, earlier)['c'],
        )
        self.assertEqual([], resize(min_size=2, max_size=-1))
        self.assertEqual((5, 2, -1), self.sizes())
        # A higher minimum creates the missing nodes.
        resize(min_size=6)
        self.assert_nodes('n1', 'n2', 'n3', 'n4', 'n5', 'n6')
        resize(adjustment_type='CHANGE_IN_CAPACITY', number=2, max_size=9)
        self.assertEqual((8, 6, 9), self.sizes())
        exact = {'adjustment_type': 'EXACT_CAPACITY', 'number': 1, 'min_size': 1}
        self.assertEqual(['NODE_DELETE'] * 7, resize(**exact))
        self.assertEqual((1, 1, 9), self.sizes())
        self.assertEqual(1, len(self.world.external.samples))


class TestAddNodes(SizesCase):
    """CLUSTER_ADD_NODES adds nodes without a cluster."""

    def test_nodes_join_with_an_index_unless_too_many_or_unsuitable(self) -> None:
        one, two, sick = self.orphans('a', 'b', 'sick')
        member, unknown = self.world.nodes(self.cluster)[0], 'x' * 36
        uuids = [one.uuid, two.uuid, sick.uuid]
        self.assertEqual(
            "The target capacity (6) is greater than the cluster's max_size (5).",
            self.refusal(action_types.CLUSTER_ADD_NODES, nodes=uuids),
        )
        self.world.save(sick, status='ERROR')
        uuids = [sick.uuid, member.uuid, unknown]
        self.assertEqual(
            [
                f'Node {sick.uuid} is not in ACTIVE status.',
                f'Node {member.uuid} is already owned by a cluster.',
                f'Node {unknown} is not found.',
            ],
            self.refusal(action_types.CLUSTER_ADD_NODES, nodes=uuids).splitlines(),
        )
        earlier = len(self.world.transitions())
        action = self.run_action(
            action_types.CLUSTER_ADD_NODES, nodes=[one.uuid, two.uuid]
        )
        joined = [('join.start', 'ACTIVE'), ('join.end', 'ACTIVE')]
        self.assertEqual(
            {
                'c': [('add_nodes.start', 'RESIZING'), ('add_nodes.end', 'ACTIVE')],
                'a': joined,
                'b': joined,
            },
            self.changes_by_name(self.world, earlier),
        )
        cluster = self.reload(self.world, self.cluster)
        self.assertEqual((5, 6), (cluster.desired_capacity, cluster.next_index))
        self.assertEqual(
            {1, 2, 3, 4, 5}, {n.index for n in self.world.nodes(self.cluster)}
        )
        self.assertEqual({'nodes_added': [one.uuid, two.uuid]}, action.outputs)

    def test_a_busy_node_is_added_after_its_action(self) -> None:
        (node,) = self.orphans('a')
        gate = self.create_gate_at(self.world, 'check', 'a')
        check = self.world.request_action(action_types.NODE_CHECK, node)
        gate.wait_until_entered()
        inputs = {'nodes': [node.uuid]}
        action = self.world.request_action(
            action_types.CLUSTER_ADD_NODES, self.cluster, inputs
        )
        world = self.world
        world.wait_until(lambda: self.derived_types(action) == ['NODE_JOIN'])
        world.wait_until(lambda: self.derived(world, action)[0].blocked_on is not None)
        self.assertIsNone(self.world.reload(node).cluster_id)
        gate.open()
        self.assertEqual('SUCCEEDED', world.wait_for_end(action).status)
        self.assertEqual('SUCCEEDED', world.wait_for_end(check).status)
        self.assertEqual(self.cluster.id, world.reload(node).cluster_id)


class TestDelNodes(SizesCase):
    """CLUSTER_DEL_NODES removes nodes from the cluster, or deletes them."""

    def test_nodes_are_removed_without_destruction_unless_refused_or_requested(
        self,
    ) -> None:
        nodes, unknown = self.world.nodes(self.cluster), 'x' * 36
        first, *_, last = nodes
        for uuids, why in (
            ([unknown], f'Nodes not found: {unknown}.'),
            (
                [node.uuid for node in nodes],
                "The target capacity (0) is less than the cluster's min_size (1).",
            ),
        ):
            self.assertEqual(
                why, self.refusal(action_types.CLUSTER_DEL_NODES, candidates=uuids)
            )
        # Nodes that have left the cluster are not changed.
        (foreign,) = self.orphans('a')
        action = self.run_action(
            action_types.CLUSTER_DEL_NODES, candidates=[foreign.uuid]
        )
        self.assertEqual(('SUCCEEDED', []), (action.status, self.derived_types(action)))
        action = self.run_action(
            action_types.CLUSTER_DEL_NODES, candidates=[first.uuid]
        )
        self.assertEqual(['NODE_LEAVE'], self.derived_types(action))
        self.assert_nodes('n2', 'n3')
        self.assertEqual({'nodes_removed': [first.uuid]}, action.outputs)
        self.assertIsNone(self.world.reload(first).deleted_at)
        (leave,) = self.derived(self.world, action)
        found = self.world.store.list_cluster_actions(
            Query({'cluster_id': [self.cluster.uuid]}, tenant=leave.tenant)
        )
        self.assertIn(leave.uuid, [one.action.uuid for one in found])
        self.run_action(
            action_types.CLUSTER_DEL_NODES,
            candidates=[last.uuid],
            destroy_after_deletion=True,
        )
        self.assert_nodes('n2')
        self.assertEqual(3, len(self.world.external.samples))

    def test_a_request_overrides_the_general_decision_of_a_policy(self) -> None:
        for destroys in (True, False):
            decides = {'deletion': {'destroy_after_deletion': destroys}}
            policy = create_deciding_policy(action_types.CLUSTER_DEL_NODES, decides)
            self.world, self.cluster = self.create_cluster_with_policy(policy, 2)
            first, second = self.ids(self.world, self.cluster).values()
            unsaid = self.run_action(action_types.CLUSTER_DEL_NODES, candidates=[first])
            other = self.run_action(
                action_types.CLUSTER_DEL_NODES,
                candidates=[second],
                destroy_after_deletion=not destroys,
            )
            kinds = ['NODE_DELETE', 'NODE_LEAVE']
            self.assertEqual(
                kinds if destroys else kinds[::-1],
                [*self.derived_types(unsaid), *self.derived_types(other)],
            )


class TestReplaceNodes(SizesCase):
    """CLUSTER_REPLACE_NODES removes nodes once others have replaced them."""

    def test_a_node_is_removed_only_after_its_replacement_has_joined(self) -> None:
        (new,) = self.orphans('new')
        old, unknown = self.world.nodes(self.cluster)[0], 'x' * 36
        pairs = {unknown: new.uuid, new.uuid: old.uuid, old.uuid: unknown}
        self.assertEqual(
            [
                f'Original node {unknown} is not found.',
                f'Node {new.uuid} is not a member of the cluster {self.cluster.uuid}.',
                f'Node {old.uuid} is already owned by a cluster.',
                f'Replacement node {unknown} is not found.',
            ],
            self.refusal(
                action_types.CLUSTER_REPLACE_NODES, candidates=pairs
            ).splitlines(),
        )
        gate = self.create_gate_at(self.world, 'check', 'new')
        self.world.request_action(action_types.NODE_CHECK, new)
        gate.wait_until_entered()
        inputs = {'candidates': {old.uuid: new.uuid}}
        action = self.world.request_action(
            action_types.CLUSTER_REPLACE_NODES, self.cluster, inputs
        )
        world = self.world
        world.wait_until(lambda: len(self.derived_types(action)) == 2)
        world.wait_until(lambda: self.derived(world, action)[0].blocked_on is not None)
        self.assertEqual(self.cluster.id, world.reload(old).cluster_id)
        gate.open()
        action = world.wait_for_end(action)
        self.assertEqual(
            {'nodes_added': [new.uuid], 'nodes_removed': [old.uuid]}, action.outputs
        )
        self.assert_nodes('n2', 'n3', 'new')
        ends = [
            name
            for name, event, _ in world.transitions()
            if event in ('join.end', 'leave.start', 'replace_nodes.end')
        ]
        self.assertEqual(['new', 'n1', 'c'], ends)

    def test_a_node_without_a_replacement_is_kept(self) -> None:
        (new,) = self.orphans('new')
        old = self.world.nodes(self.cluster)[0]
        gate = self.create_gate_at(self.world, 'delete', 'new')
        gone = self.world.request_action(action_types.NODE_DELETE, new)
        gate.wait_until_entered()
        self.world.save(new, status='ACTIVE')
        inputs = {'candidates': {old.uuid: new.uuid}}
        action = self.world.request_action(
            action_types.CLUSTER_REPLACE_NODES, self.cluster, inputs
        )
        world = self.world
        world.wait_until(lambda: len(self.derived_types(action)) == 2)
        gate.open()
        self.assertEqual('SUCCEEDED', world.wait_for_end(gone).status)
        action = world.wait_for_end(action)
        self.assertEqual(
            ('FAILED', ['FAILED', 'CANCELLED']),
            (action.status, [a.status for a in self.derived(world, action)]),
        )
        self.assert_nodes('n1', 'n2', 'n3')
