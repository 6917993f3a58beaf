import io
import json
import logging
import sys

import fixtures
from oslo_context import context

from tests import base
from watcherlite import conf, exceptions
from watcherlite.conf import logs

URL = 'amqp://u:S3cret@h'


class RecordsCase(base.TestCase):
    def record(self, message, *args, **kwargs):
        return logging.LogRecord(
            'x', logging.ERROR, __file__, 1, message, args, kwargs.get('exc_info')
        )


class TestMaskSecrets(RecordsCase):
    """The filter removes credentials from the record itself."""

    def filtered(self, record):
        self.assertTrue(logs.MaskSecrets().filter(record))
        return record

    def test_the_message_is_masked_with_its_arguments_in_it(self):
        record = self.filtered(self.record('cannot reach %s: %d', URL, 5))

        self.assertEqual('cannot reach amqp://u:***@h: 5', record.getMessage())

    def test_a_name_in_the_message_makes_its_argument_a_secret(self):
        record = self.filtered(self.record('password=%s', 'S3cret'))

        self.assertEqual('password=***', record.getMessage())

    def test_a_record_without_secrets_keeps_its_arguments(self):
        record = self.filtered(self.record('%s of %s', 1, 2))

        self.assertEqual(('%s of %s', (1, 2)), (record.msg, record.args))

    def test_a_text_of_a_client_is_logged_as_one_line(self):
        path = '/v1/x\r\n2030-01-01 INFO forged\x1b[2J\u2028a\tb%s\x85'

        record = self.filtered(self.record('"GET %s" status: 404', path))
        text = logs.MaskingFormatter(logging.Formatter()).format(record)

        self.assertEqual(
            '"GET /v1/x\\r\\n2030-01-01 INFO forged\\x1b[2J\\u2028a\tb%s\\x85" '
            'status: 404',
            text,
        )

    def test_a_traceback_has_no_secrets_and_no_control_characters(self):
        try:
            raise ValueError(f'{URL} a\r\x1b[2J')
        except ValueError:
            record = self.filtered(self.record('failed', exc_info=sys.exc_info()))

        masked = logging.Formatter().format(record)
        text = logs.MaskingFormatter(logging.Formatter()).format(record)

        self.assertNotIn('S3cret', masked)
        self.assertIn('ValueError: amqp://u:***@h', masked)
        self.assertTrue(text.endswith('***@h a\\r\\x1b[2J'), text)
        self.assertGreater(len(text.splitlines()), 3)

    def test_arguments_that_do_not_fit_are_masked_one_by_one(self):
        record = self.filtered(self.record('%s and %s', URL))

        self.assertNotIn('S3cret', repr(record.args))
        self.assertRaises(TypeError, record.getMessage)


class LogsCase(RecordsCase):
    """The output of the handlers that oslo.log configures."""

    def setUp(self):
        super().setUp()
        # The fixture undoes the changes that oslo.log makes to these.
        self.useFixture(fixtures.MonkeyPatch('sys.excepthook', sys.excepthook))
        self.useFixture(fixtures.MonkeyPatch('logging.root.handlers', []))
        self.addCleanup(logging.root.setLevel, logging.root.level)
        self.file = self.home / 'out.log'

    def setup_logging(self, text=''):
        ini = self.home / 'watcherlite.conf'
        ini.write_text(f'[DEFAULT]\nlog_file = {self.file}\n{text}')
        configuration = conf.new(config_files=[str(ini)])
        conf.setup_logging(configuration, 'watcherlite')
        self.addCleanup(self._close)
        return configuration

    def _close(self):
        for handler in logging.root.handlers:
            handler.close()

    def written(self):
        return self.file.read_text()


class TestSetupLogging(LogsCase):
    """From the call to the line in the file."""

    def test_a_line_has_the_request_id_and_no_credentials(self):
        self.setup_logging()
        request = context.RequestContext(user_id='alice', overwrite=False)

        logging.getLogger('watcherlite.x').info(
            'calling %s', URL, extra={'context': request}
        )

        line = self.written()
        self.assertIn(f'{request.request_id} alice', line)
        self.assertIn('calling amqp://u:***@h', line)

    def test_handled_exception_is_masked(self):
        self.setup_logging()

        try:
            raise OSError(f'no answer from {URL}')
        except OSError:
            logging.getLogger('watcherlite.x').warning('trying again')
            logging.getLogger('watcherlite.x').exception('giving up')

        text = self.written()
        self.assertNotIn('S3cret', text)
        self.assertIn('trying again: OSError: no answer from amqp://u:***@h', text)
        self.assertIn('giving up', text)

    def test_json_stays_json_and_is_masked_to_its_depth(self):
        self.setup_logging('use_json = true\n')

        try:
            raise OSError(URL)
        except OSError:
            logging.getLogger('watcherlite.x').exception(
                'Cookie: a=S3cret',
                extra={'extra': {'headers': {'X-Auth-Token': 'S3cret', 'Accept': 'x'}}},
            )

        self.assertNotIn('S3cret', self.written())
        lines = map(json.loads, self.written().splitlines())
        # Threads of other tests may write lines, too.
        (line,) = (line for line in lines if line['name'] == 'watcherlite.x')
        self.assertEqual('Cookie: ***', line['message'])
        self.assertEqual(
            {'headers': {'X-Auth-Token': '***', 'Accept': 'x'}}, line['extra']
        )
        self.assertIn('OSError: amqp://u:***@h', line['traceback'])

    def test_libraries_are_quiet_even_when_debugging(self):
        self.setup_logging('debug = true\n')

        for name in ('kombu.x', 'sqlalchemy.x', 'stevedore.x', 'watcherlite.x'):
            logging.getLogger(name).debug('hello from %s', name)

        self.assertEqual(1, self.written().count('hello from'))
        self.assertIn('hello from watcherlite.x', self.written())

    def test_handlers_that_a_reload_installs_are_masked(self):
        stream = io.StringIO()
        configuration = self.setup_logging()
        logging.root.handlers[:] = [logging.StreamHandler(stream)]

        configuration.mutate_config_files()

        logging.getLogger('watcherlite.x').error('at %s', URL)
        self.assertIn('at amqp://u:***@h', stream.getvalue())

    def test_handlers_of_a_log_configuration_are_masked(self):
        own = self.home / 'logging.ini'
        own.write_text(
            '[loggers]\nkeys=root\n[handlers]\nkeys=file\n[formatters]\nkeys=plain\n'
            '[logger_root]\nlevel=INFO\nhandlers=file\n'
            f'[handler_file]\nclass=FileHandler\nformatter=plain\n'
            f"args=('{self.file}',)\n"
            '[formatter_plain]\nformat=%(levelname)s %(message)s\n'
        )
        self.setup_logging(f'log_config_append = {own}\n')

        logging.getLogger('watcherlite.x').error('at %s', URL)

        self.assertEqual('ERROR at amqp://u:***@h\n', self.written())

    def test_a_repeated_setup_masks_once(self):
        self.setup_logging()
        before = [(h.formatter, list(h.filters)) for h in logging.root.handlers]

        logs.guard_handlers()

        self.assertEqual(
            before, [(h.formatter, list(h.filters)) for h in logging.root.handlers]
        )

    def test_a_log_file_that_cannot_be_written_is_one_line(self):
        self.file = self.home / 'none' / 'out.log'

        error = self.assertRaises(exceptions.ConfigurationError, self.setup_logging)

        self.assertEqual(
            f'The log file {self.file} cannot be written: No such file or directory. '
            'Check [DEFAULT] log_file and log_dir.',
            str(error),
        )

    def test_missing_log_configuration_is_one_line(self):
        error = self.assertRaises(
            exceptions.ConfigurationError,
            self.setup_logging,
            f'log_config_append = {self.home}/none.ini\n',
        )

        self.assertIn(f'[DEFAULT] log_config_append = {self.home}/none.ini', str(error))
        self.assertNotIn('\n', str(error))
