"""Streams and progress that record their calls."""

import contextlib
import io

from watcherlite.cli.output import Output


class Stream(io.StringIO):
    """A text stream in memory, with its input.

    :param terminal: the result of `isatty`
    """

    def __init__(self, terminal=False, text=''):
        super().__init__(text)
        self._terminal = terminal

    def isatty(self):
        return self._terminal


class Lines(Output):
    """An Output that keeps its lines in `lines`."""

    def __init__(self, terminal=False):
        super().__init__(Stream(terminal))

    @property
    def is_terminal(self):
        return self.stream.isatty()

    has_colours = is_terminal

    @property
    def lines(self):
        return self.stream.getvalue().splitlines()


class Recorder:
    """A Progress that records its calls, in order."""

    def __init__(self):
        self.shown = []

    def print_message(self, text):
        self.shown.append(text)

    def record_known(self, change):
        self.shown.append(('known', change.name, change.new))

    def changed(self, change):
        self.shown.append((change.name, change.old, change.new, change.text))

    def show_counts(self, plan, recent):
        self.shown.append((plan.state, plan.unfinished, [a.name for a in recent]))


def call(main, argv):
    """Return the exit code, standard output and standard error of a command line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(argv)
        except SystemExit as leaving:
            code = leaving.code
    return code, out.getvalue(), err.getvalue()
