"""Tests of tests.bench.lists and tests.bench.sample_rows."""

from tests import base
from tests.bench import lists, sample_rows
from watcherlite.db.query import SORT_KEYS

COUNT = 1000
WITH = ('', ' with deleted')


class TestStatements(base.TestCase):
    """The statements that insert sample rows."""

    def test_rare_rows_are_as_many_in_every_table(self) -> None:
        found = [COUNT // sample_rows.step(COUNT), 10**6 // sample_rows.step(10**6)]

        self.assertEqual([sample_rows.RARE] * 2, found)

    def test_a_table_that_cannot_have_the_rare_rows_is_refused(self) -> None:
        self.assertRaises(ValueError, sample_rows.step, 900)
        self.assertRaises(ValueError, sample_rows.step, 1001)

    def test_each_table_has_one_statement_on_every_database(self) -> None:
        found = {
            backend: [sql.split()[2] for sql in sample_rows.statements(backend, COUNT)]
            for backend in ('postgresql', 'sqlite', 'mysql')
        }

        tables = ['goals', 'strategies', 'audits', 'action_plans', 'actions']
        self.assertEqual(
            {'postgresql': tables, 'sqlite': tables, 'mysql': tables}, found
        )

    def test_half_of_each_rare_kind_comes_after_the_middle(self) -> None:
        for count in (1000, 1_000_000):
            step, middle = sample_rows.step(count), sample_rows.middle(count)

            after = [
                len([i for i in range(remainder, count + 1, step) if i > middle])
                for remainder in range(3)
            ]

            self.assertTrue(all(101 <= n <= 103 for n in after), after)
            self.assertGreater(middle % step, 2)


class TestPages(base.TestCase):
    """The measured lists."""

    def test_a_page_in_the_middle_has_a_marker_of_that_table(self) -> None:
        page = lists.Page(lists.PLANS, 'state=FAILED', (('state', 'FAILED'),))
        further = lists.Page(lists.PLANS, detail=True, further=True)

        marker = sample_rows.uuid_of('action_plans', sample_rows.middle(COUNT))
        self.assertEqual(
            [
                ('/v1/action_plans', 'state=FAILED&limit=100'),
                ('/v1/action_plans/detail', f'limit=100&marker={marker}'),
            ],
            [page.address(COUNT), further.address(COUNT)],
        )

    def test_every_page_has_a_name_of_its_own(self) -> None:
        names = [page.name for page in lists.pages()]

        self.assertEqual(sorted(set(names)), sorted(names))

    def test_every_sort_key_is_measured_both_ways_with_deleted_rows_too(self) -> None:
        names = {page.name for page in lists.pages()}

        self.assertEqual(
            set(),
            {
                f'{noun} by {key} {direction}{deleted}'
                for noun in lists.NOUNS
                for key in SORT_KEYS[noun]
                for direction in ('asc', 'desc')
                for deleted in WITH
            }
            - names
            - {f'{noun} by id asc{d}' for noun in lists.NOUNS for d in WITH},
        )
