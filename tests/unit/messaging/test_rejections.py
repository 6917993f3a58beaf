"""Warnings about rejected messages."""

from tests import base
from watcherlite import exceptions
from watcherlite.messaging.bus import INTERVAL, RejectionLog

ERROR = exceptions.Invalid('It is not JSON.')


class TestRejectionLog(base.TestCase):
    def setUp(self):
        super().setUp()
        self.now = 100.0
        self.log = RejectionLog(lambda: self.now)

    def warn(self, times):
        """Return the warnings about this number of rejected messages."""
        with self.assertLogs('watcherlite', 'DEBUG') as found:
            for _ in range(times):
                self.log.report('A broadcast', ERROR)
        return [record.getMessage() for record in found.records]

    def test_many_rejections_are_one_warning_with_their_count(self):
        text = 'A broadcast was rejected: It is not JSON.'

        self.assertEqual([text], self.warn(10_000))
        self.now += INTERVAL
        self.assertEqual(
            [f'{text} (9999 more were rejected since the last warning)'], self.warn(3)
        )

    def test_a_warning_without_earlier_rejections_has_no_count(self):
        self.warn(1)
        self.now += INTERVAL

        self.assertEqual(['A broadcast was rejected: It is not JSON.'], self.warn(1))
