"""The recovery of actions whose worker was lost."""

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
        self.recovery = self.a_recovery()

    def a_recovery(self, rules=None):
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
    def assert_again(self, phase, action, ends=None):
        """Assert that an action is READY again."""
        verdict = self.recovery.decide(action, 'lost', ends)

        self.assertEqual(
            action.evolve(
                status='READY',
                phase=phase,
                owner=None,
                recoveries=action.recoveries + 1,
                updated_at=factories.NOW,
            ),
            verdict.action,
        )
        self.assertEqual(
            ({'worker': 'lost'}, None), (verdict.detail, verdict.action.owner)
        )

    def assert_ended(self, status, message, action, ends=None):
        """Assert that an action ends, with a fault if it is FAILED."""
        verdict = self.recovery.decide(action, 'lost', ends)

        self.assertEqual(
            action.evolve(
                status=status,
                status_message=message,
                owner=None,
                token=None,
                interval=verdict.action.interval,
                end_time=factories.NOW,
                updated_at=factories.NOW,
            ),
            verdict.action,
        )
        fault = None
        if status == 'FAILED':
            fault = {
                'fault': {
                    'exception': 'WorkerLost',
                    'message': message,
                    'module': 'watcherlite.execution.recovery',
                    'function': 'recover',
                }
            }
        self.assertEqual((fault, None), (verdict.detail, verdict.action.owner))

    def assert_adopted(self, action, ends=None, **changes):
        """Assert that this worker adopts an action."""
        verdict = self.recovery.decide(action, 'lost', ends)

        self.assertEqual(
            action.evolve(
                **{
                    'owner': 'me',
                    'attempt': action.attempt + 1,
                    'recoveries': action.recoveries + 1,
                    'updated_at': factories.NOW,
                    **changes,
                }
            ),
            verdict.action,
        )
        self.assertEqual(
            ({'worker': 'lost'}, 'me'), (verdict.detail, verdict.action.owner)
        )

    def test_a_claimed_action_is_ready_again_in_its_phase(self):
        for phase in (RUN, CHECK, COMPLETE, REVERT):
            self.assert_again(phase, self.lost(status='READY', phase=phase))

    def test_an_unstarted_action_is_requeued_without_its_plugin(self):
        self.assert_again(RUN, self.lost(status='READY', action_type='absent'))

    def test_an_idempotent_action_runs_again(self):
        for status in ('RUNNING', 'SUSPENDED'):
            self.assert_again(RUN, self.lost(action_type='idempotent', status=status))

    def test_a_checkable_action_is_checked_first(self):
        for name in ('checkable', 'both'):
            for phase in (RUN, CHECK):
                self.assert_again(CHECK, self.lost(action_type=name, phase=phase))

    def test_the_outcome_of_other_actions_is_unknown(self):
        for status in ('RUNNING', 'SUSPENDED'):
            self.assert_ended('FAILED', UNKNOWN, self.lost(status=status))

    def test_a_completion_is_repeated_for_any_type(self):
        self.assert_again(COMPLETE, self.lost(phase=COMPLETE))

    def test_a_revert_is_repeated_only_if_idempotent(self):
        for name in ('idempotent', 'both'):
            self.assert_again(REVERT, self.lost(action_type=name, phase=REVERT))
        for name in ('once', 'checkable'):
            self.assert_ended(
                'FAILED', UNKNOWN, self.lost(action_type=name, phase=REVERT)
            )

    def test_an_action_in_progress_is_adopted(self):
        for status in ('RUNNING', 'SUSPENDED'):
            self.assert_adopted(self.lost(status=status, token={'job': 1}))

    def test_a_started_action_without_its_plugin_fails(self):
        said = self.assertRaises(
            exceptions.PluginNotFound,
            loader.Plugins.of(action_types=TYPES).make_action_type,
            'absent',
        )

        self.assert_ended('FAILED', str(said), self.lost(action_type='absent'))

    def test_an_exception_of_the_plugin_fails_the_action_without_its_text(self):
        self.assert_ended('FAILED', 'ValueError', self.lost(action_type='unsure'))
        self.assert_ended('FAILED', 'SystemExit', self.lost(action_type='leaving'))

    def assert_given_up(self, lost, action):
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
        for name in ('idempotent', 'checkable'):
            self.assert_given_up(3, self.lost(action_type=name))
        self.assert_given_up(3, self.lost(phase=COMPLETE))

    def test_the_limit_applies_to_unstarted_actions_as_well(self):
        self.assert_given_up(4, self.lost(status='READY'))
        self.assert_given_up(4, self.lost(token=1))

    def test_an_action_with_one_attempt_does_not_run_again(self):
        self.settings.max_attempts = 1

        self.assert_ended(
            'FAILED',
            TOO_OFTEN.format('1 lost worker'),
            self.lost(action_type='idempotent'),
        )
        self.assert_again(RUN, self.lost(status='READY'))
        self.assert_adopted(self.lost(token=1))

    def test_a_cancelled_action_does_not_run_again(self):
        for action in (
            self.lost(action_type='idempotent', control='CANCEL'),
            self.lost(action_type='checkable', control='CANCEL', status='SUSPENDED'),
        ):
            self.assert_ended('CANCELLED', 'Action was cancelled while it ran.', action)

    def test_an_adopted_action_keeps_its_cancel(self):
        self.assert_adopted(self.lost(token=1, control='CANCEL'), control='CANCEL')

    def test_a_repeated_action_whose_run_was_lost_has_a_next_run(self):
        action = self.lost(interval=90)

        after = self.recovery.decide(action, 'lost').action

        self.assertEqual(
            ('READY', UNKNOWN, factories.at(30), 0),
            (after.status, after.status_message, after.not_before, after.recoveries),
        )

    def test_a_repeated_action_with_too_many_lost_workers_ends(self):
        action = self.lost(interval=90, recoveries=3, action_type='idempotent')

        after = self.recovery.decide(action, 'lost').action

        self.assertEqual(('FAILED', 0), (after.status, after.interval))

    def test_a_failing_plan_fails_its_started_actions(self):
        for action in (
            self.lost(),
            self.lost(action_type='both'),
            self.lost(status='SUSPENDED'),
            self.lost(token=1),
            self.lost(phase=COMPLETE),
        ):
            self.assert_ended('FAILED', PLAN_ENDS, action, 'FAILED')

    def test_a_cancelled_plan_cancels_its_started_actions(self):
        for action in (
            self.lost(),
            self.lost(action_type='both'),
            self.lost(status='SUSPENDED'),
        ):
            self.assert_ended('CANCELLED', PLAN_ENDS, action, 'CANCELLED')

    def test_a_cancelled_plan_cancels_adopted_actions_outside(self):
        self.assert_adopted(self.lost(token=1), 'CANCELLED', control='CANCEL', token=1)

    def test_unstarted_actions_are_left_to_their_plan(self):
        for ends in ('FAILED', 'CANCELLED'):
            self.assert_again(RUN, self.lost(status='READY'), ends)


class TestSweep(RecoveryCase):
    def a_lost_worker(self):
        self.store.register_worker(
            factories.make_worker(uuid='lost', host='host-7'), 30
        )
        self.clock.advance(31)

    def statuses(self):
        return {i.before.name: i.after.status for i in self.committer.items}

    def test_the_actions_of_expired_workers_are_recovered(self):
        factories.store_actions(
            self.store,
            self.lost(name='ran'),
            self.lost(name='safe', action_type='idempotent'),
            self.lost(name='taken', status='READY'),
            self.lost(name='ended', status='SUCCEEDED'),
            self.lost(name='of another', owner='another'),
        )
        self.a_lost_worker()
        self.store.register_worker(factories.make_worker(uuid='another'), 30)

        self.recovery.sweep()

        self.assertEqual(
            ({'ran': 'FAILED', 'safe': 'READY', 'taken': 'READY'}, 1),
            (self.statuses(), self.committer.drains),
        )
        self.assertIn(
            'The lease of worker lost on host-7 has expired; recovering 3 actions',
            self.log.output,
        )

    def test_the_actions_of_a_locked_plan_are_recovered_later(self):
        rules = Locked(lambda name: False)
        recovery = self.a_recovery(rules)
        factories.store_actions(self.store, self.lost(name='of no plan'))
        factories.store_plan(self.store, self.lost(name='of a plan'), active=1)
        self.a_lost_worker()

        first, taken = recovery.sweep(), self.statuses()
        rules.free = True
        second = recovery.sweep()

        self.assertEqual((False, {'of no plan': 'FAILED'}), (first, taken))
        self.assertEqual((True, 'FAILED'), (second, self.statuses()['of a plan']))

    def test_the_actions_of_a_removed_worker_are_recovered(self):
        factories.store_actions(
            self.store,
            self.lost(name='taken', status='READY'),
            self.lost(name='mine', status='READY', owner='me'),
        )

        self.recovery.sweep()

        self.assertEqual({'taken': 'READY'}, self.statuses())

    def test_a_worker_with_actions_is_not_removed(self):
        factories.store_actions(self.store, self.lost())
        self.a_lost_worker()

        self.recovery.sweep()

        self.assertEqual(['lost'], [w.uuid for w in self.store.expired_workers()])

    def test_a_worker_without_actions_is_removed(self):
        self.a_lost_worker()

        self.recovery.sweep()

        self.assertEqual(([], []), (self.store.expired_workers(), self.committer.items))

    def test_a_worker_with_a_lease_is_not_recovered(self):
        factories.store_actions(self.store, self.lost())
        self.store.register_worker(factories.make_worker(uuid='lost'), 30)

        self.recovery.sweep()

        self.assertEqual([], self.committer.items)

    def test_a_worker_does_not_recover_itself(self):
        factories.store_actions(self.store, self.lost(owner='me'))
        self.store.register_worker(factories.make_worker(uuid='me'), 30)
        self.clock.advance(31)

        self.recovery.sweep()

        self.assertEqual([], self.committer.items)

    def test_actions_that_another_worker_recovered_are_left_alone(self):
        (action,) = factories.store_actions(self.store, self.lost(owner='another'))

        self.recovery.recover_actions([action.id], 'lost')

        self.assertEqual([], self.committer.items)

    def test_an_adopted_action_continues_after_the_commit(self):
        (action,) = factories.store_actions(self.store, self.lost(token=1))
        self.recovery.recover_actions([action.id], 'lost')
        (item,) = self.committer.items

        item.on_written(False)
        self.assertEqual([], self.adopted)
        item.on_written(True)

        self.assertEqual(([item.after], []), (self.adopted, self.ready))

    def test_a_requeued_action_is_hinted_after_the_commit(self):
        (action,) = factories.store_actions(
            self.store, self.lost(action_type='idempotent')
        )
        self.recovery.recover_actions([action.id], 'lost')
        (item,) = self.committer.items

        item.on_written(False)
        self.assertEqual([], self.ready)
        item.on_written(True)

        self.assertEqual(([], [item.after]), (self.adopted, self.ready))
        self.assertEqual(EPOCH, item.after.not_before)

    def test_the_rules_of_a_plan_are_asked_once(self):
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
