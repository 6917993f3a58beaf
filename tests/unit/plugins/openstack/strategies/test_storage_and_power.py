"""The strategies for pools and for the power of compute nodes."""

import dataclasses

from hypothesis import given
from hypothesis import strategies as st

from tests import base
from tests.compute_models import make_node, make_server
from watcherlite import exceptions, testing
from watcherlite.plugins.openstack.models import baremetal, storage
from watcherlite.plugins.openstack.models.baremetal import BaremetalModel, BaremetalNode
from watcherlite.plugins.openstack.models.compute import ComputeModel
from watcherlite.plugins.openstack.models.storage import (
    Pool,
    StorageModel,
    Volume,
    VolumeType,
)
from watcherlite.plugins.openstack.strategies import (
    saving_energy,
    storage_capacity_balance,
)


def make_pool(name, free, backend='b', **values):
    return Pool(name, 100.0, free, 100.0 - free, volume_backend_name=backend, **values)


class TestStorageCapacityBalance(base.TestCase):
    def propose(self, pools, volumes, types=(), **values):
        return storage_capacity_balance.propose(
            StorageModel(pools, volumes, types), 0.8, **values
        )

    def moved(self, solution):
        return [
            (
                one.input_parameters['resource_id'],
                one.input_parameters.get('destination_node')
                or one.input_parameters['destination_type'],
            )
            for one in solution.actions
        ]

    def test_the_full_pool_is_relieved_as_far_as_necessary(self):
        pools = [make_pool('h@b#1', 10), make_pool('h@b#2', 90), make_pool('h@b#3', 95)]
        volumes = [
            Volume('boot', '', 'h@b#1', 5, storage.IN_USE, bootable=True),
            Volume('data', '', 'h@b#1', 6, storage.IN_USE),
            Volume('free', '', 'h@b#1', 7),
            Volume('snapshot', '', 'h@b#1', 1, has_snapshots=True),
            Volume('busy', '', 'h@b#1', 1, migration_status='migrating'),
        ]

        solution = self.propose(pools, volumes)

        self.assertEqual([('free', 'h@b#3'), ('data', 'h@b#2')], self.moved(solution))
        self.assertLess(
            solution.indicators['standard_deviation_after_audit'],
            solution.indicators['standard_deviation_before_audit'],
        )

    def test_volumes_keep_their_type_where_a_pool_serves_it(self):
        types = [VolumeType('fast', {'volume_backend_name': 'b'})]
        pools = [
            make_pool('h@b#1', 10),
            make_pool('h@b#2', 90),
            make_pool('h@c#1', 99, 'c'),
        ]
        volumes = [Volume('v', '', 'h@b#1', 50, volume_type='fast')]

        self.assertEqual(
            [('v', 'h@b#2')], self.moved(self.propose(pools, volumes, types))
        )

    def test_other_volumes_get_a_type_with_the_same_specs(self):
        types = [
            VolumeType('fast', {'volume_backend_name': 'b', 'replicated': 'yes'}),
            VolumeType('plain', {'volume_backend_name': 'c'}),
            VolumeType('safe', {'volume_backend_name': 'c', 'replicated': 'yes'}),
        ]
        pools = [make_pool('h@b#1', 10), make_pool('h@c#1', 99, 'c')]
        volumes = [Volume('v', '', 'h@b#1', 50, volume_type='fast')]

        self.assertEqual(
            [('v', 'safe')], self.moved(self.propose(pools, volumes, types))
        )
        self.assertEqual([], self.moved(self.propose(pools, volumes, types[:2])))

    def test_excluded_pools_are_left_alone(self):
        pools = [make_pool('h@b#1', 10), make_pool('h@b#2', 90)]

        solution = self.propose(pools, [Volume('v', '', 'h@b#1', 50)], ex_pools=['2'])

        self.assertEqual([], self.moved(solution))

    def test_pools_without_capacity_are_an_error(self):
        with self.assertRaisesRegex(exceptions.NotFound, 'no pool with a known capac'):
            self.propose([Pool('h@b#1')], [])

    @given(st.data())
    def test_no_pool_is_filled_above_the_threshold(self, data):
        pools = [
            make_pool(
                f'h@b#{number}',
                data.draw(st.integers(0, 100)),
                max_over_subscription_ratio=data.draw(
                    st.sampled_from([0.9, 1.0, 20.0])
                ),
            )
            for number in range(data.draw(st.integers(1, 4)))
        ]
        volumes = [
            Volume(
                str(number),
                '',
                data.draw(st.sampled_from(pools)).name,
                data.draw(st.integers(1, 30)),
            )
            for number in range(data.draw(st.integers(0, 15)))
        ]

        solution = self.propose(pools, volumes)

        free = {pool.name: pool.free_capacity_gb for pool in pools}
        sizes = {volume.uuid: volume.size for volume in volumes}
        filled = set()
        for uuid, pool in self.moved(solution):
            free[pool] -= sizes[uuid]
            filled.add(pool)
        for pool in filled:
            self.assertGreaterEqual(free[pool], 20)


class TestSavingEnergy(base.TestCase):
    def run_strategy(self, states, servers=(), **parameters):
        nodes = [make_node(number) for number in range(len(states))]
        metal = [
            dataclasses.replace(
                BaremetalNode(f'metal-{number}', compute_node=f'node-{number}'),
                power_state=state,
            )
            for number, state in enumerate(states)
        ]
        solution = testing.run_strategy(
            saving_energy.SavingEnergy,
            parameters,
            models={
                'compute': lambda scope: ComputeModel(nodes, servers),
                'baremetal': lambda scope: BaremetalModel(metal),
            },
        )
        return [
            (one.input_parameters['resource_id'], one.input_parameters['state'])
            for one in solution.actions
        ]

    def test_surplus_nodes_are_powered_off_but_none_with_servers(self):
        self.assertEqual(
            [('metal-1', 'off')],
            self.run_strategy([baremetal.POWER_ON] * 3, [make_server(1, 0)]),
        )

    def test_missing_nodes_are_powered_on(self):
        states = [baremetal.POWER_ON, baremetal.POWER_OFF, baremetal.POWER_OFF]

        self.assertEqual(
            [('metal-1', 'on')], self.run_strategy(states, [make_server(1, 0)])
        )
        self.assertEqual(
            2,
            len(self.run_strategy(states, [make_server(1, 0)], free_used_percent=200)),
        )

    def test_enough_nodes_stay_as_they_are(self):
        self.assertEqual(
            [], self.run_strategy([baremetal.POWER_ON, baremetal.POWER_OFF])
        )

    def test_nodes_without_a_compute_node_are_an_error(self):
        with self.assertRaisesRegex(exceptions.NotFound, r'extra\.compute_node_id'):
            self.run_strategy([])
