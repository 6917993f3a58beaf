"""The progress of a plan: started actions, counters, and its end."""

import dataclasses

from tests import base, factories
from tests.unit.applier.operating import ReversibleType
from watcherlite.applier.progress import PlanProgress, plan_event
from watcherlite.domain.action_plans import FORWARD, REVERTING, STAGES, STOPPING
from watcherlite.domain.actions import ActionChange
from watcherlite.domain.outcomes import Fault
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states

NOW = factories.at(600)
FAULT = Fault('DiskFull', 'The disk is full.', 'a_plugin', 'execute')
ANOTHER = Fault('HostGone', 'The host is gone.', 'a_plugin', 'execute')
STOPPED = 'Action was not started because another action of its plan failed.'
UNSTARTED = 'Action was cancelled before it started.'


def a_change(before, after, **values):
    """Return the change of an action from one status to another."""
    owners = {'owner': 'me' if before in (*action_states.STARTED, 'READY') else None}
    action = factories.make_action(**{'status': before, **owners, **values})
    kept = after in action_states.STARTED
    message = values.get('status_message')
    return ActionChange(
        action,
        action.evolve(
            status=after, owner=action.owner if kept else None, status_message=message
        ),
    )


class ProgressCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.progress = PlanProgress(ReversibleType())


class TestRefusal(ProgressCase):
    def test_actions_start_only_in_stages_forward_and_reverting(self):
        refusals = {
            (state, stage): self.progress.blocking_reason(
                factories.make_plan(state=state, stage=stage)
            )
            for state in states.STATES
            for stage in STAGES
        }

        self.assertEqual(
            {
                ('PENDING', FORWARD),
                ('PENDING', STOPPING),
                ('PENDING', REVERTING),
                ('ONGOING', FORWARD),
                ('ONGOING', REVERTING),
            },
            {
                key
                for key, blocking_reason in refusals.items()
                if blocking_reason is None
            },
        )
        self.assertEqual(STOPPED, refusals.pop(('ONGOING', STOPPING)))
        self.assertEqual({None, UNSTARTED}, set(refusals.values()))


class TestTaken(ProgressCase):
    def test_the_first_claim_makes_a_plan_ongoing(self):
        plan = factories.make_plan(id=7, state='PENDING', status_message='m')

        after, (event,) = self.progress.on_claimed(plan, NOW)

        self.assertEqual(plan.evolve(state='ONGOING', updated_at=NOW), after)
        self.assertEqual(
            dataclasses.replace(plan_event(plan, after, NOW), uuid=event.uuid), event
        )

    def test_a_claim_in_any_other_state_changes_nothing(self):
        for state in set(states.STATES) - {'PENDING'}:
            plan = factories.make_plan(state=state)
            self.assertEqual((plan, []), self.progress.on_claimed(plan, NOW))


class TestCounted(ProgressCase):
    def apply_changes(self, *changes, claimed=0, derived=0, **values):
        """Return the fields of a plan that these changes affect."""
        plan = factories.make_plan(
            **{'total': 9, 'unfinished': 5, 'active': 3, **values}
        )
        after = self.progress.apply_changes(
            plan,
            [c if isinstance(c, tuple) else (c, None) for c in changes],
            claimed,
            derived,
            NOW,
        )
        return {
            field.name: getattr(after, field.name)
            for field in dataclasses.fields(plan)
            if getattr(after, field.name) != getattr(plan, field.name)
        }

    def test_without_changes_the_plan_is_unchanged(self):
        self.assertEqual({}, self.apply_changes())

    def test_claimed_actions_are_active(self):
        self.assertEqual(
            {'active': 5, 'updated_at': NOW}, self.apply_changes(claimed=2)
        )

    def test_derived_actions_increase_the_total(self):
        self.assertEqual(
            {'total': 11, 'unfinished': 7, 'updated_at': NOW},
            self.apply_changes(derived=2),
        )

    def test_a_start_changes_no_counter(self):
        self.assertEqual(
            {'updated_at': NOW}, self.apply_changes(a_change('READY', 'RUNNING'))
        )

    def test_an_ended_action_is_neither_active_nor_unfinished(self):
        for status in ('SUCCEEDED', 'CANCELLED'):
            self.assertEqual(
                {'active': 2, 'unfinished': 4, 'updated_at': NOW},
                self.apply_changes(a_change('RUNNING', status)),
            )

    def test_the_end_of_an_unclaimed_action_keeps_the_active_counter(self):
        self.assertEqual(
            {'unfinished': 4, 'updated_at': NOW},
            self.apply_changes(a_change('INIT', 'CANCELLED')),
        )

    def test_a_released_action_is_unfinished_and_not_active(self):
        for status in ('READY', 'WAITING'):
            self.assertEqual(
                {'active': 2, 'updated_at': NOW},
                self.apply_changes(a_change('RUNNING', status)),
            )

    def test_a_failure_is_counted_and_its_fault_is_stored(self):
        self.assertEqual(
            {
                'active': 2,
                'unfinished': 4,
                'failed': 1,
                'fault': dataclasses.asdict(FAULT),
                'updated_at': NOW,
            },
            self.apply_changes((a_change('RUNNING', 'FAILED'), FAULT)),
        )

    def test_the_first_fault_is_that_of_the_plan(self):
        first = {'fault': dataclasses.asdict(FAULT)}
        fail = a_change('RUNNING', 'FAILED')

        at_once = self.apply_changes((fail, FAULT), (fail, ANOTHER))
        later = self.apply_changes((fail, ANOTHER), failed=1, **first)

        self.assertEqual((first['fault'], 2), (at_once['fault'], at_once['failed']))
        self.assertNotIn('fault', later)

    def test_a_fault_without_a_failure_is_ignored(self):
        self.assertNotIn(
            'fault', self.apply_changes((a_change('RUNNING', 'READY'), FAULT))
        )

    def test_a_skip_is_counted_and_names_its_origin(self):
        user = a_change(
            'INIT', 'SKIPPED', status_message='Action skipped by user. Reason: x'
        )
        own = a_change(
            'READY', 'SKIPPED', status_message='Action was skipped automatically: x'
        )

        self.assertEqual(
            {
                'active': 2,
                'unfinished': 3,
                'skipped': 2,
                'status_message': 'One or more actions were skipped. '
                f'Action {user.after.uuid} was skipped by user. '
                f'Action {own.after.uuid} was skipped automatically.',
                'updated_at': NOW,
            },
            self.apply_changes(user, own),
        )

    def test_a_skip_in_a_cancelled_plan_follows_the_reason(self):
        change = a_change('READY', 'SKIPPED', status_message='Action was skipped')

        found = self.apply_changes(
            change, state='CANCELLING', status_message='Cancelled.'
        )

        self.assertEqual(
            'Cancelled. One or more actions were skipped. '
            f'Action {change.after.uuid} was skipped automatically.',
            found['status_message'],
        )

    def test_a_failure_stops_a_plan_as_on_failure_says(self):
        fail = a_change('RUNNING', 'FAILED')

        self.assertEqual(
            {
                ('continue', FORWARD): FORWARD,
                ('continue', STOPPING): STOPPING,
                ('continue', REVERTING): REVERTING,
                ('stop', FORWARD): STOPPING,
                ('stop', STOPPING): STOPPING,
                ('stop', REVERTING): REVERTING,
                ('rollback', FORWARD): STOPPING,
                ('rollback', STOPPING): STOPPING,
                ('rollback', REVERTING): REVERTING,
            },
            {
                (answer, stage): self.apply_changes(
                    fail, on_failure=answer, stage=stage
                ).get('stage', stage)
                for answer in states.ON_FAILURE
                for stage in STAGES
            },
        )

    def test_other_ends_do_not_stop_a_plan(self):
        for status in ('SUCCEEDED', 'CANCELLED', 'SKIPPED'):
            self.assertNotIn(
                'stage',
                self.apply_changes(
                    a_change('READY', status), on_failure='stop', failed=1
                ),
            )


class TestEnded(ProgressCase):
    def finish_if_done(self, **values):
        plan = factories.make_plan(**{'id': 7, 'active': 1, **values})
        after, written = self.progress.finish_if_done(plan, plan, NOW)
        return plan, after, written

    def test_a_plan_with_unfinished_actions_does_not_end(self):
        plan, after, written = self.finish_if_done(unfinished=1)

        self.assertEqual((plan, []), (after, written))

    def test_a_changed_message_has_an_event_unless_the_plan_ends(self):
        before = factories.make_plan(id=7, active=1, unfinished=1)
        skipped = before.evolve(status_message='One or more actions were skipped.')

        goes_on, (event,) = self.progress.finish_if_done(before, skipped, NOW)
        _, at_the_end = self.progress.finish_if_done(
            before, skipped.evolve(unfinished=0), NOW
        )

        self.assertEqual(
            (skipped, 'message_changed', 'ONGOING', 'ONGOING', skipped.status_message),
            (goes_on, event.kind, event.old_status, event.new_status, event.message),
        )
        self.assertEqual(
            [('state_changed', 'SUCCEEDED', skipped.status_message)],
            [(e.kind, e.new_status, e.message) for e in at_the_end],
        )

    def test_success_keeps_the_message_of_the_skips(self):
        plan, after, (event,) = self.finish_if_done(status_message='Some were skipped.')

        self.assertEqual(
            plan.evolve(state='SUCCEEDED', active=0, updated_at=NOW), after
        )
        self.assertEqual(
            dataclasses.replace(plan_event(plan, after, NOW), uuid=event.uuid), event
        )

    def test_the_message_of_a_failure_has_the_first_fault(self):
        for values, message in (
            ({'failed': 1}, 'An action failed.'),
            ({'failed': 3}, '3 actions failed.'),
            (
                {'failed': 1, 'fault': dataclasses.asdict(FAULT)},
                'An action failed: The disk is full.',
            ),
            (
                {'failed': 2, 'fault': dataclasses.asdict(FAULT)},
                '2 actions failed: The disk is full.',
            ),
            (
                {'failed': 1, 'status_message': 'Some were skipped.'},
                'An action failed. Some were skipped.',
            ),
        ):
            plan, after, _ = self.finish_if_done(**values)
            self.assertEqual(
                plan.evolve(
                    state='FAILED', status_message=message, active=0, updated_at=NOW
                ),
                after,
            )

    def test_only_the_event_of_a_failure_has_a_fault(self):
        fault = dataclasses.asdict(FAULT)

        _, _, (failed,) = self.finish_if_done(failed=1, fault=fault)
        _, _, (unknown,) = self.finish_if_done(failed=1)
        _, _, (cancelled,) = self.finish_if_done(
            failed=1, fault=fault, state='CANCELLING'
        )

        self.assertEqual(
            [({'fault': fault}, 'FAILED'), (None, 'FAILED'), (None, 'CANCELLED')],
            [(e.detail, e.new_status) for e in (failed, unknown, cancelled)],
        )

    def test_a_plan_before_its_rollback_does_not_end(self):
        plan, after, written = self.finish_if_done(
            failed=1, on_failure='rollback', stage=STOPPING
        )

        self.assertEqual((plan, []), (after, written))
