"""How a command ends: its exit code, and what it says when something is wrong.

==== =================================================================================
code meaning
==== =================================================================================
0    it did what it was asked; of `run`: the action plan SUCCEEDED
1    the action plan did not succeed, or the command failed while it worked
2    what was asked is wrong: the command line, the plan, the configuration
3    the database, the broker or the API cannot be reached, or the schema does not fit
130  interrupted by Ctrl-C; of `run`: the action plan was cancelled
143  the same by SIGTERM
==== =================================================================================
"""

import sys
import traceback

from watcherlite import exceptions

SUCCESS = 0
FAILURE = 1
BAD_INPUT = 2
UNAVAILABLE = 3
INTERRUPTED = 130
TERMINATED = 143

#: More problems than these are not read by anybody.
MAX_PROBLEMS = 100

_UNAVAILABLE = (
    exceptions.StoreUnavailable,
    exceptions.StoreConflict,
    exceptions.SchemaMismatch,
    exceptions.BrokerUnavailable,
    exceptions.ApiUnavailable,
)
#: Those that know all that is wrong with what somebody wrote.
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
    """Return the exit code that an error stands for."""
    if isinstance(error, _UNAVAILABLE):
        return UNAVAILABLE
    if isinstance(error, _BAD_INPUT):
        return BAD_INPUT
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return FAILURE


def tell(command: str, error: BaseException, debug: bool) -> int:
    """Print what went wrong on standard error; return the exit code for it.

    To be called while the error is handled.

    :param debug: print where it came from as well
    """
    if debug:
        traceback.print_exc()
    print(explain(command, error), file=sys.stderr)
    return code_of(error)


def explain(command: str, error: BaseException) -> str:
    """Return what to print of an error, without credentials.

    One line that begins with the command's name, except for a document with
    several problems: these follow, one a line.
    """
    # Loading it takes longer than `--help`, which does not come here
    from watcherlite.conf import masking

    if isinstance(error, _DOCUMENTS) and len(error.problems) > 1:
        problems = error.problems[:MAX_PROBLEMS]
        if len(error.problems) > MAX_PROBLEMS:
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
            f'unexpected {type(error).__name__}: {error}; --debug shows where'
        )
    return f'{command}: {masking.mask_text(text)}'


def one_line(text: str) -> str:
    """Return a text without line breaks, and with nothing that moves a cursor."""
    return ' '.join(''.join(c if c.isprintable() else ' ' for c in text).split())
