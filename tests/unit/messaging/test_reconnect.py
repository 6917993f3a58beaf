"""The backoff of reconnecting."""

import logging
import threading

from tests import base
from watcherlite import exceptions
from watcherlite.messaging import reconnect


class StopAfter(threading.Event):
    """A stop event whose waits take no time, set after a number of them."""

    def __init__(self, count):
        super().__init__()
        self.waits = []
        self._count = count

    def wait(self, timeout=None):
        self.waits.append(timeout)
        if len(self.waits) == self._count:
            self.set()
        return self.is_set()


class TestReconnectLoop(base.TestCase):
    def setUp(self):
        super().setUp()
        self.sessions = 0

    def run_until(self, waits, error, maximum=4.0):
        stop = StopAfter(waits)

        def session():
            self.sessions += 1
            raise error

        reconnect.ReconnectLoop('Receiving', stop, maximum).run(session)
        return stop.waits

    def test_waits_grow_to_the_maximum_and_are_never_zero(self):
        waits = self.run_until(12, exceptions.BrokerUnavailable('it is away'))

        for number, wait in enumerate(waits):
            self.assertTrue(0.1 <= wait <= min(0.5 * 2**number, 4.0), waits)
        self.assertGreater(len(set(waits)), 10)
        self.assertIn('Receiving: no connection', self.log.output)
        self.assertIn('it is away. Next attempt in', self.log.output)
        self.assertNotIn('Traceback', self.log.output)

    def test_an_outage_is_one_warning_unless_its_reason_changes(self):
        away = exceptions.BrokerUnavailable('it is away')
        refused = OSError('it refuses us')
        left = [away, away, refused, refused, away]
        attempts = reconnect.ReconnectLoop('Receiving', StopAfter(7), 4.0)

        def session():
            if left:
                raise left.pop(0)
            attempts.on_connected()
            raise away

        with self.assertLogs(reconnect.LOG, logging.INFO) as found:
            attempts.run(session)

        self.assertEqual(
            [
                ('WARNING', 'it is away'),
                ('INFO', 'it is away'),
                ('WARNING', 'it refuses us'),
                ('INFO', 'it refuses us'),
                ('WARNING', 'it is away'),
                # It was available in between, twice.
                ('WARNING', 'it is away'),
                ('WARNING', 'it is away'),
            ],
            [(record.levelname, record.args[1]) for record in found.records],
        )

    def test_a_session_that_returns_ends_the_loop(self):
        stop = StopAfter(1)

        reconnect.ReconnectLoop('Receiving', stop, 4.0).run(lambda: None)

        self.assertEqual([], stop.waits)

    def test_a_configuration_error_is_not_retried(self):
        self.assertRaises(
            exceptions.ConfigurationError,
            self.run_until,
            5,
            exceptions.ConfigurationError('the queue differs'),
        )

        self.assertEqual(1, self.sessions)

    def test_an_unexpected_error_is_logged_in_full_and_the_thread_continues(self):
        self.run_until(2, KeyError('a defect'))

        self.assertEqual(3, self.sessions)
        self.assertIn('Traceback', self.log.output)

    def test_a_stable_connection_resets_the_backoff(self):
        stop = StopAfter(20)
        now = iter(range(0, 100000, 60))
        attempts = reconnect.ReconnectLoop(
            'Receiving', stop, 1000.0, monotonic=lambda: float(next(now))
        )

        def session():
            attempts.on_connected()
            raise OSError('cut')

        attempts.run(session)

        self.assertTrue(all(wait <= 0.5 for wait in stop.waits), stop.waits)
