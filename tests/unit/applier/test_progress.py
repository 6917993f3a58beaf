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
STORED_FAULT = {'fault': dataclasses.asdict(FAULT)}
ANOTHER = Fault('HostGone', 'The host is gone.', 'a_plugin', 'execute')
STOPPED = 'Action was not started because another action of its plan failed.'
UNSTARTED = 'Action was cancelled before it started.'


def make_change(before, after, **values):
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
        may_start = {
            *(('PENDING', stage) for stage in (FORWARD, STOPPING, REVERTING)),
            *(('ONGOING', stage) for stage in (FORWARD, REVERTING)),
        }
        for state in states.STATES:
            for stage in STAGES:
                plan = factories.make_plan(state=state, stage=stage)
                reason = STOPPED if plan.state == 'ONGOING' else UNSTARTED
                self.assertEqual(
                    None if (state, stage) in may_start else reason,
                    self.progress.blocking_reason(plan),
                    (state, stage),
                )


class TestClaims(ProgressCase):
    def test_only_the_first_claim_makes_a_plan_ongoing(self):
        plan = factories.make_plan(id=7, state='PENDING', status_message='m')

        after, (event,) = self.progress.on_claimed(plan, NOW)

        self.assertEqual(plan.evolve(state='ONGOING', updated_at=NOW), after)
        self.assertEqual(
            dataclasses.replace(plan_event(plan, after, NOW), uuid=event.uuid), event
        )
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

    def test_the_counters_of_a_plan_follow_the_changes_of_its_actions(self):
        self.assertEqual({}, self.apply_changes())
        failed = {'active': 2, 'unfinished': 4, 'failed': 1}
        for changes, values, counters in (
            ([make_change('READY', 'RUNNING')], {}, {}),
            ([make_change('RUNNING', 'SUCCEEDED')], {}, {'active': 2, 'unfinished': 4}),
            ([make_change('RUNNING', 'CANCELLED')], {}, {'active': 2, 'unfinished': 4}),
            ([make_change('INIT', 'CANCELLED')], {}, {'unfinished': 4}),
            ([make_change('RUNNING', 'READY')], {}, {'active': 2}),
            ([make_change('RUNNING', 'WAITING')], {}, {'active': 2}),
            (
                [(make_change('RUNNING', 'FAILED'), FAULT)],
                {},
                {**failed, **STORED_FAULT},
            ),
            # A fault without a failure is ignored.
            ([(make_change('RUNNING', 'READY'), FAULT)], {}, {'active': 2}),
            ([], {'claimed': 2}, {'active': 5}),
            ([], {'derived': 2}, {'total': 11, 'unfinished': 7}),
        ):
            found = self.apply_changes(*changes, **values)
            self.assertEqual({**counters, 'updated_at': NOW}, found, (changes, values))

    def test_the_first_fault_is_that_of_the_plan(self):
        fail = make_change('RUNNING', 'FAILED')

        at_once = self.apply_changes((fail, FAULT), (fail, ANOTHER))
        later = self.apply_changes((fail, ANOTHER), failed=1, **STORED_FAULT)

        first = STORED_FAULT['fault']
        self.assertEqual((first, 2), (at_once['fault'], at_once['failed']))
        self.assertNotIn('fault', later)

    def test_a_skip_is_counted_and_names_its_origin_after_a_cancel(self):
        user = make_change(
            'INIT', 'SKIPPED', status_message='Action skipped by user. Reason: x'
        )
        own = make_change(
            'READY', 'SKIPPED', status_message='Action was skipped automatically: x'
        )

        cancelled = {'state': 'CANCELLING', 'status_message': 'Cancelled.'}
        for values, reason in (({}, ''), (cancelled, 'Cancelled. ')):
            self.assertEqual(
                {
                    'active': 2,
                    'unfinished': 3,
                    'skipped': 2,
                    'status_message': f'{reason}One or more actions were skipped. '
                    f'Action {user.after.uuid} was skipped by user. '
                    f'Action {own.after.uuid} was skipped automatically.',
                    'updated_at': NOW,
                },
                self.apply_changes(user, own, **values),
            )

    def test_only_a_failure_stops_a_plan_as_on_failure_says(self):
        fail = make_change('RUNNING', 'FAILED')
        for answer in states.ON_FAILURE:
            for stage in STAGES:
                stops = stage == FORWARD and answer != 'continue'
                found = self.apply_changes(fail, on_failure=answer, stage=stage)
                self.assertEqual(
                    STOPPING if stops else stage,
                    found.get('stage', stage),
                    (answer, stage),
                )
        for status in ('SUCCEEDED', 'CANCELLED', 'SKIPPED'):
            change = make_change('READY', status)
            found = self.apply_changes(change, on_failure='stop', failed=1)
            self.assertNotIn('stage', found)


class TestEnded(ProgressCase):
    def finish_if_done(self, **values):
        plan = factories.make_plan(**{'id': 7, 'active': 1, **values})
        after, written = self.progress.finish_if_done(plan, plan, NOW)
        return plan, after, written

    def test_a_plan_with_unfinished_actions_or_before_its_rollback_does_not_end(self):
        for values in (
            {'unfinished': 1},
            {'failed': 1, 'on_failure': 'rollback', 'stage': STOPPING},
        ):
            plan, after, written = self.finish_if_done(**values)
            self.assertEqual((plan, []), (after, written), values)

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

    def test_the_message_and_the_event_of_a_failure_have_the_first_fault(self):
        skips = {'status_message': 'Some were skipped.'}
        for failed, values, message in (
            (1, {}, 'An action failed.'),
            (3, {}, '3 actions failed.'),
            (1, STORED_FAULT, 'An action failed: The disk is full.'),
            (2, STORED_FAULT, '2 actions failed: The disk is full.'),
            (1, skips, 'An action failed. Some were skipped.'),
        ):
            plan, after, (event,) = self.finish_if_done(failed=failed, **values)
            self.assertEqual(
                plan.evolve(
                    state='FAILED', status_message=message, active=0, updated_at=NOW
                ),
                after,
            )
            detail = STORED_FAULT if values is STORED_FAULT else None
            self.assertEqual((detail, 'FAILED'), (event.detail, event.new_status))
        _, _, (event,) = self.finish_if_done(
            failed=1, state='CANCELLING', **STORED_FAULT
        )
        self.assertEqual((None, 'CANCELLED'), (event.detail, event.new_status))
