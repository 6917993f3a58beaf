"""The output of --dry-run."""

import json

from tests import base
from tests.unit.cli.capturing import Lines
from watcherlite.cli.local import dry_run
from watcherlite.domain.documents import plan_document

DOCUMENT = plan_document.from_mapping(
    {
        'name': 'nightly',
        'on_failure': 'stop',
        'max_parallel': 2,
        'actions': [
            {'name': 'report', 'action_type': 'http_request', 'parents': ['restart']},
            {'name': 'drain', 'action_type': 'nop'},
            {
                'name': 'restart',
                'action_type': 'command',
                'parents': ['drain'],
                'target': 'node-1',
            },
            {
                'name': 'wait',
                'action_type': 'sleep',
                'not_before': '2030-01-31T22:00:00Z',
            },
        ],
    }
)


class TextOutputTest(base.TestCase):
    def print_lines(self, document, skipped):
        out = Lines()
        dry_run.print_text(document, skipped, out)
        return out.lines

    def test_actions_are_printed_in_steps(self):
        self.assertEqual(
            [
                'Action plan nightly: 4 actions, on_failure stop, at most 2 at a time',
                '1. in parallel:',
                '   drain    nop',
                '   wait     sleep  (not before 2030-01-31T22:00:00+00:00)',
                '2. alone:',
                '   restart  command  (after drain; on node-1)',
                '3. alone:',
                '   report   http_request  (after restart)',
                'Dry run: nothing was stored or executed.',
            ],
            self.print_lines(DOCUMENT, {}),
        )

    def test_dependents_of_skipped_actions_do_not_wait(self):
        self.assertEqual(
            [
                'Action plan nightly: 4 actions, on_failure stop, at most 2 at a time',
                '1. in parallel:',
                '   report   http_request  (after restart)',
                '   drain    nop',
                'Skipped:',
                '   restart  not today',
                '   wait',
                'Dry run: nothing was stored or executed.',
            ],
            self.print_lines(DOCUMENT, {'restart': 'not today', 'wait': None}),
        )

    def test_a_plan_without_remaining_actions_has_no_steps(self):
        document = plan_document.from_mapping(
            {'actions': [{'name': 'a', 'action_type': 'nop'}]}
        )

        self.assertEqual(
            [
                'Action plan without a name: 1 action, on_failure continue, no '
                'parallelism limit',
                'Skipped:',
                '   a',
                'Dry run: nothing was stored or executed.',
            ],
            self.print_lines(document, {'a': None}),
        )


class JsonOutputTest(base.TestCase):
    def test_the_json_document_contains_steps_and_skipped_actions(self):
        out = Lines()

        dry_run.print_json(DOCUMENT, {'report': 'why'}, out)

        found = json.loads('\n'.join(out.lines))
        steps = found.pop('steps')
        self.assertEqual(
            {
                'name': 'nightly',
                'on_failure': 'stop',
                'max_parallel': 2,
                'skipped': [{'name': 'report', 'reason': 'why'}],
            },
            found,
        )
        self.assertEqual(
            [['drain', 'wait'], ['restart']],
            [[action['name'] for action in step] for step in steps],
        )
        self.assertEqual(
            {
                'name': 'wait',
                'action_type': 'sleep',
                'parents': [],
                'target': None,
                'not_before': '2030-01-31T22:00:00+00:00',
            },
            steps[0][1],
        )
