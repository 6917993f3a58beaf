"""The notifications of each event, as whole tables."""

import dataclasses

from tests import base, factories
from tests.unit.notifications import expectations as stories
from watcherlite.domain import events
from watcherlite.notifications.rules import infra_optim, subjects
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as audit_states

_ACTION = factories.make_action(id=7, plan_id=1, status=action_states.RUNNING)
_PLAN = factories.make_plan(id=1)
_OF_INFRA_OPTIM = (events.ACTION, events.ACTION_PLAN, events.AUDIT)


def told(subject, kind, old=None, new=None, **values):
    return stories.told(
        factories.make_event(
            subject, kind=kind, old_status=old, new_status=new, **values
        )
    )


def changes(subject, machine, **values):
    """Return what is told of every transition that there is."""
    return {
        (old, new): told(subject, events.STATE_CHANGED, old, new, **values)
        for old, new in machine.transitions
        if new != plan_states.DELETED
    }


class TestChangesOfActions(base.TestCase):
    def test_every_transition_has_its_notifications(self):
        self.assertEqual(
            {
                ('INIT', 'WAITING'): None,
                ('INIT', 'READY'): None,
                ('INIT', 'SKIPPED'): 'PENDING -> SKIPPED: update',
                ('INIT', 'CANCELLED'): 'PENDING -> CANCELLED: update',
                ('WAITING', 'READY'): None,
                ('WAITING', 'SKIPPED'): 'PENDING -> SKIPPED: update',
                ('WAITING', 'FAILED'): 'PENDING -> FAILED: update, execution.error',
                ('WAITING', 'CANCELLED'): 'PENDING -> CANCELLED: update',
                ('READY', 'RUNNING'): 'PENDING -> ONGOING: update, execution.start',
                ('READY', 'SKIPPED'): 'PENDING -> SKIPPED: update',
                ('READY', 'FAILED'): 'PENDING -> FAILED: update, execution.error',
                ('READY', 'CANCELLED'): 'PENDING -> CANCELLED: update',
                ('READY', 'WAITING'): None,
                # no action has this change, unless it has started
                ('READY', 'SUSPENDED'): 'PENDING -> ONGOING: update',
                ('RUNNING', 'SUCCEEDED'): 'ONGOING -> SUCCEEDED: update, execution.end',
                ('RUNNING', 'FAILED'): 'ONGOING -> FAILED: update, execution.error',
                ('RUNNING', 'CANCELLED'): 'ONGOING -> CANCELLED: update, cancel.end',
                ('RUNNING', 'SUSPENDED'): None,
                ('RUNNING', 'READY'): 'ONGOING -> PENDING: update',
                ('RUNNING', 'WAITING'): None,
                ('SUSPENDED', 'RUNNING'): None,
                ('SUSPENDED', 'CANCELLED'): 'ONGOING -> CANCELLED: update, cancel.end',
                ('SUSPENDED', 'FAILED'): 'ONGOING -> FAILED: update, execution.error',
                ('SUSPENDED', 'READY'): 'ONGOING -> PENDING: update',
                # only what is under way is suspended while it waits: see below
                ('WAITING', 'SUSPENDED'): 'PENDING -> ONGOING: update',
                ('SUSPENDED', 'WAITING'): None,
            },
            changes(_ACTION, action_states.MACHINE),
        )

    def test_started_action_is_ongoing_while_it_waits(self):
        plain = changes(_ACTION, action_states.MACHINE)
        started = changes(_ACTION, action_states.MACHINE, detail={'started': True})

        self.assertEqual(
            {
                ('WAITING', 'SKIPPED'): 'ONGOING -> SKIPPED: update',
                ('WAITING', 'FAILED'): 'ONGOING -> FAILED: update, execution.error',
                ('WAITING', 'CANCELLED'): 'ONGOING -> CANCELLED: update, cancel.end',
                # it goes on, or is to: that is no other start
                ('READY', 'RUNNING'): None,
                ('RUNNING', 'READY'): None,
                ('SUSPENDED', 'READY'): None,
                # it is paused, and had started before
                ('READY', 'SUSPENDED'): None,
                ('WAITING', 'SUSPENDED'): None,
                ('READY', 'SKIPPED'): 'ONGOING -> SKIPPED: update',
                ('READY', 'FAILED'): 'ONGOING -> FAILED: update, execution.error',
                ('READY', 'CANCELLED'): 'ONGOING -> CANCELLED: update, cancel.end',
                # no action has such a change, before it is started
                ('INIT', 'READY'): 'PENDING -> ONGOING: update',
                ('INIT', 'WAITING'): 'PENDING -> ONGOING: update',
            },
            {key: value for key, value in started.items() if plain[key] != value},
        )

    def test_one_that_was_claimed_without_an_event_starts_from_init(self):
        self.assertEqual(
            'PENDING -> ONGOING: update, execution.start',
            told(_ACTION, events.STATE_CHANGED, 'INIT', 'RUNNING'),
        )

    def test_transitions_without_a_visible_change(self):
        self.assertEqual(
            [
                'None -> PENDING: create',
                'SKIPPED -> SKIPPED: update',
                'SUCCEEDED -> DELETED: update, delete',
            ],
            [
                told(_ACTION, events.CREATED, None, 'INIT'),
                told(_ACTION, events.MESSAGE_CHANGED, 'SKIPPED', 'SKIPPED'),
                told(_ACTION, events.DELETED, 'SUCCEEDED', 'SUCCEEDED'),
            ],
        )

    def test_only_cancel_signals_are_notified(self):
        signals = {
            signal: told(
                _ACTION,
                events.SIGNALLED,
                'RUNNING',
                'RUNNING',
                detail={'signal': signal},
            )
            for signal in action_states.SIGNALS
        }

        self.assertEqual(
            {
                'CANCEL': 'ONGOING -> ONGOING: cancel.start',
                'SUSPEND': None,
                'RESUME': None,
            },
            signals,
        )

    def test_actions_without_a_plan_have_no_notifications(self):
        action = _ACTION.evolve(plan_id=None)

        self.assertIsNone(told(action, events.STATE_CHANGED, 'READY', 'RUNNING'))

    def test_unknown_subjects_have_no_notifications(self):
        event = dataclasses.replace(factories.make_event(_ACTION), subject='profile')

        self.assertIsNone(subjects.match(event))


class TestChangesOfPlans(base.TestCase):
    def test_every_transition_has_its_notifications(self):
        self.assertEqual(
            {
                ('RECOMMENDED', 'PENDING'): 'RECOMMENDED -> PENDING: update',
                ('RECOMMENDED', 'CANCELLED'): 'RECOMMENDED -> CANCELLED: update',
                ('RECOMMENDED', 'SUPERSEDED'): 'RECOMMENDED -> SUPERSEDED: update',
                # it was proposed without any action: nothing was executed
                ('RECOMMENDED', 'SUCCEEDED'): 'RECOMMENDED -> SUCCEEDED: update',
                ('PENDING', 'ONGOING'): 'PENDING -> ONGOING: update, execution.start',
                ('PENDING', 'CANCELLED'): 'PENDING -> CANCELLED: update',
                ('ONGOING', 'SUCCEEDED'): 'ONGOING -> SUCCEEDED: update, execution.end',
                ('ONGOING', 'FAILED'): 'ONGOING -> FAILED: update, execution.error',
                (
                    'ONGOING',
                    'CANCELLING',
                ): 'ONGOING -> CANCELLING: update, cancel.start',
                (
                    'CANCELLING',
                    'CANCELLED',
                ): 'CANCELLING -> CANCELLED: update, cancel.end',
            },
            changes(_PLAN, plan_states.MACHINE),
        )

    def test_transitions_without_a_visible_change(self):
        self.assertEqual(
            [
                'None -> RECOMMENDED: create',
                'ONGOING -> ONGOING: update',
                'FAILED -> DELETED: update, delete',
                None,
            ],
            [
                told(_PLAN, events.CREATED, None, 'RECOMMENDED'),
                told(_PLAN, events.MESSAGE_CHANGED, 'ONGOING', 'ONGOING'),
                told(_PLAN, events.DELETED, 'FAILED', 'DELETED'),
                told(_PLAN, events.STATE_CHANGED, 'ONGOING', 'ONGOING'),
            ],
        )


def told_of_audit(kind, old=None, new=None, **values):
    """Return what is told of an audit, as `told` does."""
    return stories.told(stories.audit_event(1, old, new, kind=kind, **values).event)


class TestChangesOfAudits(base.TestCase):
    def test_every_transition_has_only_an_update(self):
        transitions = [
            (old, new)
            for old, new in audit_states.MACHINE.transitions
            if new != audit_states.DELETED
        ]

        self.assertIn(('ONGOING', 'SUSPENDED'), transitions)
        self.assertEqual(
            {(old, new): f'{old} -> {new}: update' for old, new in transitions},
            {
                (old, new): told_of_audit(events.STATE_CHANGED, old, new)
                for old, new in transitions
            },
        )

    def test_transitions_without_a_visible_change(self):
        self.assertEqual(
            [
                'None -> PENDING: create',
                'ONGOING -> ONGOING: update',
                'SUSPENDED -> DELETED: update, delete',
                None,
            ],
            [
                told_of_audit(events.CREATED, None, 'PENDING'),
                told_of_audit(events.MESSAGE_CHANGED, 'ONGOING', 'ONGOING'),
                told_of_audit(events.DELETED, 'SUSPENDED', 'DELETED'),
                told_of_audit(events.STATE_CHANGED, 'ONGOING', 'ONGOING'),
            ],
        )

    def test_steps_of_a_run_have_the_state_of_the_audit(self):
        steps = (
            events.STRATEGY_START,
            events.STRATEGY_END,
            events.STRATEGY_ERROR,
            events.PLANNER_START,
            events.PLANNER_END,
            events.PLANNER_ERROR,
        )

        self.assertEqual(
            [
                'ONGOING -> ONGOING: strategy.start',
                'ONGOING -> ONGOING: strategy.end',
                'ONGOING -> ONGOING: strategy.error',
                'ONGOING -> ONGOING: planner.start',
                'ONGOING -> ONGOING: planner.end',
                'ONGOING -> ONGOING: planner.error',
            ],
            [
                told_of_audit(
                    events.STEPPED, 'ONGOING', 'ONGOING', detail={'step': step}
                )
                for step in steps
            ],
        )
        self.assertEqual(set(steps), set(infra_optim.OF_STEP))

    def test_an_audit_needs_no_plan(self):
        event = stories.audit_event(1, 'PENDING', 'ONGOING').event

        self.assertEqual((None, None), (event.plan_id, event.action_id))
        self.assertIsNotNone(subjects.match(event))

    def test_unknown_step_is_rejected_by_name(self):
        for detail, name in (
            ({'step': 'scoring.start'}, 'scoring.start'),
            (None, None),
        ):
            error = self.assertRaises(
                ValueError,
                told_of_audit,
                events.STEPPED,
                'ONGOING',
                'ONGOING',
                detail=detail,
            )
            self.assertIn(f'no audit has a step {name}', str(error))

    def test_only_audits_have_steps(self):
        error = self.assertRaises(
            ValueError,
            told,
            _PLAN,
            events.STEPPED,
            'ONGOING',
            'ONGOING',
            detail={'step': events.STRATEGY_START},
        )

        self.assertIn('no action_plan has a step strategy.start', str(error))


class TestContradictions(base.TestCase):
    def test_a_state_that_no_audit_has_is_refused_by_name(self):
        error = self.assertRaises(
            ValueError, told_of_audit, events.STATE_CHANGED, 'PENDING', 'RECOMMENDED'
        )

        self.assertIn('no audit can be RECOMMENDED', str(error))

    def test_unknown_state_is_rejected_by_name(self):
        for subject, status in ((_ACTION, 'ONGOING'), (_PLAN, 'RUNNING')):
            error = self.assertRaises(
                ValueError, told, subject, events.STATE_CHANGED, 'PENDING', status
            )
            self.assertIn('can be', str(error))

    def test_a_change_from_nothing_is_refused(self):
        self.assertRaises(
            ValueError, told, _ACTION, events.STATE_CHANGED, None, 'RUNNING'
        )


class TestTables(base.TestCase):
    def test_only_errors_are_errors(self):
        self.assertEqual(
            {
                'execution.error': 'ERROR',
                'strategy.error': 'ERROR',
                'planner.error': 'ERROR',
            },
            {
                name: row.priority
                for key, subject in subjects.SUBJECTS.items()
                for name, row in subject.notifications.items()
                if row.priority != 'INFO' and key in _OF_INFRA_OPTIM
            },
        )

    def test_no_event_has_more_messages_than_there_are_ids(self):
        longest = 1 + max(
            len(names)
            for subject in subjects.SUBJECTS.values()
            for names in subject.kinds.values()
        )

        self.assertEqual(16, len({events.message_id('0' * 36, i) for i in range(16)}))
        self.assertLess(longest, 16)
