"""The logs of actions between their plugins and the store."""

import datetime

from tests import base, factories
from tests.clocks import ScriptedClock
from tests.factories import at
from watcherlite.db.action_logs import LogEntry
from watcherlite.execution import action_logs
from watcherlite.execution.action_logs import (
    INTERVAL,
    MAX_ENTRY,
    ActionLogs,
    AttemptLog,
)
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.testing import MemoryStore

MICROSECOND = datetime.timedelta(microseconds=1)


class LogsCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.clock = ScriptedClock(factories.NOW)
        self.store = MemoryStore(self.clock)
        self.addCleanup(self.store.close)
        self.settings = ExecutionSettings(max_action_log=100_000)
        self.services = CoreServices(self.store, self.clock, self.settings, 'me')
        self.woken = []
        self.logs = ActionLogs(self.services, lambda: self.woken.append(True))

    def attempt(self, action_id=1):
        action = factories.make_action(id=action_id, attempt=2)
        return AttemptLog(action, self.logs, self.clock.now)

    def written(self, log, *lines):
        """Write lines; return (stream, text) of all pending entries."""
        for stream, text in lines:
            log.write(stream, text)
        return [(entry.stream, entry.text) for entry in self.logs.take_all()]


class TestAttemptLog(LogsCase):
    def test_consecutive_lines_of_a_stream_are_one_entry(self):
        found = self.written(
            self.attempt(),
            *[('stdout', 'a\n'), ('stdout', 'b\n'), ('stderr', 'c\n')],
            *[('stdout', 'd'), ('stdout', 'e\n'), ('log', '')],
        )
        expected = [('stdout', 'a\nb\n'), ('stderr', 'c\n')]
        self.assertEqual([*expected, ('stdout', 'd'), ('stdout', 'e\n')], found)

    def test_credentials_are_masked_and_texts_made_storable(self):
        found = self.written(self.attempt(), ('log', 'password=s3cret \ud800\n'))
        self.assertEqual([('log', 'password=*** ?\n')], found)

    def test_long_texts_are_divided(self):
        long = 'x' * (2 * MAX_ENTRY + 1)
        found = self.written(self.attempt(), ('log', long))
        self.assertEqual([MAX_ENTRY, MAX_ENTRY, 1], [len(text) for _, text in found])

    def test_times_increase_within_an_attempt(self):
        log = self.attempt()
        for text in 'ab':
            log.write('log', text)
        first, second = self.logs.take_all()
        self.assertEqual(LogEntry(1, 2, 'log', 'a', factories.NOW), first)
        self.assertEqual(factories.NOW + MICROSECOND, second.logged_at)

    def test_a_full_log_ends_with_the_reason(self):
        self.settings.max_action_log = 8
        log = self.attempt()
        found = self.written(
            log, ('stdout', 'four\n'), ('stderr', 'more\n'), ('stdout', 'x\n')
        )
        reason = action_logs.FULL.format(8)
        self.assertEqual([('stdout', 'four\n'), ('log', reason)], found)
        self.assertEqual([], self.written(log, ('stdout', 'x')))

    def test_a_limit_of_zero_stores_nothing(self):
        self.settings.max_action_log = 0
        self.assertEqual([], self.written(self.attempt(), ('stdout', 'a\n')))


class TestActionLogs(LogsCase):
    def test_entries_are_due_after_an_interval_which_wakes_once(self):
        self.attempt().write('log', 'a')
        self.attempt(2).write('log', 'b')
        self.assertEqual([], self.logs.take([3]))

        self.clock.advance(INTERVAL)
        self.services.timers.run_due()

        self.assertEqual([True], self.woken)
        self.assertEqual(['a', 'b'], [entry.text for entry in self.logs.take([])])
        self.assertEqual([], self.logs.take([]))

    def test_the_conclusion_of_an_action_takes_its_entries_at_once(self):
        self.attempt().write('log', 'a')
        self.assertEqual(['a'], [entry.text for entry in self.logs.take([5, 1])])

    def test_entries_that_an_unanswered_transaction_stored_are_not_repeated(self):
        entries = [LogEntry(1, 1, 'log', text, at(0)) for text in 'ab']

        for unanswered in (False, True):
            self.logs.store(entries, unanswered)

        found = self.store.list_log_entries([1])
        self.assertEqual(entries, [stored.entry for stored in found])

    def test_old_entries_are_deleted_by_one_worker_unless_they_are_kept(self):
        other = CoreServices(self.store, self.clock, self.settings, 'other')
        month = datetime.timedelta(days=30)
        old, new = (
            LogEntry(
                1, 1, 'log', text, self.clock.now() - month + seconds * MICROSECOND
            )
            for text, seconds in (('old', -1), ('new', 0))
        )
        self.logs.store([old, new], False)

        def purge(services=self.services):
            ActionLogs(services, self.fail).purge()
            return [stored.entry for stored in self.store.list_log_entries([1])]

        self.settings.action_log_retention = 0
        self.assertEqual([old, new], purge())
        self.settings.action_log_retention = 30
        self.store.acquire_role(action_logs.PURGE_ROLE, 'me', 60)
        self.assertEqual([old, new], purge(other))
        self.assertEqual([new], purge())
