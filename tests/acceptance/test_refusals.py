"""`watcherlite run` rejects invalid plans and names the errors."""

import sqlite3

from tests.acceptance.command import CommandTestCase

PLAN = """\
    actions:
    - name: drain
      action_type: nop
      input_parameters: {message: hello}
    """


class BadInputTest(CommandTestCase):
    """Each error is one message with exit code 2, and nothing is stored."""

    def error_of(self, text, *options):
        self.write('plan.yaml', text)

        code, out, err = self.run_command('run', 'plan.yaml', *options)

        self.assertEqual((2, ''), (code, out))
        self.assertTrue(err.startswith('watcherlite: '), err)
        stored = [name for name in self.files() if name != 'plan.yaml']
        if stored:
            # Only an empty database exists, without a plan to resume.
            code, _, problem = self.run_command('run', '--resume', 'last')
            self.assertEqual(
                (2, 'watcherlite: all action plans have ended\n'), (code, problem)
            )
        return err.removesuffix('\n')

    def test_invalid_and_missing_files_and_unknown_plans_are_reported(self):
        self.assertRegex(
            self.error_of('actions: [}\n'),
            r'\Awatcherlite: plan\.yaml:1: this is neither YAML nor JSON: [^\n]*\Z',
        )
        uuid = '11111111-2222-3333-4444-555555555555'
        for argv, message in (
            (
                ['missing.yaml'],
                'watcherlite: the plan file missing.yaml does not exist\n',
            ),
            (['--resume', uuid], uuid),
        ):
            code, out, err = self.run_command('run', *argv)
            self.assertEqual((2, '', 1), (code, out, err.count('\n')), err)
            self.assertIn(message, err)

    def test_problems_of_plans_inputs_and_skips_are_reported_together(self):
        ini = self.write('bad.conf', '[applier]\nlease = soon\n')
        several = 'the plan has 2 problems; nothing was stored\n  plan.yaml:'
        for expected, text, *options in (
            (
                f'{several}1: nam: there is no such key; did you mean name?\n'
                '  plan.yaml:2: actions: the plan has no actions; list at least one',
                'nam: nightly\nactions: []\n',
            ),
            (
                f'{several}4: actions[0]: action a: input_parameters.duration: -1 is '
                'less than the minimum of 0\n'
                "  plan.yaml:5: actions[0].parents[0]: there is no action 'b'",
                """\
                actions:
                - name: a
                  action_type: sleep
                  input_parameters: {duration: -1}
                  parents: [b]
                """,
            ),
            # An invalid configuration does not hide the errors of a plan.
            (
                'plan.yaml:2: actions: the plan has no actions; list at least one',
                *('name: x\nactions: []\n', '--config-file', str(ini)),
            ),
            (
                "--skip: the plan has no action 'drian'; did you mean drain?",
                *(PLAN, '--skip', 'drian'),
            ),
            (
                'The reason has 300 characters; at most 223 are kept',
                *(PLAN, f'--skip=drain={"x" * 300}'),
            ),
        ):
            with self.subTest(expected):
                self.assertEqual(
                    f'watcherlite: {expected}', self.error_of(text, *options)
                )


class ConfigurationErrorTest(CommandTestCase):
    def test_an_unknown_option_is_reported_with_its_file_and_the_nearest_name(self):
        plan = self.write('plan.yaml', PLAN)
        ini = self.write('wl.conf', '[applier]\nmax_paralel = 3\n')

        code, out, err = self.run_command('run', plan, '--config-file', ini)

        self.assertEqual((2, ''), (code, out))
        self.assertEqual(
            f'watcherlite: {ini}: [applier] has no option max_paralel; did you mean '
            'max_parallel?\n',
            err,
        )
        self.assertEqual(['plan.yaml', 'wl.conf'], self.files())

    def test_unavailable_databases_and_state_directories_are_reported(self):
        plan = self.write('plan.yaml', PLAN)
        url = 'postgresql+psycopg://watcherlite:hunter2@127.0.0.1:1/watcherlite'
        blocked = self.write('file', '')
        for expected, message, environment in (
            (3, 'watcherlite: The database ', {'OS_DATABASE__CONNECTION': url}),
            (2, 'state_path', {'OS_DEFAULT__STATE_PATH': f'{blocked}/below'}),
        ):
            code, out, err = self.run_command('run', plan, **environment)

            self.assertEqual((expected, '', 1), (code, out, err.count('\n')), err)
            self.assertIn(message, err)
            self.assertNotIn('hunter2', err)

    def test_a_database_of_a_newer_version_is_rejected(self):
        plan = self.write('plan.yaml', PLAN)
        self.assertEqual(0, self.run_command('run', plan)[0])
        path = self.home / 'watcherlite' / 'watcherlite.sqlite'
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")

        code, out, err = self.run_command('run', plan)

        self.assertEqual((3, ''), (code, out))
        self.assertEqual(1, err.count('\n'), err)
        self.assertTrue(
            err.startswith('watcherlite: The database has schema 9999'), err
        )
