"""Tests of tests.bench.query_counters."""

from typing import Any

from tests import base
from tests.bench.query_counters import Counters, writes


class TestWrites(base.TestCase):
    """The statements that change rows."""

    def test_locks_change_nothing_and_common_table_expressions_may(self) -> None:
        for statement, wrote in (
            ('SELECT state FROM action_plans', False),
            ('SELECT id FROM actions FOR UPDATE SKIP LOCKED', False),
            ('select id from actions\nfor no key update', False),
            ('UPDATE actions SET status = 1', True),
            ('WITH a AS (SELECT 1 FOR UPDATE) UPDATE actions SET owner = 2', True),
            ('insert into events VALUES (1)', True),
        ):
            self.assertEqual(wrote, writes(statement), statement)


class TestCounters(base.TestCase):
    """The counts of statements and transactions."""

    def setUp(self) -> None:
        super().setUp()
        self.counters = Counters()

    def test_only_transactions_that_wrote_are_writing_commits(self) -> None:
        update = 'UPDATE a SET b = 1'
        for statements, counts in (
            (
                ('BEGIN', 'SELECT 1', update, 'INSERT INTO c', 'COMMIT'),
                {'statements': 3, 'writing_commits': 1},
            ),
            (
                ('BEGIN IMMEDIATE', 'SELECT 1 FOR UPDATE', 'COMMIT'),
                {'statements': 1, 'reading_transactions': 1},
            ),
            (('BEGIN', update, 'ROLLBACK', 'SELECT 1'), {'statements': 2}),
            (
                (update, 'DELETE FROM a', 'SELECT 1'),
                {'statements': 3, 'writing_commits': 2},
            ),
        ):
            info: dict[Any, Any] = {}
            for statement in statements:
                self.counters.record_statement(info, statement)
            self.assertEqual(counts, self.counters.take()['counts'], statements)
        self.assertEqual({'counts': {}, 'texts': {}}, self.counters.take())

    def test_connections_are_counted_separately(self) -> None:
        info: dict[Any, Any] = {}

        self.counters.record_statement(info, 'BEGIN')
        self.counters.record_statement({}, 'UPDATE a SET b = 1')
        self.counters.record_statement(info, 'COMMIT')

        self.assertEqual(
            {'statements': 1, 'writing_commits': 1, 'reading_transactions': 1},
            self.counters.take()['counts'],
        )
