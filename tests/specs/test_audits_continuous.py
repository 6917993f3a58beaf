"""CONTINUOUS audits: repeated until a user or their end time stops them."""

import contextlib
import datetime
from collections.abc import Callable, Iterator
from typing import Any

from tests.audit_worlds import AuditCase, propose_actions, strategy
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.domain.audits import Audit
from watcherlite.engine.audits import runs
from watcherlite.plugins import base
from watcherlite.testing.clock import ManualClock

MINUTE = datetime.timedelta(minutes=1)
#: The notifications of a run.
STEPS = ['strategy.start', 'strategy.end', 'planner.start', 'planner.end']


class SlowClaims:
    """A store in which five minutes pass while a claim finds no due action.

    Only the first claim takes so long of those that leave actions for later.
    """

    def __init__(self, store: Store, clock: ManualClock) -> None:
        self._store = store
        self._clock = clock
        self._has_waited = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        with self._store.transaction() as tx:
            yield SlowTransaction(tx, self._wait)

    def _wait(self, now: datetime.datetime) -> None:
        later = self._store.next_not_before('engine', now)
        if later is not None and not self._has_waited:
            self._has_waited = True
            self._clock.advance(5 * 60)


class SlowTransaction:
    def __init__(self, tx: Any, wait: Callable[[datetime.datetime], None]) -> None:
        self._tx = tx
        self._wait = wait

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    def claim(self, **keys: Any) -> Any:
        found = self._tx.claim(**keys)
        if not found:
            self._wait(keys['now'])
        return found


class ContinuousCase(AuditCase):
    """Tests with a strategy `made` whose runs are counted."""

    def setUp(self) -> None:
        super().setUp()
        self.ran_at: list[datetime.datetime] = []
        self.fails = False
        #: Seconds that the first run takes.
        self.takes = 0

    def create_world(self, **keys: Any) -> Any:
        return self.create_engine_world(strategies={'made': self.strategy()}, **keys)

    def strategy(self) -> type[base.Strategy]:
        """Return the strategy."""

        def execute(context: Any) -> Any:
            self.ran_at.append(context.now())
            if len(self.ran_at) == 1:
                self.clock.advance(self.takes)
            if self.fails:
                raise exceptions.Invalid('no luck')
            return propose_actions('nop')

        return strategy(execute)

    def create_continuous_audit(self, world: Any, **keys: Any) -> Audit:
        return world.audit(
            **{'audit_type': 'CONTINUOUS', 'strategy': 'made', 'interval': '60', **keys}
        )

    def minutes(self) -> list[float]:
        """Return the minutes of the clock at which the strategy ran."""
        start = ManualClock().now()
        return [(at - start).total_seconds() / 60 for at in self.ran_at]

    def at(self, minutes: float) -> datetime.datetime:
        return ManualClock().now() + minutes * MINUTE


class TestInterval(ContinuousCase):
    """An interval in seconds."""

    def test_an_audit_runs_immediately_and_then_every_interval(self) -> None:
        world = self.create_world()
        audit = self.create_continuous_audit(world)
        audit = world.wait_for_runs(audit, 1)
        self.assertEqual(('ONGOING', self.at(1)), (audit.state, audit.next_run_time))
        for _ in range(2):
            audit = self.pass_time(world, audit, 60)
        self.assertEqual([0, 1, 2], self.minutes())
        self.assertEqual(('ONGOING', self.at(3)), (audit.state, audit.next_run_time))
        self.assertEqual(
            [60], [a.interval for a in world._actions() if a.lane == 'engine']
        )
        # Each run notifies its steps, and no change of state.
        self.assertEqual(
            ['created', 'state_changed', *STEPS * 3],
            [line[0] for line in world.audit_events(audit)],
        )

    def test_a_new_proposal_supersedes_the_one_under_review(self) -> None:
        world = self.create_world()
        audit = self.create_continuous_audit(world)
        world.wait_for_runs(audit, 1)
        first = world.plans_of(audit)[0]
        (skipped,) = world.store.list_actions(plan_id=first.id, limit=9)
        world.plans.skip_action(skipped.uuid, 'not this one')
        self.pass_time(world, audit, 60)
        second = world.plans_of(audit)[1]
        world.wait_until_ended(world.plans.start(second.uuid))
        self.pass_time(world, audit, 60)
        self.assertEqual(
            [
                (
                    'SUPERSEDED',
                    'One or more actions were skipped. '
                    f'Action {skipped.uuid} was skipped by user. '
                    f'Superseded by action plan {second.uuid} of the same audit.',
                ),
                ('SUCCEEDED', None),
                ('RECOMMENDED', None),
            ],
            [(plan.state, plan.status_message) for plan in world.plans_of(audit)],
        )
        self.assertEqual(
            {'nop-1': ('SKIPPED', 'Action skipped by user. Reason: not this one')},
            {
                row.name: (row.status, row.status_message)
                for row in world.store.list_actions(plan_id=first.id, limit=9)
            },
        )

    def test_a_started_proposal_without_a_worker_is_not_superseded(self) -> None:
        world = self.create_audit_world()
        world.worker(lanes=('engine',))
        audit = world.audit(audit_type='CONTINUOUS', interval='60')
        world.wait_for_runs(audit, 1)
        (first,) = world.plans_of(audit)
        world.plans.start(first.uuid)

        self.pass_time(world, audit, 60)

        self.assertEqual(
            ['PENDING', 'RECOMMENDED'], [plan.state for plan in world.plans_of(audit)]
        )

    def test_a_failed_run_is_reported_and_the_next_one_runs(self) -> None:
        for interval in ('60', '* * * * *'):
            world = self.create_world()
            self.fails = True
            audit = self.create_continuous_audit(world, interval=interval)
            audit = world.wait_for_runs(audit, 1)
            message = 'Strategy made failed: no luck'
            self.assertEqual(
                ('ONGOING', message, self.at(1)),
                (audit.state, audit.status_message, audit.next_run_time),
            )
            self.fails = False
            audit = self.pass_time(world, audit, 60)
            self.assertEqual(
                ('ONGOING', None, 1),
                (audit.state, audit.status_message, len(world.plans_of(audit))),
            )
            self.assertEqual(
                [
                    ('created', 'PENDING', None),
                    ('state_changed', 'ONGOING', None),
                    ('strategy.start', 'ONGOING', None),
                    ('strategy.error', 'ONGOING', message),
                    ('message_changed', 'ONGOING', message),
                    *((step, 'ONGOING', message) for step in STEPS),
                    ('message_changed', 'ONGOING', None),
                ],
                world.audit_events(audit),
            )

    def test_an_audit_runs_not_before_its_start_and_succeeds_at_its_end(self) -> None:
        world = self.create_world()
        audit = self.create_continuous_audit(
            world, start_time=self.at(5), end_time=self.at(6.5)
        )
        self.assertEqual(('PENDING', self.at(5)), (audit.state, audit.next_run_time))
        self.pass_time(world, audit, 5 * 60)
        audit = self.pass_time(world, audit, 60)
        self.assertEqual(('ONGOING', None), (audit.state, audit.next_run_time))
        audit = self.pass_time(world, audit, 30)
        self.assertEqual(
            ('SUCCEEDED', runs.END_TIME_PASSED), (audit.state, audit.status_message)
        )
        self.assertEqual([5, 6], self.minutes())
        self.assertEqual('SUCCEEDED', world.action('the audit').status)

    def test_an_audit_that_comes_due_during_a_slow_claim_runs_at_once(self) -> None:
        world = self.create_audit_world(strategies={'made': self.strategy()})
        audit = self.create_continuous_audit(world, start_time=self.at(5))
        world.engine(store=SlowClaims(world.store, self.clock), sweep_interval=1e6)
        world.wait_for_runs(audit, 1)
        self.assertEqual([5], self.minutes())

    def test_a_run_longer_than_the_interval_is_followed_immediately(self) -> None:
        self.takes = 150
        world = self.create_world()
        world.wait_for_runs(self.create_continuous_audit(world), 2)
        self.assertEqual([0, 2.5], self.minutes())


class TestCron(ContinuousCase):
    """A cron expression instead of seconds."""

    def test_an_audit_runs_at_its_times_and_not_immediately(self) -> None:
        world = self.create_world()
        audit = self.create_continuous_audit(world, interval='*/10 * * * *')
        # The clock shows midnight, which is one of the times.
        audit = world.wait_for_runs(audit, 1)
        self.assertEqual(self.at(10), audit.next_run_time)
        self.clock.advance(60)
        audit = self.pass_time(world, audit, 9 * 60)
        self.assertEqual(self.at(20), audit.next_run_time)
        self.assertEqual([0, 10], self.minutes())

    def test_an_audit_waits_for_its_first_time(self) -> None:
        world = self.create_world()
        audit = self.create_continuous_audit(world, interval='5,7 * * * * 30')
        self.assertEqual(self.at(5.5), audit.next_run_time)
        audit = self.pass_time(world, audit, 5.5 * 60)
        self.pass_time(world, audit, 2 * 60)
        self.assertEqual([5.5, 7.5], self.minutes())

    def test_times_that_passed_during_a_run_are_skipped(self) -> None:
        self.takes = 150
        world = self.create_world()
        audit = self.create_continuous_audit(world, interval='* * * * *')
        audit = world.wait_for_runs(audit, 1)
        self.assertEqual(self.at(3), audit.next_run_time)
        self.pass_time(world, audit, 30)
        self.assertEqual([0, 3], self.minutes())

    def test_an_audit_without_a_future_time_succeeds(self) -> None:
        world = self.create_world()
        audit = self.create_continuous_audit(world, interval='0 0 1 1 * 0 2030')
        audit = world.wait_for_runs(audit, 1)
        self.assertEqual(
            ('SUCCEEDED', runs.NO_NEXT_RUN, None),
            (audit.state, audit.status_message, audit.next_run_time),
        )
        self.assertEqual('SUCCEEDED', world.action('the audit').status)


class TestOperators(ContinuousCase):
    """Users change an audit between its runs."""

    def test_a_suspended_audit_waits_for_resume_and_a_cancelled_one_stops(self) -> None:
        world = self.create_world()
        audit = self.create_continuous_audit(world)
        world.wait_for_runs(audit, 1)
        audit = world.audits.update(audit.uuid, {'state': 'SUSPENDED'})
        self.assertEqual(('SUSPENDED', None), (audit.state, audit.next_run_time))
        self.assertEqual('CANCELLED', world.action('the audit').status)
        self.clock.advance(600)
        audit = world.audits.update(audit.uuid, {'state': 'ONGOING'})
        audit = world.wait_for_runs(audit, 2)
        self.assertEqual([0, 10], self.minutes())
        self.assertEqual(('ONGOING', self.at(11)), (audit.state, audit.next_run_time))
        self.assertEqual('READY', world.action('the audit').status)
        world.audits.update('THE AUDIT', {'state': 'CANCELLED'})
        self.assertEqual('CANCELLED', world.action('the audit').status)
        self.assertEqual('CANCELLED', world.reload(audit).state)

    def test_a_suspended_run_proposes_nothing_even_after_a_resume(self) -> None:
        proposals = (
            propose_actions('nop'),
            propose_actions('nop'),
            propose_actions('nop', 'nop'),
        )
        gates = [self.create_gate(proposal) for proposal in proposals]
        waiting = iter(gates)
        world = self.create_engine_world(
            strategies={'made': strategy(lambda context: next(waiting)())}
        )
        audit = self.create_continuous_audit(world)
        gates[0].wait_until_entered()
        world.audits.update(audit.uuid, {'state': 'SUSPENDED'})
        gates[0].open()
        world.wait_for_action('the audit', 'CANCELLED')
        self.assertEqual('SUSPENDED', world.reload(audit).state)
        self.assertEqual([], world.plans_of(audit))
        world.audits.update(audit.uuid, {'state': 'ONGOING'})
        gates[1].wait_until_entered()
        for state in ('SUSPENDED', 'ONGOING'):
            world.audits.update(audit.uuid, {'state': state})
        gates[2].wait_until_entered()
        gates[1].open()
        ended = ['CANCELLED'] * 2
        world.wait_until(
            lambda: sorted(a.status for a in world._of(audit))[:2] == ended
        )
        gates[2].open()
        audit = world.wait_for_runs(audit, 3)
        self.assertEqual(
            ('ONGOING', [2]),
            (audit.state, [plan.total for plan in world.plans_of(audit)]),
        )

    def test_a_cancel_stops_a_cooperative_strategy(self) -> None:
        entered, listens = self.create_listener()
        world = self.create_engine_world(strategies={'made': listens})
        audit = self.create_continuous_audit(world)
        entered.wait_until_entered()
        world.audits.update(audit.uuid, {'state': 'CANCELLED'})
        world.wait_for_action('the audit', 'CANCELLED')
        self.assertEqual(
            [
                ('created', 'PENDING', None),
                ('state_changed', 'ONGOING', None),
                ('strategy.start', 'ONGOING', None),
                ('state_changed', 'CANCELLED', None),
            ],
            world.audit_events(audit),
        )

    def test_a_cancel_of_the_action_alone_cancels_the_audit(self) -> None:
        world = self.create_world()
        audit = self.create_continuous_audit(world, start_time=None)
        world.wait_for_runs(audit, 1)
        world.plans.signal_action(world.action('the audit').uuid, 'CANCEL')
        # No process could store the change; the next reconciliation does.
        world.reconciler.reconcile()
        self.assertEqual('CANCELLED', world.reload(audit).state)

    def test_a_new_start_and_interval_count_from_the_last_run(self) -> None:
        world = self.create_world()
        audit = self.create_continuous_audit(
            world, start_time=self.at(2), interval='3600'
        )
        world.audits.update(audit.uuid, {'start_time': self.at(4)})
        self.clock.advance(120)
        self.pass_time(world, audit, 120)
        self.clock.advance(60)
        audit = world.audits.update(audit.uuid, {'interval': '300'})
        self.assertEqual(self.at(9), audit.next_run_time)
        self.pass_time(world, audit, 240)
        self.pass_time(world, audit, 300)
        audit = world.audits.update(audit.uuid, {'interval': '30 * * * *'})
        self.assertEqual(self.at(30), audit.next_run_time)
        audit = self.pass_time(world, audit, 16 * 60)
        self.assertEqual(self.at(90), audit.next_run_time)
        self.pass_time(world, audit, 60 * 60)
        self.assertEqual([4, 9, 14, 30, 90], self.minutes())


class TestEvent(AuditCase):
    """EVENT audits: a run for each call of the webhook."""

    def test_an_audit_waits_for_its_event_and_runs_once_per_event(self) -> None:
        world = self.create_engine_world()
        audit = world.audit(audit_type='EVENT')
        self.assertEqual(('PENDING', None), (audit.state, audit.action_id))
        self.assertEqual([], world._actions())
        for count in (1, 2):
            world.audits.trigger('The Audit', {'alarm': 'cpu'})
            audit = world.wait_for_runs(audit, count)
            self.assertEqual(
                ('SUCCEEDED', count), (audit.state, len(world.plans_of(audit)))
            )
        run = ['state_changed', *STEPS, 'state_changed']
        self.assertEqual(
            ['created', *run, *run], [line[0] for line in world.audit_events(audit)]
        )

    def test_two_events_before_a_run_cause_one_run(self) -> None:
        world = self.create_audit_world()
        audit = world.audit(audit_type='EVENT')
        world.audits.trigger(audit.uuid)
        world.audits.trigger(audit.uuid)
        self.assertEqual(['the audit'], [a.name for a in world._actions()])
        world.engine()
        world.wait_for_runs(audit, 1)
        self.assertEqual(1, len(world.plans_of(audit)))

    def test_a_failed_audit_and_audits_of_other_types_ignore_events(self) -> None:
        def fails(context: Any) -> Any:
            raise exceptions.Invalid('no luck')

        world = self.create_engine_world(strategies={'bad': strategy(fails)})
        audit = world.audit(audit_type='EVENT', strategy='bad')
        world.audits.trigger(audit.uuid)
        audit = world.wait_for_audit(audit, 'FAILED')
        self.assertEqual('Strategy bad failed: no luck', audit.status_message)
        once = world.audit(name='once')
        for refused, text in (
            (audit, 'state FAILED is disallowed.'),
            (once, 'type ONESHOT is disallowed.'),
        ):
            error = self.assertRaises(
                exceptions.Invalid, world.audits.trigger, refused.uuid
            )
            self.assertEqual(f'Audit {text}', str(error))
        self.assertRaises(exceptions.NotFound, world.audits.trigger, 'unknown')
