"""Run commands of the clients, in an interpreter that has imported them once.

This is run by the interpreter of the environment that the clients are in, and uses
nothing but the standard library and them. A line of JSON on standard input, with the
name of a program, its arguments and what to add to the environment, is answered by one
on standard output, with exit code and output. Each command is a process of its own,
forked from this one, which calls what the script of the program calls: it differs from
that only in what has been imported before, which is most of its time, and in that it
sleeps for less time between two requests when it waits for the end of something.
"""

import contextlib
import functools
import gc
import importlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import time
import traceback
from importlib import metadata

PROGRAMS = {'watcher': 'watcherclient.shell', 'openstack': 'openstackclient.shell'}
#: What the programs import once they know what to do: these, and the modules of all
#: entry points of the groups that begin like this.
LATER = (
    'heatclient.common.event_utils',
    'heatclient.common.template_utils',
    'heatclient.osc.plugin',
    'heatclient.v1.client',
    'keystoneauth1.identity.v3',
    'keystoneauth1.loading',
    'netrc',
    'openstack.config.loader',
    'openstack.connection',
    'openstackclient.common.clientmanager',
    'osc_lib.logs',
    'watcherclient.client',
    'watcherclient.osc.plugin',
    'watcherclient.v1.client',
)
GROUPS = (
    'cliff.formatter.',
    'dogpile.cache',
    'keystoneauth1.plugin',
    'openstack.',
    'watcherclient.',
)
#: How much shorter than the clients want it they wait until they ask again.
FASTER = 20


def main():
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    for name in (*PROGRAMS.values(), *LATER):
        # Each environment has only some of the clients.
        if importlib.util.find_spec(name.partition('.')[0]):
            importlib.import_module(name)
    for group in metadata.entry_points().groups:
        for point in metadata.entry_points(group=group):
            # Some need what is not installed; a command that needed one would say so.
            with contextlib.suppress(ImportError, AttributeError):
                if group.startswith(GROUPS):
                    importlib.import_module(point.module)
    # Each command shows which distribution it is from, for which it reads all of them.
    importlib.import_module('cliff.command')._get_distributions_by_modules()
    # What is shared is not to be copied.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        answers.write(json.dumps(answer(**json.loads(line))) + '\n')
        answers.flush()


def answer(program, argv, environment):
    """Return what became of a command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.fork()
        if not pid:
            code = 1
            try:
                code = run(program, argv, environment, out.fileno(), err.fileno())
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return {'code': code, 'out': text(out), 'err': text(err)}


def run(program, argv, environment, out, err):
    """Do in the new process what the script of the program does."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0, closefd=False)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.environ.update(environment)
    sys.argv = [program, *argv]
    time.sleep = functools.partial(sleep_less, time.sleep)
    try:
        code = sys.modules[PROGRAMS[program]].main()
    except SystemExit as end:
        code = end.code
    if isinstance(code, str):
        sys.stderr.write(f'{code}\n')
        return 1
    return code or 0


def sleep_less(sleep, seconds):
    sleep(seconds / FASTER)


def text(file):
    file.seek(0)
    return io.TextIOWrapper(file, errors='replace').read()


if __name__ == '__main__':
    main()
