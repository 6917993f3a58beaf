"""Run commands of unmodified clients in processes forked from one interpreter.

The interpreter of the clients' environment runs this module, which uses only the
standard library and the clients. It reads one JSON object per line from standard input:
the name of a program, its arguments and additions to the environment. It writes one
JSON object per line with exit code and output. Each command is a forked process that
calls the `main` of the program, or executes the text of `python -c`. It differs from
the installed script in two ways: the modules and entry points are already loaded, and
waits between two requests are shorter.
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

import stevedore
from osc_lib.api import auth

PROGRAMS = {'watcher': 'watcherclient.shell', 'openstack': 'openstackclient.shell'}
#: Modules that the programs import when they run a command.
PRELOADED = (
    'dogpile.cache.backends.null',
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
#: Prefixes of the groups of entry points that the programs load.
GROUPS = (
    'cliff.formatter.',
    'dogpile.cache',
    'keystoneauth1.plugin',
    'openstack.',
    'watcherclient.',
)
#: The factor by which waits between two requests are shortened.
SPEEDUP = 20


def main():
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    # Scanning the modules for garbage takes a fifth of the time of their import.
    gc.disable()
    for name in (*PROGRAMS.values(), *PRELOADED):
        # No environment contains all clients.
        if importlib.util.find_spec(name.partition('.')[0]):
            importlib.import_module(name)
    load_entry_points()
    # cliff reads the metadata of all distributions once, to find that of a command.
    with contextlib.suppress(AttributeError):
        importlib.import_module('cliff.command')._get_distributions_by_modules()
    # A collection in a child would copy the shared pages.
    gc.collect()
    gc.freeze()
    gc.enable()
    for line in sys.stdin:
        answers.write(json.dumps(answer(**json.loads(line))) + '\n')
        answers.flush()


def load_entry_points():
    """Load the entry points of all commands, which loads each group only once."""
    # cliff loads hundreds of commands to find one.
    stevedore.ExtensionManager = functools.cache(stevedore.ExtensionManager)
    for group in metadata.entry_points().groups:
        if group.startswith(GROUPS):
            stevedore.ExtensionManager(group)
    # The module has a cache of the options of all authentication plugins.
    auth.get_options_list()


def answer(program, argv, environment):
    """Run a command in a child process; return its exit code and output."""
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
    """Run a program as its installed script does; return its exit code."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0, closefd=False)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.environ.update(environment)
    if 'PYTHONPATH' in environment:
        sys.path[:0] = environment['PYTHONPATH'].split(os.pathsep)
        # Its path has other distributions.
        stevedore.ExtensionManager.cache_clear()
        stevedore.extension.ExtensionManager.ENTRY_POINT_CACHE.clear()
    sys.argv = [program, *argv]
    time.sleep = functools.partial(sleep_less, time.sleep)
    try:
        if program == 'python':
            sys.argv = ['-c', *argv[2:]]
            exec(argv[1], {'__name__': '__main__'})
            return 0
        code = sys.modules[PROGRAMS[program]].main()
    except SystemExit as end:
        code = end.code
    if isinstance(code, str):
        sys.stderr.write(f'{code}\n')
        return 1
    return code or 0


def sleep_less(sleep, seconds):
    sleep(seconds / SPEEDUP)


def text(file):
    file.seek(0)
    return io.TextIOWrapper(file, errors='replace').read()


if __name__ == '__main__':
    main()
