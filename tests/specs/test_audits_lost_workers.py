"""Audits whose worker dies: one plan per run, and no audit is stuck."""

from typing import Any

from tests.audit_worlds import AuditCase, AuditWorld, propose_actions, strategy
from watcherlite.domain.audits import Audit
from watcherlite.engine.audits import reconciler, runs
from watcherlite.states import audit as states

#: More commits than one run needs.
COMMITS = range(1, 9)


class TestLostWorkers(AuditCase):
    """Another worker restarts the run, and proposes one plan."""

    def run_across_worker_loss(self, **death: int) -> None:
        """Run an audit on a worker that dies, and again on one that does not."""
        world = self.create_audit_world(sweep_interval=0.05)
        audit = world.audit()
        worker = world.engine(**death)
        world.wait_until(
            lambda: world.is_dead(worker) or world.reload(audit).state in states.ENDED,
            lambda: '\n'.join(world.all_events()),
        )
        world.kill(worker)
        world.engine()
        audit = world.wait_for_audit_end(audit)
        world.wait_for_action('the audit', 'SUCCEEDED')
        self.assertEqual('SUCCEEDED', audit.state, death)
        self.assertEqual(
            ['RECOMMENDED'], [plan.state for plan in world.plans_of(audit)], death
        )
        self.assertEqual('SUCCEEDED', world.action('the audit').status, death)

    def test_an_audit_survives_a_worker_lost_before_or_after_any_commit(self) -> None:
        for commit in COMMITS:
            self.run_across_worker_loss(dies_before=commit)
            self.run_across_worker_loss(dies_after=commit)

    def test_a_stopped_worker_cancels_nothing(self) -> None:
        entered = self.create_gate()
        entered.open()
        calls: list[Any] = []

        def listens(context: Any) -> Any:
            calls.append(context)
            entered()
            if len(calls) == 1:
                context.sleep(10**6)
            return propose_actions('nop')

        world = self.create_audit_world(
            strategies={'made': strategy(listens)}, sweep_interval=0.05
        )
        stopped = world.engine()
        audit = world.audit(strategy='made')
        entered.wait_until_entered()
        stopped.stop(0)
        world.engine()
        world.wait_for_audit(audit, *states.ENDED)
        self.assertEqual('SUCCEEDED', world.reload(audit).state)
        self.assertEqual(1, len(world.plans_of(audit)))

    def test_a_cancel_of_the_action_reaches_the_audit(self) -> None:
        entered, listens = self.create_listener()
        world = self.create_engine_world(strategies={'made': listens})
        audit = world.audit(strategy='made')
        entered.wait_until_entered()
        world.plans.signal_action(world.action('the audit').uuid, 'CANCEL')
        audit = world.wait_for_audit_end(audit)
        self.assertEqual(
            ('CANCELLED', runs.CANCELLED), (audit.state, audit.status_message)
        )

    def test_a_fenced_strategy_proposes_nothing(self) -> None:
        for is_over in (True, False):
            gates = [
                self.create_gate(propose_actions('nop')),
                self.create_gate(propose_actions('nop', 'nop')),
            ]
            waiting = iter(gates)
            world = self.create_audit_world(
                strategies={
                    'made': strategy(lambda context, waiting=waiting: next(waiting)())
                },
                sweep_interval=0.05,
            )
            slow = world.engine()
            audit = world.audit(strategy='made')
            gates[0].wait_until_entered()
            world.store.end_lease(slow.record.uuid)
            # Another worker recovers it, and has stored its plan or still runs it.
            world.engine()
            gates[1].wait_until_entered()
            if is_over:
                gates[1].open()
                world.wait_for_audit_end(audit)
            before = world.all_events()
            gates[0].open()
            world.wait_until(lambda slow=slow: not slow.dispatcher.owned)
            self.assertEqual(before, world.all_events())
            gates[1].open()
            world.wait_for_audit(audit, 'SUCCEEDED')
            self.assertEqual([2], [plan.total for plan in world.plans_of(audit)])

    def kill_last_allowed_worker(self, **keys: Any) -> tuple[AuditWorld, Audit]:
        """Let the worker of an audit die; this exceeds the maximum of attempts."""
        gate, calls = self.create_gate(), []

        def execute(context: Any) -> Any:
            calls.append(context)
            if len(calls) == 1:
                gate()
            return propose_actions('nop')

        world = self.create_audit_world(
            strategies={'made': strategy(execute)}, max_attempts=1, sweep_interval=0.05
        )
        doomed = world.engine()
        audit = world.audit(strategy='made', **keys)
        gate.wait_until_entered()
        world.kill(doomed)
        world.reconciler.start()
        self.addCleanup(world.reconciler.stop)
        world.engine()
        return world, audit

    def test_a_strategy_that_kills_its_workers_fails_its_audit(self) -> None:
        world, audit = self.kill_last_allowed_worker()
        audit = world.wait_for_audit(audit, 'FAILED')
        self.assertIn('was lost while the action ran', audit.status_message or '')
        self.assertEqual(
            [('state_changed', 'FAILED', audit.status_message)],
            world.audit_events(audit)[3:],
        )

    def test_a_continuous_audit_survives_a_strategy_that_kills_workers(self) -> None:
        for interval in ('60', '* * * * *'):
            world, audit = self.kill_last_allowed_worker(
                audit_type='CONTINUOUS', interval=interval
            )
            world.wait_until(
                lambda world=world, audit=audit: bool(
                    world.reload(audit).status_message
                )
            )
            found = world.reload(audit)
            self.assertEqual('ONGOING', found.state)
            self.assertIn('was lost while the action ran', found.status_message or '')
            self.assertIsNotNone(found.next_run_time)
            found = self.pass_time(world, audit, 60)
            self.assertEqual(
                ('ONGOING', None, 1),
                (found.state, found.status_message, len(world.plans_of(audit))),
            )


class TestMissedEnds(AuditCase):
    """The reconciler finds changes of audits that no worker could store."""

    def test_an_audit_does_not_wait_for_a_purged_run(self) -> None:
        """This holds for any number of audits."""
        world = self.create_audit_world()
        for number in range(reconciler.PAGE_SIZE + 1):
            audit = world.audit(name=f'audit {number}')
        with world.store.transaction() as tx:
            locked = tx.lock_audit(audit.uuid)
            assert locked is not None
            tx.save_audit(locked.evolve(action_id=None))
        world.reconciler.reconcile()
        found = world.reload(audit)
        self.assertEqual(
            ('FAILED', reconciler.LOST_RUN), (found.state, found.status_message)
        )
        self.assertEqual(
            ['PENDING', 'ONGOING', 'FAILED'],
            [line[1] for line in world.audit_events(audit)],
        )

    def test_a_waiting_audit_is_unchanged(self) -> None:
        world = self.create_audit_world()
        audits = [
            world.audit(name='a'),
            world.audit(name='b', audit_type='EVENT'),
            world.audit(name='c', audit_type='CONTINUOUS', interval='60'),
        ]
        before = world.all_events()
        world.reconciler.reconcile()
        self.assertEqual(audits, [world.reload(audit) for audit in audits])
        self.assertEqual(before, world.all_events())
