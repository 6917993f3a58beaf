import gc

import fixtures

from tests import base
from watcherlite import conf
from watcherlite.cmd import daemon
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

    def run_reload(self, text):
        """Return whether a file is applied, and the log."""
        self.ini.write_text(text)
        before = len(self.logger.output.splitlines())
        counts = reload_options(self.conf)
        lines = self.logger.output.replace(str(self.home), '~').splitlines()
        return counts, lines[before:]

    def test_changed_options_are_logged(self):
        nothing = 'INFO The configuration was reloaded; no mutable option has changed'
        self.assertEqual(
            [
                (True, ['INFO [applier] sweep_interval changed from 4 to 6']),
                (True, [nothing]),
            ],
            [self.run_reload('[applier]\nsweep_interval = 6\n') for _ in range(2)],
        )

    def test_unknown_option_is_logged_at_reload(self):
        counts, lines = self.run_reload(
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
                    'INFO [applier] sweep_interval changed from 4 to 5',
                ],
            ),
            (counts, lines),
        )

    def test_an_invalid_file_changes_nothing(self):
        counts, (line,) = self.run_reload('[applier]\nsweep_interval = soon\n')

        self.assertFalse(counts)
        self.assertIn('ERROR The configuration was not reloaded', line)
        self.assertEqual(4.0, self.conf.applier.sweep_interval)


class _RecordingManager:
    """Replaces the manager, and records the state of the garbage collector."""

    frozen = 0
    threshold = 0

    def __init__(self, **options):
        self.__dict__.update(options)

    def register_hooks(self, **hooks):
        self.__dict__.update(hooks)

    def add(self, service, **options):
        self.__dict__.update(options)

    def run(self):
        type(self).frozen = gc.get_freeze_count()
        type(self).threshold = gc.get_threshold()[0]


class TestSharedMemory(base.TestCase):
    """The objects that workers share with the manager."""

    def test_workers_share_frozen_objects_and_collect_garbage_rarely(self):
        ini = self.home / 'watcherlite.conf'
        ini.write_text(f'[DEFAULT]\nstate_path = {self.home}\n')
        self.patch(daemon, 'Manager', _RecordingManager)
        self.patch(daemon.conf, 'setup_logging', lambda *_: None)
        self.addCleanup(gc.unfreeze)
        self.addCleanup(gc.set_threshold, *gc.get_threshold())
        gc.set_threshold(700)
        before = len(gc.get_objects())

        code = daemon.main('watcherlite-applier', (), [f'--config-file={ini}'])

        self.assertEqual(0, code)
        self.assertGreater(_RecordingManager.frozen, before // 2)
        self.assertEqual(20_000, _RecordingManager.threshold)
