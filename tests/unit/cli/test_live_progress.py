"""The live view of a plan on a terminal."""

from rich.console import Console

from tests import base, factories
from tests.unit.cli.capturing import Lines, Stream
from watcherlite.cli.live_progress import LiveTree, branches
from watcherlite.cli.progress import clock_time
from watcherlite.cli.state_changes import Change


class BranchesTest(base.TestCase):
    def test_each_node_is_below_its_last_parent(self):
        for parents, lines in (
            (
                {'a': [], 'b': ['a'], 'c': ['a'], 'd': ['b'], 'e': ['d'], 'f': []},
                ['a', '├─ b', '│  └─ d', '│     └─ e', '└─ c', 'f'],
            ),
            (
                {'a': [], 'b': ['a'], 'c': ['a'], 'd': ['c', 'b', 'a']},
                ['a', '├─ b', '└─ c', '   └─ d'],
            ),
            ({'a': ['gone']}, ['a']),
            ({}, []),
        ):
            drawn = [f'{branch}{node}' for node, branch in branches(parents).items()]
            self.assertEqual(lines, drawn)

    def test_a_chain_of_5000_nodes_does_not_exhaust_the_stack(self):
        chain = {str(i): [str(i - 1)] if i else [] for i in range(5000)}

        self.assertEqual(5000, len(branches(chain)))


class LiveTreeTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.out = Lines(terminal=True)
        self.progress = LiveTree(self.out, 'Action plan nightly', {})
        self.time = clock_time(factories.NOW)

    def visible_lines(self):
        """Return the words of each displayed line, without the spinner."""
        stream = Stream()
        Console(file=stream, width=100, color_system=None).print(self.progress)
        lines = stream.getvalue().splitlines()
        return [
            ' '.join(''.join(c for c in line if c < '\u2800').split()) for line in lines
        ]

    def change(self, action_id, name, old, new, text=''):
        return Change(factories.NOW, action_id, name, 'nop', old, new, text)

    def test_actions_of_a_small_plan_keep_their_lines(self):
        progress = self.progress
        progress.record_known(self.change(1, 'drain', None, 'PENDING'))
        progress.record_known(self.change(2, '[bold]evil[/]', None, 'PENDING'))
        progress.changed(self.change(None, 'action plan', 'PENDING', 'ONGOING'))
        progress.changed(self.change(2, '[bold]evil[/]', 'PENDING', 'SKIPPED', 'why'))
        progress.changed(self.change(1, 'drain', 'PENDING', 'ONGOING'))
        progress.print_message('Cancelling\nnow')

        self.assertEqual(
            [
                'Action plan nightly ONGOING',
                f'drain nop ONGOING {self.time}',
                f'[bold]evil[/] nop SKIPPED {self.time} why',
                'Cancelling now',
            ],
            self.visible_lines(),
        )

    def test_a_large_plan_is_shown_as_a_bar_with_its_last_changes(self):
        plan = factories.make_plan(total=1000, unfinished=400, failed=1, active=8)
        self.progress.show_counts(plan, [self.change(7, 'a7', None, 'FAILED', 'broke')])

        lines = self.visible_lines()

        self.assertEqual(
            'Action plan nightly ONGOING: 600 of 1000 actions ended, 1 FAILED, 8 '
            'running',
            lines[0],
        )
        self.assertEqual(f'a7 nop FAILED {self.time} broke', lines[-1])

    def test_actions_are_shown_below_their_parents(self):
        self.progress = LiveTree(self.out, 'Action plan x', {'a': [], 'b': ['a']})
        for key, name, new in (
            ('b', 'rest', 'PENDING'),
            ('a', 'drain', 'ONGOING'),
            ('z', 'derived', 'SUCCEEDED'),
            (None, 'action plan', 'ONGOING'),
        ):
            self.progress.record_known(self.change(key, name, None, new))

        self.assertEqual(
            [
                'Action plan x ONGOING',
                'drain nop ONGOING',
                '└─ rest nop PENDING',
                'derived nop SUCCEEDED',
            ],
            self.visible_lines(),
        )
