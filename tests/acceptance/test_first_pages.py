"""The first pages of the documentation: every command, as printed and in order.

`test_clusters` covers the clusters of the README.
"""

import shlex
import signal

from tests.acceptance.daemons import start_script
from tests.acceptance.test_stack_examples import (
    README,
    ROOT,
    ExampleCase,
    list_commands,
)

QUICKSTART = ROOT / 'doc/source/quickstart.rst'
#: Commands for the shell of a user that the test does not need.
ENVIRONMENT = '. .venv/bin/activate'
CRASH = 'timeout -s KILL 8 '


class FirstPagesTest(ExampleCase):
    stack = 'maintained'

    def own(self, text):
        """Return a text with the values of this test and with short waits."""
        return super().own(text).replace('duration: 12}', 'duration: 3}')

    def crash(self, line):
        """Run a command, and kill it while its second action runs."""
        running = self.start(*shlex.split(line)[1:], **self.environment)
        running.wait_for('restart')
        running.send(signal.SIGKILL)
        return -running.end()[0]

    def run_all(self, commands):
        """Run the commands of a page; return the exit codes other than 0."""
        variables, codes = '', {}
        for line, expected in commands:
            line = self.own(line).partition('  #')[0].rstrip()
            name, assigned, _ = line.partition('=$(')
            if line.startswith((ENVIRONMENT, 'python3 ', '.venv/', 'kill %')):
                continue
            if line.endswith(' &'):
                self.serve(line)
                continue
            if line.startswith(CRASH):
                codes[line] = self.crash(line.removeprefix(CRASH))
                continue
            if assigned and name.isupper():
                code, printed = self.shell(f'{variables}{line} && echo ${name}')
                self.assertEqual(0, code, printed)
                variables += f'{name}={printed.strip()}; '
                continue
            code, printed = self.shell(variables + line)
            if code:
                codes[line] = code
            self.assertLessEqual(set(expected), set(printed.splitlines()))
        return codes

    def test_every_command_of_the_readme_has_the_documented_result(self):
        # The installed program; the other examples start forked ones.
        self.start_service = start_script
        clusters = list_commands(README, 'Clusters')
        commands = [
            command for command in list_commands(README) if command not in clusters
        ]

        codes = self.run_all(commands)

        self.assertEqual(
            {
                f'{CRASH}watcherlite run etc/watcherlite/examples/nightly.yaml': 9,
                # The check finds the killed process; the lock rejects the update.
                'watcherlite stack check maintained --wait': 1,
                'watcherlite stack update maintained --existing': 1,
            },
            codes,
        )
        self.assertLess(25, len(commands))
        self.assertEqual('', self.shell('watcherlite stack list -f value')[1].strip())

    def test_every_command_of_the_quick_start_has_the_documented_result(self):
        commands = list_commands(QUICKSTART)
        at = next(n for n, (line, _) in enumerate(commands) if line.endswith(' &'))

        # Those without a service are also in the README. Only that which resumes a plan
        # depends on another one, the crash, which precedes it there too.
        of_readme = [line for line, _ in list_commands(README)]
        before = [line for line, _ in commands[:at]]
        self.assertLess(4, len(before))
        self.assertEqual([], [line for line in before if line not in of_readme])
        # Here the service has no ini file.
        self.assertEqual({}, self.run_all(commands[at:]))
