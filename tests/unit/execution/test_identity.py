"""The identity of a process, and the detection of lost ones."""

import os
import pathlib
import subprocess
import sys

import fixtures

from tests import base
from watcherlite.execution import lease


class TestIdentity(base.TestCase):
    def test_this_process_is_not_gone(self):
        self.assertFalse(lease.is_gone(lease.of_process()))

    def test_the_identity_of_a_process_is_stable(self):
        self.assertEqual(lease.of_process(), lease.of_process(os.getpid()))

    def test_each_process_has_its_own_identity(self):
        self.assertNotEqual(lease.of_process(), lease.of_process(os.getppid()))

    def test_a_process_that_has_ended_is_gone(self):
        child = subprocess.Popen(
            [sys.executable, '-c', 'input()'], stdin=subprocess.PIPE
        )
        self.addCleanup(child.wait)
        self.addCleanup(child.stdin.close)
        named = lease.of_process(child.pid)

        alive = lease.is_gone(named)
        child.communicate(b'\n')

        self.assertEqual((False, True), (alive, lease.is_gone(named)))

    def test_a_zombie_is_gone(self):
        child = subprocess.Popen([sys.executable, '-c', ''])
        self.addCleanup(child.wait)
        named = lease.of_process(child.pid)

        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

        self.assertTrue(lease.is_gone(named))

    def test_a_process_hidden_by_proc_is_not_gone(self):
        # As with hidepid: the process exists without its file.
        named = lease.of_process()

        read = pathlib.Path.read_text

        def hidden(path):
            if path.name == 'stat':
                raise FileNotFoundError(path)
            return read(path)

        self.useFixture(fixtures.MonkeyPatch('pathlib.Path.read_text', hidden))

        self.assertFalse(lease.is_gone(named))

    def test_a_reused_pid_has_another_identity(self):
        place, _, start = lease.of_process().rpartition('/')

        self.assertTrue(lease.is_gone(f'{place}/{int(start) - 1}'))

    def test_a_process_of_another_machine_is_not_gone(self):
        _, _, rest = lease.of_process().partition('/')

        self.assertFalse(lease.is_gone(f'another-boot/{rest}'))

    def test_a_process_of_another_pid_namespace_is_not_gone(self):
        boot, _, pid, start = lease.of_process().rsplit('/', 3)

        self.assertFalse(lease.is_gone(f'{boot}/pid:[1]/{pid}/{start}'))

    def test_an_invalid_identity_is_not_gone(self):
        place = lease.of_process().rsplit('/', 2)[0]

        for rubbish in ('', 'x', '/pid/', f'{place}/', f'{place}/x/1', f'{place}/-1/1'):
            self.assertFalse(lease.is_gone(rubbish), rubbish)

    def test_a_process_with_an_unknown_start_is_not_gone(self):
        place = lease.of_process().rpartition('/')[0]

        self.assertFalse(lease.is_gone(f'{place}/?'))
