"""Spec 001, timeout of an action that waits for derived actions."""

import threading
from typing import Any

from tests.bounded import TIMEOUT
from tests.functional.db.stores import MYSQL, POSTGRESQL
from tests.specs.database_case import define_database_tests
from tests.worlds import Calls, World, WorldCase, action, kind, ran
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.outcomes import Derived, DerivedAction, Done
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

LATE = 'Action failed in execute: it ran longer than its timeout'
CANCELLED = 'Action was cancelled while it ran.'
UNSTARTED = 'Action was cancelled before it started.'


def child(key: str, action_type: str = 'sleeps', **values: Any) -> DerivedAction:
    """Return a derived action that may run longer than its parent."""
    return DerivedAction(key, action_type, timeout=int(TIMEOUT * 9), **values)


#: The first responds to signals, the second does not, the third follows the first.
CHILDREN = (
    child('first'),
    child('unresponsive', 'waits'),
    child('later', 'nop', parents=('first',), needs='completion'),
)


class OverdueCase(WorldCase):
    """A world with an action that waits for derived actions."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = self.create_gate()
        self.ready = threading.Event()

    def sleep(self, context: Any) -> bool:
        """Sleep until `ready` is set."""
        while not self.ready.is_set():
            context.sleep(0.01)
        return True

    def create_waiting_world(
        self, *children: DerivedAction, hooks: Any = None, **settings: Any
    ) -> World:
        return self.create_world(
            {
                'derives': kind(
                    execute=lambda c: Derived(children or CHILDREN), **(hooks or {})
                ),
                'waits': kind(execute=self.gate),
                'sleeps': kind(execute=self.sleep),
            },
            # No sweep except the first one finds the waiting action.
            **{'sweep_interval': 3600.0, **settings},
        )

    def start_action(self, world: World, *names: str, **values: Any) -> None:
        """Add an action whose timeout starts to count once the named actions run."""
        world.clock.pause()
        world.add(world.new_action('a', 'derives', timeout=1, **values))
        for name in names:
            world.wait_for_action(name, states.RUNNING)
        world.clock.resume()


class TestTimeoutOfAWait(OverdueCase):
    """A timeout cancels the derived actions, and then fails the action."""

    def test_an_overdue_action_fails_after_its_derived_actions_have_ended(self) -> None:
        world = self.create_waiting_world()
        world.worker(lanes=(ENGINE,))
        self.start_action(world, 'first', 'unresponsive', target='host')
        world.add(world.new_action('z', target='host'))
        world.wait_for_action('later', states.CANCELLED)
        world.wait_for_action('first', states.CANCELLED)
        # One derived action still runs, so no other action may lock the target.
        self.assertEqual(
            (states.WAITING, states.WAITING),
            (world.action('a').status, world.action('z').status),
        )
        self.gate.open()
        world.wait_for_action('z', states.SUCCEEDED)
        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING', None),
                ('a', 'RUNNING', 'WAITING', None),
                *ran('a', 'FAILED', LATE),
            ],
            world.history(None, 'a'),
        )
        self.assertEqual(
            ran('first', 'CANCELLED', CANCELLED)[1:], world.history(None, 'first')[1:]
        )
        self.assertEqual(
            [('later', 'WAITING', 'CANCELLED', UNSTARTED)], world.history(None, 'later')
        )
        self.assertEqual(ran('unresponsive'), world.history(None, 'unresponsive'))
        ended = world.action('a')
        assert ended.start_time and ended.end_time
        self.assertGreaterEqual(
            (ended.end_time - ended.start_time).total_seconds(), 1.0
        )

    def test_the_timeout_is_paused_during_a_suspension(self) -> None:
        world = self.create_waiting_world(child('first'))
        worker = world.worker(lanes=(ENGINE,))
        world.clock.pause()
        world.add(world.new_action('a', 'derives', timeout=1))
        world.wait_for_action('first', states.RUNNING)
        world.wait_for_action('a', states.WAITING)
        uuid, deadline = world.action('a').uuid, world.action('a').deadline
        assert deadline is not None
        left = deadline - world.clock.now()
        world.plans.signal_action(uuid, states.SUSPEND)
        world.wait_for_action('a', states.SUSPENDED)
        world.clock.resume()
        over = world.clock.monotonic() + 1.1
        world.wait_until(lambda: world.clock.monotonic() > over)
        worker.sweeper.sweep()
        self.assertEqual(states.SUSPENDED, world.action('a').status)
        world.clock.pause()
        world.plans.signal_action(uuid, states.RESUME)
        deadline = world.action('a').deadline
        assert deadline is not None
        self.assertEqual(left, deadline - world.clock.now())
        world.clock.resume()
        self.assertEqual(LATE, world.wait_for_action('a', states.FAILED).status_message)

    def test_other_actions_of_the_plan_continue(self) -> None:
        # A derived action of another lane, with a lock of its own, is cancelled as
        # well.
        world = self.create_waiting_world(child('first', lane=ENGINE), child('other'))
        world.worker()
        world.worker(lanes=(ENGINE,))
        plan = world.start(
            action('a', 'derives', timeout=1), action('z', parents=['a'])
        )
        plan = world.wait_until_ended(plan)
        self.assertEqual(
            [
                *ran('a', 'FAILED', LATE),
                *ran('z'),
                (
                    *('plan', 'ONGOING', plan_states.FAILED),
                    'An action failed: it ran longer than its timeout',
                ),
            ],
            world.history(plan, 'a', 'z', 'plan')[-5:],
        )
        self.assertEqual((0, 3), (plan.unfinished, plan.total))
        self.assertEqual(
            {
                'a': 'FAILED',
                'z': 'SUCCEEDED',
                'first': 'CANCELLED',
                'other': 'CANCELLED',
            },
            world.statuses(),
        )


class TestEffectiveTimeout(OverdueCase):
    """The timeout counts from the start of the action and includes derived actions."""

    def test_the_default_timeout_applies_without_an_own_one(self) -> None:
        # No worker serves the lane of the derived action, so it has not started.
        begun = DerivedAction('first', 'nop', lane='applier')
        world = self.create_waiting_world(begun, default_action_timeout=0.3)
        world.worker(lanes=(ENGINE,))
        world.add(world.new_action('a', 'derives'))
        self.assertEqual(LATE, world.wait_for_action('a', states.FAILED).status_message)
        self.assertEqual(
            [('first', 'READY', 'CANCELLED', UNSTARTED)], world.history(None, 'first')
        )

    def test_longer_timeouts_of_derived_actions_extend_the_default(self) -> None:
        world = self.create_waiting_world(child('first'), default_action_timeout=0.3)
        worker = world.worker(lanes=(ENGINE,))
        world.add(world.new_action('a', 'derives'))
        world.wait_for_action('first', states.RUNNING)
        waiting = world.action('a')
        assert waiting.deadline is not None and waiting.start_time is not None
        self.assertGreater(
            (waiting.deadline - waiting.start_time).total_seconds(), TIMEOUT * 8
        )
        worker.sweeper.sweep()
        self.ready.set()
        world.wait_for_action('a', states.SUCCEEDED)
        self.assertIsNone(world.action('a').deadline)

    def test_one_timeout_covers_all_stages(self) -> None:
        stages = iter([Derived((child('second'),)), Done()])
        world = self.create_waiting_world(
            child('first', 'nop'), hooks={'complete': lambda *a: next(stages)}
        )
        world.worker(lanes=(ENGINE,))
        self.start_action(world, 'second')
        waiting = world.action('a')
        assert waiting.deadline is not None and waiting.start_time is not None
        left = (waiting.deadline - waiting.start_time).total_seconds()
        self.assertLess(left, 1.5)
        world.wait_for_action('a', states.FAILED)
        self.assertEqual(states.CANCELLED, world.action('second').status)

    def test_an_action_type_may_handle_its_timeout(self) -> None:
        calls = Calls()
        outcome: list[Any] = []

        def overdue(context: Any, results: Any) -> Any:
            outcome.extend((result.key, result.status) for result in results)
            return Derived((child('undo', 'nop'),), timeout=TIMEOUT * 9)

        world = self.create_waiting_world(
            child('first'),
            hooks={'overdue': overdue, 'complete': calls.record('complete', Done())},
        )
        world.worker(lanes=(ENGINE,))
        world.add(world.new_action('a', 'derives', timeout=1))
        world.wait_for_action('a', states.SUCCEEDED)
        self.assertEqual([('first', states.CANCELLED)], outcome)
        self.assertEqual([('a', 'complete')], calls.made)
        self.assertEqual(ran('undo'), world.history(None, 'undo'))

    def test_a_repeated_action_continues_with_its_next_run(self) -> None:
        world = self.create_waiting_world(child('first'))
        world.worker(lanes=(ENGINE,))
        world.add(world.new_action('a', 'derives', timeout=1, interval=1))
        world.wait_until(lambda: world.action('a').status_message == LATE)
        self.ready.set()
        world.wait_until(lambda: world.action('a').attempt > 2)
        world.wait_until(lambda: world.action('a').status_message is None)


class TestDetection(OverdueCase):
    """Any worker of its lane times the action out, for any reason of its wait."""

    def test_another_worker_detects_the_timeout_of_a_lost_worker(self) -> None:
        world = self.create_waiting_world(child('first', lane='applier'))
        lost = world.worker(lanes=(ENGINE,))
        world.add(world.new_action('a', 'derives', timeout=1))
        world.wait_for_action('a', states.WAITING)
        world.kill(lost)
        world.worker(lanes=(ENGINE,))
        self.assertEqual(LATE, world.wait_for_action('a', states.FAILED).status_message)

    def test_two_concurrent_workers_end_an_overdue_action_once(self) -> None:
        world = self.create_waiting_world(child('unresponsive', 'waits'))
        for _ in range(2):
            world.worker(lanes=(ENGINE,))
        self.start_action(world, 'unresponsive')
        world.wait_until(lambda: world.action('unresponsive').control == states.CANCEL)
        for _ in range(3):
            world.plans.time_out(world.action('a').uuid)
        self.assertEqual([('unresponsive', states.CANCEL)], world.signals())
        # As with CANCEL, an action that nevertheless succeeds is SUCCEEDED.
        self.gate.open()
        world.wait_for_action('a', states.SUCCEEDED)

    def test_an_action_before_its_deadline_is_unchanged(self) -> None:
        world = self.create_waiting_world(child('first'))
        world.worker(lanes=(ENGINE,))
        world.add(world.new_action('a', 'derives', timeout=60))
        world.wait_for_action('first', states.RUNNING)
        for name in ('a', 'first'):
            world.plans.time_out(world.action(name).uuid)
        self.assertEqual([], world.signals())


define_database_tests(__name__, {TestTimeoutOfAWait: (POSTGRESQL, MYSQL)})
