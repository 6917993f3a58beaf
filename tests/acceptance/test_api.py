"""The API as an operator starts it and as clients use it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys

import bcrypt

from tests.acceptance.daemons import (
    API,
    APPLIER,
    STANDALONE,
    TIMEOUT,
    DaemonTestCase,
    wait_until,
)

SERVED = re.compile(r'The API is served on (\S+), port (\d+)')
DOCUMENT = {
    'name': 'nightly',
    'actions': [
        {'name': 'one', 'action_type': 'nop', 'input_parameters': {'message': 'hello'}}
    ],
}


class ApiCase(DaemonTestCase):
    """Sends HTTP requests to a daemon."""

    database = None
    broker = False
    third_party = False

    def serve(self, what=API, **groups):
        """Start a daemon that serves the API; return it and the port."""
        daemon = self.start(what, self.ini(**groups))
        return daemon, self.port_of(daemon)

    def port_of(self, daemon):
        """Return the port of the API, once it is served."""
        daemon.wait_for_text('The API is served on')
        return int(SERVED.search(daemon.text())[2])

    def ask(self, port, method, path, body=None, **headers):
        """Return (status, JSON body) of a response."""
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=TIMEOUT)
        self.addCleanup(connection.close)
        data = None if body is None else json.dumps(body)
        headers = {name.replace('_', '-'): value for name, value in headers.items()}
        if data is not None:
            headers['Content-Type'] = 'application/json'
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None

    def execute(self, port):
        """Create a plan, start it, and wait until it has succeeded."""
        status, plan = self.ask(port, 'POST', '/v1/action_plans', DOCUMENT)
        place = f'/v1/action_plans/{plan["uuid"]}'
        self.ask(port, 'POST', f'{place}/start')

        def state():
            return self.ask(port, 'GET', place)[1]['state']

        self.assertEqual(201, status)
        wait_until(lambda: state() == 'SUCCEEDED', state)

    def startup_error(self, what=API, **groups):
        """Start a daemon that must reject its configuration; return the message."""
        daemon = self.start(what, self.ini(**groups))
        self.assertEqual(2, daemon.end(), daemon.text())
        self.assertEqual(1, daemon.text().count('\n'), daemon.text())
        return daemon.text().strip()


class TestApi(ApiCase):
    """watcherlite-api."""

    def test_it_serves_goals_without_an_engine_reloads_options_and_ends_gracefully(
        self,
    ):
        daemon, port = self.serve()

        status, root = self.ask(port, 'GET', '/')
        goals, strategies = (
            [each['name'] for each in self.ask(port, 'GET', f'/v1/{what}')[1][what]]
            for what in ('goals', 'strategies')
        )
        self.ini(DEFAULT={'debug': True})
        daemon.send(signal.SIGHUP)
        daemon.wait_for_text('[DEFAULT] debug changed from None to True')
        self.ini(DEFAULT={'graceful_shutdown_timeout': 'soon'})
        daemon.send(signal.SIGHUP)
        daemon.wait_for_text('The configuration was not reloaded')
        after, _ = self.ask(port, 'GET', '/')
        daemon.send(signal.SIGTERM)

        self.assertEqual((200, 'v1', 200), (status, root['versions'][0]['id'], after))
        self.assertIn('dummy', goals)
        self.assertIn('dummy', strategies)
        self.assertEqual(0, daemon.end(), daemon.text())
        self.assertNotIn('Traceback', daemon.text())

    def test_several_processes_share_a_port_and_one_that_dies_is_replaced(self):
        daemon, port = self.serve(api={'workers': 2, 'port': 0})
        daemon.wait_for_text('The API is served on', times=2)
        first = daemon.workers()

        # Only one: cotyledon pauses for 5 seconds before it replaces the second.
        os.kill(min(first), signal.SIGKILL)
        daemon.wait_for_text('The API is served on', times=3)

        self.assertEqual(2, len(first))
        self.assertEqual({max(first)}, first & daemon.workers())
        self.assertEqual(
            {200}, {self.ask(port, 'GET', '/v1/goals')[0] for _ in range(8)}
        )

    def test_a_plan_is_executed_by_a_worker_in_another_process(self):
        _, port = self.serve()
        # Without a broker no message arrives; the worker finds it by its sweep.
        self.start_ready(APPLIER, self.ini(applier={'sweep_interval': 0.2}))

        self.execute(port)

    def test_an_unavailable_broker_does_not_delay_requests(self):
        daemon, port = self.serve(
            messaging={'url': 'amqp://u:hunter2@127.0.0.1:1/', 'connect_timeout': 600}
        )

        _, plan = self.ask(port, 'POST', '/v1/action_plans', DOCUMENT)
        status, _ = self.ask(port, 'POST', f'/v1/action_plans/{plan["uuid"]}/start')
        _, health = self.ask(port, 'GET', '/healthcheck')
        daemon.send(signal.SIGTERM)

        self.assertEqual((200, 'degraded'), (status, health['status']))
        self.assertEqual('failed', health['broker']['status'])
        self.assertEqual(0, daemon.end(), daemon.text())
        self.assertNotIn('hunter2', daemon.text() + json.dumps(health))

    def test_a_port_in_use_is_reported_in_one_line(self):
        with socket.create_server(('127.0.0.1', 0)) as taken:
            port = taken.getsockname()[1]

            for what in (API, STANDALONE):
                self.assertEqual(
                    f'{" ".join(what)}: [api] host 127.0.0.1, port {port} is '
                    'already in use',
                    self.startup_error(what, api={'port': port}),
                )

    def test_missing_authentication_options_are_reported_in_one_line(self):
        for options, *phrases in (
            (
                {'host': '0.0.0.0'},
                '[api] host is 0.0.0.0 and auth_strategy is noauth',
                'noauth_on_any_address',
            ),
            (
                {
                    'auth_strategy': 'http_basic',
                    'http_basic_auth_user_file': '/missing',
                },
                'The password file /missing of [api] http_basic_auth_user_file cannot '
                'be read: No such file or directory',
            ),
            ({'auth_strategy': 'keystone'}, '[keystone_authtoken] has no auth_type'),
        ):
            text = self.startup_error(api={'port': 0, **options})
            self.assertEqual([], [phrase for phrase in phrases if phrase not in text])
        _, port = self.serve(
            api={'host': '0.0.0.0', 'port': 0, 'noauth_on_any_address': True}
        )
        self.assertEqual(200, self.ask(port, 'GET', '/v1/goals')[0])

    def test_users_of_a_password_file_have_the_roles_of_the_options(self):
        users = self.home / 'htpasswd'
        hashed = bcrypt.hashpw(b'secret', bcrypt.gensalt(4)).decode()
        users.write_text(f'alice:{hashed}\nbob:{hashed}\ncarl:{hashed}\n')
        _, port = self.serve(
            api={
                'port': 0,
                'auth_strategy': 'http_basic',
                'http_basic_auth_user_file': users,
                'http_basic_user_roles': 'alice:admin,bob:reader',
            }
        )
        alice, bob = 'Basic YWxpY2U6c2VjcmV0', 'Basic Ym9iOnNlY3JldA=='
        carl = 'Basic Y2FybDpzZWNyZXQ='

        statuses = [
            self.ask(port, 'GET', '/')[0],
            self.ask(port, 'GET', '/v1/goals', X_Roles='admin')[0],
            self.ask(port, 'GET', '/v1/goals', Authorization=bob)[0],
            self.ask(port, 'POST', '/v1/action_plans', DOCUMENT, Authorization=bob)[0],
            self.ask(port, 'POST', '/v1/action_plans', DOCUMENT, Authorization=alice)[
                0
            ],
            self.ask(port, 'GET', '/v1/goals', Authorization=carl)[0],
        ]

        self.assertEqual([200, 401, 200, 403, 201, 403], statuses)
        self.assertEqual({'status': 'ok'}, self.ask(port, 'GET', '/healthcheck')[1])
        self.assertEqual(
            401, self.ask(port, 'GET', '/healthcheck', Authorization='Basic x')[0]
        )
        self.assertIn(
            'lanes', self.ask(port, 'GET', '/healthcheck', Authorization=alice)[1]
        )


class TestStandalone(ApiCase):
    """watcherlite standalone."""

    def test_it_executes_plans_and_ends_while_a_stream_is_open(self):
        daemon, port = self.serve(STANDALONE)
        self.execute(port)
        _, plan = self.ask(port, 'POST', '/v1/action_plans', DOCUMENT)
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=TIMEOUT)
        self.addCleanup(connection.close)
        connection.request(
            'GET',
            f'/v1/action_plans/{plan["uuid"]}/events',
            headers={'Accept': 'text/event-stream'},
        )
        stream = connection.getresponse()
        self.assertEqual('text/event-stream', stream.headers['Content-Type'])
        stream.readline()

        daemon.send(signal.SIGTERM)

        self.assertEqual(0, daemon.end(), daemon.text())


class TestWsgi(ApiCase):
    """watcherlite.wsgi:application."""

    #: Serves requests in processes, each with an ini file and addresses of clients; it
    #: forks them when the module is imported, as a server may.
    PROGRAM = """
import io, json, os, sys
from watcherlite.wsgi import application
def start(status, headers, *rest):
    print(status, flush=True)
for ini, *clients in json.loads(sys.argv[1]):
    pid = os.fork()
    if pid:
        if os.waitpid(pid, 0)[1]:
            sys.exit(1)
        continue
    os.environ['OS_WATCHERLITE_CONFIG_FILES'] = ini
    for client in clients:
        environ = {
            'REQUEST_METHOD': 'GET', 'PATH_INFO': '/v1/goals/dummy',
            'SERVER_NAME': 'api', 'SERVER_PORT': '80', 'wsgi.url_scheme': 'http',
            'wsgi.input': io.BytesIO(),
            'wsgi.errors': sys.stderr, 'REMOTE_ADDR': client, 'QUERY_STRING': '',
            'SERVER_PROTOCOL': 'HTTP/1.1', 'SCRIPT_NAME': '',
        }
        b''.join(application(environ, start))
    break
"""

    def serve_all(self, *processes):
        """Return the status lines of the responses, in order.

        :param processes: (path of an ini file, addresses of clients...) each
        """
        done = subprocess.run(
            [sys.executable, '-c', self.PROGRAM, json.dumps(processes, default=str)],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        # The log is on standard output too.
        return re.findall(r'^\d{3} [A-Z].*$', done.stdout, re.MULTILINE)

    def test_it_serves_this_machine_only_and_retries_an_unavailable_database(self):
        missing = 'postgresql+psycopg://u:hunter2@127.0.0.1:1/watcherlite'
        away = self.ini('away.conf', database={'connection': missing})
        anybody = self.ini('anybody.conf', api={'noauth_on_any_address': True})
        here, elsewhere = '127.0.0.1', '192.0.2.1'

        statuses = self.serve_all(
            (self.ini(), here, '', elsewhere), (anybody, elsewhere), (away, here, here)
        )

        self.assertEqual(
            [
                *('200 OK', '200 OK', '403 Forbidden'),
                '200 OK',
                *('503 Service Unavailable', '503 Service Unavailable'),
            ],
            statuses,
        )
