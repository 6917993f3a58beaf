from tests import base
from watcherlite import conf, exceptions


class TestReload(base.TestCase):
    """A reload applies what is mutable, all of it or nothing."""

    def setUp(self):
        super().setUp()
        self.ini = self.home / 'watcherlite.conf'
        self.ini.write_text('[applier]\nlease = 7\nsweep_interval = 3\n')
        self.conf = conf.new(config_files=[str(self.ini)])
        self.calls = []
        self.conf.after_reload(lambda: self.calls.append('first'))
        self.conf.after_reload(lambda: self.calls.append('second'))

    def values(self):
        return self.conf.applier.lease, self.conf.applier.sweep_interval

    def test_mutable_options_change_and_the_others_stay(self):
        self.ini.write_text('[applier]\nlease = 8\nsweep_interval = 4\n')

        fresh = self.conf.mutate_config_files()

        self.assertEqual({('applier', 'sweep_interval'): ('3', '4')}, fresh)
        self.assertEqual((7, 4.0), self.values())
        self.assertEqual(['first', 'second'], self.calls)

    def test_a_bad_value_changes_nothing(self):
        self.ini.write_text('[applier]\nsweep_interval = 4\nmax_attempts = none\n')

        error = self.assertRaises(
            exceptions.ConfigurationError, self.conf.mutate_config_files
        )

        self.assertEqual(
            f'{self.ini}: [applier] max_attempts is not valid: '
            "invalid literal for int() with base 10: 'none'",
            str(error),
        )
        self.assertEqual((7, 3.0), self.values())
        self.assertEqual(['first', 'second'], self.calls)

    def test_invalid_value_of_an_immutable_option_is_reported(self):
        self.ini.write_text('[applier]\nlease = long\nsweep_interval = 4\n')

        error = self.assertRaises(
            exceptions.ConfigurationError, self.conf.mutate_config_files
        )

        self.assertEqual(
            f'{self.ini}: [applier] lease is not valid: '
            "invalid literal for int() with base 10: 'long'",
            str(error),
        )
        self.assertEqual((7, 3.0), self.values())

    def test_a_bad_value_of_the_logs_does_not_end_the_daemon(self):
        self.ini.write_text('[DEFAULT]\ndebug = maybe\n')

        error = self.assertRaises(
            exceptions.ConfigurationError, self.conf.mutate_config_files
        )

        self.assertEqual(
            '[DEFAULT] debug is not valid: Invalid Boolean value: maybe', str(error)
        )
        self.assertEqual((7, 3.0), self.values())

    def test_missing_file_changes_nothing(self):
        self.ini.unlink()

        error = self.assertRaises(
            exceptions.ConfigurationError, self.conf.mutate_config_files
        )

        self.assertEqual(f'There is no configuration file {self.ini}', str(error))
        self.assertEqual((7, 3.0), self.values())

    def test_the_next_reload_after_a_bad_one_works(self):
        self.ini.write_text('[applier]\nsweep_interval = soon\n')
        self.assertRaises(exceptions.ConfigurationError, self.conf.mutate_config_files)
        self.ini.write_text('[applier]\nsweep_interval = 5\n')

        self.conf.mutate_config_files()

        self.assertEqual((7, 5.0), self.values())
