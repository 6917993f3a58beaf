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
    def test_lines_are_written_at_once(self):
        out = Lines()

        out.line('one')
        out.line()
        out.write('two')

        self.assertEqual(['one', '', 'two'], out.lines)

    def test_characters_that_do_not_fit_are_written_as_their_numbers(self):
        buffer = io.BytesIO()
        out = Output(io.TextIOWrapper(buffer, encoding='ascii'))

        out.line('fünf \ud800')

        self.assertEqual(b'f\\xfcnf \\ud800\n', buffer.getvalue())

    def test_closed_pipe_does_not_stop_the_writer(self):
        read, write = os.pipe()
        os.close(read)
        out = Output(os.fdopen(write, 'w'))

        for _ in range(3):
            out.line('text')

        out.stream.close()

    def test_the_interpreter_does_not_complain_at_its_end_either(self):
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
    def test_a_terminal_is_one_that_can_do_more_than_a_printer(self):
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
