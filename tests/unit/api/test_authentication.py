import base64

import bcrypt
import fixtures
from keystoneauth1.exceptions import catalog

from tests import base
from tests.unit.api.requests import ask
from watcherlite import exceptions
from watcherlite.api.app import CALLER
from watcherlite.api.authentication import (
    SYNTHETIC,
    UNCHECKED,
    Gate,
    HostHeaderCheck,
    HttpBasic,
    Keystone,
    LocalOriginCheck,
    NoAuthentication,
    credentials,
)
from watcherlite.api.basic_auth import HASHING, WAITING, PasswordFile
from watcherlite.api.operation import Caller

CLAIMS = {
    'X_Roles': 'admin',
    'X_Role': 'admin',
    'X_User': 'root',
    'X_User_Id': 'root',
    'X_User_Name': 'root',
    'X_Project_Id': 'theirs',
    'X_Tenant_Name': 'theirs',
    'X_Domain_Id': 'theirs',
    'X_Identity_Status': 'Confirmed',
    'X_Is_Admin_Project': 'True',
    'X_Service_Roles': 'service',
    'X_Service_Identity_Status': 'Confirmed',
    'OpenStack_System_Scope': 'all',
}
PASSWORD = 'Grüße:1'


def hashed(password):
    """Return a cheap hash, to save time."""
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(4)).decode()


class RecordingApplication:
    """An application that records its callers."""

    def __init__(self):
        self.callers = []
        self.environs = []

    def __call__(self, environ, start_response):
        self.callers.append(environ.get(CALLER))
        self.environs.append(environ)
        start_response('200 OK', [('Content-Type', 'application/json')])
        return [b'{}']


class AuthenticationCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.endpoint = RecordingApplication()

    def gate(self, strategy=NoAuthentication, public=()):
        return Gate(self.endpoint, strategy, lambda e: e['PATH_INFO'] in public)


class TestGate(AuthenticationCase):
    """Identity headers of clients, and requests without authentication."""

    def test_gate_passes_tokens_and_removes_identity_headers(self):
        tokens = {'X_Auth_Token': 'a', 'X_Service_Token': 'b', 'Authorization': 'c'}

        ask(self.gate(), 'GET', '/v1', **CLAIMS, **tokens)

        (environ,) = self.endpoint.environs
        claims = {f'HTTP_{name.upper()}' for name in CLAIMS}
        self.assertEqual(set(), claims & set(environ))
        self.assertEqual(
            ['a', 'b', 'c'], [environ[f'HTTP_{name.upper()}'] for name in tokens]
        )

    def test_host_header_check_applies_only_to_public_metrics(self):
        def answer(environ, start_response):
            start_response('200 OK', [])
            return [b'']

        gate = Gate(
            answer,
            lambda application: application,
            lambda environ: environ['PATH_INFO'] != '/v1',
            lambda application: HostHeaderCheck(
                application,
                frozenset({'api.example.org'}),
                lambda environ: environ['PATH_INFO'] == '/metrics',
            ),
        )
        known = (
            *('127.0.0.1:9322', '[::1]:9322', '192.0.2.1', 'localhost'),
            *('api.example.org:443', 'API.example.org'),
        )
        others = ('evil.example.org', 'localhost.evil.org', '[')

        self.assertEqual(
            {'/': {200}, '/v1': {200}, '/metrics': {403}},
            {
                path: {ask(gate, 'GET', path, Host=name).status for name in others}
                for path in ('/', '/v1', '/metrics')
            },
        )
        self.assertEqual(
            {200}, {ask(gate, 'GET', '/metrics', Host=name).status for name in known}
        )

    def test_public_request_has_no_caller(self):
        gate = self.gate(lambda application: RecordingApplication(), public=['/'])

        ask(gate, 'GET', '/', environ={CALLER: SYNTHETIC})

        self.assertEqual([None], self.endpoint.callers)


class TestNoAuthentication(AuthenticationCase):
    """auth_strategy noauth."""

    def test_every_caller_is_an_administrator(self):
        ask(self.gate(), 'GET', '/v1', X_Roles='reader')

        self.assertEqual([SYNTHETIC], self.endpoint.callers)
        self.assertEqual({'admin'}, SYNTHETIC.roles)


class TestLocalOriginCheck(AuthenticationCase):
    """Without authentication, cross-site requests of a browser are rejected."""

    def status(self, host, **headers):
        api = LocalOriginCheck(self.endpoint, {'https://dashboard.example.org'})
        return ask(api, 'POST', '/v1', Host=host, **headers).status

    def test_only_local_host_names_are_accepted(self):
        for status, hosts in (
            (200, ('127.0.0.1:9322', 'localhost', 'LOCALHOST:9322', '[::1]:9322')),
            (403, ('evil.example.org:9322', '127.0.0.1.evil.example.org', '[', '')),
        ):
            for host in hosts:
                with self.subTest(host=host):
                    self.assertEqual(status, self.status(host))

    def test_foreign_origin_is_rejected_unless_allowed(self):
        for status, origins in (
            (403, ('https://evil.example.org', 'null', '')),
            (200, ('http://localhost:8080', 'https://dashboard.example.org')),
        ):
            for origin in origins:
                with self.subTest(origin=origin):
                    self.assertEqual(status, self.status('localhost', Origin=origin))


class TestHttpBasic(AuthenticationCase):
    """auth_strategy http_basic."""

    def setUp(self):
        super().setUp()
        self.path = self.home / 'htpasswd'
        self.path.write_text(f'# users\n\nalice:{hashed(PASSWORD)}\n')
        self.passwords = PasswordFile(str(self.path))
        self.api = self.gate(
            lambda application: HttpBasic(
                application, self.passwords, {'bob': ('Reader', 'service')}, ('admin',)
            )
        )

    def ask_as(self, user, password=PASSWORD):
        pair = base64.b64encode(f'{user}:{password}'.encode()).decode()
        return ask(self.api, 'GET', '/v1', Authorization=f'Basic {pair}')

    def test_correct_password_yields_roles_of_user(self):
        self.path.write_text(f'alice:{hashed(PASSWORD)}\nbob:{hashed("b")}\n')

        statuses = [self.ask_as('alice').status, self.ask_as('bob', 'b').status]

        self.assertEqual([200, 200], statuses)
        self.assertEqual(
            [
                Caller(
                    *('alice', 'alice'),
                    roles=frozenset({'admin'}),
                    system_scope='all',
                    in_all_projects=True,
                ),
                Caller(
                    *('bob', 'bob'),
                    roles=frozenset({'reader', 'service'}),
                    system_scope='all',
                    in_all_projects=True,
                ),
            ],
            self.endpoint.callers,
        )

    def test_requests_without_valid_credentials_are_rejected(self):
        headers = [
            {},
            {'Authorization': ''},
            {'Authorization': 'Basic'},
            {'Authorization': 'Basic !!!'},
            {'Authorization': 'Basic ' + base64.b64encode(b'alice').decode()},
            {'Authorization': 'Basic ' + base64.b64encode(b'\xff:\xfe').decode()},
            {'Authorization': 'Bearer abc'},
            {'X_Auth_Token': 'abc'},
        ]

        responses = [ask(self.api, 'GET', '/v1', **each) for each in headers]
        responses += [self.ask_as('alice', 'x'), self.ask_as('eve'), self.ask_as('')]
        responses += [self.ask_as('alice', PASSWORD + 'x'), self.ask_as('# users', '')]
        responses += [self.ask_as('alice', 'x' * 1000), self.ask_as('alice', 'x\0y')]

        self.assertEqual({401}, {answer.status for answer in responses})
        self.assertEqual([], self.endpoint.callers)
        self.assertEqual(
            'Basic realm="watcherlite", charset="UTF-8"',
            responses[0].headers['WWW-Authenticate'],
        )
        self.assertEqual(
            'The request you have made requires authentication.', responses[0].fault
        )

    def test_correct_password_is_hashed_once(self):
        self.ask_as('alice')
        slow = self.passwords._hashes['alice']
        # The new hash matches nothing, so the response comes from the cache.
        self.assertEqual(200, self.ask_as('alice').status)
        self.passwords._hashes['alice'] = slow.replace(b'$04$', b'$05$')

        self.assertEqual(401, self.ask_as('alice').status)

    def test_dummy_hash_of_unknown_user_has_cost_of_known_user(self):
        known = {user: hashed(user) for user in ('alice', 'bob')}
        self.path.write_text(''.join(f'{u}:{text}\n' for u, text in known.items()))
        self.ask_as('eve')

        hashes = [self.passwords._dummy_hash(f'eve{n}') for n in range(20)]

        self.assertEqual({b'$2b$04$'}, {each[:7] for each in hashes})
        self.assertEqual(20, len(set(hashes)))
        self.assertEqual(hashes[0], self.passwords._dummy_hash('eve0'))
        self.assertEqual({False}, {bcrypt.checkpw(b'x', each) for each in hashes})

    def test_wrong_passwords_do_not_block_cached_passwords(self):
        self.ask_as('alice')
        # The maximum number of other requests is being processed.
        for _ in range(HASHING + WAITING):
            self.passwords._room.acquire()

        busy = self.ask_as('alice', 'wrong')
        known = self.ask_as('alice')
        self.passwords._room.release()
        later = self.ask_as('alice', 'wrong')

        self.assertEqual([503, 200, 401], [busy.status, known.status, later.status])
        self.assertEqual('1', busy.headers['Retry-After'])
        self.assertEqual(
            'Too many passwords are being checked; try again later.', busy.fault
        )

    def test_password_file_is_reloaded_unless_invalid_or_missing(self):
        self.ask_as('alice')
        self.path.write_text(f'alice:{hashed("new password")}\n')
        statuses = [self.ask_as('alice').status]
        statuses.append(self.ask_as('alice', 'new password').status)
        self.path.write_text('alice:plain text password\n')
        statuses += [self.ask_as('alice', 'new password').status for _ in range(3)]
        logged = self.log.output
        self.path.unlink()
        statuses.append(self.ask_as('alice', 'new password').status)

        self.assertEqual([401, *[200] * 5], statuses)
        self.assertEqual(1, logged.count('The password file was not reloaded'))
        self.assertNotIn('plain text', logged)

    def test_invalid_file_is_reported_by_line_or_option_without_content(self):
        self.path.write_text(f'alice:{hashed("a")}\nbob:$apr1$secret\n')
        for path, text in (
            (
                str(self.path),
                f'Line 2 of {self.path} is not USER:HASH with a hash of bcrypt; '
                '`htpasswd -B` writes such lines',
            ),
            (
                '/missing/htpasswd',
                'The password file /missing/htpasswd of [api] '
                'http_basic_auth_user_file cannot be read: No such file or directory',
            ),
        ):
            error = self.assertRaises(exceptions.ConfigurationError, PasswordFile, path)
            self.assertEqual(text, str(error))

    def test_credentials_require_a_colon(self):
        for text, expected in ((b'a:b:c', ('a', 'b:c')), (b'a', None)):
            pair = base64.b64encode(text).decode()
            self.assertEqual(expected, credentials(f'basic  {pair} '))


class TestKeystone(AuthenticationCase):
    """auth_strategy keystone: the callers from the headers of keystonemiddleware."""

    def api(self, around):
        return self.gate(lambda application: Keystone(application, around))

    def test_caller_has_identity_of_token(self):
        found = {
            'HTTP_X_USER_ID': 'u1',
            'HTTP_X_USER_NAME': 'alice',
            'HTTP_X_PROJECT_ID': 'p1',
            'HTTP_X_ROLES': 'Member, reader',
            'HTTP_OPENSTACK_SYSTEM_SCOPE': 'all',
            'HTTP_X_AUTH_TOKEN': 't0k3n',
        }

        ask(
            self.api(lambda app: lambda environ, start: app(environ | found, start)),
            'GET',
            '/v1',
        )

        self.assertEqual(
            [
                Caller(
                    'u1',
                    'alice',
                    'p1',
                    frozenset({'member', 'reader'}),
                    'all',
                    role_names=('Member', 'reader'),
                    token='t0k3n',
                )
            ],
            self.endpoint.callers,
        )
        self.assertNotIn('t0k3n', repr(self.endpoint.callers))

    def test_401_of_keystonemiddleware_is_reformatted_and_keeps_challenge(self):
        closed = []

        class Body(list):
            def close(self):
                closed.append(True)

        def refusing(application):
            def call(environ, start):
                start(
                    '401 Unauthorized',
                    [
                        ('Content-Type', 'text/html'),
                        ('Content-Length', '4'),
                        ('WWW-Authenticate', 'Keystone uri="http://keystone"'),
                    ],
                )
                return Body([b'html'])

            return call

        answer = ask(self.api(refusing), 'GET', '/v1')

        self.assertEqual(
            (401, 'The request you have made requires authentication.'),
            (answer.status, answer.fault),
        )
        self.assertEqual(
            'Keystone uri="http://keystone"', answer.headers['WWW-Authenticate']
        )
        self.assertEqual(str(len(answer.data)), answer.headers['Content-Length'])
        self.assertEqual(([True], []), (closed, self.endpoint.callers))

    def test_exception_of_keystonemiddleware_returns_503(self):
        log = self.useFixture(fixtures.FakeLogger())
        reason = 'internal endpoint for identity service not found'

        def failing(application):
            def call(environ, start):
                raise catalog.EndpointNotFound(reason)

            return call

        answer = ask(self.api(failing), 'GET', '/v1')

        self.assertEqual((503, UNCHECKED), (answer.status, answer.fault))
        self.assertEqual('2', answer.headers['Retry-After'])
        self.assertEqual(
            f'keystonemiddleware cannot validate tokens: EndpointNotFound: {reason}; '
            'see [keystone_authtoken]\n',
            log.output,
        )

    def test_exceptions_and_errors_of_api_are_passed_through(self):
        def failing(environ, start):
            if environ['PATH_INFO'] == '/v2':
                raise ZeroDivisionError
            start('409 Conflict', [('Content-Type', 'application/json')])
            return [b'{"error_message": "as it is"}']

        self.endpoint = failing
        api = self.api(lambda app: app)

        answer = ask(api, 'GET', '/v1')

        self.assertEqual(
            (409, 'as it is'), (answer.status, answer.body['error_message'])
        )
        self.assertRaises(ZeroDivisionError, ask, api, 'GET', '/v2')
