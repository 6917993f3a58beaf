"""The examples of stacks: their commands, as the documentation has them, one by one."""

import os
import pathlib
import re
import shutil
import subprocess

from tests.acceptance import preloaded
from tests.acceptance.command import PATIENCE, UUID, CommandTestCase
from tests.acceptance.daemons import SCRIPTS, wait_until
from tests.ports import reserve_port

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / 'doc/source/stacks_command_line.rst'
README = ROOT / 'README.rst'
#: As the pages and the examples have them; the tests have others for themselves.
DIRECTORIES = ('/tmp/watcherlite-maintained', '/tmp/watcherlite-pages')
EXAMPLES = 'etc/watcherlite/examples'
PORTS = ('28659', '28658')
API = '9322'
#: Starts the service of the examples.
SERVE = f'watcherlite standalone --config-file {EXAMPLES}/example.conf &'
_CLOCK = re.compile(r'\b\d\d:\d\d:\d\d\b')
_PROCESS = re.compile(r'Process \S+:\d+:\d+')
_PID = re.compile(r'worker_pid \d+')


def told_commands(page, heading=None):
    """Return (command, the lines that it is said to print) of a section of a page.

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
    """Return lines without what differs from run to run.

    In any order: what is done at the same time is told as it comes.
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
    """Has a directory and ports for itself, and runs lines as somebody types them.

    :cvar stack: the name of the stack of the example
    """

    #: Returns lines without what differs from run to run.
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
        #: The service and the command that is killed are the installed programs
        self.environment = {
            **os.environ,
            'OS_API__PORT': str(self.api),
            'WATCHERLITE_ENDPOINT': f'http://127.0.0.1:{self.api}',
            'PATH': f'{SCRIPTS}:{os.environ["PATH"]}',
        }

    def own(self, text):
        """Return a text with what this test has for itself."""
        for directory in DIRECTORIES:
            text = text.replace(directory, self.directory)
        for port, own in zip(PORTS, self.ports, strict=True):
            text = text.replace(port, own)
        return text.replace(API, str(self.api))

    def delete_stack(self):
        """Delete what a test that failed has left: its processes outlive all of it."""
        if self.stack in self.shell('watcherlite stack list -f value')[1]:
            self.shell(f'watcherlite stack unlock {self.stack} --wait')
            self.shell(f'watcherlite stack delete {self.stack} --wait')

    def shell(self, line):
        """Run a line; return the exit code, and what it prints."""
        done = subprocess.run(
            # Not as an argument: what looks for a process by its command line would
            # find this one
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
            timeout=PATIENCE,
            check=False,
        )
        return done.returncode, done.stdout

    def serve(self, line):
        """Start what stays in the background, and wait until it answers."""
        process = subprocess.Popen(
            ['/bin/sh', '-c', f'exec {line.removesuffix("&")}'],
            cwd=self.home,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=(log := (self.home / 'log').open('w')),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.addCleanup(log.close)
        self.addCleanup(self._end, process)
        self.addCleanup(self.delete_stack)
        wait_until(
            lambda: 'The API is served' in (self.home / 'log').read_text(),
            lambda: (self.home / 'log').read_text(),
        )

    def _end(self, process):
        process.kill()
        process.wait(PATIENCE)

    def follow(self, page):
        """Run the example of a page on a command; compare what each line prints."""
        variables = ''
        told, seen = [], []
        for line, expected in told_commands(page, 'An example from beginning to end'):
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
                # Perhaps it was looked at before it was killed, or is again
                found = sorted(set(found))
            told.append((line, self.plain(self.own(text) for text in expected)))
            seen.append((line, found))

        self.assertLess(10, len(told))
        for expected, found in zip(told, seen, strict=True):
            self.assertEqual(expected, found)
        self.assertEqual([], os.listdir(self.directory))


class TestMaintainedStack(ExampleCase):
    """The example of the page on the command, which shows everything."""

    stack = 'maintained'

    def test_every_command_does_what_the_page_shows(self):
        self.follow(PAGE)
