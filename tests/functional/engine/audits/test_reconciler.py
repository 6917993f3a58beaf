"""The expiry of plans; lost runs are in tests/specs/test_audits_lost_workers.py."""

import datetime
from typing import Any

from tests.audit_worlds import AuditCase, AuditWorld
from tests.factories import all_plans
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import ActionChange
from watcherlite.engine.audits.reconciler import ROLE, ReconcilerSettings

DAY = 24 * 3600


class ExpiryTest(AuditCase):
    """RECOMMENDED plans become SUPERSEDED."""

    def plan(self, world: AuditWorld) -> ActionPlan:
        return world.create(
            *({'name': n, 'action_type': 'sleep', 'input_parameters': {}} for n in 'ab')
        )

    def states(self, world: AuditWorld) -> list[str]:
        return [plan.state for plan in all_plans(world.store)]

    def test_expired_plans_are_superseded(self) -> None:
        world = self.create_audit_world()
        old, started = self.plan(world), self.plan(world)
        world.plans.start(started.uuid)
        self.clock.advance(DAY)
        self.plan(world)
        self.assertEqual(0, world.reconciler.expire_plans())
        self.clock.advance(1)
        self.assertEqual(1, world.reconciler.expire_plans())
        self.assertEqual(['SUPERSEDED', 'PENDING', 'RECOMMENDED'], self.states(world))
        # As in Watcher, its actions stay as they are; nothing can start them.
        self.assertEqual({'a': 'INIT', 'b': 'INIT'}, world.statuses(old))
        self.assertEqual(
            [
                (
                    'plan',
                    'RECOMMENDED',
                    'SUPERSEDED',
                    'Not started within 24 h of its proposal.',
                )
            ],
            world.history(old),
        )

    def test_a_plan_that_is_started_meanwhile_does_not_expire(self) -> None:
        def find_and_start(*arguments: Any) -> list[ActionPlan]:
            found = find(*arguments)
            if found:
                world.plans.start(plan.uuid)
            return found

        world = self.create_audit_world()
        plan = self.plan(world)
        self.clock.advance(2 * DAY)
        find = world.store.expired_plans
        self.patch(world.store, 'expired_plans', find_and_start)

        self.assertEqual(0, world.reconciler.expire_plans())

        self.assertEqual(['PENDING'], self.states(world))

    def test_plans_are_checked_at_the_start_and_every_interval(self) -> None:
        world = self.create_audit_world()
        self.plan(world)
        self.clock.advance(2 * DAY)
        world.reconciler.start()
        self.addCleanup(world.reconciler.stop)
        world.wait_until(lambda: self.states(world) == ['SUPERSEDED'])
        self.plan(world)
        self.clock.until_waiting(1)
        self.clock.advance(2 * DAY)
        world.wait_until(lambda: self.states(world) == ['SUPERSEDED', 'SUPERSEDED'])

    def test_no_plan_expires_after_zero_hours_but_after_those_of_a_reload(self) -> None:
        world = self.create_audit_world(expiry=0)
        self.plan(world)
        self.clock.advance(100 * DAY)
        self.assertEqual(0, world.reconciler.expire_plans())
        world.reconciler.start()
        self.addCleanup(world.reconciler.stop)
        self.clock.until_waiting(1)
        self.assertEqual(['RECOMMENDED'], self.states(world))
        world.reconciler.reconfigure(ReconcilerSettings(24.0))
        world.wait_until(lambda: self.states(world) == ['SUPERSEDED'])

    def test_one_of_several_engines_checks(self) -> None:
        world = self.create_audit_world()
        self.plan(world)
        self.clock.advance(2 * DAY)
        world.store.acquire_role(ROLE, 'another engine', 100 * DAY)
        world.reconciler.start()
        self.addCleanup(world.reconciler.stop)
        self.clock.until_waiting(1)
        self.assertEqual(['RECOMMENDED'], self.states(world))


class IntervalTest(AuditCase):
    """The next run of an audit whose last run has no result."""

    def test_a_run_without_a_result_follows_the_changed_interval(self) -> None:
        for interval, seconds in (('60', 60), ('*/5 * * * *', 300)):
            world = self.create_audit_world()
            audit = world.audit(name=interval, audit_type='CONTINUOUS', interval='3600')
            world.audits.update(audit.uuid, {'state': 'ONGOING'})
            world.audits.update(audit.uuid, {'interval': interval})
            now = self.clock.now()
            action = world.action(interval)
            with world.store.transaction() as tx:
                # The state after a worker has given up on the strategy.
                hung = action.evolve(
                    start_time=now,
                    end_time=now,
                    status_message='It hung.',
                    not_before=now + datetime.timedelta(hours=1),
                )
                tx.change_actions([ActionChange(action, hung)])
                world.reconciler.record_lost_run(tx, audit.uuid)
            found, due = world.reload(audit), now + datetime.timedelta(seconds=seconds)
            self.assertEqual('It hung.', found.status_message)
            self.assertEqual(
                (due, due), (found.next_run_time, world.action(interval).not_before)
            )
