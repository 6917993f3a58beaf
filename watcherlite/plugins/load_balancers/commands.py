"""The operator's commands that check and load a configuration file."""

import os
import shlex
import signal
import subprocess
import tempfile
from typing import Any

from watcherlite import exceptions
from watcherlite.plugins.action_types import allow_list

#: The placeholder for the file in a command.
FILE = '{file}'
#: The complete environment of the commands.
_ENVIRONMENT = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LANG': 'C.UTF-8'}
#: Maximum bytes of the output of a command in messages.
_MAX_OUTPUT = 2000


class CommandOption(allow_list.CommandLine):
    """The type of an option that is a command: it starts with an absolute path."""

    def __repr__(self) -> str:
        return 'Command'


def run(what: str, command: str, path: str, timeout: float) -> None:
    """Run a command until it ends; its child processes may survive.

    :param what: the purpose, for messages
    :param path: of the file that replaces `{file}`, also within a word
    :raises WatcherliteError: it could not be run, failed, or timed out
    """
    argv = [word.replace(FILE, path) for word in shlex.split(command)]
    # A file, not a pipe: a surviving process keeps it open, and must not be awaited.
    with tempfile.TemporaryFile() as output:
        try:
            process: subprocess.Popen[Any] = subprocess.Popen(  # noqa: S603  # nosec B603  # the operator sets it
                # The operator's command, without any input of users.
                allow_list.resolved(argv),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=_ENVIRONMENT,
                cwd='/',
                start_new_session=True,
            )
        except OSError as error:
            raise exceptions.WatcherliteError(
                f'{what} is not possible: {argv[0]} cannot be run: {error.strerror}'
            ) from error
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise exceptions.WatcherliteError(
                f'{what} has taken more than {timeout:g} s: {argv[0]} was terminated'
            ) from None
        if code:
            output.seek(0)
            output_text = ' '.join(
                output.read(_MAX_OUTPUT).decode(errors='replace').split()
            )
            raise exceptions.WatcherliteError(
                f'{what} failed: {argv[0]} ended with exit code {code}'
                f'{f": {output_text}" if output_text else ""}'
            )
