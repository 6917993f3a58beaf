"""Spec 001: timeout, interval, and scheduled actions."""

import datetime
import itertools
import threading
from typing import Any

from tests.worlds import (
    TIMEOUT,
    Calls,
    World,
    WorldCase,
    action,
    chain,
    kind,
    raises,
    ran,
)
from watcherlite import exceptions
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.outcomes import Done, InProgress, Retry, Skipped
from watcherlite.states import action as states
from watcherlite.states import action_plan as plan_states

LATE = 'Action failed in execute: it ran longer than its timeout'


class TestTimeout(WorldCase):
    """An action that exceeds its timeout is FAILED, whether it cooperates or not."""

    def test_a_cooperative_action_ends_at_its_timeout(self) -> None:
        # A timeout of zero is the default of the system.
        for timeout, default in ((1, 3600.0), (0, 0.05)):
            world = self.create_world(
                {'sleeps': kind(execute=lambda c: c.sleep(TIMEOUT * 9))},
                default_action_timeout=default,
            )
            plan = world.run(
                action('a', 'sleeps', timeout=timeout), action('b', parents=['a'])
            )
            self.assertEqual(
                [*ran('a', 'FAILED', LATE), *ran('b')], world.history(plan, 'a', 'b')
            )
            ended = world.action('a')
            assert ended.start_time and ended.end_time
            took = (ended.end_time - ended.start_time).total_seconds()
            self.assertGreaterEqual(took, timeout)

    def test_an_action_that_ignores_its_timeout_fails_and_is_fenced(self) -> None:
        gate = self.create_gate()
        returned = threading.Event()

        def unresponsive(context: Any) -> bool:
            gate()
            returned.set()
            return True

        # The action occupies the only thread of the worker.
        world = self.create_world(
            {'unresponsive': kind(execute=unresponsive)},
            default_action_timeout=0.05,
            max_parallel=1,
        )
        plan = world.run(
            *chain('a', action_type='unresponsive'), action('b', parents=['a'])
        )
        self.assertEqual(
            [*ran('a', 'FAILED', LATE), *ran('b')], world.history(plan, 'a', 'b')
        )

        gate.open()
        self.assertTrue(returned.wait(TIMEOUT))
        self.assertEqual(plan_states.SUCCEEDED, world.run(*chain('c', 'd')).state)
        self.assertEqual(states.FAILED, world.action('a').status)
        self.assertEqual(2, len(world.history(plan, 'a')))

    def test_an_action_that_hangs_in_pre_condition_fails(self) -> None:
        gate = self.create_gate()
        world = self.create_world(
            {'hangs': kind(pre_condition=gate)},
            default_action_timeout=0.05,
            max_parallel=1,
        )
        plan = world.run(action('a', 'hangs'), 'b')
        self.assertEqual(
            [
                (
                    'a',
                    'READY',
                    'FAILED',
                    'Action failed in pre_condition: it ran longer than its timeout',
                )
            ],
            world.history(plan, 'a'),
        )

    def test_a_dependent_that_hangs_in_pre_condition_fails_alone(self) -> None:
        # Hang only in the second run: only types that are known to be quick run
        # `pre_condition` in the thread of the preceding action.
        gate = self.create_gate()
        known = threading.Event()

        def pre_condition(context: Any) -> None:
            if context.name == 'hangs' and known.is_set():
                gate()

        world = self.create_world(
            {'checked': kind(pre_condition=pre_condition)}, default_action_timeout=0.5
        )
        world.run(*chain('x', 'y', action_type='checked'))
        known.set()
        plan = world.run(*chain('a', 'hangs', 'c', action_type='checked'))
        self.assertEqual(
            {'a': 'SUCCEEDED', 'hangs': 'FAILED', 'c': 'SUCCEEDED'},
            world.statuses(plan),
        )

    def test_a_timeout_of_an_action_in_progress_stops_its_work(self) -> None:
        calls = Calls()
        world = self.create_world(
            {
                'external': kind(
                    execute=lambda context: InProgress('job', 3600.0),
                    cancel=calls.record('cancel'),
                )
            },
            default_action_timeout=0.05,
        )
        plan = world.run(action('a', 'external'))
        self.assertEqual(ran('a', 'FAILED', LATE), world.history(plan, 'a'))
        self.assertEqual([('a', 'cancel')], calls.made)

    def test_a_timeout_counts_from_the_start_in_a_thread(self) -> None:
        # Both are RUNNING; the second waits for the only thread longer than its
        # timeout.
        gate = self.create_gate()

        def first(context: Any) -> bool:
            context.deadline_at = None  # no timeout
            return bool(gate())

        world = self.create_world(
            {'first': kind(execute=first)},
            default_action_timeout=0.2,
            max_parallel=1,
            linger=0.0,
        )
        worker = world.worker()
        # Run short actions first, so that the worker claims many actions at once.
        world.run(*(f'n{n}' for n in range(200)))
        plan = world.start(action('a', 'first'), action('b'))
        gate.wait_until_entered()
        world.wait_until(lambda: len(worker.dispatcher.owned) == 2)
        over = world.clock.monotonic() + 0.3
        world.wait_until(lambda: world.clock.monotonic() > over)
        gate.open()
        world.wait_until_ended(plan)
        self.assertEqual({'a': 'SUCCEEDED', 'b': 'SUCCEEDED'}, world.statuses(plan))


class TestRetry(WorldCase):
    """An action that requested a retry is retried after its delay."""

    def retry_delays(self, delay: float) -> list[float]:
        """Return the seconds between the attempts of an action that is busy twice."""
        tries: list[float] = []

        def busy(context: Any) -> Any:
            tries.append(world.clock.monotonic())
            return True if len(tries) == 3 else Retry('busy', delay)

        world = self.create_world({'busy': kind(execute=busy)})
        plan = world.run(action('a', 'busy'))
        self.assertEqual(
            [*ran('a', 'READY', 'busy') * 2, *ran('a')], world.history(plan, 'a')
        )
        return [after - before for before, after in itertools.pairwise(tries)]

    def test_a_retry_runs_immediately_or_after_a_delay(self) -> None:
        for delay in (0, 0.1):
            between = self.retry_delays(delay)
            self.assertEqual((2, True), (len(between), min(between) >= delay))

    def test_pre_condition_may_request_a_retry(self) -> None:
        answers = iter([Retry('not yet', 0.01), None])
        world = self.create_world(
            {'early': kind(pre_condition=lambda c: next(answers))}
        )
        plan = world.run(action('a', 'early'))
        self.assertEqual(ran('a'), world.history(plan, 'a'))
        self.assertEqual(2, world.action('a').attempt)

    def test_a_plan_can_be_cancelled_while_an_action_waits_for_its_retry(self) -> None:
        world = self.create_world(
            {'busy': kind(execute=lambda c: Retry('busy', 3600.0))}
        )
        world.worker()
        plan = world.start(action('a', 'busy'))
        world.wait_until(lambda: len(world.history(plan, 'a')) == 2)
        world.plans.cancel(plan.uuid)
        self.assertEqual(plan_states.CANCELLED, world.wait_until_ended(plan).state)


class TestInterval(WorldCase):
    """A repeated action runs again and again, and never twice concurrently."""

    def create_repeated_action(self, execute: Any, **hooks: Any) -> World:
        world = self.create_world({'again': kind(execute=execute, **hooks)})
        world.worker(lanes=(ENGINE,))
        # A plan document cannot set an interval. A run starts an interval after the
        # last one.
        world.add(world.new_action('a', 'again', interval=1))
        return world

    def test_a_run_starts_an_interval_after_the_start_of_the_last_run(self) -> None:
        starts: list[datetime.datetime] = []

        def execute(context: Any) -> Done:
            start = world.action('a').start_time
            assert start is not None
            starts.append(start)
            return Done({'run': len(starts)})

        world = self.create_repeated_action(execute)
        world.wait_until(lambda: len(starts) == 2)
        interval = (starts[1] - starts[0]).total_seconds()
        self.assertGreaterEqual(interval, 0.99)
        world.wait_until(lambda: world.action('a').outputs == {'run': 2})
        self.assertEqual(ran('a', 'READY') * 2, world.history(None, 'a'))
        again = world.action('a')
        self.assertEqual((states.READY, None), (again.status, again.owner))
        assert again.start_time is not None
        self.assertEqual(
            again.start_time + datetime.timedelta(seconds=1), again.not_before
        )

    def test_runs_longer_than_the_interval_do_not_overlap(self) -> None:
        running = threading.Lock()
        overlaps: list[bool] = []
        long = self.create_gate()

        def execute(context: Any) -> bool:
            free = running.acquire(blocking=False)
            overlaps.append(not free)
            long()
            running.release()
            return True

        world = self.create_repeated_action(execute)
        long.wait_until_entered()
        over = world.clock.monotonic() + 1.2
        world.wait_until(lambda: world.clock.monotonic() > over)
        self.assertEqual([False], overlaps)
        long.open()
        world.wait_until(lambda: len(overlaps) >= 2)
        self.assertNotIn(True, overlaps)

    def test_a_cancel_ends_a_repeated_action_between_and_within_runs(self) -> None:
        for execute, status in (
            (lambda context: True, states.READY),
            (lambda context: context.sleep(TIMEOUT * 9), states.RUNNING),
        ):
            world = self.create_repeated_action(execute)
            world.wait_until(lambda w=world: w.action('a').start_time is not None)
            world.wait_for_action('a', status)
            world.plans.signal_action(world.action('a').uuid, states.CANCEL)
            world.wait_for_action('a', states.CANCELLED)

    def run_once(self, **hooks: Any) -> tuple[str, str | None]:
        world = self.create_repeated_action(
            **{'execute': lambda context: True, **hooks}
        )
        world.wait_until(lambda: world.action('a').end_time is not None)
        ended = world.action('a')
        self.assertGreater(ended.not_before, ended.created_at)
        return ended.status, ended.status_message

    def test_a_failed_or_skipped_run_is_followed_by_the_next(self) -> None:
        down = raises(OSError('down'))
        self.assertEqual(
            [
                ('READY', 'Action failed in execute: OSError'),
                ('READY', 'Action failed in execute: slow'),
                ('READY', 'Action failed in pre_condition: OSError'),
                ('READY', 'Action was skipped automatically: nothing to do'),
            ],
            [
                self.run_once(execute=down),
                self.run_once(execute=lambda context: ('TIMEOUT', 'slow')),
                self.run_once(pre_condition=down),
                self.run_once(pre_condition=lambda c: Skipped('nothing to do')),
            ],
        )

    def test_the_target_is_unlocked_between_two_runs(self) -> None:
        gate = self.create_gate()
        world = self.create_world({'waits': kind(execute=gate)})
        world.worker(lanes=(ENGINE,))
        world.add(world.new_action('a', interval=3600, target='host'))
        world.wait_until(lambda: world.action('a').end_time is not None)
        world.add(world.new_action('b', 'waits', target='host'))
        gate.wait_until_entered()
        gate.open()
        world.wait_for_action('b', states.SUCCEEDED)

    def test_a_run_that_was_abandoned_is_the_last(self) -> None:
        """Nor does one follow if the interval is zero or negative."""
        gate = self.create_gate()
        world = self.create_world(
            {'unresponsive': kind(execute=gate)}, default_action_timeout=0.05
        )
        world.worker(lanes=(ENGINE,))
        world.add(
            world.new_action('unresponsive', 'unresponsive', interval=1),
            world.new_action('a', interval=0),
            world.new_action('b', interval=-5),
        )
        for name, end in (
            ('unresponsive', 'FAILED'),
            ('a', 'SUCCEEDED'),
            ('b', 'SUCCEEDED'),
        ):
            world.wait_for_action(name, end)


class TestScheduledActions(WorldCase):
    """not_before: the action is READY, and no worker claims it before that time."""

    def soon(self, world: World, seconds: float) -> str:
        at = world.clock.now() + datetime.timedelta(seconds=seconds)
        return at.isoformat().replace('+00:00', 'Z')

    def test_a_scheduled_action_is_claimed_at_its_time(self) -> None:
        """Also one that becomes READY before its time, and one of the engine lane."""
        # No sweep finds them.
        world = self.create_world(sweep_interval=3600.0)
        world.worker(lanes=('applier', ENGINE))
        at = world.clock.now() + datetime.timedelta(seconds=0.6)
        world.add(world.new_action('of a lane', not_before=at))
        plan = world.run(
            action('first'),
            action('passed', not_before='2001-01-01T00:00:00Z'),
            action('free', not_before=self.soon(world, 0.6)),
            action('a', parents=['first'], not_before=self.soon(world, 0.6)),
            action('b', parents=['a'], not_before=self.soon(world, 0.9)),
        )
        world.wait_for_action('of a lane', states.SUCCEEDED)
        self.assertEqual(plan_states.SUCCEEDED, plan.state)
        self.assertEqual(ran('passed'), world.history(plan, 'passed'))
        late: dict[str, datetime.timedelta] = {}
        for name in ('a', 'b', 'free', 'of a lane'):
            started = world.action(name)
            assert started.start_time is not None
            late[name] = started.start_time - started.not_before
        self.assertGreaterEqual(min(late.values()), datetime.timedelta(0))

    def test_a_scheduled_action_of_a_running_plan_cannot_be_skipped_but_cancelled(
        self,
    ) -> None:
        world = self.create_world()
        world.worker()
        plan = world.start('a', action('b', not_before='2999-01-01T00:00:00Z'))
        world.wait_for_action('a', states.SUCCEEDED)
        self.assertRaises(
            exceptions.Conflict, world.plans.skip_action, world.action('b').uuid
        )
        self.assertEqual(plan_states.ONGOING, world.store.get_plan(plan.uuid).state)
        world.plans.cancel(plan.uuid)
        self.assertEqual(plan_states.CANCELLED, world.wait_until_ended(plan).state)
