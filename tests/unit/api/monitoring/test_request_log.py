"""The log lines of a request."""

import logging

from oslo_context import context

from tests import base
from watcherlite.api.app import CALLER, REQUEST_ID
from watcherlite.api.monitoring.request_log import RequestContextFilter, RequestLog
from watcherlite.api.operation import Caller


class TestRequestLog(base.TestCase):
    """Each log line of a request has its id, and no other one."""

    def setUp(self):
        super().setUp()
        self.lines = []
        handler = logging.Handler()
        handler.emit = self.record
        logger = logging.getLogger('watcherlite.api')
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)

    def record(self, record):
        now = context.get_current()
        self.lines.append((now.request_id, now.user_id, record.getMessage()))

    def request(self, number, guarded):
        """Send a request; if `guarded`, it is rejected before the application."""

        def work(environ, start_response):
            logging.getLogger('watcherlite.api.x').info('working')
            start_response('202 Accepted', [])
            return []

        def refuse(environ, start_response):
            start_response('401 Unauthorized', [])
            return []

        environ = {
            REQUEST_ID: f'req-{number}',
            CALLER: Caller(user_id='ada'),
            'REQUEST_METHOD': 'POST',
            'PATH_INFO': '/v1/x',
        }
        inner = refuse if guarded else RequestContextFilter(work)
        RequestLog(inner, None, lambda: 0.0)(environ, lambda status, headers: None)

    def test_log_lines_have_request_id_and_caller_of_own_request(self):
        self.request(1, guarded=False)
        self.request(2, guarded=True)

        self.assertEqual(
            [
                ('req-1', 'ada', 'working'),
                ('req-1', 'ada', '- "POST /v1/x" status: 202 time: 0.0000'),
                ('req-2', None, '- "POST /v1/x" status: 401 time: 0.0000'),
            ],
            self.lines,
        )
