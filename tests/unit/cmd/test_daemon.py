import fixtures

from tests import base
from watcherlite import conf
from watcherlite.cmd.daemon import reload_options


class TestReload(base.TestCase):
    """The log records of a reload."""

    def setUp(self):
        super().setUp()
        self.ini = self.home / 'watcherlite.conf'
        self.ini.write_text('[applier]\nsweep_interval = 4\n')
        self.conf = conf.new(config_files=[str(self.ini)])
        self.logger = self.useFixture(
            fixtures.FakeLogger('watcherlite', format='%(levelname)s %(message)s')
        )

    def told(self, text):
        """Return whether a file counts, and what is logged of it."""
        self.ini.write_text(text)
        before = len(self.logger.output.splitlines())
        counts = reload_options(self.conf)
        lines = self.logger.output.replace(str(self.home), '~').splitlines()
        return counts, lines[before:]

    def test_what_changed_is_logged_and_that_nothing_did(self):
        nothing = (
            'INFO The configuration was read again; no option that a reload applies '
            'has changed'
        )
        self.assertEqual(
            [
                (True, ['INFO [applier] sweep_interval was 4 and is 6 now']),
                (True, [nothing]),
            ],
            [self.told('[applier]\nsweep_interval = 6\n') for _ in range(2)],
        )

    def test_an_unknown_option_is_told_as_at_the_start(self):
        counts, lines = self.told(
            '[applier]\nsweep_interval = 5\nmax_paralel = 6\n[watcher_applier]\nx = y\n'
        )

        self.assertEqual(
            (
                True,
                [
                    'WARNING ~/watcherlite.conf: [applier] has no option max_paralel; '
                    'did you mean max_parallel?',
                    'WARNING ~/watcherlite.conf: the group [watcher_applier] is not '
                    'used; set [applier]',
                    'INFO [applier] sweep_interval was 4 and is 5 now',
                ],
            ),
            (counts, lines),
        )

    def test_a_bad_file_changes_nothing(self):
        counts, (line,) = self.told('[applier]\nsweep_interval = soon\n')

        self.assertFalse(counts)
        self.assertIn('ERROR The configuration was not reloaded', line)
        self.assertEqual(4.0, self.conf.applier.sweep_interval)
