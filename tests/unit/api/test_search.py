"""Searches of lists."""

import dataclasses

from tests import base
from watcherlite.api import search
from watcherlite.db.query import Query


@dataclasses.dataclass(frozen=True)
class Row:
    uuid: str
    name: str | None = None
    user: str | None = None


SEARCH: search.Search[Row] = search.Search(
    lambda row: (row.name,), lambda row: row.user, lambda row: row.uuid
)


class Rows:
    """A list of rows, which records the windows that are read."""

    def __init__(self, rows):
        self.rows = rows
        self.windows = []

    def __call__(self, query):
        self.windows.append((query.after, query.limit))
        first = 0
        if query.after is not None:
            first = [row.uuid for row in self.rows].index(query.after) + 1
        return self.rows[first : first + query.limit]


class TestSearch(base.TestCase):
    def test_rows_match_by_case_insensitive_substring_and_user(self):
        row = Row('1', 'Größe of the DISK', 'alice')
        for asked, expected in (
            ({}, True),
            ({'text': ''}, True),
            ({'text': 'grösse'}, True),
            ({'text': 'the disk'}, True),
            ({'text': 'tape'}, False),
            ({'user': 'alice'}, True),
            ({'user': 'Alice'}, False),
            ({'text': 'disk', 'user': 'bob'}, False),
        ):
            self.assertEqual(expected, SEARCH.matches(row, asked), asked)
        self.assertFalse(SEARCH.matches(Row('1'), {'text': 'x'}))

    def test_marker_is_last_match_if_another_match_follows(self):
        rows = Rows([Row(str(n), 'even' if n % 2 == 0 else 'odd') for n in range(9)])

        first = SEARCH.read(Query(), rows, {'text': 'even'}, 2)
        second = SEARCH.read(Query(after='2'), rows, {'text': 'even'}, 3)

        self.assertEqual(
            [(['0', '2'], '2'), (['4', '6', '8'], None)],
            [([row.uuid for row in page], marker) for page, marker in (first, second)],
        )
        self.assertEqual([(None, search.WINDOW), ('2', search.WINDOW)], rows.windows)

    def test_page_reads_limited_number_of_rows(self):
        count = search.MOST + 3
        rows = Rows([Row(str(n), 'x' if n == count - 1 else '') for n in range(count)])

        found, marker = SEARCH.read(Query(), rows, {'text': 'x'}, 10)
        rest = SEARCH.read(Query(after=marker), rows, {'text': 'x'}, 10)

        self.assertEqual(([], str(search.MOST - 1)), (found, marker))
        self.assertEqual(search.MOST // search.WINDOW + 1, len(rows.windows))
        self.assertEqual(([Row(str(count - 1), 'x')], None), rest)
