"""The goals of watcherlite."""

from tests import base
from watcherlite.plugins import loader
from watcherlite.plugins.base import GOALS, STRATEGIES

#: names of Watcher -> display names
NAMES = {
    'airflow_optimization': 'Airflow Optimization',
    'cluster_maintaining': 'Cluster Maintaining',
    'dummy': 'Dummy goal',
    'hardware_maintenance': 'Hardware Maintenance',
    'noisy_neighbor': 'Noisy Neighbor',
    'saving_energy': 'Saving Energy',
    'server_consolidation': 'Server Consolidation',
    'thermal_optimization': 'Thermal Optimization',
    'unclassified': 'Unclassified',
    'workload_balancing': 'Workload Balancing',
}


class GoalsTest(base.TestCase):
    """Names and indicators."""

    def setUp(self) -> None:
        super().setUp()
        self.plugins = loader.load()

    def test_all_goals_of_watcher_exist(self) -> None:
        found = self.plugins.loadable(GOALS)
        self.assertEqual(
            NAMES,
            {
                name: kind.display_name
                for name, kind in found.items()
                if kind.__module__.startswith('watcherlite.')
                # Goals that Watcher does not have.
                and name not in ('cluster_health', 'stack_health')
            },
        )
        for kind in found.values():
            self.assertTrue(kind.description or kind.__doc__)

    def test_each_strategy_has_an_existing_goal_and_planner(self) -> None:
        for kind in self.plugins.loadable(STRATEGIES).values():
            self.plugins.make_goal(kind.goal)
            self.plugins.make_planner(kind.planner)

    def overall(self, goal: str, **figures: float) -> dict[str, float]:
        made = self.plugins.make_goal(goal)
        desired = {indicator.name for indicator in made.indicators}
        self.assertEqual(desired, set(figures))
        return {i.name: i.value for i in made.global_efficacy(figures)}

    def test_goals_without_indicators_have_no_efficacy(self) -> None:
        for goal in set(NAMES) - {
            *('server_consolidation', 'workload_balancing', 'hardware_maintenance')
        }:
            self.assertEqual({}, self.overall(goal))

    def test_consolidation_and_balancing_are_ratios_of_nodes_and_instances(
        self,
    ) -> None:
        deviations = {
            'standard_deviation_before_audit': 2.5,
            'standard_deviation_after_audit': 0.5,
        }
        for part, whole, ratio in ((1, 8, 12.5), (0, 4, 0.0), (0, 0, 0.0)):
            self.assertEqual(
                [{'released_nodes_ratio': ratio}, {'live_migrations_count': ratio}],
                [
                    self.overall(
                        'server_consolidation',
                        compute_nodes_count=whole,
                        released_compute_nodes_count=part,
                        instance_migrations_count=3,
                    ),
                    self.overall(
                        'workload_balancing',
                        instance_migrations_count=part,
                        instances_count=whole,
                        **deviations,
                    ),
                ],
            )

    def test_the_efficacy_of_maintenance_is_the_migrated_share(self) -> None:
        self.assertEqual(
            {
                'live_instance_migrate_ratio': 50.0,
                'cold_instance_migrate_ratio': 100.0,
                'volume_migrate_ratio': 0.0,
                'volume_update_ratio': 0.0,
            },
            self.overall(
                'hardware_maintenance',
                live_migrate_instance_count=1,
                planned_live_migrate_instance_count=2,
                cold_migrate_instance_count=3,
                planned_cold_migrate_instance_count=3,
                volume_migrate_count=0,
                planned_volume_migrate_count=5,
                volume_update_count=0,
                planned_volume_update_count=0,
            ),
        )
