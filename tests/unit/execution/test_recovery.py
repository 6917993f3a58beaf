"""The recovery of actions whose worker was lost."""

import itertools

from tests import base, factories
from tests.worlds import kind, raises
from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.clock import EPOCH
from watcherlite.domain.actions import CHECK, COMPLETE, REVERT, RUN
from watcherlite.execution.recovery import Recovery
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.plugins import loader
from watcherlite.states import action as states
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore

TYPES = {
    'once': kind(),
    'idempotent': kind(idempotent=True),
    'checkable': kind(is_applied=lambda context: True),
    'both': kind(idempotent=True, is_applied=lambda context: True),
    'unsure': kind(is_idempotent=raises(ValueError('password=hunter2'))),
    'leaving': kind(is_checkable=raises(SystemExit)),
}
UNKNOWN = (
    'Outcome unknown: worker lost was lost while the action ran, and its type '
    'cannot tell whether it took effect.'
)
PLAN_ENDS = 'Worker lost was lost while the action ran, and its plan ends in this case.'
TOO_OFTEN = 'Worker lost was lost while the action ran; it is not tried again after {}.'


class Committed:
    """A commit queue that records its items."""

    def __init__(self):
        self.items = []
        self.drains = 0

    def submit(self, item):
        self.items.append(item)

    def flush(self):
        self.drains += 1


class Locked(PlanProgress):
    """The rules of plans that another transaction has locked at first."""

    free = False

    def on_worker_lost(self, store, plan_id, now):
        if not self.free:
            raise exceptions.StoreConflict('Plan 1 (id) is locked')
        return super().on_worker_lost(store, plan_id, now)


class RecoveryCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ManualClock(factories.NOW)
        self.store = MemoryStore(self.clock)
        self.addCleanup(self.store.close)
        self.committer = Committed()
        self.adopted = []
        self.ready = []
        self.signals = 0
        self.settings = ExecutionSettings(max_attempts=3)
        self.recovery = self.make_recovery()

    def make_recovery(self, rules=None):
        return Recovery(
            CoreServices(self.store, self.clock, self.settings, 'me'),
            loader.Plugins.of(action_types=TYPES),
            rules or PlanProgress(),
            self.committer,
            self,
        )

    def on_adopted(self, action):
        self.adopted.append(action)

    def on_ready(self, action):
        self.ready.append(action)

    def on_signalled(self):
        self.signals += 1

    def lost(self, **values):
        """Return an action that a lost worker had started."""
        return factories.make_action(
            **{
                'action_type': 'once',
                'status': states.RUNNING,
                'owner': 'lost',
                'attempt': 2,
                'start_time': factories.at(-60),
                **values,
            }
        )


class TestJudge(RecoveryCase):
    def assert_verdict(self, action, ends, detail=None, **changes):
        verdict = self.recovery.decide(action, 'lost', ends)

        self.assertEqual(
            (action.evolve(updated_at=factories.NOW, **changes), detail),
            (verdict.action, verdict.detail),
        )

    def assert_requeued(self, phase, action, ends=None):
        """Assert that an action is READY again."""
        self.assert_verdict(
            action,
            ends,
            {'worker': 'lost'},
            status='READY',
            phase=phase,
            owner=None,
            recoveries=action.recoveries + 1,
        )

    def assert_ended(self, status, message, action, ends=None):
        """Assert that an action ends, with a fault if it is FAILED."""
        fault = {
            'exception': 'WorkerLost',
            'message': message,
            'module': 'watcherlite.execution.recovery',
            'function': 'recover',
        }
        self.assert_verdict(
            action,
            ends,
            {'fault': fault} if status == 'FAILED' else None,
            status=status,
            status_message=message,
            owner=None,
            token=None,
            end_time=factories.NOW,
        )

    def assert_adopted(self, action, ends=None, **changes):
        """Assert that this worker adopts an action."""
        self.assert_verdict(
            action,
            ends,
            {'worker': 'lost'},
            owner='me',
            attempt=action.attempt + 1,
            recoveries=action.recoveries + 1,
            **changes,
        )

    def test_an_action_that_is_unstarted_or_safe_runs_again(self):
        for phase, types, phases, statuses in (
            # A claimed action, whatever its type is.
            *(
                (phase, ('once', 'absent'), (phase,), ('READY',))
                for phase in (RUN, CHECK, COMPLETE, REVERT)
            ),
            (RUN, ('idempotent',), (RUN,), ('RUNNING', 'SUSPENDED')),
            # It is checked first if possible.
            (CHECK, ('checkable', 'both'), (RUN, CHECK), ('RUNNING',)),
            (COMPLETE, ('once',), (COMPLETE,), ('RUNNING',)),
            (REVERT, ('idempotent', 'both'), (REVERT,), ('RUNNING',)),
        ):
            for name, before, status in itertools.product(types, phases, statuses):
                with self.subTest(name, phase=before, status=status):
                    self.assert_requeued(
                        phase, self.lost(action_type=name, phase=before, status=status)
                    )

    def test_the_outcome_of_other_actions_is_unknown(self):
        absent = self.assertRaises(
            exceptions.PluginNotFound,
            loader.Plugins.of(action_types=TYPES).make_action_type,
            'absent',
        )
        for message, values in (
            (UNKNOWN, {}),
            (UNKNOWN, {'status': 'SUSPENDED'}),
            (UNKNOWN, {'phase': REVERT}),
            (UNKNOWN, {'phase': REVERT, 'action_type': 'checkable'}),
            (str(absent), {'action_type': 'absent'}),
            # Without the text of the exception.
            ('ValueError', {'action_type': 'unsure'}),
            ('SystemExit', {'action_type': 'leaving'}),
        ):
            with self.subTest(message, **values):
                self.assert_ended('FAILED', message, self.lost(**values))

    def test_an_action_in_progress_is_adopted_with_its_cancel(self):
        for values in ({}, {'status': 'SUSPENDED'}, {'control': 'CANCEL'}):
            self.assert_adopted(self.lost(token={'job': 1}, **values))

    def assert_abandoned(self, lost, action):
        """Assert that an action fails with this number of lost workers, not before."""
        before = action.evolve(recoveries=lost - 2)
        after = self.recovery.decide(before, 'lost').action
        self.assertEqual(lost - 1, after.recoveries)
        self.assert_ended(
            'FAILED',
            TOO_OFTEN.format(f'{lost} lost workers'),
            action.evolve(recoveries=lost - 1),
        )

    def test_the_number_of_starts_is_limited(self):
        for lost, values in (
            (3, {'action_type': 'idempotent'}),
            (3, {'action_type': 'checkable'}),
            (3, {'phase': COMPLETE}),
            # Their last worker started nothing.
            (4, {'status': 'READY'}),
            (4, {'token': 1}),
        ):
            self.assert_abandoned(lost, self.lost(**values))

    def test_an_action_with_one_attempt_does_not_run_again(self):
        self.settings.max_attempts = 1

        self.assert_ended(
            'FAILED',
            TOO_OFTEN.format('1 lost worker'),
            self.lost(action_type='idempotent'),
        )
        self.assert_requeued(RUN, self.lost(status='READY'))
        self.assert_adopted(self.lost(token=1))

    def test_a_cancelled_action_does_not_run_again(self):
        for action in (
            self.lost(action_type='idempotent', control='CANCEL'),
            self.lost(action_type='checkable', control='CANCEL', status='SUSPENDED'),
        ):
            self.assert_ended('CANCELLED', 'Action was cancelled while it ran.', action)

    def test_a_repeated_action_has_a_next_run_until_too_many_workers_are_lost(self):
        action = self.lost(interval=90)
        after = self.recovery.decide(action, 'lost').action
        self.assertEqual(
            ('READY', UNKNOWN, factories.at(30), 0),
            (after.status, after.status_message, after.not_before, after.recoveries),
        )

        action = self.lost(interval=90, recoveries=3, action_type='idempotent')
        after = self.recovery.decide(action, 'lost').action
        self.assertEqual(('FAILED', 0), (after.status, after.interval))

    def test_a_plan_that_ends_fails_or_cancels_its_started_actions(self):
        for values in (
            {},
            {'action_type': 'both'},
            {'status': 'SUSPENDED'},
            {'token': 1},
            {'phase': COMPLETE},
        ):
            action = self.lost(**values)
            self.assert_ended('FAILED', PLAN_ENDS, action, 'FAILED')
            if action.token:
                # Its external work is cancelled first.
                self.assert_adopted(action, 'CANCELLED', control='CANCEL')
            else:
                self.assert_ended('CANCELLED', PLAN_ENDS, action, 'CANCELLED')
        for ends in ('FAILED', 'CANCELLED'):
            self.assert_requeued(RUN, self.lost(status='READY'), ends)


class TestSweep(RecoveryCase):
    def expire_worker(self):
        self.store.register_worker(
            factories.make_worker(uuid='lost', host='host-7'), 30
        )
        self.clock.advance(31)

    def statuses(self):
        return {i.before.name: i.after.status for i in self.committer.items}

    def test_the_actions_of_other_expired_workers_are_recovered(self):
        factories.store_actions(
            self.store,
            self.lost(name='ran'),
            self.lost(name='safe', action_type='idempotent'),
            self.lost(name='taken', status='READY'),
            self.lost(name='ended', status='SUCCEEDED'),
            self.lost(name='of another', owner='another'),
            self.lost(name='mine', owner='me'),
        )
        self.store.register_worker(factories.make_worker(uuid='me'), 30)
        self.expire_worker()
        self.store.register_worker(factories.make_worker(uuid='another'), 30)

        self.recovery.sweep()

        self.assertEqual(
            ({'ran': 'FAILED', 'safe': 'READY', 'taken': 'READY'}, 1, {'lost', 'me'}),
            (
                self.statuses(),
                self.committer.drains,
                # It is removed once it has no actions.
                {worker.uuid for worker in self.store.expired_workers()},
            ),
        )
        self.assertIn(
            'The lease of worker lost on host-7 has expired; recovering 3 actions',
            self.log.output,
        )

    def test_the_actions_of_a_locked_plan_are_recovered_later(self):
        rules = Locked(lambda name: False)
        recovery = self.make_recovery(rules)
        factories.store_actions(self.store, self.lost(name='of no plan'))
        factories.store_plan(
            self.store,
            self.lost(name='of a plan'),
            self.lost(name='claimed', status='READY', start_time=None),
            active=2,
        )
        self.expire_worker()

        first, taken = recovery.sweep(), self.statuses()
        rules.free = True
        second = recovery.sweep()

        # The rules of its plan do not apply to an action that was only claimed.
        self.assertEqual(
            (False, {'of no plan': 'FAILED', 'claimed': 'READY'}), (first, taken)
        )
        self.assertEqual((True, 'FAILED'), (second, self.statuses()['of a plan']))

    def test_the_actions_of_a_removed_worker_are_recovered(self):
        factories.store_actions(
            self.store,
            self.lost(name='taken', status='READY'),
            self.lost(name='mine', status='READY', owner='me'),
        )

        self.recovery.sweep()

        self.assertEqual({'taken': 'READY'}, self.statuses())

    def test_a_worker_without_actions_is_removed(self):
        self.expire_worker()

        self.recovery.sweep()

        self.assertEqual(([], []), (self.store.expired_workers(), self.committer.items))

    def test_actions_that_another_worker_recovered_are_left_alone(self):
        (action,) = factories.store_actions(self.store, self.lost(owner='another'))

        self.recovery.recover_actions([action.id], 'lost')

        self.assertEqual([], self.committer.items)

    def test_an_action_that_ends_after_its_id_was_read_stays_ended(self):
        plan, (action,) = factories.store_plan(
            self.store, self.lost(status='READY', start_time=None), active=1
        )
        self.expire_worker()
        owned = self.store.owned_ids('lost')
        with self.store.transaction() as tx:
            tx.end_not_started(plan.id, states.CANCELLED, None, 9, factories.NOW)

        self.recovery.recover_actions([action_id for action_id, _ in owned], 'lost')

        self.assertEqual(([(action.id, 2)], []), (owned, self.committer.items))

    def test_an_adopted_or_requeued_action_continues_after_the_commit(self):
        for values, adopted in (({'token': 1}, 1), ({'action_type': 'idempotent'}, 0)):
            (action,) = factories.store_actions(self.store, self.lost(**values))
            self.adopted, self.ready, self.committer.items = [], [], []
            self.recovery.recover_actions([action.id], 'lost')
            (item,) = self.committer.items

            item.on_written(False)
            self.assertEqual(([], []), (self.adopted, self.ready))
            item.on_written(True)

            self.assertEqual(
                ([item.after] * adopted, [item.after] * (1 - adopted), EPOCH),
                (self.adopted, self.ready, item.after.not_before),
            )

    def test_the_rules_of_a_plan_are_evaluated_once(self):
        plan, actions = factories.store_plan(
            self.store,
            self.lost(name='a', action_type='idempotent'),
            self.lost(name='b', action_type='idempotent'),
            self.lost(name='c', status='READY'),
            on_worker_loss='fail',
        )

        self.recovery.recover_actions([a.id for a in actions], 'lost')

        self.assertEqual({'a': 'FAILED', 'b': 'FAILED', 'c': 'READY'}, self.statuses())
        self.assertEqual('stopping', self.store.get_plan(plan.uuid).stage)

    def test_a_cancelled_plan_requests_the_signals_once(self):
        for on_worker_loss, signals in (('resume', 0), ('fail', 0), ('cancel', 1)):
            _, actions = factories.store_plan(
                self.store,
                self.lost(name='a'),
                self.lost(name='b'),
                on_worker_loss=on_worker_loss,
            )

            self.recovery.recover_actions([a.id for a in actions], 'lost')

            self.assertEqual(signals, self.signals)

    def test_a_plan_without_started_actions_continues(self):
        plan, actions = factories.store_plan(
            self.store, self.lost(name='c', status='READY'), on_worker_loss='cancel'
        )

        self.recovery.recover_actions([a.id for a in actions], 'lost')

        self.assertEqual({'c': 'READY'}, self.statuses())
        self.assertEqual('ONGOING', self.store.get_plan(plan.uuid).state)
