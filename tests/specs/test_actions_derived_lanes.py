"""Spec 001: actions derived for another lane, which have their own target lock."""

from typing import Any

from tests.bounded import TIMEOUT
from tests.specs.test_actions_derived import derived
from tests.worlds import World, WorldCase, action, kind
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.outcomes import Failed, TimedOut

#: Seconds; no test waits for a sweep.
NEVER = 600.0


class TestAnotherLane(WorldCase):
    """One worker executes plans, another their derived actions."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = self.create_gate()
        self.saw: list[tuple[str, str, str | None]] = []

    def world(self, target: str | None = 'sample:1', **hooks: Any) -> World:
        """Return a world in which `derives` derives a `waits` for the engine."""
        world = self.create_world(
            {
                'derives': kind(
                    idempotent=True,
                    execute=lambda context: derived(
                        'x', action_type='waits', lane=ENGINE, target=target
                    ),
                    complete=self._complete,
                ),
                'waits': kind(execute=hooks.get('waits', self.gate)),
            },
            sweep_interval=NEVER,
        )
        self.applier = world.worker(lanes=('applier',))
        world.worker(lanes=('engine',))
        return world

    def _complete(self, context: Any, results: Any) -> Any:
        self.saw += [(r.key, r.status, r.status_message) for r in results]
        return True if results[0].status == 'SUCCEEDED' else Failed('x did not')

    def test_a_derived_action_of_another_lane_belongs_to_no_plan(self) -> None:
        world = self.world()
        plan = world.start(action('a', 'derives'))
        self.gate.wait_until_entered()
        child, parent = world.action('x'), world.action('a')
        # Another worker than the one that started it may complete the plan.
        world.kill(self.applier)
        world.worker(lanes=('applier',))
        self.gate.open()
        ended = world.wait_until_ended(plan)

        self.assertEqual(
            (None, ENGINE, parent.id, 'RPC Request', 'sample:1'),
            (
                *(child.plan_id, child.lane, child.derived_from, child.cause),
                child.target,
            ),
        )
        self.assertEqual(('WAITING', None), (parent.status, parent.owner))
        self.assertEqual(
            ('SUCCEEDED', 1, 0), (ended.state, ended.total, ended.unfinished)
        )
        self.assertEqual([('x', 'SUCCEEDED', None)], self.saw)

    def test_a_failed_derived_action_fails_its_creator_and_counts_once(self) -> None:
        world = self.world(waits=lambda context: Failed('no disk'))
        ended = world.wait_until_ended(world.start(action('a', 'derives')))

        self.assertEqual(('FAILED', 1), (ended.state, ended.failed))
        self.assertEqual(
            [('x', 'FAILED', 'Action failed in execute: no disk')], self.saw
        )

    def test_an_unstarted_derived_action_locks_its_target_and_ends_with_the_plan(
        self,
    ) -> None:
        world = self.world()
        world.add(world.new_action('first', 'waits', target='sample:1'))
        self.gate.wait_until_entered()
        plan = world.start(action('a', 'derives'))
        blocked = world.wait_for_action('x', 'WAITING').blocked_on
        world.wait_for_action('a', 'WAITING')
        world.plans.cancel(plan.uuid)

        self.assertEqual('sample:1', blocked)
        self.assertEqual('CANCELLED', world.wait_until_ended(plan).state)
        self.assertEqual(
            ('CANCELLED', 'RUNNING'),
            (world.action('x').status, world.action('first').status),
        )
        plan = world.start(action('b', 'derives'))
        world.wait_for_action('x', 'WAITING')
        self.gate.open()
        self.assertEqual('SUCCEEDED', world.wait_until_ended(plan).state)

    def test_a_derived_action_runs_under_the_lock_of_its_creator(self) -> None:
        world = self.world()
        self.gate.open()
        plan = world.start(action('a', 'derives', target='sample:1'))

        self.assertEqual('SUCCEEDED', world.wait_until_ended(plan).state)
        self.assertEqual('Derived Action', world.action('x').cause)

    def test_a_cancel_of_the_plan_stops_a_derived_action(self) -> None:
        def waits(context: Any) -> Any:
            self.gate()
            context.sleep(TIMEOUT)
            return TimedOut('it received no signal')

        world = self.world(waits=waits)
        plan = world.start(action('a', 'derives'))
        self.gate.wait_until_entered()
        world.wait_for_action('a', 'WAITING')
        world.plans.cancel(plan.uuid)
        self.gate.open()

        self.assertEqual('CANCELLED', world.wait_until_ended(plan).state)
        world.wait_for_action('x', 'CANCELLED')
