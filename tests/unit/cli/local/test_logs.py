"""The destination of the log of a command."""

import io
import logging
import sys

import fixtures

from tests import base
from watcherlite import conf
from watcherlite.cli.local import logs


class LogsTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.shown = []
        root = logging.getLogger()
        self.addCleanup(root.setLevel, root.level)
        self.addCleanup(setattr, root, 'handlers', list(root.handlers))
        self.err = io.StringIO()
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', self.err))

    def write_log_messages(self):
        ours = logging.getLogger('watcherlite.execution')
        ours.debug('detail')
        ours.info('started')
        ours.warning('the broker at amqp://u:%s@h is\naway', 'hunter2')
        ours.error('failed')
        theirs = logging.getLogger('somelibrary')
        theirs.warning('deprecated')
        theirs.error('broken')

    def set_up(self, *args, debug=False):
        configuration = conf.new([*args, *(['--debug'] if debug else [])])
        return logs.set_up(configuration, debug, self.shown.append)

    def test_warnings_are_passed_to_the_current_receiver_without_credentials(self):
        warnings = self.set_up()
        expected = [
            'warning: the broker at amqp://u:***@h is away',
            'error: failed',
            'error: broken',
        ]
        later = []

        self.write_log_messages()
        warnings.show = later.append
        self.write_log_messages()

        self.assertEqual((expected, expected), (self.shown, later))
        self.assertEqual('', self.err.getvalue())

    def test_debug_writes_all_messages_to_standard_error(self):
        self.set_up(debug=True)
        (handler,) = logging.getLogger().handlers
        # oslo.log binds its stream when it is imported.
        handler.setStream(self.err)

        self.write_log_messages()

        self.assertEqual([], self.shown)
        for text in ('detail', 'started', 'away', 'failed', 'deprecated'):
            self.assertIn(text, self.err.getvalue())
        self.assertNotIn('hunter2', self.err.getvalue())

    def test_a_log_file_contains_all_messages_and_warnings_are_still_shown(self):
        path = self.home / 'log'
        self.set_up(f'--log-file={path}')

        self.write_log_messages()
        for handler in logging.getLogger().handlers:
            handler.flush()

        self.assertIn('started', path.read_text())
        self.assertEqual('error: failed', self.shown[1])
        self.assertIs(self.err, sys.stderr)
        self.assertEqual('', self.err.getvalue())
