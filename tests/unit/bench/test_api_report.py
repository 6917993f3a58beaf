"""Tests of tests.bench.api_report."""

import json

from tests import base
from tests.bench import api_report, lists
from tests.bench.page_timings import PageTiming
from tests.bench.requests import Requests
from tests.bench.startup import Starts

STATE = (('state', 'FAILED'),)


class TestTargets(base.TestCase):
    """The targets of the API and their results."""

    def setUp(self) -> None:
        super().setUp()
        plain = lists.Page(lists.PLANS)
        failed = lists.Page(lists.PLANS, 'state=FAILED', STATE)
        self.found = api_report.Results(1000, 1_000_000)
        self.found.timings = [
            PageTiming('sqlite', plain, (1, 1), (0.004, 0.005)),
            PageTiming('sqlite', failed, (1, 101), (0.004, 0.010)),
        ]
        self.found.requests = [
            Requests('sqlite', 1, [100.0], [4000.0], 0.01, 0.02, 1.0),
            Requests('sqlite', 8, [250.0, 350.0, 300.0], [4000.0], 0.01, 0.02, 1.0),
        ]
        self.found.starts = Starts([0.5, 0.1, 0.2], [0.02])

    def test_each_target_is_judged_by_the_worst_figure_and_names_it(self) -> None:
        found = api_report.targets(self.found)

        self.assertEqual(
            [(0, 1, False), (1.5, 2.5, False), (200, 300.0, True), (0.4, 0.2, True)],
            [(target.limit, target.figure, target.reached) for target in found],
        )
        self.assertEqual(
            'sqlite, lists of action_plans at 1000000 rows, beside 1000: time of the '
            'slowest (action_plans state=FAILED, 1 above)',
            found[1].text,
        )

    def test_a_list_that_depends_on_the_rows_fails_with_its_figures(self) -> None:
        slow = lists.Page(lists.ACTIONS, 'by uuid', deleted=True)
        self.found.timings[1:] = [PageTiming('mysql', slow, (1, 1), (0.004, 0.060))]

        self.assertEqual(
            ['mysql actions by uuid with deleted: 15.0 times the time of 1000 rows'],
            api_report.failures(self.found),
        )

    def test_a_target_without_a_measurement_is_not_reached(self) -> None:
        found = api_report.targets(api_report.Results(1000, 1_000_000))

        self.assertEqual([None], [target.reached for target in found])

    def test_the_tables_show_what_differs(self) -> None:
        lines = api_report.text(self.found).splitlines()

        self.assertEqual(
            [
                'sqlite action_plans 1 4.00 5.00 1.25',
                'sqlite action_plans state=FAILED 1, 101 4.00 10.00 2.50',
            ],
            [' '.join(line.split()) for line in lines[2:4]],
        )

    def test_the_document_is_json(self) -> None:
        document = json.loads(json.dumps(api_report.document(self.found)))

        self.assertEqual(
            ([1000, 1_000_000], 2.5, 300.0, [False, False, True, True]),
            (
                document['rows'],
                document['lists'][1]['ratio'],
                document['requests'][1]['rate'],
                [target['reached'] for target in document['targets']],
            ),
        )
