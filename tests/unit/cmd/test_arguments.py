"""How commands begin and end."""

import contextlib
import io

from tests import base
from watcherlite import exceptions
from watcherlite.cmd import arguments, exits


class TestRun(base.TestCase):
    """From a command line to an exit code."""

    def run_with(self, argv, work, **keys):
        """Return (exit code, what was said)."""
        parser = arguments.command('watcherlite-x', 'Do it.')
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = arguments.run(parser, argv, work, **keys)
        return code, said.getvalue()

    def test_the_code_is_that_of_the_work(self):
        self.assertEqual((7, ''), self.run_with([], lambda args: 7))

    def test_what_goes_wrong_is_one_line_and_its_code(self):
        def fail(args):
            raise exceptions.StoreUnavailable('it is away')

        for argv, work, code, said in (
            ([], fail, exits.UNAVAILABLE, 'watcherlite-x: it is away\n'),
            (
                ['--nonsense'],
                fail,
                exits.BAD_INPUT,
                'watcherlite-x: unrecognized arguments: --nonsense (see '
                '`watcherlite-x --help`)\n',
            ),
        ):
            self.assertEqual((code, said), self.run_with(argv, work))

    def test_one_code_may_stand_for_all_that_goes_wrong(self):
        def interrupted(args):
            raise KeyboardInterrupt

        self.assertEqual(
            (2, 'watcherlite-x: interrupted\n'),
            self.run_with([], interrupted, failure=2),
        )

    def test_a_traceback_is_there_for_who_asks(self):
        def fail(args):
            raise ValueError('why')

        code, said = self.run_with(['--debug'], fail)

        self.assertEqual(exits.FAILURE, code)
        self.assertIn('Traceback', said)
