"""Exit codes and error messages of the commands.

==== =================================================================================
code meaning
==== =================================================================================
0    success; of `run`: the action plan SUCCEEDED
1    the action plan did not succeed, or the command failed
2    the command line, the plan or the configuration is invalid
3    the database, the broker or the API is unavailable, or the schema does not match
130  interrupted by SIGINT (Ctrl-C); of `run`: the action plan was cancelled
143  terminated by SIGTERM
==== =================================================================================
"""

import os
import select
import sys
import traceback
from typing import TextIO

from watcherlite import exceptions

SUCCESS = 0
FAILURE = 1
BAD_INPUT = 2
UNAVAILABLE = 3
INTERRUPTED = 130
TERMINATED = 143

#: The maximum number of problems to print.
MAX_PROBLEMS = 100

_UNAVAILABLE = (
    exceptions.StoreUnavailable,
    exceptions.StoreConflict,
    exceptions.SchemaMismatch,
    exceptions.BrokerUnavailable,
    exceptions.ApiUnavailable,
)
#: Errors that list all problems of a document.
_DOCUMENTS = (exceptions.InvalidDocument, exceptions.StackValidationFailed)
_BAD_INPUT = (
    exceptions.Invalid,
    exceptions.NotFound,
    exceptions.ConfigurationError,
    exceptions.PluginError,
)


class UsageError(exceptions.Invalid):
    """The command line is not valid."""


def code_of(error: BaseException) -> int:
    """Return the exit code of an error."""
    if isinstance(error, _UNAVAILABLE):
        return UNAVAILABLE
    if isinstance(error, _BAD_INPUT):
        return BAD_INPUT
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return FAILURE


def is_unread(error: BaseException) -> bool:
    """Return whether the reader of the output is gone (`| head`)."""
    if not isinstance(error, BrokenPipeError):
        return False
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        gone = any(event & select.POLLERR for _, event in poll.poll(0))
    except (OSError, ValueError):
        return False
    if gone:
        discard(sys.stdout)
    return gone


def flush() -> None:
    """Flush the output; discard it if its reader is gone.

    Otherwise the interpreter reports an error at exit.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            discard(stream)


def discard(stream: TextIO) -> None:
    """Redirect a stream to the null device."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
    except (OSError, ValueError):
        return


def print_error(command: str, error: BaseException, debug: bool) -> int:
    """Print an error on standard error; return its exit code.

    Call it in the handler of the error.

    :param debug: print the traceback as well
    """
    if debug:
        traceback.print_exc()
    print(explain(command, error), file=sys.stderr)
    return code_of(error)


def explain(command: str, error: BaseException) -> str:
    """Return the message of an error, without credentials.

    One line that starts with the name of the command, then one line for each problem of
    a document.
    """
    # Slow to load, and not needed by `--help`
    from watcherlite.conf import masking

    if isinstance(error, _DOCUMENTS) and len(error.problems) > 1:
        problems = list(error.problems)
        # Do not replace a single problem by a line that counts it.
        if len(problems) > MAX_PROBLEMS + 1:
            del problems[MAX_PROBLEMS:]
            problems.append(f'... and {len(error.problems) - MAX_PROBLEMS} more')
        noun = 'plan' if isinstance(error, exceptions.InvalidDocument) else 'template'
        lines = [f'the {noun} has {len(error.problems)} problems; nothing was stored']
        lines += [f'  {one_line(problem)}' for problem in problems]
        text = '\n'.join(lines)
    elif isinstance(error, KeyboardInterrupt):
        text = 'interrupted'
    elif isinstance(error, exceptions.WatcherliteError):
        text = one_line(str(error))
    else:
        text = one_line(
            f'unexpected {type(error).__name__}: {error}; --debug shows the traceback'
        )
    return f'{command}: {masking.mask_text(text)}'


def confirm(question: str) -> bool:
    """Ask on the terminal; return whether the answer is yes."""
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ('y', 'yes')


def one_line(text: str) -> str:
    """Return a text without line breaks and control characters."""
    return ' '.join(''.join(c if c.isprintable() else ' ' for c in text).split())
