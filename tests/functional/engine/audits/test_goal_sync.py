"""The synchronization of the installed goals, strategies and scoring engines."""

from typing import Any

from tests.audit_worlds import AuditCase, AuditWorld, strategy
from watcherlite.db.query import Query
from watcherlite.engine.audits import goal_sync
from watcherlite.plugins import base, loader
from watcherlite.plugins.scoring_engines.dummy import DummyScorer


class CatalogueTest(AuditCase):
    """The sync at the start of a daemon."""

    def rows(self, world: AuditWorld) -> list[Any]:
        goals = world.store.list_goals(Query())
        strategies = world.store.list_strategies(Query())
        engines = world.store.list_scoring_engines(Query())
        return [
            *(g.goal for g in goals),
            *(s.strategy for s in strategies),
            *(e.engine for e in engines),
        ]

    def test_installed_goals_and_strategies_are_stored(self) -> None:
        world = self.create_audit_world()
        goal = world.store.find_goal('server_consolidation').goal
        self.assertEqual('Server Consolidation', goal.display_name)
        self.assertEqual(
            [
                'compute_nodes_count',
                'released_compute_nodes_count',
                'instance_migrations_count',
            ],
            [desired['name'] for desired in goal.efficacy_specification],
        )
        self.assertEqual(
            '{"minimum": 0, "type": "integer"}',
            goal.efficacy_specification[0]['schema'],
        )
        found = world.store.find_strategy('actuator')
        self.assertEqual(
            ('Actuator', 'unclassified'), (found.strategy.display_name, found.goal_name)
        )
        self.assertIn('actions', found.strategy.parameters_spec['properties'])
        engine = world.store.find_scoring_engine('dummy_scorer').engine
        self.assertEqual(
            (DummyScorer.description, DummyScorer.metainfo),
            (engine.description, engine.metainfo),
        )

    def test_a_second_sync_changes_nothing(self) -> None:
        world = self.create_audit_world()
        before = self.rows(world)
        self.clock.advance(3600)
        goal_sync.sync(world.store, world.types, self.clock)
        self.assertEqual(before, self.rows(world))

    def test_a_new_version_changes_rows_in_place_and_cancels_nothing(self) -> None:
        world = self.create_engine_world()
        audit = world.wait_for_audit_end(world.audit())
        newer = type('Dummy', (base.Goal,), {'display_name': 'Better'})
        plugins = loader.Plugins.of(
            goals={'dummy': newer},
            strategies={'dummy': strategy(display_name='Best')},
            scoring_engines={
                'dummy_scorer': type('Newer', (DummyScorer,), {'metainfo': '[]'})
            },
        )
        events = world.events()
        goal_sync.sync(world.store, plugins, self.clock)
        goal = world.store.find_goal('dummy').goal
        self.assertEqual(('Better', audit.goal_id), (goal.display_name, goal.id))
        self.assertEqual(
            ('Best', audit.strategy_id),
            (
                world.store.find_strategy('dummy').strategy.display_name,
                world.store.find_strategy('dummy').strategy.id,
            ),
        )
        self.assertEqual((audit, events), (world.reload(audit), world.events()))
        scorer = world.store.find_scoring_engine('dummy_scorer').engine
        self.assertEqual('[]', scorer.metainfo)
        # Plugins that are not installed here may be installed elsewhere.
        self.assertEqual(
            'Actuator', world.store.find_strategy('actuator').strategy.display_name
        )

    def test_a_strategy_without_its_goal_is_skipped(self) -> None:
        world = self.create_audit_world(strategies={'lost': strategy(goal='missing')})
        names = [s.strategy.name for s in world.store.list_strategies(Query())]
        self.assertEqual(['actuator', 'dummy'], sorted(names))
        self.assertIn('its goal missing is not installed', self.log.output)
