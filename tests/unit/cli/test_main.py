"""The selection of the command, and errors in the command line."""

import shlex

from tests import base
from tests.unit.cli.capturing import call
from watcherlite.cli import examples, main


class MainTest(base.TestCase):
    def call(self, *argv):
        """Return the exit code, standard output and standard error."""
        return call(main.main, argv)

    def test_help_lists_all_commands(self):
        for option in ('-h', '--help'):
            code, out, err = self.call(option)

            self.assertEqual((0, ''), (code, err))
            lines = out.partition('commands:\n')[2].splitlines()
            self.assertEqual(
                [
                    f'  {name:<29}  {description}'
                    for name, (_, description) in main.COMMANDS.items()
                ],
                lines[:-2],
            )

    def test_the_commands_include_those_of_the_watcher_client(self):
        verbs = {}
        for name in main.COMMANDS:
            noun, _, verb = name.partition(' ')
            verbs.setdefault(noun, []).append(verb)

        self.assertEqual(
            {
                'action': 'cancel list logs resume retry show suspend update',
                'actionplan': 'cancel create delete list retry show start update watch',
                'audit': 'create delete list show trigger update',
                'audittemplate': 'create delete list show update',
                'cluster': 'action create action list action show action signal check '
                'collect create delete event list event show lifecycle complete list '
                'members add members del members list members replace op policy attach '
                'policy detach policy list policy show policy update recover resize '
                'scale in scale out service list show update',
                'complete': '',
                'datamodel': 'list',
                'event': 'list',
                'goal': 'list show',
                'node': 'adopt check create delete list mark-unhealthy op recover show '
                'update',
                'plugin': 'list',
                'policy': 'create delete list show type list type show update validate',
                'profile': 'create delete list show type list type ops type show '
                'update validate',
                'receiver': 'create delete list show update',
                'request': 'list',
                'run': '',
                'scoringengine': 'list show',
                'service': 'list show',
                'stack': 'abandon adopt cancel check create delete environment show '
                'event list export failures list hook clear hook list list lock '
                'output list output show resource list resource mark-unhealthy '
                'resource metadata resource show resource signal resource type list '
                'resource type show resume show suspend template show template '
                'validate unlock '
                'update',
                'standalone': '',
                'strategy': 'list show state',
            },
            {noun: ' '.join(names) for noun, names in verbs.items()},
        )

    def test_the_help_of_every_command_has_its_description(self):
        for name, (_, sentence) in main.COMMANDS.items():
            code, out, err = self.call(*name.split(), '--help')

            self.assertEqual((0, ''), (code, err))
            self.assertIn(sentence.rstrip('.'), ' '.join(out.split()))
            self.assertNotEqual('--config-file' in out, '--endpoint' in out, name)
            self.assertIn('--debug', out)

    def test_a_missing_command_is_an_error_and_version_is_none(self):
        code, out, err = self.call()

        self.assertEqual((2, ''), (code, out))
        self.assertTrue(err.startswith('usage: watcherlite [options] COMMAND'))
        code, out, err = self.call('--version')
        self.assertEqual((0, ''), (code, err))
        self.assertRegex(out, r'^watcherlite \d+\.\d+')

    def test_usage_errors_are_one_line_with_a_reference_to_help(self):
        for argv, message in (
            (['rnu'], "unknown command 'rnu'; did you mean run? (see `watcherlite"),
            (['unknown'], "unknown command 'unknown' (see `watcherlite --help`)"),
            (['plugin'], '`plugin` is ambiguous: plugin list'),
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
                'specify either a PLAN file or --resume UUID (see `watcherlite run',
            ),
            (
                ['run', 'plan.yaml', '--resume', 'last'],
                'specify either a PLAN file or --resume UUID (see `watcherlite run',
            ),
            (
                ['run', '--resume', 'last', '--dry-run'],
                '--dry-run requires a PLAN file, not --resume',
            ),
            (['run', 'missing.yaml'], 'the plan file missing.yaml does not exist'),
            (
                ['--config-file', '/missing.conf', 'plugin', 'list'],
                'There is no configuration file /missing.conf',
            ),
            (
                ['plugin', 'list', '--config-file=/missing.conf'],
                'There is no configuration file /missing.conf',
            ),
        ):
            code, out, err = self.call(*argv)

            self.assertEqual((2, ''), (code, out), argv)
            self.assertEqual(1, err.count('\n'), err)
            self.assertIn(message, err)
            self.assertTrue(err.startswith('watcherlite: '), err)

    def test_debug_shows_the_traceback_of_a_usage_error(self):
        for argv in (['--debug', 'run', 'missing'], ['run', 'missing', '--debug']):
            code, _, err = self.call(*argv)

            self.assertEqual(2, code)
            self.assertIn('Traceback', err)
            self.assertEqual(
                'watcherlite: the plan file missing does not exist',
                err.splitlines()[-1],
            )

    def test_plugin_list_shows_built_in_plugins(self):
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

    def test_complete_prints_candidates_with_a_tab_before_the_description(self):
        code, out, err = self.call('complete', '--', 'strategy', '')

        self.assertEqual((0, ''), (code, err))
        self.assertEqual(
            'list\tList strategies.\nshow\tShow a strategy.\n'
            'state\tShow the requirements of a strategy, and which of them are met.\n',
            out,
        )

    def test_the_help_of_a_command_starts_with_its_options_and_an_example(self):
        code, out, err = self.call('action', 'update', '--help')

        self.assertEqual((0, ''), (code, err))
        self.assertEqual(
            'usage: watcherlite action update [-h] [--state STATE] [--message TEXT] '
            'UUID',
            ' '.join(out.partition('\n\n')[0].split()),
        )
        titles = [line for line in out.splitlines() if line.endswith(':')]
        self.assertEqual(
            ['positional arguments:', 'options:', 'example:', 'output formatters:'],
            titles[:4],
        )
        self.assertEqual('diagnostics:', titles[-1])

    def test_every_command_has_an_example_that_its_parser_accepts(self):
        application = main.Application()

        self.assertEqual(list(main.COMMANDS), sorted(examples.EXAMPLES))
        for name in main.COMMANDS:
            factory = application.command_manager.find_command(name.split())[0]
            parser = factory(application, None).get_parser(f'watcherlite {name}')
            line = examples.example_of(f'watcherlite {name}')

            arguments = shlex.split(line.removeprefix(f'watcherlite {name}'))
            parser.parse_args(arguments)

    def test_every_output_format_is_supported(self):
        for name in ('table', 'json', 'yaml', 'csv'):
            code, out, err = self.call('plugin', 'list', '-o', name)

            self.assertEqual((0, ''), (code, err))
            self.assertIn('nop', out)
