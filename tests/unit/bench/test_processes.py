"""Tests of tests.bench.processes."""

import os

from tests import base
from tests.bench import processes
from tests.bench.processes import Snapshot, Stat

TICKS = os.sysconf('SC_CLK_TCK')


def stat_line(name: str) -> str:
    times = ' '.join(str(seconds * TICKS) for seconds in (1, 2, 3, 4))
    return f'42 ({name}) S 7 42 42 0 -1 4194560 1 2 3 4 {times} 20 0 9 0 8\n'


class TestParsing(base.TestCase):
    """The parsers of /proc."""

    def test_a_name_may_have_spaces_and_parentheses(self) -> None:
        found = processes.parse_stat(stat_line('a (b) c'))

        self.assertEqual(Stat(42, 'a (b) c', 7, cpu=3.0, reaped=7.0), found)

    def test_only_sizes_are_taken_of_a_status(self) -> None:
        text = 'Name:\tpython\nVmHWM:\t   1024 kB\nVmRSS:\t 512 kB\nThreads:\t9\n'

        self.assertEqual({'VmHWM': 1024, 'VmRSS': 512}, processes.parse_sizes(text))


class TestTree(base.TestCase):
    """A process and its descendants."""

    def test_grandchildren_belong_to_it_and_its_parent_does_not(self) -> None:
        names = {4: 'grandchild', 1: 'init', 3: 'child', 5: 'other', 2: 'daemon'}
        parents = {4: 3, 1: 0, 3: 2, 5: 1, 2: 1}
        running = [Stat(n, name, parents[n], 0.0, 0.0) for n, name in names.items()]

        found = [[p.name for p in processes.tree(root, running)] for root in (2, 9)]

        self.assertEqual([['daemon', 'child', 'grandchild'], []], found)

    def test_this_process_is_among_those_that_run(self) -> None:
        found = processes.tree(os.getpid(), processes.running())

        self.assertEqual(os.getpid(), found[0].pid)


class TestSnapshot(base.TestCase):
    """The CPU time of the servers between two snapshots."""

    def test_short_lived_processes_with_the_name_of_the_broker_are_excluded(
        self,
    ) -> None:
        before = Snapshot(10.0, {1: 5.0, 2: 1.0})
        after = Snapshot(10.5, {1: 5.25, 3: 9.0})

        self.assertEqual((0.5, 0.25), after.since(before))
