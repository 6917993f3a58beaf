"""Commands end with their worker, however it ends."""

import json
import os
import signal
import subprocess
import sys

from tests.bounded import TIMEOUT
from tests.functional.plugins.test_command import CommandTestCase, state_of
from watcherlite.plugins.action_types import guard, processes

#: A script that runs a command as a worker does.
WORKER = """
import sys
from watcherlite import testing
from watcherlite.clock import SystemClock
from watcherlite.plugins.action_types.command import Command
context = testing.FakeContext(clock=SystemClock())
testing.run_action(
    Command,
    {'argv': ['/bin/sh', '-c', sys.argv[1]]},
    options={'allowed': ['/bin/sh ...']},
    context=context,
)
"""


class TestGuard(CommandTestCase):
    def worker(self, script):
        worker = subprocess.Popen([sys.executable, '-c', WORKER, script])
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        return worker

    def pids(self, path):
        with open(path) as pipe:
            return [int(word) for word in pipe.read().split()]

    def guard(self, *lines):
        """Run a guard with these lines as its input."""
        subprocess.run(
            [sys.executable, '-I', '-S', guard.__file__],
            input='\n'.join(map(json.dumps, lines)).encode(),
        )

    def test_a_command_ends_with_its_worker_and_all_that_it_started(self):
        pids = self.fifo('pids')
        # The child ignores SIGTERM, and the command itself is stopped.
        script = f"trap '' TERM; sleep 600 & echo $$ $! > {pids}; kill -STOP $$"
        worker = self.worker(script)
        command, child = self.pids(pids)

        worker.kill()

        self.assert_gone(command)
        self.assert_gone(child)

    def test_detached_processes_of_an_ended_command_are_kept(self):
        result = self.run_shell('sleep 600 > /dev/null 2>&1 & echo $!')
        child = int(result.outputs['stdout'])
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.guard({'run': 'x', 'group': os.getpgid(child)}, {'run': 'x'})

        self.assertNotIn(state_of(child), ('', 'Z'))

    def test_a_process_without_a_group_is_found_by_its_environment(self):
        command = subprocess.Popen(
            ['/bin/sleep', '600'], env={'MARK': self.id()}, start_new_session=True
        )
        self.addCleanup(command.kill)
        self.guard({'run': 'x', 'marks': [f'MARK={self.id()}']})

        self.assertEqual(-signal.SIGTERM, command.wait(TIMEOUT))

    def test_a_killed_guard_is_restarted(self):
        guarding = processes.GuardProcess()
        with guarding.run(['A=b']):
            first = guarding._guard
            first.kill()
            first.wait()
            with guarding.run(['A=c']):
                second = guarding._guard

        self.assertNotEqual(first.pid, second.pid)
        self.assertIsNone(second.poll())
