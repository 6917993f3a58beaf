"""The encoding of hints; all other messages are rejected."""

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
    def test_each_has_its_form_on_the_wire_and_is_read_back_from_it(self):
        for one, message in WIRE:
            self.assertEqual((message, one), (to_message(one), from_message(message)))
        known = {*commands.Command.__args__, *commands.Broadcast.__args__}
        self.assertEqual(known, {type(one) for one, _ in WIRE})

    def test_members_of_newer_and_older_versions_are_ignored_and_empty(self):
        self.assertEqual(
            [LaunchActionPlan('p'), WorkAvailable(('p',))],
            [
                from_message({'type': 'launch_action_plan', 'plan': 'p', 'new': True}),
                from_message({'type': 'work_available', 'plans': ['p']}),
            ],
        )


class TestRefusals(base.TestCase):
    def test_a_message_of_an_unknown_type_or_with_other_values_is_refused(self):
        for message, text in (
            ({}, 'unknown type None'),
            ({'type': 'format_disk', 'plan': 'p'}, "unknown type 'format_disk'"),
            ({'type': 7}, 'unknown type 7'),
            ({'type': ['run_actions']}, "unknown type ['run_actions']"),
            ({'type': 'launch_action_plan'}, 'launch_action_plan: plan is None'),
            *(
                (
                    {'type': 'launch_action_plan', 'plan': plan},
                    f'launch_action_plan: plan is {plan!r}',
                )
                for plan in (7, ['p'], {'uuid': 'p'}, True)
            ),
            *(
                (
                    {'type': 'work_available', 'plans': plans},
                    f'work_available: plans is {plans!r}',
                )
                for plans in (None, 'p', ['p', 7], [['p']], {'p': 1})
            ),
            ({'type': 'worker_left', 'worker': ['w']}, "worker_left: worker is ['w']"),
        ):
            error = self.assertRaises(ValueError, from_message, message)
            self.assertEqual(text, str(error))
