"""The compute model: capacity, placement, rows of the API."""

from hypothesis import given
from hypothesis import strategies as st

from tests import base
from tests.compute_models import make_node, make_server, snapshots
from watcherlite import exceptions
from watcherlite.plugins.openstack.models import compute
from watcherlite.plugins.openstack.models.compute import ComputeModel, Resources


class TestComputeModel(base.TestCase):
    def test_the_capacity_includes_reservation_and_overcommitment(self):
        node = make_node(
            1,
            vcpus=16,
            vcpu_reserved=2,
            vcpu_ratio=4.0,
            memory=1024,
            memory_mb_reserved=512,
            disk=100,
            disk_ratio=1.5,
        )

        self.assertEqual(Resources(56, 512, 150), node.capacity)

    def test_a_move_changes_both_nodes_and_is_reported_once(self):
        first, second = make_node(1), make_node(2)
        server = make_server(1, 1, vcpus=4)
        model = ComputeModel([first, second], [server])

        model.move(server, second)

        self.assertEqual([], model.servers_of(first))
        self.assertEqual([server], model.servers_of(second))
        self.assertEqual(Resources(), model.used(first))
        self.assertEqual(4, model.used(second).vcpus)
        self.assertEqual([(server, first, second)], model.moved())
        model.move(server, first)
        self.assertEqual([], model.moved())

    def test_a_server_fits_neither_where_it_is_nor_where_one_resource_is_short(self):
        nodes = [make_node(1), make_node(2, disk=9), make_node(3)]
        server = make_server(1, 1, disk=10)
        model = ComputeModel(nodes, [server])

        self.assertEqual(
            [False, False, True], [model.can_move(server, node) for node in nodes]
        )

    def test_an_unknown_node_is_named(self):
        with self.assertRaisesRegex(exceptions.NotFound, 'no compute node compute-9'):
            ComputeModel([make_node(1)], []).find_node('compute-9')

    def test_rows_have_each_server_and_each_empty_node(self):
        nodes = [make_node(1), make_node(2)]
        servers = [make_server(2, 1, excluded=True), make_server(1, 1)]

        rows = compute.represent(ComputeModel(nodes, servers))

        self.assertEqual(
            [
                ('compute-1', 'server-1', False),
                ('compute-1', 'server-2', True),
                ('compute-2', None, None),
            ],
            [
                (
                    row['node_hostname'],
                    row.get('server_name'),
                    row.get('server_watcher_exclude'),
                )
                for row in rows
            ],
        )

    @given(snapshots(), st.data())
    def test_the_usage_is_the_sum_of_the_servers_after_any_moves(self, snapshot, data):
        model = ComputeModel(*snapshot)
        for _ in range(data.draw(st.integers(0, 10))):
            if model.servers:
                server = data.draw(st.sampled_from(model.servers))
                model.move(server, data.draw(st.sampled_from(model.nodes)))

        placed = [one for node in model.nodes for one in model.servers_of(node)]
        self.assertCountEqual(model.servers, placed)
        for node in model.nodes:
            total = sum((one.resources for one in model.servers_of(node)), Resources())
            self.assertEqual(total, model.used(node))
