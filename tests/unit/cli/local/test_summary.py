"""The summary of a plan."""

import json
import uuid

from tests import base, factories
from tests.unit.cli.capturing import Lines
from watcherlite.cli.local import summary
from watcherlite.testing.memory_store import MemoryStore

PLAN_UUID = '4a5d1c8e-3a63-4f4e-9a5e-000000000001'


class SummaryTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)

    def store_plan(self, *actions, **values):
        plan, members = factories.store_plan(
            self.store,
            *actions,
            **{'uuid': PLAN_UUID, 'name': 'nightly', 'unfinished': 0, **values},
        )
        return plan, members

    def print_lines(self, plan, every=True, terminal=False):
        out = Lines(terminal)
        summary.print_text(self.store, plan, out, every=every, seconds=1.26)
        return out.lines

    def test_the_text_lists_actions_and_the_state_of_the_plan(self):
        failure = 'Action failed in execute: exit status 3'
        skipped = 'Action skipped by user.'
        plan, _ = self.store_plan(
            factories.make_action(name='drain', status='SUCCEEDED'),
            factories.make_action(
                name='restart',
                action_type='command',
                status='FAILED',
                status_message=failure,
            ),
            factories.make_action(
                name='report', status='SKIPPED', status_message=skipped
            ),
            factories.make_action(name='wait', status='CANCELLED'),
            state='FAILED',
            failed=1,
            skipped=1,
            status_message='One or more actions were skipped.',
        )
        one, several = (
            summary.reason(self.store, plan.evolve(failed=count)) for count in (1, 2)
        )

        self.assertEqual(
            [
                'ACTION   TYPE     STATE      MESSAGE',
                'drain    nop      SUCCEEDED',
                f'restart  command  FAILED     {failure}',
                f'report   nop      SKIPPED    {skipped}',
                'wait     nop      CANCELLED',
                f'Action plan nightly ({PLAN_UUID}): FAILED after 1.3 s, 1 SUCCEEDED, '
                '1 FAILED, 1 CANCELLED, 1 SKIPPED',
                'One or more actions were skipped.',
            ],
            self.print_lines(plan),
        )
        self.assertEqual(
            ['ACTION', 'restart', 'report', 'wait'],
            [line.split()[0] for line in self.print_lines(plan, every=False)[:-2]],
        )
        text = f'the action plan nightly ({PLAN_UUID}) is FAILED:'
        self.assertEqual(f'{text} restart: {failure}', one)
        self.assertEqual(
            f'{text} 2 actions failed, the first is restart: {failure}', several
        )

    def test_cancelled_unstarted_actions_of_a_large_plan_are_one_line(self):
        cancelled = 'Action was cancelled before it started.'
        plan, _ = self.store_plan(
            factories.make_action(
                name='drain',
                status='CANCELLED',
                status_message='Action was cancelled while it ran.',
            ),
            *(
                factories.make_action(
                    name=f'a{n}', status='CANCELLED', status_message=cancelled
                )
                for n in range(99)
            ),
            state='CANCELLED',
            status_message='Action plan was cancelled.',
        )

        self.assertEqual(
            [
                'ACTION  TYPE  STATE      MESSAGE',
                'drain   nop   CANCELLED  Action was cancelled while it ran.',
                '99 actions were not started and are CANCELLED',
                f'Action plan nightly ({PLAN_UUID}): CANCELLED after 1.3 s, '
                '100 CANCELLED',
                'Action plan was cancelled.',
            ],
            self.print_lines(plan, every=False),
        )
        self.assertEqual(1 + 100 + 2, len(self.print_lines(plan, every=True)))

    def test_a_rollback_counts_reverted_actions(self):
        plan, _ = self.store_plan(
            factories.make_action(name='a', status='SUCCEEDED'),
            factories.make_action(name='b', status='FAILED'),
            factories.make_action(name='revert a', status='SUCCEEDED', phase='revert'),
            state='FAILED',
            stage='reverting',
            failed=1,
            total=3,
        )

        self.assertEqual(
            f'Action plan nightly ({PLAN_UUID}): FAILED after 1.3 s, rolled back: '
            '1 of 1 actions reverted, of all 3: 2 SUCCEEDED, 1 FAILED',
            self.print_lines(plan)[-1],
        )

    def test_the_duration_of_a_resumed_plan_starts_at_its_first_start(self):
        plan, _ = self.store_plan(
            factories.make_action(status='SUCCEEDED', start_time=factories.at(2)),
            factories.make_action(status='SUCCEEDED', start_time=factories.at(61)),
            state='SUCCEEDED',
            updated_at=factories.at(72.5),
        )
        unstarted, _ = factories.store_plan(self.store, state='CANCELLED')

        self.assertEqual(70.5, summary.seconds_since_start(self.store, plan))
        self.assertEqual(0.0, summary.seconds_since_start(self.store, unstarted))

    def test_only_states_have_colours_on_a_terminal(self):
        plan, _ = self.store_plan(
            factories.make_action(name='evil\x1b[2J', status='SUCCEEDED'),
            state='SUCCEEDED',
            name=None,
        )

        self.assertEqual(
            [
                'ACTION    TYPE  STATE      MESSAGE',
                'evil [2J  nop   \x1b[32mSUCCEEDED\x1b[0m',
                f'Action plan {PLAN_UUID}: \x1b[32mSUCCEEDED\x1b[0m after 1.3 s, '
                '1 SUCCEEDED',
            ],
            self.print_lines(plan, terminal=True),
        )

    def test_actions_of_all_pages_are_printed_once(self):
        count = summary.PAGE * 2 + 1
        plan, _ = self.store_plan(
            *(
                factories.make_action(name=f'a{i}', status='SUCCEEDED')
                for i in range(count)
            ),
            state='SUCCEEDED',
        )

        names = [line.split()[0] for line in self.print_lines(plan)[1:-1]]

        self.assertEqual([f'a{i}' for i in range(count)], names)

    def test_the_json_document_contains_the_plan_and_its_actions(self):
        first = factories.make_action(
            name='drain',
            status='SUCCEEDED',
            start_time=factories.NOW,
            end_time=factories.at(1),
            outputs={'code': 0},
        )
        second = factories.make_action(
            status='FAILED', status_message='why', parents=(first.uuid,)
        )
        plan, _ = self.store_plan(first, second, state='FAILED', failed=1)
        out = Lines()

        summary.print_json(self.store, plan, out)

        self.assertEqual(
            {
                'uuid': PLAN_UUID,
                'name': 'nightly',
                'state': 'FAILED',
                'status_message': None,
                'actions': [
                    {
                        'uuid': first.uuid,
                        'name': 'drain',
                        'action_type': 'nop',
                        'state': 'SUCCEEDED',
                        'status_message': None,
                        'start_time': '2026-03-29T01:30:15.123456+00:00',
                        'end_time': '2026-03-29T01:30:16.123456+00:00',
                        'outputs': {'code': 0},
                        'parents': [],
                    },
                    {
                        'uuid': second.uuid,
                        'name': None,
                        'action_type': 'nop',
                        'state': 'FAILED',
                        'status_message': 'why',
                        'start_time': None,
                        'end_time': None,
                        'outputs': None,
                        'parents': [first.uuid],
                    },
                ],
            },
            json.loads('\n'.join(out.lines)),
        )

    def test_a_plan_without_failures_is_described_by_its_state(self):
        plan, _ = self.store_plan(
            factories.make_action(status='CANCELLED'), state='CANCELLED'
        )

        self.assertEqual(
            f'the action plan nightly ({PLAN_UUID}) is CANCELLED',
            summary.reason(self.store, plan),
        )

    def test_the_reason_ends_with_the_last_output_of_the_program(self):
        for written, expected in (
            ('one\n port 7 is taken \n\n', '; stderr: port 7 is taken'),
            ('cannot open amqp://u:S3cret@h', '; stderr: cannot open amqp://u:***@h'),
            ('x' * 300, f'; stderr: {"x" * 199}…'),
            (' \n', ''),
            (7, ''),
        ):
            plan, _ = self.store_plan(
                factories.make_action(
                    name='restart',
                    status='FAILED',
                    status_message='why',
                    outputs={'stderr': written},
                ),
                uuid=str(uuid.uuid4()),
                state='FAILED',
                failed=1,
            )

            self.assertEqual(
                f'the action plan nightly ({plan.uuid}) is FAILED: restart: '
                f'why{expected}',
                summary.reason(self.store, plan),
            )
