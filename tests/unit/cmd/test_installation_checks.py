"""What commands ask of an installation before anything is opened."""

from tests import base
from watcherlite import bootstrap, conf


class TestAsking(base.TestCase):
    def setUp(self):
        super().setUp()
        self.conf = conf.new([], [])

    def test_messages_within_the_process_need_no_broker_however_that_is_spelled(self):
        for url in ('memory://', ' memory://', 'Memory://'):
            self.conf.set_override('url', url, 'messaging')

            self.assertIs(False, bootstrap.ask_broker(self.conf, 'a test'))

    def test_a_database_that_nobody_has_made_is_told_and_not_made(self):
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
