"""The invariants of all strategies for compute nodes."""

import random

from hypothesis import given
from hypothesis import strategies as st

from tests import base, compute_models
from tests.compute_models import snapshots
from watcherlite.plugins import parameters
from watcherlite.plugins.openstack.models.compute import UP, ComputeModel
from watcherlite.plugins.openstack.strategies import (
    basic,
    host_maintenance,
    node_resource_consolidation,
    noisy_neighbor,
    outlet_temperature,
    uniform_airflow,
    vm_workload_consolidation,
    workload_balance,
    workload_stabilization,
)

PERCENT = st.floats(0, 100)


class TestInvariants(base.TestCase):
    def check(self, nodes, servers, solution):
        """Check that no capacity is exceeded, and no server migrates twice."""
        after = compute_models.applied(nodes, servers, solution)
        self.assertEqual([], compute_models.overcommitted_hosts(after))
        moved = [uuid for uuid, _, _ in compute_models.migrations(solution)]
        self.assertEqual(len(moved), len(set(moved)))
        return after

    def usage(self, data, objects):
        return {one.uuid: data.draw(PERCENT) for one in objects}

    @given(snapshots(), st.data())
    def test_basic_empties_the_nodes_that_it_disables(self, snapshot, data):
        nodes, servers = snapshot

        solution = basic.propose(
            ComputeModel(nodes, servers),
            self.usage(data, nodes),
            self.usage(data, servers),
        )

        after = self.check(nodes, servers, solution)
        released = compute_models.services(solution)
        for hostname in released:
            self.assertEqual([], after.servers_of(after.find_node(hostname)))
        self.assertEqual(
            len(released), solution.indicators['released_compute_nodes_count']
        )

    @given(snapshots(), st.data())
    def test_vm_workload_consolidation(self, snapshot, data):
        nodes, servers = snapshot

        solution = vm_workload_consolidation.propose(
            ComputeModel(nodes, servers),
            self.usage(data, servers),
            {},
            self.usage(data, nodes),
            {},
        )

        after = self.check(nodes, servers, solution)
        for hostname, state in compute_models.services(solution).items():
            empty = not after.servers_of(after.find_node(hostname))
            self.assertEqual('disabled' if empty else 'enabled', state)

    @given(snapshots())
    def test_node_resource_consolidation_releases_what_it_counts(self, snapshot):
        nodes, servers = snapshot

        solution = node_resource_consolidation.propose(
            ComputeModel(nodes, servers), node_resource_consolidation.SPECIFY
        )

        after = self.check(nodes, servers, solution)
        before = ComputeModel(nodes, servers)
        released = [
            node
            for node in nodes
            if before.servers_of(node) and not after.servers_of(node)
        ]
        self.assertEqual(
            len(released), solution.indicators['released_compute_nodes_count']
        )
        self.assertEqual({}, compute_models.services(solution))

    @given(snapshots())
    def test_node_resource_consolidation_enables_what_it_disables(self, snapshot):
        nodes, servers = snapshot

        solution = node_resource_consolidation.propose(ComputeModel(nodes, servers))

        disabled = [
            one.input_parameters['resource_name']
            for one in solution.actions
            if one.input_parameters.get('state') == 'disabled'
        ]
        enabled = [host for host, s in compute_models.services(solution).items()]
        self.assertCountEqual(disabled, enabled)
        self.assertNotIn('disabled', compute_models.services(solution).values())

    @given(snapshots(), st.data())
    def test_workload_balance_lowers_the_deviation(self, snapshot, data):
        nodes, servers = snapshot

        solution = workload_balance.propose(
            ComputeModel(nodes, servers),
            self.usage(data, servers),
            'instance_cpu_usage',
            data.draw(PERCENT),
        )

        self.check(nodes, servers, solution)
        self.assertLessEqual(len(solution.actions), 1)

    @given(
        snapshots(),
        st.data(),
        st.sampled_from(['cycle', 'retry', 'fullsearch']),
        st.randoms(use_true_random=False),
    )
    def test_workload_stabilization_lowers_the_deviation(
        self, snapshot, data, choice, chance: random.Random
    ):
        nodes, servers = snapshot
        given_parameters = parameters.fill(
            workload_stabilization.WorkloadStabilization.schema,
            {'host_choice': choice, 'thresholds': {'instance_cpu_usage': 0.01}},
        )

        solution = workload_stabilization.propose(
            ComputeModel(nodes, servers),
            {'instance_cpu_usage': self.usage(data, nodes)},
            {'instance_cpu_usage': self.usage(data, servers)},
            given_parameters,
            chance,
        )

        self.check(nodes, servers, solution)
        before = solution.indicators['standard_deviation_before_audit']
        after = solution.indicators['standard_deviation_after_audit']
        if solution.actions:
            self.assertLess(after, before)
        else:
            self.assertEqual(before, after)

    @given(snapshots(), st.data())
    def test_noisy_neighbor_moves_at_most_one_server(self, snapshot, data):
        nodes, servers = snapshot

        solution = noisy_neighbor.propose(
            ComputeModel(nodes, servers),
            self.usage(data, servers),
            self.usage(data, servers),
            0.35,
        )

        self.check(nodes, servers, solution)
        self.assertLessEqual(len(solution.actions), 1)

    @given(snapshots(), st.data())
    def test_outlet_temperature_moves_at_most_one_server(self, snapshot, data):
        nodes, servers = snapshot

        solution = outlet_temperature.propose(
            ComputeModel(nodes, servers), self.usage(data, nodes), 50
        )

        self.check(nodes, servers, solution)
        self.assertLessEqual(len(solution.actions), 1)

    @given(snapshots(), st.data())
    def test_uniform_airflow_moves_servers_of_one_node(self, snapshot, data):
        nodes, servers = snapshot
        faulty = {node.uuid for node in nodes if data.draw(st.booleans())}

        solution = uniform_airflow.propose(
            ComputeModel(nodes, servers), self.usage(data, nodes), faulty, 50
        )

        self.check(nodes, servers, solution)
        sources = {source for _, source, _ in compute_models.migrations(solution)}
        self.assertLessEqual(len(sources), 1)

    @given(snapshots(), st.data())
    def test_a_node_in_maintenance_is_empty_afterwards(self, snapshot, data):
        nodes, servers = snapshot
        node = data.draw(st.sampled_from(nodes))
        others = [one.hostname for one in nodes if one != node and one.state == UP]
        given_parameters = {'maintenance_node': node.hostname}
        if others and data.draw(st.booleans()):
            given_parameters['backup_node'] = data.draw(st.sampled_from(others))
        model = ComputeModel(nodes, servers)
        movable = [one for one in model.servers_of(node) if not one.excluded]
        if node.state != UP and movable:
            return

        solution = host_maintenance.propose(
            model,
            parameters.fill(host_maintenance.HostMaintenance.schema, given_parameters),
        )

        self.check(nodes, servers, solution)
        self.assertCountEqual(
            [one.uuid for one in movable],
            [uuid for uuid, _, _ in compute_models.migrations(solution)],
        )
        self.assertEqual(
            {node.hostname},
            {source for _, source, _ in compute_models.migrations(solution)}
            | {node.hostname},
        )
        self.assertEqual('disabled', compute_models.services(solution)[node.hostname])
