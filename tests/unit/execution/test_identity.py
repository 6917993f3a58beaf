"""The identity of a process, and the detection of lost ones."""

import os
import pathlib
import subprocess
import sys

import fixtures

from tests import base
from watcherlite.execution import lease


class TestIdentity(base.TestCase):
    def test_each_process_has_its_own_stable_identity(self):
        self.assertEqual(lease.process_identity(), lease.process_identity(os.getpid()))
        self.assertNotEqual(
            lease.process_identity(), lease.process_identity(os.getppid())
        )

    def test_an_ended_process_does_not_exist(self):
        child = subprocess.Popen(
            [sys.executable, '-c', 'input()'], stdin=subprocess.PIPE
        )
        self.addCleanup(child.wait)
        self.addCleanup(child.stdin.close)
        named = lease.process_identity(child.pid)

        alive = lease.is_gone(named)
        child.communicate(b'\n')

        self.assertEqual((False, True), (alive, lease.is_gone(named)))

    def test_a_zombie_does_not_exist(self):
        child = subprocess.Popen([sys.executable, '-c', ''])
        self.addCleanup(child.wait)
        named = lease.process_identity(child.pid)

        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

        self.assertTrue(lease.is_gone(named))

    def test_a_process_hidden_by_proc_exists(self):
        # As with hidepid: the process exists without its file.
        named = lease.process_identity()

        read = pathlib.Path.read_text

        def hidden(path):
            if path.name == 'stat':
                raise FileNotFoundError(path)
            return read(path)

        self.useFixture(fixtures.MonkeyPatch('pathlib.Path.read_text', hidden))

        self.assertFalse(lease.is_gone(named))

    def test_only_a_process_of_this_host_can_be_missing(self):
        boot, namespace, _, pid, start = lease.process_identity().split('/')
        here = f'{boot}/{namespace}/pid'
        # Another process has its pid now.
        former = f'{pid}/{int(start) - 1}'
        self.assertTrue(lease.is_gone(f'{here}/{former}'))
        for identity in (
            lease.process_identity(),
            f'another-boot/{namespace}/pid/{former}',
            f'{boot}/pid:[1]/pid/{former}',
            # Its start is not known.
            f'{here}/{pid}/?',
            *('', 'x', '/pid/', f'{here}/', f'{here}/x/1', f'{here}/-1/1'),
        ):
            self.assertFalse(lease.is_gone(identity), identity)
