"""The program that starts one detached process.

It runs as a separate process, because a process with threads cannot fork safely: it
reads the command from its standard input, starts it in a session of its own, reports
the result on its standard output, and ends, so that the command becomes a child of
init. Imports nothing but the standard library.
"""

import json
import os
import signal
import sys
from typing import Any, NoReturn


def main() -> int:
    """Start the process in standard input; print its pid, or the error."""
    desired = json.load(sys.stdin)
    # Closed by exec: end of file means that exec has succeeded.
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _execute(desired, writer)
    os.close(writer)
    with open(reader, encoding='utf-8', errors='replace') as pipe:
        problem = pipe.read()
    if problem:
        os.waitpid(pid, 0)
        json.dump({'error': problem}, sys.stdout)
        return 1
    json.dump({'pid': pid}, sys.stdout)
    return 0


def _execute(desired: dict[str, Any], writer: int) -> NoReturn:
    """Execute the process, or write the reason of the failure."""
    step = 'it cannot have a session of its own'
    try:
        os.setsid()
        os.umask(0o022)
        # exec preserves ignored signals, and Python ignores some.
        for number in signal.valid_signals():
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        step = f'its directory {desired["directory"]} cannot be used'
        os.chdir(desired['directory'])
        step = f'its log {desired["log"]} cannot be written'
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        log = os.open(desired['log'] or os.devnull, flags, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        step = f'{desired["argv"][0]} cannot be run'
        for source, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        os.execve(  # noqa: S606  # nosec B606  # the handler has an allow-list
            desired['argv'][0], desired['argv'], desired['environment']
        )
    except OSError as error:
        os.write(writer, f'{step}: {error.strerror}'.encode())
    except BaseException as error:
        os.write(writer, f'{step}: {type(error).__name__}'.encode())
    os._exit(127)


if __name__ == '__main__':
    sys.exit(main())
