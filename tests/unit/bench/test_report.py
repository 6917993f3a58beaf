"""Tests of tests.bench.report and tests.bench.profile_report."""

from tests import base
from tests.bench import profile_report, report
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


class TestProfiling(base.TestCase):
    """The report of the samples of a profile."""

    def setUp(self) -> None:
        super().setUp()
        self.profile = {
            'seconds': 2.0,
            'threads': [
                {'thread': 'relay', 'cpu': 300.0, 'queued': 20.0},
                {'thread': 'action-*', 'cpu': 400.0, 'queued': 0.0},
                {'thread': 'action-*', 'cpu': 300.0, 'queued': 0.0},
                {'thread': 'lease', 'cpu': 1.0, 'queued': 0.0},
            ],
            'stacks': [
                self.seen('action-*', True, 60, 'json:dumps', 'watcherlite.a:f', 'run'),
                self.seen('action-*', True, 40, 'watcherlite.a:f', 'run'),
                self.seen('action-*', False, 100, 'wait', 'watcherlite.b:take', 'run'),
                self.seen('relay', True, 10, 'f', 'f', 'run'),
            ],
        }

    def seen(
        self, thread: str, at_work: bool, looks: int, *stack: str
    ) -> dict[str, object]:
        return {
            'thread': thread,
            'stack': list(stack),
            'at_work': at_work,
            'looks': looks,
        }

    def test_threads_of_a_pool_are_one_and_the_busiest_comes_first(self) -> None:
        found = profile_report.threads(self.profile)

        self.assertEqual(
            [('action-*', 700.0, 200), ('relay', 300.0, 10), ('lease', 1.0, 0)],
            [(thread.name, thread.cpu, thread.looks) for thread in found],
        )

    def test_a_function_has_its_own_samples_and_those_of_its_callees(self) -> None:
        pool, relay, _ = profile_report.threads(self.profile)

        self.assertEqual(
            (
                {'json:dumps': 60, 'watcherlite.a:f': 40},
                {'json:dumps': 60, 'watcherlite.a:f': 100, 'run': 100},
                {'wait < watcherlite.b:take': 100},
                {'f': 10, 'run': 10},
            ),
            (pool.own, pool.total, pool.waits, relay.total),
        )

    def test_cpu_time_is_divided_among_the_working_samples(self) -> None:
        text = profile_report.report(self.profile, 1000)

        self.assertIn('1000 actions in 2.00 s: 1001 ms on a CPU, 1.001 ms', text)
        self.assertIn('    420.0   60.0  json:dumps', text)
        self.assertIn('    280.0   40.0  watcherlite.a:f', text)
        self.assertIn('Others: lease 1 ms', text)
