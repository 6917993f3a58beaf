import fixtures
from oslo_config import cfg

from tests import base
from watcherlite import conf, exceptions


class ProblemsCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.ini = self.home / 'watcherlite.conf'

    def new(self, text):
        self.ini.write_text(text)
        return conf.new(config_files=[str(self.ini)])

    def refusal(self, *args, **kwargs):
        error = self.assertRaises(
            exceptions.ConfigurationError, conf.new, *args, **kwargs
        )
        text = str(error)
        self.assertNotIn('\n', text)
        return text.replace(str(self.home), '~')

    def refusal_of_text(self, text):
        self.ini.write_text(text)
        return self.refusal(config_files=[str(self.ini)])


class TestBadValues(ProblemsCase):
    """Invalid values are reported at the start, with their location."""

    def test_invalid_values_are_reported_with_file_group_and_option(self):
        file = '~/watcherlite.conf: '
        for text, expected in (
            (
                '[applier]\nlease = 0\n[notifications]\nbatch_size = ten\n',
                f'{file}[applier] lease is not valid: Should be greater than or equal '
                f'to 1; {file}[notifications] batch_size is not valid: '
                "invalid literal for int() with base 10: 'ten'",
            ),
            (
                '[applier]\non_worker_loss = hope\n',
                f'{file}[applier] on_worker_loss is not valid: '
                "Valid values are [resume, fail, cancel], but found 'hope'",
            ),
            # An option of the command line, too
            (
                '[DEFAULT]\ndebug = maybe\n',
                '[DEFAULT] debug is not valid: Invalid Boolean value: maybe',
            ),
        ):
            self.assertEqual(expected, self.refusal_of_text(text))

    def test_invalid_environment_value_is_reported_with_the_variable(self):
        self.useFixture(fixtures.EnvironmentVariable('OS_ENGINE__WORKERS', 'many'))

        self.assertEqual(
            'OS_ENGINE__WORKERS: [engine] workers is not valid: '
            "invalid literal for int() with base 10: 'many'",
            self.refusal(config_files=[]),
        )

    def test_a_dollar_sign_is_explained_without_the_password_and_two_are_one(self):
        text = self.refusal_of_text(
            '[database]\nconnection = postgresql://u:pass$word@h/x\n'
        )

        self.assertIn('~/watcherlite.conf: [database] connection: ', text)
        self.assertIn('Write a literal dollar sign as $$.', text)
        self.assertNotIn('pass$', text)
        self.assertNotIn(' word', text)
        configuration = self.new('[database]\nconnection = x://u:pass$$word@h/x\n')

        self.assertEqual('x://u:pass$word@h/x', configuration.database.connection)

    def test_an_unknown_argument_has_the_exit_code_of_argparse(self):
        with fixtures.StringStream('stderr') as stream:
            self.useFixture(fixtures.MonkeyPatch('sys.stderr', stream.stream))
            error = self.assertRaises(SystemExit, conf.new, ['--no-such'], [])

        self.assertEqual(2, error.code)


class TestFiles(ProblemsCase):
    """An unreadable file is reported in one line that names it."""

    def test_a_path_that_leads_to_no_file(self):
        file, directory = self.home / 'none.conf', self.home / 'none.d'
        for arguments, expected in (
            (
                ['--config-file', str(file)],
                'There is no configuration file ~/none.conf',
            ),
            (
                ['--config-dir', str(directory)],
                'There is no configuration directory ~/none.d',
            ),
            (
                ['--config-file', str(self.home)],
                'The configuration ~ cannot be read: Is a directory',
            ),
        ):
            self.assertEqual(expected, self.refusal(arguments))

    def test_a_binary_file_or_a_broken_line_is_named_and_not_shown(self):
        for content, expected in (
            (
                b'[DEFAULT]\nhost = \xff\xfe\n',
                'A configuration file is not text in UTF-8: invalid start byte',
            ),
            (
                b'[database]\npassword S3cret\n',
                'The configuration file ~/watcherlite.conf is not valid: '
                "at ~/watcherlite.conf:2, No ':' or '=' found in assignment",
            ),
        ):
            self.ini.write_bytes(content)
            self.assertEqual(expected, self.refusal(config_files=[str(self.ini)]))


class TestUnknownOptions(ProblemsCase):
    """Unknown options are reported with the closest known name."""

    def problems(self, text, environ=None):
        found = conf.unknown_options(self.new(text), environ or {})
        return [line.replace(str(self.home), '~') for line in found]

    def test_unknown_names_are_reported_with_a_similar_one_unless_of_others(self):
        for text, *problems in (
            (
                '[database]\nconection = x\n',
                '[database] has no option conection; did you mean connection?',
            ),
            ('[engine]\ncolour = blue\n', '[engine] has no option colour; remove it.'),
            # An option of another group
            (
                '[engine]\non_worker_loss = fail\n',
                '[engine] has no option on_worker_loss; remove it.',
            ),
            (
                '[databse]\nconnection = x\n',
                'there are no options in a group [databse]; did you mean [database]?',
            ),
            # The group of a plugin that is not installed
            (
                '[watcherlite.action_types.gone]\nurl = x\n',
                'there are no options in a group [watcherlite.action_types.gone]; no '
                'such plugin has any.',
            ),
            # Another program that shares the file
            ('[keystone_authtoken]\nauth_url = x\n',),
            # oslo.log
            (
                '[DEFAULT]\nuse_json = true\nlog_file = x\nlog_dir = y\n'
                'default_log_levels = a=WARN\n',
            ),
        ):
            expected = [f'~/watcherlite.conf: {problem}' for problem in problems]
            self.assertEqual(expected, self.problems(text))

    def test_options_of_a_plugin_are_known_once_they_are_registered(self):
        configuration = self.new(
            '[watcherlite.action_types.own]\nroot = x\nrooot = y\n'
        )
        configuration.register_opts(
            [cfg.StrOpt('root')], group='watcherlite.action_types.own'
        )

        found = conf.unknown_options(configuration, {})

        self.assertEqual(
            [
                f'{self.ini}: [watcherlite.action_types.own] has no option rooot; '
                'did you mean root?'
            ],
            found,
        )

    def test_variable_of_an_unknown_option_is_reported(self):
        self.assertEqual(
            [
                'OS_DATABASE__CONECTION: [database] has no option conection; '
                'did you mean connection?'
            ],
            self.problems(
                '',
                {
                    'OS_DATABASE__CONECTION': 'x',
                    'OS_DEFAULT__DEBUG': 'true',
                    'OS_NOVA__HOST': 'x',
                    'OS_AUTH_URL': 'x',
                },
            ),
        )

    def test_every_file_that_was_read_is_checked(self):
        drop_in = self.home / 'conf.d'
        drop_in.mkdir()
        (drop_in / 'a.conf').write_text('[engine]\nworker = 1\n')

        configuration = conf.new(config_files=[], config_dirs=[str(drop_in)])

        self.assertEqual(
            [f'{drop_in}/a.conf: [engine] has no option worker; did you mean workers?'],
            conf.unknown_options(configuration, {}),
        )
