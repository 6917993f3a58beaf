"""The start and the end of commands."""

import contextlib
import io
import os
import subprocess
import sys

from tests import base
from watcherlite import exceptions
from watcherlite.cmd import arguments, exits


class TestRun(base.TestCase):
    """From a command line to an exit code."""

    def run_with(self, argv, work, **keys):
        """Return (exit code, error output)."""
        parser = arguments.command('watcherlite-x', 'Do it.')
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr):
            code = arguments.run(parser, argv, work, **keys)
        return code, stderr.getvalue()

    def test_the_code_is_that_of_the_work(self):
        self.assertEqual((7, ''), self.run_with([], lambda args: 7))

    def test_errors_are_one_line_with_an_exit_code(self):
        def fail(args):
            raise exceptions.StoreUnavailable('it is away')

        for argv, work, code, message in (
            ([], fail, exits.UNAVAILABLE, 'watcherlite-x: it is away\n'),
            (
                ['--invalid'],
                fail,
                exits.BAD_INPUT,
                'watcherlite-x: unrecognized arguments: --invalid (see '
                '`watcherlite-x --help`)\n',
            ),
        ):
            self.assertEqual((code, message), self.run_with(argv, work))

    def test_one_exit_code_may_represent_all_errors(self):
        def interrupted(args):
            raise KeyboardInterrupt

        self.assertEqual(
            (2, 'watcherlite-x: interrupted\n'),
            self.run_with([], interrupted, failure=2),
        )

    def test_debug_shows_the_traceback(self):
        def fail(args):
            raise ValueError('why')

        code, errors = self.run_with(['--debug'], fail)

        self.assertEqual(exits.FAILURE, code)
        self.assertIn('Traceback', errors)


class TestUnread(base.TestCase):
    """Output whose reader has disappeared."""

    def test_closed_pipe_is_no_error(self):
        programs = {
            'help': 'arguments.run(parser, ["--help"], print)',
            'work': 'arguments.run(parser, [], lambda args: print("x" * 100000) or 0)',
            'one': 'arguments.run(parser, [], lambda args: print("x") or 0)',
            'command': 'main.main(["--help"])',
        }
        results = {}
        cases = [*((name, '') for name in programs), ('work', '1')]
        for name, unbuffered in cases:
            code = (
                'import sys\n'
                'from watcherlite.cli import main\n'
                'from watcherlite.cmd import arguments\n'
                'parser = arguments.command("x", "y")\n'
                f'sys.exit({programs[name]})\n'
            )
            read, write = os.pipe()
            os.close(read)
            with open(write, 'w') as gone:
                ended = subprocess.run(
                    [sys.executable, '-c', code],
                    stdout=gone,
                    stderr=subprocess.PIPE,
                    # With a buffer the error occurs only at the exit.
                    env={**os.environ, 'PYTHONUNBUFFERED': unbuffered},
                    timeout=60,
                )
            results[name, unbuffered] = (ended.returncode, ended.stderr)

        self.assertEqual({(0, b'')}, set(results.values()), results)

    def test_common_options_are_accepted_anywhere(self):
        self.assertEqual(
            ['--config-file', 'a', '--config-dir=b', '--debug', 'db', 'purge', '--yes'],
            arguments.common_first(
                [
                    'db',
                    '--config-file',
                    'a',
                    'purge',
                    '--config-dir=b',
                    '--yes',
                    '--debug',
                ]
            ),
        )
        self.assertEqual(
            ['db', '--', '--config-file', 'a'],
            arguments.common_first(['db', '--', '--config-file', 'a']),
        )
