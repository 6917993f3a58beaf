"""The notifications of each event, as whole tables."""

import dataclasses
import functools

from tests import base, factories
from tests.unit.notifications import expectations
from watcherlite.domain import events
from watcherlite.notifications.rules import infra_optim, subjects
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as audit_states

_ACTION = factories.make_action(id=7, plan_id=1, status=action_states.RUNNING)
_PLAN = factories.make_plan(id=1)
_OF_INFRA_OPTIM = (events.ACTION, events.ACTION_PLAN, events.AUDIT)


def match(subject, kind, old=None, new=None, **values):
    return expectations.match(
        factories.make_event(
            subject, kind=kind, old_status=old, new_status=new, **values
        )
    )


def changes(subject, machine, **values):
    """Return the notifications of every possible transition."""
    return {
        (old, new): match(subject, events.STATE_CHANGED, old, new, **values)
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
                # This change exists only for started actions.
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
                # Only started actions are suspended while they wait: see below.
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
                # It continues, or will do so: that is not another start.
                ('READY', 'RUNNING'): None,
                ('RUNNING', 'READY'): None,
                ('SUSPENDED', 'READY'): None,
                # It is suspended, and had started before.
                ('READY', 'SUSPENDED'): None,
                ('WAITING', 'SUSPENDED'): None,
                ('READY', 'SKIPPED'): 'ONGOING -> SKIPPED: update',
                ('READY', 'FAILED'): 'ONGOING -> FAILED: update, execution.error',
                ('READY', 'CANCELLED'): 'ONGOING -> CANCELLED: update, cancel.end',
                # These changes exist only before the start.
                ('INIT', 'READY'): 'PENDING -> ONGOING: update',
                ('INIT', 'WAITING'): 'PENDING -> ONGOING: update',
            },
            {key: value for key, value in started.items() if plain[key] != value},
        )

    def test_other_events_of_actions_have_their_notifications(self):
        running = (events.SIGNALLED, 'RUNNING', 'RUNNING')
        for event, expected in (
            # claimed without an event
            (
                (events.STATE_CHANGED, 'INIT', 'RUNNING'),
                'PENDING -> ONGOING: update, execution.start',
            ),
            ((events.CREATED, None, 'INIT'), 'None -> PENDING: create'),
            (
                (events.MESSAGE_CHANGED, 'SKIPPED', 'SKIPPED'),
                'SKIPPED -> SKIPPED: update',
            ),
            (
                (events.DELETED, 'SUCCEEDED', 'SUCCEEDED'),
                'SUCCEEDED -> DELETED: update, delete',
            ),
        ):
            self.assertEqual(expected, match(_ACTION, *event))
        self.assertEqual(
            {
                'CANCEL': 'ONGOING -> ONGOING: cancel.start',
                'SUSPEND': None,
                'RESUME': None,
            },
            {
                signal: match(_ACTION, *running, detail={'signal': signal})
                for signal in action_states.SIGNALS
            },
        )

    def test_actions_without_a_plan_and_unknown_subjects_have_no_notifications(self):
        event = dataclasses.replace(factories.make_event(_ACTION), subject='profile')
        change = (events.STATE_CHANGED, 'READY', 'RUNNING')

        self.assertIsNone(match(_ACTION.evolve(plan_id=None), *change))
        self.assertIsNone(subjects.match(event))


class TestChangesOfPlans(base.TestCase):
    def test_every_transition_has_its_notifications(self):
        self.assertEqual(
            {
                ('RECOMMENDED', 'PENDING'): 'RECOMMENDED -> PENDING: update',
                ('RECOMMENDED', 'CANCELLED'): 'RECOMMENDED -> CANCELLED: update',
                ('RECOMMENDED', 'SUPERSEDED'): 'RECOMMENDED -> SUPERSEDED: update',
                # It was proposed without actions: nothing was executed.
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


def match_audit(kind, old=None, new=None, **values):
    """Return the notifications of an audit event; see `match`."""
    return expectations.match(
        expectations.audit_event(1, old, new, kind=kind, **values).event
    )


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
                (old, new): match_audit(events.STATE_CHANGED, old, new)
                for old, new in transitions
            },
        )

    def test_other_events_of_plans_and_audits_have_their_notifications(self):
        for tell, made, ended in (
            (functools.partial(match, _PLAN), 'RECOMMENDED', 'FAILED'),
            (match_audit, 'PENDING', 'SUSPENDED'),
        ):
            self.assertEqual(
                [
                    f'None -> {made}: create',
                    'ONGOING -> ONGOING: update',
                    f'{ended} -> DELETED: update, delete',
                    None,
                ],
                [
                    tell(events.CREATED, None, made),
                    tell(events.MESSAGE_CHANGED, 'ONGOING', 'ONGOING'),
                    tell(events.DELETED, ended, 'DELETED'),
                    tell(events.STATE_CHANGED, 'ONGOING', 'ONGOING'),
                ],
            )
        event = expectations.audit_event(1, 'PENDING', 'ONGOING').event
        self.assertEqual((None, None), (event.plan_id, event.action_id))
        self.assertIsNotNone(subjects.match(event))

    def test_steps_of_a_run_have_the_state_of_the_audit(self):
        names = {
            events.STRATEGY_START: 'strategy.start',
            events.STRATEGY_END: 'strategy.end',
            events.STRATEGY_ERROR: 'strategy.error',
            events.PLANNER_START: 'planner.start',
            events.PLANNER_END: 'planner.end',
            events.PLANNER_ERROR: 'planner.error',
        }

        self.assertEqual(
            {step: f'ONGOING -> ONGOING: {name}' for step, name in names.items()},
            {
                step: match_audit(
                    events.STEPPED, 'ONGOING', 'ONGOING', detail={'step': step}
                )
                for step in names
            },
        )
        self.assertEqual(set(names), set(infra_optim.OF_STEP))


class TestContradictions(base.TestCase):
    def test_an_unknown_state_or_step_is_rejected_by_name(self):
        step = (events.STEPPED, 'ONGOING', 'ONGOING')
        change = (events.STATE_CHANGED, 'PENDING')
        scoring = {'detail': {'step': 'scoring.start'}}
        strategy = {'detail': {'step': events.STRATEGY_START}}
        for text, tell, event, values in (
            ('no audit has a step scoring.start', match_audit, step, scoring),
            ('no audit has a step None', match_audit, step, {}),
            (
                'no action_plan has a step strategy.start',
                match,
                (_PLAN, *step),
                strategy,
            ),
            ('no audit can be RECOMMENDED', match_audit, (*change, 'RECOMMENDED'), {}),
            ('can be', match, (_ACTION, *change, 'ONGOING'), {}),
            ('can be', match, (_PLAN, *change, 'RUNNING'), {}),
            ('', match, (_ACTION, events.STATE_CHANGED, None, 'RUNNING'), {}),
        ):
            error = self.assertRaises(ValueError, tell, *event, **values)
            self.assertIn(text, str(error))


class TestTables(base.TestCase):
    def test_only_errors_are_errors(self):
        rows = {
            key: {name: row.priority for name, row in subject.notifications.items()}
            for key, subject in subjects.SUBJECTS.items()
        }

        for key, priorities in rows.items():
            for name, priority in priorities.items():
                expected = 'ERROR' if name.endswith('.error') else 'INFO'
                self.assertEqual(expected, priority, (key, name))
        self.assertEqual(
            {'execution.error', 'strategy.error', 'planner.error'},
            {n for key in _OF_INFRA_OPTIM for n in rows[key] if n.endswith('.error')},
        )

    def test_no_event_has_more_messages_than_there_are_ids(self):
        longest = 1 + max(
            len(names)
            for subject in subjects.SUBJECTS.values()
            for names in subject.kinds.values()
        )

        self.assertEqual(16, len({events.message_id('0' * 36, i) for i in range(16)}))
        self.assertLess(longest, 16)
