"""The actions of a plan as a tree."""

import datetime
import re

from rich.console import Console

from tests import base
from tests.unit.cli.capturing import Lines
from watcherlite.cli.live_progress import LiveTree, branches
from watcherlite.cli.state_changes import Change

NOW = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)


def drawn(parents):
    return [f'{branch}{node}' for node, branch in branches(parents).items()]


class BranchesTest(base.TestCase):
    def test_each_node_is_below_its_parent(self):
        self.assertEqual(
            ['a', '├─ b', '│  └─ d', '│     └─ e', '└─ c', 'f'],
            drawn({'a': [], 'b': ['a'], 'c': ['a'], 'd': ['b'], 'e': ['d'], 'f': []}),
        )

    def test_a_node_with_several_parents_is_below_the_last(self):
        self.assertEqual(
            ['a', '├─ b', '└─ c', '   └─ d'],
            drawn({'a': [], 'b': ['a'], 'c': ['a'], 'd': ['c', 'b', 'a']}),
        )

    def test_unknown_parent_is_ignored(self):
        self.assertEqual(['a'], drawn({'a': ['gone']}))

    def test_a_chain_may_be_long(self):
        chain = {str(i): [str(i - 1)] if i else [] for i in range(5000)}

        self.assertEqual(5000, len(branches(chain)))

    def test_nothing(self):
        self.assertEqual({}, branches({}))


class LiveTreeTest(base.TestCase):
    def test_rendered_tree(self):
        tree = LiveTree(Lines(), 'Action plan x', {'a': [], 'b': ['a']})
        for key, name, new in (
            ('b', 'rest', 'PENDING'),
            ('a', 'drain', 'ONGOING'),
            ('z', 'derived', 'SUCCEEDED'),
            (None, 'action plan', 'ONGOING'),
        ):
            tree.known(Change(NOW, key, name, 'nop', None, new, ''))

        console = Console(file=Lines().stream, width=60)
        with console.capture() as capture:
            console.print(tree)

        self.assertEqual(
            [
                'Action plan x ONGOING',
                'drain nop ONGOING',
                '└─ rest nop PENDING',
                'derived nop SUCCEEDED',
            ],
            [
                ' '.join(re.sub('[\u2800-\u28ff]', '', line).split())
                for line in capture.get().splitlines()
            ],
        )
