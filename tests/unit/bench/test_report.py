"""Tests of tests.bench.report."""

from tests import base
from tests.bench import report
from tests.bench.targets import Target


class TestTable(base.TestCase):
    """The format of tables and figures."""

    def test_words_are_left_aligned_and_figures_right_aligned(self) -> None:
        text = report.table(
            ('deployment', 'shape', 'actions'),
            [('sqlite', 'chain', '10'), ('postgresql', 'parallel', '100000')],
        )

        self.assertEqual(
            'deployment  shape     actions\n'
            '----------  --------  -------\n'
            'sqlite      chain          10\n'
            'postgresql  parallel   100000',
            text,
        )

    def test_a_figure_has_three_significant_digits(self) -> None:
        found = [report.number(v) for v in (None, 0.0, 0.0671, 1.25, 45.31, 1226.4)]

        self.assertEqual(['-', '0', '0.0671', '1.25', '45.3', '1226'], found)

    def test_every_target_has_a_verdict_and_a_figure(self) -> None:
        lines = report.targets_table(
            [
                Target('share', 60, '%', 66.5, least=True),
                Target('commits', 0.05, '', 0.17),
                Target('RSS', 120, 'MiB', None),
            ]
        ).splitlines()

        self.assertEqual(
            [
                ['reached', 'share', '>=', '60', '%', '66.5', '%'],
                ['NOT', 'REACHED', 'commits', '<=', '0.05', '0.17'],
                ['not', 'measured', 'RSS', '<=', '120', 'MiB', '-', 'MiB'],
            ],
            [line.split() for line in lines[2:]],
        )
