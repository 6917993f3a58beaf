"""The commands of the stack examples in the documentation."""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess

from tests.acceptance import preloaded
from tests.acceptance.command import UUID, CommandTestCase
from tests.acceptance.daemons import SCRIPTS, wait_until
from tests.bounded import TIMEOUT
from tests.ports import reserve_port

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / 'doc/source/stacks_command_line.rst'
README = ROOT / 'README.rst'
#: The directories in the documentation; each test replaces them by its own.
DIRECTORIES = ('/tmp/watcherlite-maintained', '/tmp/watcherlite-pages')
EXAMPLES = 'etc/watcherlite/examples'
PORTS = ('28659', '28658')
API = '9322'
#: The command that starts the service of the examples.
SERVE = f'watcherlite standalone --config-file {EXAMPLES}/example.conf &'
_CLOCK = re.compile(r'\b\d\d:\d\d:\d\d\b')
_PROCESS = re.compile(r'Process \S+:\d+:\d+')
_PID = re.compile(r'worker_pid \d+')


def list_commands(page, heading=None):
    """Return (command, documented output lines) of a section of a page.

    :param heading: of the section; None: the whole page
    """
    text = page.read_text()
    if heading:
        text = text.partition(f'\n{heading}\n==')[2]
        text = re.split(r'\n\n(?=\S+.*\n====)', text)[0] + '\n'
    found = []
    for block in re.findall(r'\.\. code-block:: console\n\n((?:   .*\n)+)', text):
        for line in block.splitlines():
            if line.startswith('   $ '):
                found.append((line.removeprefix('   $ '), []))
            else:
                found[-1][1].append(line.removeprefix('   '))
    return found


def plain(lines):
    """Return sorted lines without the values that vary between runs.

    They are sorted because concurrent operations print in any order.
    """
    text = '\n'.join(lines)
    for pattern, word in (
        (_CLOCK, 'TIME'),
        (UUID, 'UUID'),
        (_PROCESS, 'Process NAME'),
        (_PID, 'worker_pid PID'),
    ):
        text = pattern.sub(word, text)
    return sorted(text.splitlines())


class ExampleCase(CommandTestCase):
    """Provides a directory and ports, and runs lines in a shell.

    :cvar stack: the name of the stack of the example
    :cvar start_service: starts the process of a service
    """

    start_service = staticmethod(preloaded.start)
    #: Returns lines without the values that vary between runs.
    plain = staticmethod(plain)

    def setUp(self):
        super().setUp()
        self.examples = self.home / EXAMPLES
        shutil.copytree(ROOT / EXAMPLES, self.examples)
        self.directory = str(self.home / 'stack')
        self.ports = [str(reserve_port()) for _ in PORTS]
        self.api = reserve_port()
        for path in self.examples.iterdir():
            path.write_text(self.own(path.read_text()))
        self.scripts = self.useFixture(preloaded.Scripts()).path
        self.environment = {
            **os.environ,
            'OS_API__PORT': str(self.api),
            'WATCHERLITE_ENDPOINT': f'http://127.0.0.1:{self.api}',
            'PATH': f'{SCRIPTS}:{os.environ["PATH"]}',
        }

    def own(self, text):
        """Return a text with the directories and ports of this test."""
        for directory in DIRECTORIES:
            text = text.replace(directory, self.directory)
        for port, own in zip(PORTS, self.ports, strict=True):
            text = text.replace(port, own)
        return text.replace(API, str(self.api))

    def delete_stack(self):
        """Delete the stack of a failed test, whose processes would outlive the test."""
        if self.stack in self.shell('watcherlite stack list -f value')[1]:
            self.shell(f'watcherlite stack unlock {self.stack} --wait')
            self.shell(f'watcherlite stack delete {self.stack} --wait')

    def shell(self, line):
        """Run a line; return the exit code and the output."""
        done = subprocess.run(
            # Not as an argument: searching processes by command line would find this
            # one.
            ['/bin/sh', '-c', 'eval "$LINE"'],
            cwd=self.home,
            env={
                **self.environment,
                'LINE': line,
                'PATH': f'{self.scripts}:{self.environment["PATH"]}',
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return done.returncode, done.stdout

    def serve(self, line):
        """Start a background process, and wait until it responds."""
        with (self.home / 'log').open('w') as log:
            process = self.start_service(
                shlex.split(line.removesuffix('&')),
                cwd=self.home,
                env=self.environment,
                stdout=log,
                stderr=log,
            )
        self.addCleanup(self._end, process)
        self.addCleanup(self.delete_stack)
        wait_until(
            lambda: 'The API is served' in (self.home / 'log').read_text(),
            lambda: (self.home / 'log').read_text(),
        )

    def _end(self, process):
        # A worker whose manager was killed would drain first.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(TIMEOUT)

    def follow(self, page):
        """Run the example of a page; compare the output of each command."""
        variables = ''
        expected_outputs, seen = [], []
        for line, expected in list_commands(page, 'An example from beginning to end'):
            line = self.own(line)
            if line.endswith(' &'):
                self.serve(line)
                continue
            if line.startswith('sleep '):
                self.wait_for_the_recovery()
                continue
            name, assigned, _ = line.partition('=$(')
            if assigned and name.isupper():
                _, printed = self.shell(f'{line}; echo ${name}')
                variables += f'{name}={printed.strip()}; '
                continue
            _, printed = self.shell(variables + line)
            found = self.plain(printed.splitlines())
            if 'event list' in line:
                # Whether the check ran before the kill, and repeated it, depends on
                # timing.
                found = sorted(set(found))
            expected_outputs.append(
                (line, self.plain(self.own(text) for text in expected))
            )
            seen.append((line, found))

        self.assertLess(10, len(expected_outputs))
        for expected, found in zip(expected_outputs, seen, strict=True):
            self.assertEqual(expected, found)
        self.assertEqual([], os.listdir(self.directory))


class TestMaintainedStack(ExampleCase):
    """The example of the page on the command, which contains all steps."""

    stack = 'maintained'

    def test_every_command_has_the_documented_result(self):
        self.follow(PAGE)
