"""Writing to streams whose reader may disappear."""

import io
import os
import subprocess
import sys

import fixtures

from tests import base
from tests.unit.cli.capturing import Lines, Stream
from watcherlite.cli.output import Output


class OutputTest(base.TestCase):
    def test_lines_are_written_immediately(self):
        out = Lines()

        out.line('one')
        out.line()
        out.write('two')

        self.assertEqual(['one', '', 'two'], out.lines)

    def test_characters_outside_the_encoding_are_escaped(self):
        buffer = io.BytesIO()
        out = Output(io.TextIOWrapper(buffer, encoding='ascii'))

        out.line('fünf \ud800')

        self.assertEqual(b'f\\xfcnf \\ud800\n', buffer.getvalue())

    def test_a_closed_pipe_does_not_stop_the_writer(self):
        read, write = os.pipe()
        os.close(read)
        out = Output(os.fdopen(write, 'w'))

        for _ in range(3):
            out.line('text')

        out.stream.close()

    def test_the_interpreter_reports_no_closed_pipe_at_exit(self):
        code = (
            'import sys; from watcherlite.cli.output import Output\n'
            'out = Output(sys.stdout)\n'
            'for _ in range(100): out.line("x" * 10000)\n'
        )
        read, write = os.pipe()
        os.close(read)
        try:
            done = subprocess.run(
                [sys.executable, '-c', code],
                check=False,
                stdout=write,
                stderr=subprocess.PIPE,
                timeout=60,
            )
        finally:
            os.close(write)

        self.assertEqual((0, b''), (done.returncode, done.stderr))


class TerminalTest(base.TestCase):
    def test_terminals_and_colours_depend_on_term_and_no_color(self):
        for terminal, term, no_color, expected in (
            (False, 'xterm', '', (False, False)),
            (True, 'xterm', '', (True, True)),
            (True, 'xterm', '1', (True, False)),
            (True, 'dumb', '', (False, False)),
            (True, '', '', (False, False)),
        ):
            self.useFixture(fixtures.EnvironmentVariable('TERM', term))
            self.useFixture(fixtures.EnvironmentVariable('NO_COLOR', no_color))
            out = Output(Stream(terminal))

            self.assertEqual(expected, (out.is_terminal, out.has_colours))
