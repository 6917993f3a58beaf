"""`watcherlite run` on a terminal, without a broker, with the plan of the README."""

import contextlib
import json
import os
import pathlib
import pty
import re

from tests.acceptance.command import CommandTestCase, plain

ROOT = pathlib.Path(__file__).parents[2]
PLAN = """\
    actions:
    - name: wait
      action_type: sleep
      input_parameters: {duration: 1}
    - {name: rest, action_type: nop, input_parameters: {message: x}, parents: [wait]}
    """
ENDED = 'Action plan UUID: SUCCEEDED after N s, 2 SUCCEEDED'
#: Control sequences for the cursor and for colours.
ESCAPES = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]')
CURSOR_UP = '\x1b[1A'


class TerminalTest(CommandTestCase):
    def terminal_output(self, **environment):
        """Return the terminal output of a plan."""
        plan = self.write('plan.yaml', PLAN)
        terminal, its_end = pty.openpty()
        self.addCleanup(os.close, terminal)
        running = self.start('run', plan, stdout=its_end, **environment)
        os.close(its_end)
        found = b''
        # Reading from a terminal fails after its last process has ended.
        with contextlib.suppress(OSError):
            while data := os.read(terminal, 65536):
                found += data
        self.assertEqual(0, running.process.wait())
        return found.decode().replace('\r\n', '\n')

    def test_actions_keep_their_lines_on_a_terminal(self):
        text = self.terminal_output(TERM='xterm')

        self.assertIn(CURSOR_UP, text)
        self.assertNotIn('PENDING -> ONGOING', text)
        lines = [' '.join(line.split()) for line in ESCAPES.sub('', text).split('\n')]
        for state in ('ONGOING', 'SUCCEEDED'):
            seen = re.compile(rf'wait sleep {state} \d\d:\d\d:\d\d')
            self.assertTrue(any(seen.search(line) for line in lines), lines)
        self.assertTrue(any('└─ rest nop' in line for line in lines), lines)
        self.assertEqual(ENDED, plain(lines[-2]))

    def test_a_dumb_terminal_gets_plain_lines(self):
        text = self.terminal_output(TERM='dumb')

        self.assertNotIn('\x1b', text)
        lines = plain(text).splitlines()
        self.assertIn('TIME wait: PENDING -> ONGOING', lines)
        self.assertEqual(ENDED, lines[-1])


class UnavailableBrokerTest(CommandTestCase):
    def test_a_plan_runs_and_the_user_is_warned_once(self):
        plan = self.write('plan.yaml', PLAN)
        ini = self.write(
            'wl.conf', '[messaging]\nurl = amqp://u:hunter2@127.0.0.1:1//\n'
        )

        code, out, err = self.run_command('run', plan, '--config-file', ini)

        self.assertEqual((0, ENDED), (code, plain(out).splitlines()[-1]))
        self.assertNotIn('hunter2', out + err)
        warnings = [line for line in err.splitlines() if ': Message consumer: ' in line]
        self.assertRegex(
            '\n'.join(warnings),
            r'\Awatcherlite: warning: Message consumer: no connection to the message '
            r'broker: The message broker cannot be reached\. 127\.0\.0\.1:1 '
            r'\(virtual host /\): [^\n]* Connection refused\. Check that it '
            r'runs and accepts the credentials of \[messaging\] url\. '
            r'Next attempt in \d\.\d s\.\Z',
        )
        self.assertIn('They stay in the database, none is lost', err)


class ReadmePlanTest(CommandTestCase):
    """The plan of the README has the results that the README describes."""

    def test_the_plan_of_the_readme_succeeds_with_a_skipped_action(self):
        examples = ROOT / 'etc/watcherlite/examples'

        code, out, err = self.run_command(
            'run',
            f'--config-file={examples / "example.conf"}',
            str(examples / 'first-plan.yaml'),
            '--output=json',
        )

        self.assertEqual(0, code, err)
        actions = {action['name']: action for action in json.loads(out)['actions']}
        self.assertEqual(
            {
                'begin': ('nop', 'SUCCEEDED', None),
                'temporary-directory': (
                    'command',
                    'SKIPPED',
                    'Action was skipped automatically: /tmp exists already',
                ),
                'date': ('command', 'SUCCEEDED', None),
                'disk-space': ('command', 'SUCCEEDED', None),
                'endpoint': ('command', 'SUCCEEDED', None),
                'call': ('http_request', 'SUCCEEDED', None),
                'settle': ('sleep', 'SUCCEEDED', None),
                'end': ('nop', 'SUCCEEDED', None),
            },
            {
                name: (action['action_type'], action['state'], action['status_message'])
                for name, action in actions.items()
            },
        )
        self.assertEqual(200, actions['call']['outputs']['status'])
        names = {action['uuid']: name for name, action in actions.items()}
        for action in actions.values():
            for parent in action['parents']:
                if action['start_time']:
                    self.assertLessEqual(
                        actions[names[parent]]['end_time'], action['start_time']
                    )
        # `call` waits for the start of `endpoint`, and not for its end.
        endpoint, call = actions['endpoint'], actions['call']
        self.assertLess(endpoint['start_time'], call['end_time'])
        self.assertLess(call['start_time'], endpoint['end_time'])
