"""Finding the command, and mistakes in the command line."""

import contextlib
import io

from tests import base
from watcherlite.cli import main


class MainTest(base.TestCase):
    def call(self, *argv):
        """Return the exit code, standard output and standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main.main(argv)
            except SystemExit as leaving:
                code = leaving.code
        return code, out.getvalue(), err.getvalue()

    def test_help_lists_all_commands(self):
        for option in ('-h', '--help'):
            code, out, err = self.call(option)

            self.assertEqual((0, ''), (code, err))
            lines = out.partition('commands:\n')[2].splitlines()
            self.assertEqual(
                [f'  {name:<29}  {said}' for name, (_, said) in main.COMMANDS.items()],
                lines[:-2],
            )

    def test_the_commands_are_those_that_users_of_watcher_know_and_our_own(self):
        verbs = {}
        for name in main.COMMANDS:
            noun, _, verb = name.partition(' ')
            verbs.setdefault(noun, []).append(verb)

        self.assertEqual(
            {
                'action': 'cancel list resume show suspend update',
                'actionplan': 'cancel create delete list show start update watch',
                'audit': 'create delete list show trigger update',
                'audittemplate': 'create delete list show update',
                'cluster': 'action create action list action show action signal check '
                'collect create delete event list event show lifecycle complete list '
                'members add members del members list members replace op policy attach '
                'policy detach policy list policy show policy update recover resize '
                'scale in scale out service list show update',
                'complete': '',
                'event': 'list',
                'goal': 'list show',
                'node': 'adopt check create delete list mark-unhealthy op recover show '
                'update',
                'plugin': 'list',
                'policy': 'create delete list show type list type show update validate',
                'profile': 'create delete list show type list type ops type show '
                'update validate',
                'receiver': 'create delete list show update',
                'run': '',
                'scoringengine': 'list show',
                'service': 'list show',
                'stack': 'abandon adopt cancel check create delete event list list '
                'lock output list output show resource list resource mark-unhealthy '
                'resource metadata resource show resource signal resource type list '
                'resource type show resume show suspend template validate unlock '
                'update',
                'standalone': '',
                'strategy': 'list show state',
            },
            {noun: ' '.join(names) for noun, names in verbs.items()},
        )

    def test_every_command_of_the_table_exists_and_has_its_sentence(self):
        for name, (_, sentence) in main.COMMANDS.items():
            code, out, err = self.call(*name.split(), '--help')

            self.assertEqual((0, ''), (code, err))
            self.assertIn(sentence.rstrip('.'), ' '.join(out.split()))
            self.assertNotEqual('--config-file' in out, '--endpoint' in out, name)
            self.assertIn('--debug', out)

    def test_nothing_shows_the_help_and_is_a_mistake(self):
        code, out, err = self.call()

        self.assertEqual((2, ''), (code, out))
        self.assertTrue(err.startswith('usage: watcherlite [options] COMMAND'))

    def test_version(self):
        code, out, err = self.call('--version')

        self.assertEqual((0, ''), (code, err))
        self.assertRegex(out, r'^watcherlite \d+\.\d+')

    def test_mistakes_are_one_line_that_says_where_to_look(self):
        for argv, message in (
            (['rnu'], "there is no command 'rnu'; did you mean run? (see `watcherlite"),
            (['dance'], "there is no command 'dance' (see `watcherlite --help`)"),
            (['plugin'], '`plugin` is the beginning of plugin list: say which'),
            (
                ['--bogus', 'run'],
                'unrecognized arguments: --bogus (see `watcherlite --help`)',
            ),
            (
                ['run', '--bogus'],
                'unrecognized arguments: --bogus (see `watcherlite run --help`)',
            ),
            (
                ['run', '--output', 'xml', 'p'],
                "argument -o/--output: invalid choice: 'xml'",
            ),
            (
                ['run'],
                'name either a PLAN file or --resume UUID (see `watcherlite run',
            ),
            (
                ['run', 'plan.yaml', '--resume', 'last'],
                'name either a PLAN file or --resume UUID (see `watcherlite run',
            ),
            (
                ['run', '--resume', 'last', '--dry-run'],
                '--dry-run needs a PLAN file, not --resume',
            ),
            (['run', 'nowhere.yaml'], 'there is no plan file nowhere.yaml'),
            (
                ['--config-file', '/nowhere.conf', 'plugin', 'list'],
                'There is no configuration file /nowhere.conf',
            ),
            (
                ['plugin', 'list', '--config-file=/nowhere.conf'],
                'There is no configuration file /nowhere.conf',
            ),
        ):
            code, out, err = self.call(*argv)

            self.assertEqual((2, ''), (code, out), argv)
            self.assertEqual(1, err.count('\n'), err)
            self.assertIn(message, err)
            self.assertTrue(err.startswith('watcherlite: '), err)

    def test_debug_shows_where_a_mistake_was_found(self):
        for argv in (['--debug', 'run', 'nowhere'], ['run', 'nowhere', '--debug']):
            code, _, err = self.call(*argv)

            self.assertEqual(2, code)
            self.assertIn('Traceback', err)
            self.assertEqual(
                'watcherlite: there is no plan file nowhere', err.splitlines()[-1]
            )

    def test_plugin_list_shows_what_is_built_in(self):
        code, out, err = self.call(
            'plugin', 'list', '--output', 'csv', '--quote', 'none'
        )

        self.assertEqual((0, ''), (code, err))
        rows = [line.split(',') for line in out.splitlines()]
        self.assertEqual(
            ['Namespace', 'Name', 'Distribution', 'Version', 'Target', 'Status'],
            rows[0],
        )
        self.assertIn(
            (
                'watcherlite.action_types',
                'nop',
                'watcherlite',
                'watcherlite.plugins.action_types.nop:Nop',
                'ok',
            ),
            [(row[0], row[1], row[2], row[4], row[5]) for row in rows],
        )

    def test_what_a_shell_completes(self):
        code, out, err = self.call('complete', '--shell', 'none')

        self.assertEqual((0, ''), (code, err))
        found = dict(line.strip().split('=', 1) for line in out.splitlines())
        self.assertEqual("'list show state'", found['cmds_strategy'])
        self.assertIn('--action-plan', found['cmds_action_list'])

    def test_every_formatter_is_there(self):
        for name in ('table', 'json', 'yaml', 'csv'):
            code, out, err = self.call('plugin', 'list', '-o', name)

            self.assertEqual((0, ''), (code, err))
            self.assertIn('nop', out)
