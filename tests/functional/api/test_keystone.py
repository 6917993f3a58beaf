"""The unmodified keystonemiddleware with an identity service that knows two tokens."""

import datetime
import http.server
import json
import threading
from typing import Any, ClassVar

from oslo_config import cfg

from tests import base
from tests.functional.api import fixtures
from tests.unit.api.requests import ask
from watcherlite import exceptions
from watcherlite.api import authentication
from watcherlite.api.authentication import AWAY

#: The token of a reader with system scope.
SYSTEM = 'token-of-the-system'
ROLES = {
    'token-of-a-reader': ['reader'],
    'token-of-an-admin': ['Admin', 'member'],
    SYSTEM: ['reader'],
}
WITHOUT_ROLES = 'token-without-roles'


class FakeIdentityService(http.server.BaseHTTPRequestHandler):
    """Responds to keystonemiddleware: the versions, and data of tokens."""

    def do_GET(self) -> None:
        subject = self.headers.get('X-Subject-Token')
        if subject is None:
            self.answer(300, {'versions': {'values': [self.version()]}})
        elif subject in ROLES:
            token = self.token(ROLES[subject])
            if subject == SYSTEM:
                del token['project']
                token['system'] = {'all': True}
            self.answer(200, {'token': token})
        else:
            self.answer(404, {'error': {'code': 404}})

    def version(self) -> dict[str, Any]:
        """Return the only version."""
        links = [{'rel': 'self', 'href': f'http://{self.headers["Host"]}/v3/'}]
        return {'id': 'v3.14', 'status': 'stable', 'links': links}

    def token(self, roles: list[str]) -> dict[str, Any]:
        """Return a token that is valid for an hour."""
        expires = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
        domain = {'id': 'default', 'name': 'Default'}
        return {
            'methods': ['password'],
            'expires_at': expires.strftime('%Y-%m-%dT%H:%M:%S.%fZ'),
            'issued_at': '2030-01-01T00:00:00.000000Z',
            'user': {'id': 'u1', 'name': 'alice', 'domain': domain},
            'project': {'id': 'p1', 'name': 'demo', 'domain': domain},
            'roles': [{'id': role, 'name': role} for role in roles],
        }

    def answer(self, status: int, body: Any) -> None:
        """Send a JSON response."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


class KeystoneApiFixture(fixtures.ApiFixture):
    """The API with auth_strategy keystone."""

    options: ClassVar[dict[tuple[str, str], Any]] = {
        ('api', 'auth_strategy'): 'keystone'
    }

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    def ini(self) -> str:
        return (
            '[keystone_authtoken]\n'
            'auth_type = admin_token\n'
            f'endpoint = {self.url}\n'
            'token = of-the-service\n'
            f'www_authenticate_uri = {self.url}\n'
            'http_request_max_retries = 0\n'
        )


class TestKeystone(base.TestCase):
    """Authentication with auth_strategy keystone."""

    def serve(self, url: str) -> Any:
        fixture = KeystoneApiFixture(url)
        fixture.start_fixture()
        self.addCleanup(fixture.stop_fixture)
        return fixtures.application()

    def identity(self) -> str:
        """Start the identity service; return its URL."""
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), FakeIdentityService)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f'http://127.0.0.1:{server.server_port}'

    def test_token_defines_user_and_roles_and_root_is_public(self):
        api = self.serve(self.identity())

        self.assertEqual(
            [200, 200, 200, 401, 401],
            [
                ask(api, 'GET', path).status
                for path in ('/', '/infra-optim/', '/healthcheck', '/v1', '/v1/goals')
            ],
        )
        responses = [
            ask(api, method, path, X_Auth_Token=token, X_Roles='admin')
            for method, path, token in (
                ('GET', '/v1/goals', SYSTEM),
                ('GET', '/v1/goals', 'token-of-a-reader'),
                ('DELETE', '/v1/audits/x', 'token-of-a-reader'),
                ('DELETE', '/v1/audits/x', 'token-of-an-admin'),
                ('GET', '/v1/goals', WITHOUT_ROLES),
            )
        ]

        self.assertEqual(
            [200, 403, 403, 404, 401], [answer.status for answer in responses]
        )
        self.assertEqual(
            'The request you have made requires authentication.', responses[-1].fault
        )
        self.assertIn('Keystone uri=', responses[-1].headers['WWW-Authenticate'])
        self.assertEqual(
            {'status': 'ok'},
            ask(api, 'GET', '/healthcheck', X_Auth_Token='token-of-a-reader').body,
        )
        self.assertIn(
            'lanes',
            ask(api, 'GET', '/healthcheck', X_Auth_Token='token-of-an-admin').body,
        )

    def test_unavailable_identity_service_is_reported(self):
        api = self.serve('http://127.0.0.1:1')

        answer = ask(api, 'GET', '/v1/goals', X_Auth_Token='token-of-a-reader')

        self.assertEqual((503, AWAY), (answer.status, answer.fault))

    def test_missing_option_is_reported(self):
        conf = cfg.ConfigOpts()
        conf([], project='watcherlite', default_config_files=[])

        error = self.assertRaises(
            exceptions.ConfigurationError, authentication.checker, conf
        )

        self.assertIn('[keystone_authtoken] has no auth_type', str(error))
