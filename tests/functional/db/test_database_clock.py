"""All hosts use the clock of the database, whatever their own clocks show."""

import datetime
import threading

from tests import base
from tests.bounded import TIMEOUT
from watcherlite import exceptions
from watcherlite.db.database_clock import INTERVAL, DatabaseClock
from watcherlite.testing.clock import ManualClock


class Host(ManualClock):
    """The clock of a host, which is wrong.

    :ivar wrong: the seconds by which it is ahead
    """

    wrong = 0.0

    def now(self) -> datetime.datetime:
        return self.true() + datetime.timedelta(seconds=self.wrong)

    def true(self) -> datetime.datetime:
        return super().now()


class DatabaseClockTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.host = Host()
        self.takes = 0.0
        self.away = False
        self.asked = threading.Semaphore(0)
        self.clock = DatabaseClock(self.host, self.measure_offset)

    def measure_offset(self) -> datetime.datetime:
        self.host.advance(self.takes / 2)
        host_time = self.host.true()
        self.host.advance(self.takes / 2)
        self.asked.release()
        if self.away:
            raise exceptions.StoreUnavailable('away')
        return host_time

    def clock_offset(self) -> float:
        """Return by how many seconds the clock is ahead of that of the database."""
        return (self.clock.now() - self.host.true()).total_seconds()

    def test_a_host_with_a_wrong_clock_uses_the_time_of_the_database(self) -> None:
        for wrong in (3600.0, -3600.0):
            self.host.wrong = wrong
            self.clock = DatabaseClock(self.host, self.measure_offset)
            self.assertEqual(wrong, self.clock_offset())
            self.clock.measure()
            self.host.advance(60)
            self.assertEqual(0.0, self.clock_offset())

    def test_a_step_of_the_clock_of_the_host_changes_nothing(self) -> None:
        self.clock.measure()
        self.host.wrong = 3600.0
        self.assertEqual(0.0, self.clock_offset())
        self.clock.measure()
        self.assertEqual(0.0, self.clock_offset())

    def test_the_duration_of_the_query_is_no_difference(self) -> None:
        self.host.wrong = 0.04
        self.takes = 0.1
        self.clock.measure()
        self.assertAlmostEqual(0.04, self.clock_offset())
        self.takes = 0.01
        self.clock.measure()
        self.assertAlmostEqual(0.0, self.clock_offset())

    def test_a_difference_is_logged_once(self) -> None:
        self.host.wrong = -90.0
        with self.assertLogs('watcherlite.db.database_clock', 'WARNING') as logs:
            for _ in range(3):
                self.clock.measure()
        (line,) = logs.output
        self.assertIn('differs from the clock of the database by -90.0 s', line)

    def test_the_clock_is_measured_again_and_continues_during_an_outage(self) -> None:
        self.host.wrong = 3600.0
        self.clock.start()
        self.addCleanup(self.clock.stop)
        for self.away in (True, False):
            self.host.until_waiting()
            self.assertTrue(self.asked.acquire(timeout=TIMEOUT))
            self.host.advance(INTERVAL)
        self.assertTrue(self.asked.acquire(timeout=TIMEOUT))
        self.host.until_waiting()
        self.assertEqual(0.0, self.clock_offset())

    def test_a_failed_first_measurement_is_reported(self) -> None:
        self.away = True
        with self.assertRaises(exceptions.StoreUnavailable):
            self.clock.start()
