"""The command as a user starts it: a process with an empty home directory."""

import os
import queue
import re
import signal
import textwrap
import threading

from testtools import content

from tests import base
from tests.acceptance import preloaded
from tests.bounded import TIMEOUT

UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
CLOCK = re.compile(r'^\d\d:\d\d:\d\d ', re.MULTILINE)
SECONDS = re.compile(r'after \d+\.\d s')


def plain(text):
    """Return a text without the values that vary between runs."""
    text = CLOCK.sub('TIME ', UUID.sub('UUID', text))
    return SECONDS.sub('after N s', text)


class Running:
    """A running command, whose output is read continuously."""

    def __init__(self, process):
        self.process = process
        self.out = []
        self._lines = queue.SimpleQueue()
        self._err = []
        self._threads = [
            threading.Thread(target=self._read_out, daemon=True),
            threading.Thread(target=self._read_err, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read_out(self):
        for line in self.process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)

    def _read_err(self):
        self._err.extend(self.process.stderr)

    @property
    def err(self):
        return ''.join(self._err)

    def wait_for(self, text):
        """Wait for a line of standard output that contains `text`; return it."""
        while True:
            line = self._lines.get(timeout=TIMEOUT)
            if line is None:
                raise AssertionError(
                    f'no {text!r} in:\n{"".join(self.out)}\n{self.err}'
                )
            self.out.append(line)
            if text in line:
                return line

    def send(self, number):
        self.process.send_signal(number)

    def end(self):
        """Wait for the end; return exit code, standard output, standard error."""
        code = self.process.wait(timeout=TIMEOUT)
        for thread in self._threads:
            thread.join(timeout=TIMEOUT)
        while (line := self._lines.get(timeout=TIMEOUT)) is not None:
            self.out.append(line)
        return code, ''.join(self.out), self.err


class CommandTestCase(base.TestCase):
    """The base case of tests that start `watcherlite`."""

    def write(self, name, text):
        """Write a file in the home directory; return its path."""
        path = self.home / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    def start(self, *argv, stdout=None, **environment):
        """Start a command in the home directory; kill it at the end of the test.

        :param stdout: its standard output, instead of `Running.out`
        """
        process = preloaded.start(
            ['watcherlite', *argv],
            cwd=self.home,
            env={**os.environ, **environment},
            stdout=stdout,
        )
        self.addCleanup(self._kill, process)
        running = Running(process)
        self.addDetail(
            f'{" ".join(argv)}',
            content.Content(
                content.text_content('').content_type,
                lambda: [f'{"".join(running.out)}\n--\n{running.err}'.encode()],
            ),
        )
        return running

    def _kill(self, process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=TIMEOUT)
        if process.stdout is not None:
            process.stdout.close()
        process.stderr.close()

    def run_command(self, *argv, **options):
        """Run a command to its end; return exit code, output and error output."""
        return self.start(*argv, **options).end()

    def files(self):
        """Return the paths of all files in the home directory, relative to it."""
        found = (path for path in self.home.rglob('*') if path.is_file())
        return sorted(
            str(path.relative_to(self.home))
            for path in found
            # stevedore caches the entry points there.
            if '.cache' not in path.parts
        )
