from tests import base
from watcherlite import conf, exceptions


class TestReload(base.TestCase):
    """A reload applies all changes of mutable options, or none."""

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

    def test_an_invalid_file_changes_nothing_and_the_next_reload_works(self):
        number = 'is not valid: invalid literal for int() with base 10:'
        for text, expected in (
            (
                '[applier]\nsweep_interval = 4\nmax_attempts = none\n',
                f"{self.ini}: [applier] max_attempts {number} 'none'",
            ),
            # An immutable option
            (
                '[applier]\nlease = long\nsweep_interval = 4\n',
                f"{self.ini}: [applier] lease {number} 'long'",
            ),
            # An error in a logging option does not end the daemon.
            (
                '[DEFAULT]\ndebug = maybe\n',
                '[DEFAULT] debug is not valid: Invalid Boolean value: maybe',
            ),
            ('', f'There is no configuration file {self.ini}'),
        ):
            self.calls.clear()
            self.ini.write_text(text)
            if not text:
                self.ini.unlink()

            error = self.assertRaises(
                exceptions.ConfigurationError, self.conf.mutate_config_files
            )

            self.assertEqual(expected, str(error))
            self.assertEqual((7, 3.0), self.values())
            self.assertEqual(['first', 'second'], self.calls)
        self.ini.write_text('[applier]\nsweep_interval = 5\n')

        self.conf.mutate_config_files()

        self.assertEqual((7, 5.0), self.values())
