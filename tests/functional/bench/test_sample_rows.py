"""Tests of tests.bench.sample_rows and of its lists."""

import collections
import contextlib
import pathlib
import sqlite3

from tests import base
from tests.bench import deployments, lists, page_timings, query_counters, sample_rows
from tests.bench.cases import SQLITE

COUNT = 1000


class TestSampleRows(base.TestCase):
    """The sample rows of a database."""

    def setUp(self) -> None:
        super().setUp()
        self.deployment = self.enterContext(deployments.opened(SQLITE, ''))
        sample_rows.fill(self.deployment.database, COUNT)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        path = pathlib.Path(self.deployment.database.removeprefix('sqlite:///'))
        with contextlib.closing(sqlite3.connect(path)) as connection:
            return connection.execute(sql).fetchall()

    def test_every_id_has_its_uuid(self) -> None:
        found = self.rows('SELECT id, uuid FROM actions ORDER BY id')

        self.assertEqual(
            [(i, sample_rows.uuid_of('actions', i)) for i in range(1, COUNT + 1)], found
        )

    def test_every_list_has_a_page_and_costs_one_statement_or_two(self) -> None:
        application = self.enterContext(page_timings.application(self.deployment))
        table = page_timings.Table(COUNT, application)
        pages = lists.pages()

        costs = collections.Counter(table.statements(page) for page in pages)

        # Lists by goal or strategy first query these, in this order.
        walked = [
            page
            for page in pages
            if dict(page.arguments)
            .get('sort_key', '')
            .startswith(('goal_', 'strategy_'))
        ]
        self.assertEqual({1: len(pages) - len(walked), 2: len(walked)}, costs)

    def test_statements_outside_the_measurement_are_not_counted(self) -> None:
        application = self.enterContext(page_timings.application(self.deployment))
        table = page_timings.Table(COUNT, application)
        counters = query_counters.Counters()

        with counters.counted():
            table.ask(lists.Page(lists.ACTIONS))
        within = counters.take()['counts']
        table.ask(lists.Page(lists.ACTIONS))

        self.assertEqual(1, within[query_counters.STATEMENTS])
        self.assertEqual({}, counters.take()['counts'])
