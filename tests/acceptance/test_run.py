"""`watcherlite run` as a user runs it: processes, files and signals."""

import contextlib
import json
import os
import signal
import subprocess
import sys

from tests.acceptance.command import UUID, CommandTestCase, plain
from tests.acceptance.daemons import wait_until
from tests.bounded import TIMEOUT

PLAN = """\
    name: nightly
    actions:
    - name: drain
      action_type: nop
      input_parameters: {message: hello}
    - name: check
      action_type: nop
      input_parameters: {message: hello, skip_pre_condition: true}
      parents: [drain]
    - name: restart
      action_type: sleep
      input_parameters: {duration: 0.01}
      parents: [check]
    """


SLEEPY = """\
    actions:
    - name: long
      action_type: sleep
      input_parameters: {duration: 1000}
    - name: after
      action_type: nop
      input_parameters: {message: hello}
      parents: [long]
    """


class SuccessTest(CommandTestCase):
    def test_a_plan_that_succeeds(self):
        plan = self.write('plan.yaml', PLAN)

        code, out, err = self.run_command('run', plan)

        self.assertEqual((0, ''), (code, err))
        self.assertEqual(
            [
                'Action plan nightly (UUID): 3 actions',
                'TIME action plan: RECOMMENDED -> PENDING',
                'TIME action plan: PENDING -> ONGOING',
                'TIME drain: PENDING -> ONGOING',
                'TIME drain: ONGOING -> SUCCEEDED',
                'TIME check: PENDING -> SKIPPED Action was skipped automatically: '
                'Skipped in pre_condition',
                'TIME restart: PENDING -> ONGOING',
                'TIME restart: ONGOING -> SUCCEEDED',
                'TIME action plan: ONGOING -> SUCCEEDED',
                'ACTION   TYPE   STATE      MESSAGE',
                'drain    nop    SUCCEEDED',
                'check    nop    SKIPPED    Action was skipped automatically: '
                'Skipped in pre_condition',
                'restart  sleep  SUCCEEDED',
                'Action plan nightly (UUID): SUCCEEDED after N s, 2 SUCCEEDED, 1 '
                'SKIPPED',
                'One or more actions were skipped. Action UUID was skipped '
                'automatically.',
            ],
            plain(out).splitlines(),
        )
        self.assertEqual(
            ['plan.yaml', 'watcherlite/watcherlite.sqlite'],
            [name for name in self.files() if not name.endswith(('-shm', '-wal'))],
        )

    def test_actions_can_be_skipped_with_and_without_a_reason_even_all(self):
        plan = self.write('plan.yaml', PLAN)
        skips = ('--skip', 'drain=not today', '--skip', 'check')

        code, out, err = self.run_command('run', plan, *skips)

        self.assertEqual((0, ''), (code, err))
        self.assertEqual(
            [
                'drain    nop    SKIPPED    Action skipped by user. Reason: not today',
                'check    nop    SKIPPED    Action skipped by user.',
                'restart  sleep  SUCCEEDED',
            ],
            plain(out).splitlines()[-5:-2],
        )
        code, out, err = self.run_command(
            *('run', plan, *skips, '--skip=restart', '--debug')
        )

        self.assertEqual(0, code)
        self.assertIn('SUCCEEDED after N s, 3 SKIPPED', plain(out))
        # Log messages are on standard error, progress on standard output.
        self.assertIn('INFO watcherlite.', err)
        self.assertNotIn('INFO', out)
        self.assertEqual(
            'Action plan nightly (UUID): 3 actions', plain(out).splitlines()[0]
        )

    def test_a_closed_pipe_does_not_stop_the_plan(self):
        self.write('plan.yaml', PLAN)

        command = f'{sys.executable} -m watcherlite.cli.main run plan.yaml'

        shown = subprocess.run(
            ['/bin/sh', '-c', f'({command}; echo $? > code) | head -n 1'],
            check=True,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )

        self.assertEqual(
            ('Action plan nightly (UUID): 3 actions\n', ''),
            (plain(shown.stdout), shown.stderr),
        )
        self.assertEqual('0\n', (self.home / 'code').read_text())

    def test_json_is_one_document_and_progress_is_on_standard_error(self):
        plan = self.write('plan.yaml', PLAN)

        code, out, err = self.run_command('run', plan, '--output', 'json')

        self.assertEqual(0, code)
        self.assertIn('restart: ONGOING -> SUCCEEDED', err)
        found = json.loads(out)
        uuids = [action['uuid'] for action in found['actions']]
        self.assertEqual(
            {
                'uuid': UUID.search(err).group(),
                'name': 'nightly',
                'state': 'SUCCEEDED',
                'status_message': 'One or more actions were skipped. Action '
                f'{uuids[1]} was skipped automatically.',
            },
            {key: found[key] for key in found if key != 'actions'},
        )
        self.assertEqual(
            [
                ('drain', 'nop', 'SUCCEEDED', None, []),
                (
                    'check',
                    'nop',
                    'SKIPPED',
                    'Action was skipped automatically: Skipped in pre_condition',
                    [uuids[0]],
                ),
                ('restart', 'sleep', 'SUCCEEDED', None, [uuids[1]]),
            ],
            [
                (
                    a['name'],
                    a['action_type'],
                    a['state'],
                    a['status_message'],
                    a['parents'],
                )
                for a in found['actions']
            ],
        )
        for action in found['actions']:
            self.assertEqual(
                {
                    'uuid',
                    'name',
                    'action_type',
                    'state',
                    'status_message',
                    'start_time',
                    'end_time',
                    'outputs',
                    'parents',
                },
                set(action),
            )
            started = action['state'] == 'SUCCEEDED'
            self.assertEqual(started, action['start_time'] is not None)
            self.assertIsNotNone(action['end_time'])

    def test_the_output_of_a_command_is_shown_while_it_runs(self):
        ini = self.write(
            'wl.conf', '[watcherlite.action_types.command]\nallowed = /bin/cat ...\n'
        )
        first, pipe = self.write('first', 'copying\n'), self.home / 'pipe'
        os.mkfifo(pipe)
        plan = self.write(
            'plan.yaml',
            f"""\
            actions:
            - name: copy
              action_type: command
              input_parameters: {{argv: [/bin/cat, {first}, {pipe}]}}
            """,
        )
        running = self.start('run', plan, '--logs', '--config-file', ini)
        running.wait_for('copy stdout: copying')
        with open(pipe, 'w') as writing:
            writing.write('copied')
        code, out, _ = running.end()

        self.assertEqual(0, code, out)
        self.assertIn('copy stdout: copied', out)


class DryRunTest(CommandTestCase):
    def test_a_dry_run_shows_the_steps_checks_inputs_and_stores_nothing(self):
        plan = self.write('plan.yaml', PLAN)

        code, out, err = self.run_command(
            'run', plan, '--dry-run', '--skip', 'check=why not'
        )

        self.assertEqual((0, ''), (code, err))
        self.assertEqual(
            [
                'Action plan nightly: 3 actions, on_failure continue, no parallelism '
                'limit',
                '1. in parallel:',
                '   drain    nop',
                '   restart  sleep  (after check)',
                'Skipped:',
                '   check    why not',
                'Dry run: nothing was stored or executed.',
            ],
            out.splitlines(),
        )
        self.assertEqual(['plan.yaml'], self.files())
        self.write('plan.yaml', PLAN.replace('{message: hello}', '{massage: hello}', 1))
        code, out, err = self.run_command('run', plan, '--dry-run')
        self.assertEqual((2, ''), (code, out))
        self.assertIn(f'watcherlite: {plan}:5: actions[0]: action drain: input', err)
        self.assertEqual(['plan.yaml'], self.files())


class FailureTest(CommandTestCase):
    PLAN = """\
        on_failure: {on_failure}
        max_parallel: 1
        actions:
        - name: first
          action_type: nop
          input_parameters: {{message: hello}}
        - name: broken
          action_type: nop
          input_parameters: {{message: hello, fail_execute: true}}
          parents: [first]
        - name: last
          action_type: nop
          input_parameters: {{message: hello}}
          parents: [broken]
        """

    def test_the_remaining_actions_continue_or_are_cancelled_by_the_option(self):
        for on_failure, last in (('continue', 'SUCCEEDED'), ('stop', 'CANCELLED')):
            plan = self.write('plan.yaml', self.PLAN.format(on_failure=on_failure))

            code, out, err = self.run_command('run', plan)

            self.assertEqual(1, code, err)
            self.assertEqual(
                'watcherlite: the action plan UUID is FAILED: broken: Action failed in '
                'execute: Failed in execute',
                plain(err).splitlines()[-1],
            )
            self.assertEqual(
                [['first', 'SUCCEEDED'], ['broken', 'FAILED'], ['last', last]],
                [line.split()[:3:2] for line in out.splitlines() if '  nop  ' in line],
            )


class InterruptionTest(CommandTestCase):
    def test_ctrl_c_cancels_the_plan_and_waits_for_its_end(self):
        for number, expected in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            plan = self.write('plan.yaml', SLEEPY)
            running = self.start('run', plan)
            running.wait_for('long: PENDING -> ONGOING')

            running.send(number)
            code, out, err = running.end()

            self.assertEqual(expected, code)
            lines = plain(out).splitlines()
            self.assertIn(
                'Cancelling: running actions are signalled to stop, no further actions '
                'start. Interrupt again to terminate immediately.',
                lines,
            )
            self.assertEqual(
                [['long', 'sleep', 'CANCELLED'], ['after', 'nop', 'CANCELLED']],
                [line.split()[:3] for line in lines[-4:-2]],
            )
            self.assertEqual(
                [
                    'Action plan UUID: CANCELLED after N s, 2 CANCELLED',
                    'Action plan was cancelled.',
                ],
                lines[-2:],
            )
            self.assertEqual(
                'watcherlite: the action plan UUID is CANCELLED\n', plain(err)
            )

    def kill_remaining(self, path):
        if path.exists():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(path.read_text()), signal.SIGKILL)

    def test_a_second_ctrl_c_exits_at_once_and_the_plan_can_be_resumed(self):
        ini = self.write(
            'wl.conf',
            """\
            [watcherlite.action_types.command]
            allowed = {python} ...
            kill_grace = 60
            [applier]
            signal_grace = 60
            """,
        )
        plan = self.write(
            'plan.yaml',
            """\
            actions:
            - name: stubborn
              action_type: command
              input_parameters:
                argv:
                - '{python}'
                - -c
                - |
                  import os, pathlib, signal
                  signal.signal(signal.SIGTERM, signal.SIG_IGN)
                  pathlib.Path('MARK').write_text(str(os.getpid()))
                  signal.pause()
            """.replace('MARK', str(self.home / 'started')),
        )
        running = self.start('run', plan, '--config-file', ini)
        uuid = UUID.search(running.wait_for('Action plan')).group()
        running.wait_for('ONGOING')
        # The command ignores SIGTERM from now on.
        wait_until((self.home / 'started').exists, lambda: 'not started')
        # Its parent is gone, so no process ends it.
        self.addCleanup(self.kill_remaining, self.home / 'started')

        running.send(signal.SIGINT)
        running.wait_for('Cancelling')
        running.send(signal.SIGINT)
        code, _, err = running.end()

        self.assertEqual(130, code)
        self.assertEqual(
            f'watcherlite: terminated; resume with: watcherlite run --resume {uuid}',
            err.splitlines()[-1],
        )

        code, out, _ = self.run_command('run', '--resume', uuid, '--config-file', ini)

        self.assertEqual(1, code)
        self.assertIn('Action plan UUID: CANCELLED', plain(out))

    def test_a_plan_continues_whenever_its_process_was_killed(self):
        plan = self.write(
            'plan.yaml',
            """\
            actions:
            - name: before
              action_type: nop
              input_parameters: {message: hello}
            - name: long
              action_type: sleep
              input_parameters: {duration: 3}
              parents: [before]
            - name: after
              action_type: nop
              input_parameters: {message: hello}
              parents: [long]
            """,
        )
        running = self.start('run', plan)
        uuid = UUID.search(running.wait_for('Action plan')).group()
        running.wait_for('long: PENDING -> ONGOING')
        running.send(signal.SIGKILL)
        running.end()
        again = self.start('run', '--resume', uuid)
        again.wait_for('Action plan')
        again.send(signal.SIGKILL)
        again.end()

        code, out, _ = self.run_command('run', '--resume', 'last')

        self.assertEqual(0, code)
        lines = plain(out).splitlines()
        self.assertEqual('Action plan UUID: 3 actions', lines[0])
        self.assertNotIn('TIME before: PENDING -> ONGOING', lines)
        self.assertEqual(
            [
                'ACTION  TYPE   STATE      MESSAGE',
                'before  nop    SUCCEEDED',
                'long    sleep  SUCCEEDED',
                'after   nop    SUCCEEDED',
                'Action plan UUID: SUCCEEDED after N s, 3 SUCCEEDED',
            ],
            lines[-5:],
        )
        self.assertIn(uuid, out)

    def test_a_plan_that_has_ended_is_shown_and_not_run_again(self):
        plan = self.write('plan.yaml', PLAN)
        _, first, _ = self.run_command('run', plan)
        uuid = UUID.search(first).group()

        code, out, err = self.run_command('run', '--resume', uuid)

        self.assertEqual((0, ''), (code, err))
        self.assertEqual(
            'Action plan nightly (UUID): 3 actions, already ended',
            plain(out).splitlines()[0],
        )
        self.assertEqual(first.splitlines()[-6:-2], out.splitlines()[1:-2])

        code, out, err = self.run_command('run', '--resume', uuid, '--skip', 'drain')

        self.assertEqual((1, ''), (code, out))
        self.assertEqual(1, err.count('\n'), err)


def json_plan(count, broken=None):
    """Return a plan with this number of actions as JSON; one of them may fail."""
    actions = [
        {
            'name': f'a{i}',
            'action_type': 'nop',
            'input_parameters': {'message': 'hello', 'fail_execute': i == broken},
        }
        for i in range(count)
    ]
    return json.dumps({'actions': actions})


class SizeTest(CommandTestCase):
    def test_a_large_plan_is_counted_and_only_its_failures_are_listed(self):
        plan = self.write('plan.json', json_plan(1000, broken=500))

        code, out, _ = self.run_command('run', plan)

        self.assertEqual(1, code)
        lines = plain(out).splitlines()
        self.assertEqual(
            [
                'ACTION  TYPE  STATE   MESSAGE',
                'a500    nop   FAILED  Action failed in execute: Failed in execute',
                'Action plan UUID: FAILED after N s, 999 SUCCEEDED, 1 FAILED',
            ],
            [line for line in lines if not line.startswith('TIME ')][1:4],
        )
        self.assertEqual('TIME PENDING: 0 of 1000 actions ended', lines[1])

    def test_verbose_shows_everything_about_a_large_plan(self):
        names = [f'a{i}' for i in range(51)]
        plan = self.write('plan.json', json_plan(51))

        code, out, err = self.run_command('run', plan, '--verbose')

        self.assertEqual((0, ''), (code, err))
        lines = plain(out).splitlines()
        for expected in (
            'TIME {}: PENDING -> ONGOING',
            'TIME {}: ONGOING -> SUCCEEDED',
        ):
            self.assertEqual(
                [], [name for name in names if expected.format(name) not in lines]
            )
        self.assertEqual(
            [[name, 'nop', 'SUCCEEDED'] for name in names],
            [line.split() for line in lines if '  nop  ' in line],
        )
        self.assertEqual(
            'Action plan UUID: SUCCEEDED after N s, 51 SUCCEEDED', lines[-1]
        )
