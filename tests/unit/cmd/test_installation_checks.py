"""The checks of an installation before commands open the store."""

from tests import base
from watcherlite import bootstrap, conf


class TestChecks(base.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = conf.new([], [])

    def test_in_process_messages_need_no_broker(self):
        for url in ('memory://', ' memory://', 'Memory://'):
            self.conf.set_override('url', url, 'messaging')

            self.assertIs(False, bootstrap.check_broker(self.conf, 'a test'))

    def test_missing_database_is_reported_and_not_created(self):
        path = self.home / 'new.db'
        url = f'sqlite:///{path}?timeout=1'
        self.conf.set_override('connection', url, 'database')

        self.assertEqual(str(path), bootstrap.missing_file(self.conf))
        self.assertFalse(path.exists())
        path.touch()
        self.assertIsNone(bootstrap.missing_file(self.conf))

    def test_a_server_is_no_file(self):
        self.conf.set_override('connection', 'postgresql+psycopg://h/d', 'database')

        self.assertIsNone(bootstrap.missing_file(self.conf))
