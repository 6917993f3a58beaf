"""The action type command with real processes, most of which misbehave."""

import gc
import itertools
import os
import pathlib
import signal
import sys
import threading
import time

from tests import base, bounded
from watcherlite import exceptions, testing
from watcherlite.clock import SystemClock
from watcherlite.plugins.action_types import processes
from watcherlite.plugins.action_types.command import Command

UUID = '00000000-0000-4000-8000-000000000001'
TIMEOUT = bounded.TIMEOUT
#: A script that handles signals between two commands, as a shell does.
FOREVER = 'while :; do sleep 0.05; done'


class CommandTestCase(base.TestCase):
    def run_command(self, *argv, options=None, context=None, timeout=None, **inputs):
        return testing.run_action(
            Command,
            {'argv': list(argv), **inputs},
            options={
                'allowed': [
                    f'{path} ...'
                    for path in ('/bin/sh', '/bin/cat', '/bin/echo', '{python}')
                ]
                + ['/no/such'],
                'kill_grace': TIMEOUT,
                **(options or {}),
            },
            context=context,
            timeout=timeout,
        )

    def run_python(self, source, *arguments, **settings):
        return self.run_command('{python}', '-I', '-c', source, *arguments, **settings)

    def run_shell(self, script, **settings):
        return self.run_command('/bin/sh', '-c', script, **settings)

    def fifo(self, name):
        path = str(self.home / name)
        os.mkfifo(path)
        return path

    def in_thread(self, run):
        """Run in a thread; return a function that waits for the result."""
        results = []
        thread = threading.Thread(target=lambda: results.append(run()), daemon=True)
        thread.start()

        def result():
            thread.join(TIMEOUT)
            self.assertFalse(thread.is_alive(), 'the action did not end')
            return results[0]

        return result

    def wait_for_state(self, pid, *states):
        deadline = time.monotonic() + TIMEOUT
        wait = threading.Event().wait
        while (state := state_of(pid)) not in states:
            self.assertLess(
                time.monotonic(), deadline, f'process {pid} still runs: {state}'
            )
            wait(0.01)

    def assert_gone(self, pid):
        """A killed child of a killed parent may wait for init to reap it."""
        self.wait_for_state(pid, '', 'Z', 'X')


def state_of(pid):
    """Return the state letter of a process, or nothing if it does not exist."""
    try:
        with open(f'/proc/{pid}/stat') as stat:
            return stat.read().rpartition(')')[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ''


class Listening(testing.FakeContext):
    """A context that calls a function after each entry of its log."""

    def __init__(self, listener):
        super().__init__(clock=SystemClock())
        self._listener = listener

    def log(self, text, stream='log'):
        super().log(text, stream)
        self._listener()


class TestLogs(CommandTestCase):
    """Output is logged by lines, as it is written."""

    def test_the_log_has_both_streams_with_an_unfinished_line(self):
        context = testing.FakeContext()
        self.run_shell('echo a; echo b >&2; printf end', context=context)
        self.assertEqual({'stdout': 'a\nend\n', 'stderr': 'b\n'}, context.logged)

    def test_lines_are_logged_before_the_command_ends(self):
        path = self.fifo('go')
        logged = threading.Event()
        context = Listening(logged.set)
        result = self.in_thread(
            lambda: self.run_shell(f'echo first; cat {path}', context=context)
        )
        self.assertTrue(logged.wait(TIMEOUT))
        with open(path, 'w') as fifo:
            self.assertEqual({'stdout': 'first\n'}, context.logged)
            fifo.write('second')
        result()
        self.assertEqual({'stdout': 'first\nsecond\n'}, context.logged)

    def test_the_log_of_a_cancelled_command_is_complete(self):
        context = Listening(lambda: context.send('CANCEL'))
        script = "trap 'echo stopped; exit' TERM; printf half; echo go >&2; "
        self.run_shell(script + FOREVER, context=context)
        self.assertEqual('halfstopped\n', context.logged['stdout'])
        # Some shells also report the signal there.
        self.assertTrue(context.logged['stderr'].startswith('go\n'))


class TestProcessEnvironment(CommandTestCase):
    def test_no_shell_is_started(self):
        result = self.run_command('/bin/echo', '$HOME', '*', ';', 'ls', '`id`')

        self.assertEqual('$HOME * ; ls `id`\n', result.outputs['stdout'])

    def test_the_environment_comes_from_the_options(self):
        source = 'import json, os; print(json.dumps(dict(os.environ)))'

        result = self.run_python(
            source, options={'environment': {'PATH': '/bin', 'LC_ALL': 'C.UTF-8'}}
        )

        self.assertEqual(
            f'{{"PATH": "/bin", "LC_ALL": "C.UTF-8", "WATCHERLITE_ACTION_UUID": '
            f'"{UUID}", "WATCHERLITE_ATTEMPT": "1"}}\n',
            result.outputs['stdout'],
        )

    def test_the_working_directory_comes_from_the_option(self):
        for options, directory in (
            ({}, '/'),
            ({'directory': str(self.home)}, self.home),
        ):
            result = self.run_shell('pwd -P', options=options)

            self.assertEqual(
                os.path.realpath(directory), result.outputs['stdout'].strip()
            )

    def test_python_scripts_run_in_the_interpreter_of_the_worker(self):
        result = self.run_python('import sys; print(sys.executable)')

        self.assertEqual(f'{sys.executable}\n', result.outputs['stdout'])

    def test_standard_input_has_the_given_text_or_nothing(self):
        text = 'ä\n' * 200_000
        for inputs, read in (({'stdin': text}, text), ({}, '')):
            result = self.run_command(
                '/bin/cat', options={'max_output': 1_000_000}, **inputs
            )

            self.assertEqual(read, result.outputs['stdout'])

    def test_the_command_inherits_no_descriptors(self):
        with open(self.home / 'file', 'w') as secret:
            os.set_inheritable(secret.fileno(), True)

            result = self.run_python(
                'import os; print(sorted(int(n) for n in os.listdir("/proc/self/fd")))'
            )

        # Descriptor 3 is the directory that is being listed.
        self.assertEqual('[0, 1, 2, 3]\n', result.outputs['stdout'])


class TestEnds(CommandTestCase):
    def test_the_exit_code_determines_the_outcome_and_the_outputs_are_complete(self):
        ended = '/bin/sh ended with exit code'
        for script, expected, exit_code, reason in (
            ('', {}, 0, None),
            ('exit 3', {}, 3, f'{ended} 3, not 0'),
            ('exit 3', {'expected_exit_codes': [3, 5]}, 3, None),
            ('exit 0', {'expected_exit_codes': [3, 5]}, 0, f'{ended} 0, not 3 or 5'),
            ('exit 4', {'expected_exit_codes': [3, 5]}, 4, f'{ended} 4, not 3 or 5'),
            # A signal from elsewhere
            ('kill -KILL $$', {}, -signal.SIGKILL, '/bin/sh was ended by SIGKILL'),
        ):
            result = self.run_shell(f'echo out; echo err >&2; {script}', **expected)

            self.assertEqual(
                ('FAILED', f'Action failed in execute: {reason}')
                if reason
                else ('SUCCEEDED', None),
                (result.status, result.status_message),
            )
            self.assertEqual(
                {
                    'exit_code': exit_code,
                    'stdout': 'out\n',
                    'stderr': 'err\n',
                    'stdout_truncated': False,
                    'stderr_truncated': False,
                },
                result.outputs,
            )

    def test_a_failed_start_is_reported(self):
        text = str(self.home / 'text')
        pathlib.Path(text).write_text('no program')
        absent = 'No such file or directory'
        for argv, options, words in (
            (['/no/such'], {}, f'{absent} (/no/such)'),
            (['/bin/echo'], {'directory': '/no/dir'}, f'{absent} (/no/dir)'),
            ([text], {'allowed': [text]}, f'Permission denied ({text})'),
            (['/bin/echo', 'x' * 3_000_000], {}, 'Argument list too long (/bin/echo)'),
            (
                ['/bin/echo', '\ud800'],
                {},
                'its arguments or its input are not valid text for a process',
            ),
        ):
            result = self.run_command(*argv, options=options)

            self.assertEqual(
                (
                    'FAILED',
                    f'Action failed in execute: {argv[0]} cannot be run: {words}',
                ),
                (result.status, result.status_message),
            )

    def test_a_path_that_exists_skips_the_command(self):
        new, link = self.home / 'new', self.home / 'link'
        link.symlink_to('/no/such')
        for path, status in (
            (self.home, 'SKIPPED'),
            # A dangling link
            (link, 'SKIPPED'),
            (new, 'SUCCEEDED'),
        ):
            result = self.run_shell(
                f'mkdir {path}',
                creates=str(path),
                options={'creates_below': [str(self.home)]},
            )

            self.assertEqual(status, result.status, path)
            if status == 'SKIPPED':
                self.assertEqual(
                    f'Action was skipped automatically: {path} exists already',
                    result.status_message,
                )
        self.assertTrue(new.is_dir())


class TestOutput(CommandTestCase):
    def test_much_output_on_both_streams_does_not_block(self):
        source = """
import sys
for _ in range(200):
    sys.stdout.write('o' * 10_000)
    sys.stderr.write('e' * 10_000)
"""
        result = self.run_python(source, options={'max_output': 100_000})

        self.assertEqual(
            (0, 'o' * 100_000, 'e' * 100_000, True, True),
            tuple(result.outputs.values()),
        )

    def test_text_within_the_limit_is_complete(self):
        for script, kept, expected in (
            ('printf abcd', 4, ('abcd', False)),
            ('printf abcd', 0, ('', True)),
            # Bytes that are not UTF-8
            (r"printf 'a\377\000\303'", 1000, ('a\ufffd\ufffd\ufffd', False)),
        ):
            outputs = self.run_shell(script, options={'max_output': kept}).outputs

            self.assertEqual(expected, (outputs['stdout'], outputs['stdout_truncated']))

    def test_an_endless_stream_is_truncated_and_ends_with_the_timeout(self):
        context = testing.FakeContext(timeout=0.5, clock=SystemClock())

        result = self.run_python('while True: print("y" * 1000)', context=context)

        self.assertEqual(
            ('FAILED', 'Action failed in execute: it ran longer than its timeout'),
            (result.status, result.status_message),
        )

    def test_a_command_that_closes_its_output_is_awaited(self):
        result = self.run_shell('exec >&- 2>&-; sleep 0.2; exit 3')

        self.assertEqual(3, result.outputs['exit_code'])


class TestChildren(CommandTestCase):
    def test_a_surviving_child_is_neither_awaited_nor_killed(self):
        result = bounded.call(self.run_shell, f'sleep {bounded.FOREVER} & echo $!')

        child = int(result.outputs['stdout'])
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.assertNotIn(state_of(child), ('', 'Z'))

    def test_a_child_that_keeps_writing_is_not_read(self):
        pids = self.fifo('pids')
        # Written before the child exists, whose output fills the limit.
        script = f'echo done; (echo $(exec sh -c "echo \\$PPID") > {pids}; exec yes) &'

        result = self.in_thread(lambda: self.run_shell(script))
        with open(pids) as pipe:
            child = int(pipe.read())

        self.assertIn('done\n', result().outputs['stdout'])
        # The reader has closed the pipe, which ends the child.
        self.assert_gone(child)


class TestSignals(CommandTestCase):
    counter = itertools.count()

    def started(self, script, **settings):
        """Run a script that writes a process id to $1; wait for the id."""
        pids = self.fifo(f'pids-{next(self.counter)}')
        context = testing.FakeContext()
        result = self.in_thread(
            lambda: self.run_command(
                *('/bin/sh', '-c', script, 'sh', pids), context=context, **settings
            )
        )
        with open(pids) as pipe:
            pid = int(pipe.read())
        return context, result, pid

    def suspend(self, context):
        suspended = threading.Event()
        paused = context.paused
        context.paused = lambda value: (paused(value), suspended.set())
        context.send('SUSPEND')
        self.assertTrue(suspended.wait(TIMEOUT))

    def test_a_cancel_ends_the_command_even_while_suspended(self):
        # Only the signal itself can wake the supervision.
        self.patch(processes, '_SLICE', bounded.FOREVER)
        for suspended in (False, True):
            context, result, pid = self.started('echo $$ > $1; exec sleep 60')
            if suspended:
                self.suspend(context)

            context.send('CANCEL')

            self.assertEqual('CANCELLED', result().status)
            self.assertEqual('', state_of(pid))

    def test_a_command_that_cannot_be_resumed_is_ended(self):
        for name, script, signal_name, status in (
            ('its worker lost its lease', 'exec sleep 60', 'TIMEOUT', 'FAILED'),
            ('it stands still', 'kill -STOP $$', 'CANCEL', 'CANCELLED'),
        ):
            context, result, pid = self.started(
                f'echo $$ > $1; {script}', options={'kill_grace': 0.2}
            )

            context.send(signal_name)

            self.assertEqual((status, ''), (result().status, state_of(pid)), name)

    def test_the_process_group_gets_sigterm_before_sigkill(self):
        for name, script in (
            ('itself', 'trap "{0}" TERM; echo $$ > $1; {1}'),
            (
                'a-child',
                'trap exit TERM; '
                'sh -c \'trap "sleep 0.2; {0}" TERM; echo $$ > $0; {1}\' $1 & wait',
            ),
        ):
            mark = self.home / name
            tidy = f'echo tidy > {mark}; exit'
            context, result, _ = self.started(script.format(tidy, FOREVER))

            context.send('CANCEL')

            self.assertEqual('CANCELLED', result().status, name)
            self.assertEqual('tidy\n', mark.read_text())

    def test_all_processes_of_the_command_are_killed(self):
        for script in (
            'sleep 60 & echo $! > $1; wait',
            # The script and its child ignore SIGTERM.
            'trap "" TERM; sleep 60 & echo $! > $1; while :; do sleep 1; done',
        ):
            context, result, pid = self.started(script, options={'kill_grace': 0.2})

            context.send('CANCEL')

            self.assertEqual('CANCELLED', result().status, script)
            self.assert_gone(pid)

    def test_a_suspended_command_is_stopped(self):
        go = self.fifo('go')
        context, result, pid = self.started(
            f'echo $$ > $1; read word < {go}; echo $word'
        )

        self.suspend(context)
        self.wait_for_state(pid, 'T')
        context.send('RESUME')
        with open(go, 'w') as pipe:
            pipe.write('went on\n')

        ended = result()
        self.assertEqual('went on\n', ended.outputs['stdout'])
        states = ['READY', 'RUNNING', 'SUSPENDED', 'RUNNING', 'SUCCEEDED']
        self.assertEqual(
            [('action', *change) for change in itertools.pairwise(states)],
            ended.history,
        )

    def test_an_earlier_signal_is_handled(self):
        context = testing.FakeContext()
        context.send('CANCEL')
        mark = self.home / 'mark'

        result = self.run_shell(f'sleep 60; touch {mark}', context=context)

        self.assertEqual(('CANCELLED', False), (result.status, mark.exists()))


class TestProcesses(CommandTestCase):
    """The parts of the type that do not depend on the action."""

    def run_process(self, *argv, context=None, **settings):
        return processes.run(
            context or testing.FakeContext(),
            argv,
            **{
                'environment': {'PATH': '/bin:/usr/bin'},
                'directory': '/',
                'stdin': None,
                'max_output': 1000,
                'kill_grace': TIMEOUT,
                **settings,
            },
        )

    def test_systems_without_pidfd_are_polled(self):
        ended = self.run_process(
            *('/bin/sh', '-c', 'echo a; exec >&- 2>&-; sleep 0.3; exit 4'),
            descriptor=lambda pid: None,
        )

        self.assertEqual((4, 'a\n'), (ended.exit_code, ended.stdout.text()))

    def test_processes_are_killed_without_pidfd_as_well(self):
        context = testing.FakeContext(timeout=0.3, clock=SystemClock())

        self.assertRaises(
            exceptions.TimedOut,
            self.run_process,
            *('/bin/sh', '-c', 'trap "" TERM; while :; do sleep 0.05; done'),
            context=context,
            kill_grace=0.2,
            descriptor=lambda pid: None,
        )

    def test_a_process_that_cannot_be_watched_is_ended(self):
        pids = []

        def fail(pid):
            pids.append(pid)
            raise OSError('out of descriptors')

        self.assertRaises(
            OSError, self.run_process, '/bin/sleep', '60', descriptor=fail
        )
        self.assertEqual('', state_of(pids[0]))

    def test_no_descriptor_is_leaked(self):
        # The first process of all opens descriptors that the module keeps; garbage of
        # other tests may hold some.
        self.run_process('/bin/echo', 'x', stdin='y')
        gc.collect()
        before = set(os.listdir('/proc/self/fd'))

        for _ in range(5):
            self.run_process('/bin/echo', 'x', stdin='y')
            context = testing.FakeContext()
            context.send('CANCEL')
            self.assertRaises(
                exceptions.Cancelled,
                self.run_process,
                *('/bin/sleep', '60'),
                context=context,
            )

        self.assertEqual(set(), set(os.listdir('/proc/self/fd')) - before)
