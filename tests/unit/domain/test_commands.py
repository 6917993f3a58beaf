"""Hints on the wire: what goes out comes back, and nothing else does."""

from tests import base
from watcherlite.domain import commands
from watcherlite.domain.commands import (
    ActionsSignalled,
    EventsStored,
    LaunchActionPlan,
    RunActions,
    WorkAvailable,
    WorkerLeft,
    from_message,
    to_message,
)

WIRE = [
    (LaunchActionPlan('p'), {'type': 'launch_action_plan', 'plan': 'p'}),
    (RunActions(), {'type': 'run_actions'}),
    (WorkAvailable(), {'type': 'work_available', 'plans': [], 'lanes': []}),
    (
        WorkAvailable(('p', 'q'), ('engine',)),
        {'type': 'work_available', 'plans': ['p', 'q'], 'lanes': ['engine']},
    ),
    (ActionsSignalled(), {'type': 'actions_signalled', 'plans': []}),
    (ActionsSignalled(('p',)), {'type': 'actions_signalled', 'plans': ['p']}),
    (EventsStored(), {'type': 'events_stored'}),
    (WorkerLeft('w'), {'type': 'worker_left', 'worker': 'w'}),
]


class TestRoundTrip(base.TestCase):
    def test_each_has_its_form_on_the_wire(self):
        self.assertEqual(
            [message for _, message in WIRE], [to_message(one) for one, _ in WIRE]
        )

    def test_each_is_read_back_from_it(self):
        self.assertEqual(
            [one for one, _ in WIRE], [from_message(message) for _, message in WIRE]
        )

    def test_every_type_has_an_example(self):
        known = {*commands.Command.__args__, *commands.Broadcast.__args__}

        self.assertEqual(known, {type(one) for one, _ in WIRE})

    def test_unknown_members_are_ignored(self):
        self.assertEqual(
            LaunchActionPlan('p'),
            from_message({'type': 'launch_action_plan', 'plan': 'p', 'urgent': True}),
        )

    def test_a_list_that_an_older_version_does_not_send_is_empty(self):
        self.assertEqual(
            WorkAvailable(('p',)),
            from_message({'type': 'work_available', 'plans': ['p']}),
        )


class TestRefusals(base.TestCase):
    def assert_refused(self, text, message):
        error = self.assertRaises(ValueError, from_message, message)

        self.assertEqual(text, str(error))

    def test_a_message_without_a_type(self):
        self.assert_refused('unknown type None', {})

    def test_unknown_type(self):
        self.assert_refused(
            "unknown type 'format_disk'", {'type': 'format_disk', 'plan': 'p'}
        )

    def test_missing_plan(self):
        self.assert_refused(
            'launch_action_plan: plan is None', {'type': 'launch_action_plan'}
        )

    def test_plan_must_be_text(self):
        for plan in (7, ['p'], {'uuid': 'p'}, True):
            self.assert_refused(
                f'launch_action_plan: plan is {plan!r}',
                {'type': 'launch_action_plan', 'plan': plan},
            )

    def test_plans_that_are_no_list_of_texts(self):
        for plans in (None, 'p', ['p', 7], [['p']], {'p': 1}):
            self.assert_refused(
                f'work_available: plans is {plans!r}',
                {'type': 'work_available', 'plans': plans},
            )

    def test_worker_must_be_text(self):
        self.assert_refused(
            "worker_left: worker is ['w']", {'type': 'worker_left', 'worker': ['w']}
        )

    def test_type_must_be_text(self):
        self.assert_refused('unknown type 7', {'type': 7})
        self.assert_refused("unknown type ['run_actions']", {'type': ['run_actions']})
