"""Tests of tests.bench.query_counters."""

from typing import Any

from tests import base
from tests.bench.query_counters import Counters, CountingBus, writes
from watcherlite.messaging.in_process import InProcessBus


class TestWrites(base.TestCase):
    """The statements that change rows."""

    def test_reading_and_locking_changes_nothing(self) -> None:
        found = [
            writes('SELECT state FROM action_plans'),
            writes('SELECT id FROM actions FOR UPDATE SKIP LOCKED'),
            writes('select id from actions\nfor no key update'),
        ]

        self.assertEqual([False] * 3, found)

    def test_a_change_within_a_common_table_expression_is_one(self) -> None:
        found = [
            writes('UPDATE actions SET status = 1'),
            writes('WITH a AS (SELECT 1 FOR UPDATE) UPDATE actions SET owner = 2'),
            writes('insert into events VALUES (1)'),
        ]

        self.assertEqual([True] * 3, found)


class TestCounters(base.TestCase):
    """The counts of statements and transactions."""

    def setUp(self) -> None:
        super().setUp()
        self.counters = Counters()
        self.info: dict[Any, Any] = {}

    def note(self, *statements: str) -> dict[str, int]:
        for statement in statements:
            self.counters.note(self.info, statement)
        counts: dict[str, int] = self.counters.take()['counts']
        return counts

    def test_a_transaction_that_wrote_is_one_writing_commit(self) -> None:
        counts = self.note(
            'BEGIN', 'SELECT 1', 'UPDATE a SET b = 1', 'INSERT INTO c', 'COMMIT'
        )

        self.assertEqual({'statements': 3, 'writing_commits': 1}, counts)

    def test_a_transaction_that_only_read_is_no_writing_commit(self) -> None:
        counts = self.note('BEGIN IMMEDIATE', 'SELECT 1 FOR UPDATE', 'COMMIT')

        self.assertEqual({'statements': 1, 'reading_transactions': 1}, counts)

    def test_a_rolled_back_transaction_is_not_a_commit(self) -> None:
        counts = self.note('BEGIN', 'UPDATE a SET b = 1', 'ROLLBACK', 'SELECT 1')

        self.assertEqual({'statements': 2}, counts)

    def test_a_statement_outside_of_a_transaction_is_one_of_its_own(self) -> None:
        counts = self.note('UPDATE a SET b = 1', 'DELETE FROM a', 'SELECT 1')

        self.assertEqual({'statements': 3, 'writing_commits': 2}, counts)

    def test_connections_are_counted_separately(self) -> None:
        other: dict[Any, Any] = {}

        self.counters.note(self.info, 'BEGIN')
        self.counters.note(other, 'UPDATE a SET b = 1')
        self.counters.note(self.info, 'COMMIT')

        self.assertEqual(
            {'statements': 1, 'writing_commits': 1, 'reading_transactions': 1},
            self.counters.take()['counts'],
        )

    def test_take_resets_the_counts(self) -> None:
        self.note('SELECT 1')

        self.assertEqual({'counts': {}, 'texts': {}}, self.counters.take())


class TestCountingBus(base.TestCase):
    """The counts of messages."""

    def test_messages_are_counted_and_arrive(self) -> None:
        counters, real = Counters(), InProcessBus()
        arrived: list[tuple[str, bytes]] = []
        real.subscribe_notifications(lambda key, body: arrived.append((key, body)))
        bus = CountingBus(real, counters)
        self.addCleanup(bus.close, 5)
        messages = [('a', b'1'), ('b', b'2')]

        bus.notification_publisher().publish(messages, 5)
        bus.broadcast({'type': 'events_stored'})

        self.assertEqual(messages, arrived)
        self.assertEqual(
            {'notifications': 2, 'confirm_waits': 1, 'hints': 1},
            counters.take()['counts'],
        )
