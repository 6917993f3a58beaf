"""Progress as plain lines."""

import datetime

from tests import base, factories
from tests.unit.cli.capturing import Lines
from watcherlite.cli.progress import PlainProgress, clock_time, counts
from watcherlite.cli.state_changes import Change
from watcherlite.states import action_plan as states


def make_change(**values):
    return Change(
        **{
            'when': factories.NOW,
            'action_id': 1,
            'name': 'restart',
            'action_type': 'nop',
            'old': 'PENDING',
            'new': 'ONGOING',
            'text': '',
            **values,
        }
    )


class PlainProgressTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.out = Lines()
        self.now = 100.0
        self.progress = PlainProgress(self.out, lambda: self.now)
        self.time = clock_time(factories.NOW)

    def test_each_change_and_each_message_is_one_line(self):
        with self.progress as progress:
            progress.changed(make_change(old=None, new='PENDING'))
            progress.changed(make_change())
            progress.changed(make_change(old=None, text='CANCEL requested'))
            progress.print_message('Cancelling\nnow')
            progress.changed(
                make_change(old='ONGOING', new='FAILED', text='two\n  lines\x1b[2J')
            )

        self.assertEqual(
            [
                f'{self.time} restart: PENDING -> ONGOING',
                f'{self.time} restart: CANCEL requested',
                'Cancelling now',
                f'{self.time} restart: ONGOING -> FAILED two lines [2J',
            ],
            self.out.lines,
        )

    def test_counts_of_a_large_plan_are_printed_at_intervals_if_they_change(self):
        plan = factories.make_plan(total=1000, unfinished=1000)
        for seconds, ended in ((0, 0), (1, 10), (1, 20), (3, 20), (3, 30)):
            self.now += seconds
            self.progress.show_counts(plan.evolve(unfinished=1000 - ended), [])

        self.assertEqual(
            [
                'ONGOING: 0 of 1000 actions ended',
                'ONGOING: 20 of 1000 actions ended',
                'ONGOING: 30 of 1000 actions ended',
            ],
            [line.partition(' ')[2] for line in self.out.lines],
        )

    def test_counts_include_unsuccessful_and_running_actions(self):
        plan = factories.make_plan(
            state=states.CANCELLING,
            total=100,
            unfinished=40,
            failed=2,
            skipped=1,
            active=8,
        )

        self.assertEqual(
            'CANCELLING: 60 of 100 actions ended, 2 FAILED, 1 SKIPPED, 8 running',
            counts(plan),
        )

    def test_times_are_printed_in_the_local_time_zone(self):
        when = datetime.datetime(2026, 7, 1, 12, 0, 1, tzinfo=datetime.UTC)

        self.assertEqual(
            when.astimezone().time().isoformat('seconds'), clock_time(when)
        )
