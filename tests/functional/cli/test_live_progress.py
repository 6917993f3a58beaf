"""The live view, which a thread refreshes."""

from tests import base, factories
from tests.unit.cli.capturing import Lines
from watcherlite.cli.live_progress import LiveTree
from watcherlite.cli.state_changes import Change


class LiveTreeTest(base.TestCase):
    def test_the_last_messages_remain_below_the_table(self):
        out = Lines(terminal=True)

        with LiveTree(out, 'Action plan nightly', {}) as progress:
            progress.changed(
                Change(factories.NOW, 1, 'drain', 'nop', 'PENDING', 'ONGOING', '')
            )
            for number in range(5):
                progress.print_message(f'note {number}')

        self.assertEqual(
            ['note 2', 'note 3', 'note 4'], [line[-6:] for line in out.lines[-3:]]
        )
