"""Recorded events, of all objects and of one."""

from tests import base
from watcherlite.testing import Recorder


class TestRecorder(base.TestCase):
    def test_changes_are_kept_in_their_order(self):
        record = Recorder()

        record('a', 'READY', 'RUNNING')
        record('b', 'READY', 'SKIPPED')
        record('a', 'RUNNING', 'SUCCEEDED')

        self.assertEqual(
            [
                ('a', 'READY', 'RUNNING'),
                ('b', 'READY', 'SKIPPED'),
                ('a', 'RUNNING', 'SUCCEEDED'),
            ],
            record.history,
        )
        self.assertEqual(['READY', 'RUNNING', 'SUCCEEDED'], record.states_of('a'))
        self.assertEqual([], record.states_of('c'))

    def test_a_history_that_was_read_does_not_change(self):
        record = Recorder()
        history = record.history

        record('a', 'READY', 'RUNNING')

        self.assertEqual([], history)
