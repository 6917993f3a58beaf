"""The HAProxy driver: files are validated and loaded, or unchanged."""

import json
import sys
from typing import Any

from tests import base
from watcherlite import exceptions
from watcherlite.plugins import options
from watcherlite.plugins.load_balancers.haproxy import Frontend, HAProxy
from watcherlite.plugins.policies.load_balance import LoadBalance
from watcherlite.testing.policies import fitted

MEMBER = {'id': 'u1', 'name': 'n1', 'address': '127.0.0.1', 'port': 8001}
OTHER = {'id': 'u2', 'name': 'n 2', 'address': '127.0.0.1', 'port': 8002}

#: Appends its arguments to a file; another file contains its exit codes.
COMMAND = """
import json, pathlib, sys
home, what, file = map(pathlib.Path, sys.argv[1:])
there = file.read_text() if file.exists() else None
with open(home / 'calls', 'a') as calls:
    calls.write(json.dumps([str(what), there is not None]) + chr(10))
bad = home / f'bad-{what}'
if bad.exists():
    print('line 3: it is bad')
    sys.exit(1)
"""


class HAProxyTest(base.TestCase):
    """Files and commands."""

    def setUp(self) -> None:
        super().setUp()
        self.directory = self.home / 'lb'
        self.directory.mkdir()
        (self.home / 'command.py').write_text(COMMAND)

    def driver(self, **values: Any) -> HAProxy:
        command = f'{sys.executable} {self.home / "command.py"} {self.home}'
        given = {
            'directory': str(self.directory),
            'frontends': ['127.0.0.1:8000-8999'],
            'validate': f'{command} validate {{file}}',
            'reload': f'{command} reload {{file}}',
            **values,
        }
        return HAProxy(options.standalone_group(HAProxy, given))

    def applied(
        self, *members: dict[str, Any], driver: HAProxy | None = None, **properties: Any
    ) -> Any:
        spec = {'vip': {'protocol_port': 8000}, **properties}
        whole = fitted(LoadBalance(), **spec)
        return (driver or self.driver()).apply('lb1', whole, members)

    def refusal(self, *members: dict[str, Any], **values: Any) -> str:
        error = self.assertRaises(
            exceptions.WatcherliteError, self.applied, *members, **values
        )
        return str(error)

    def text(self) -> str:
        return (self.directory / 'lb1.cfg').read_text()

    def servers(self) -> list[str]:
        lines = [line.strip() for line in self.text().splitlines()]
        return [line for line in lines if line.startswith('server ')]

    def calls(self) -> list[Any]:
        path = self.home / 'calls'
        found = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [json.loads(line) for line in found]

    def files(self) -> list[str]:
        return sorted(path.name for path in self.directory.iterdir())

    def test_a_file_is_written_checked_and_loaded(self) -> None:
        commands = self.applied(MEMBER, OTHER)

        self.assertEqual({'vip_address': '127.0.0.1'}, commands)
        self.assertEqual(
            '# Written by watcherlite: what is changed here is lost.\n'
            'frontend lb1\n'
            '    mode http\n'
            '    bind 127.0.0.1:8000\n'
            '    timeout client 60s\n'
            '    default_backend lb1\n'
            '\n'
            'backend lb1\n'
            '    mode http\n'
            '    balance roundrobin\n'
            '    timeout connect 5s\n'
            '    timeout server 60s\n'
            '    server n1-u1 127.0.0.1:8001\n'
            '    server n_2-u2 127.0.0.1:8002\n',
            self.text(),
        )
        self.assertEqual([['validate', True], ['reload', True]], self.calls())
        self.assertEqual(['.lb1.loaded', '.lock', 'lb1.cfg'], self.files())

    def test_only_a_file_that_may_not_have_been_loaded_is_loaded_again(self) -> None:
        self.applied(MEMBER)
        self.calls()

        self.applied(MEMBER)
        self.assertEqual([], self.calls())

        # As after the loss of a worker in between.
        (self.directory / '.lb1.loaded').unlink()
        self.applied(MEMBER)
        self.assertEqual([['validate', True], ['reload', True]], self.calls())

    def test_an_invalid_file_never_replaces_a_valid_one(self) -> None:
        self.applied(MEMBER)
        (self.home / 'bad-validate').touch()

        text = self.refusal(OTHER)

        self.assertIn('Checking the load balancer failed: ', text)
        self.assertIn('exit code 1: line 3: it is bad', text)
        self.assertEqual(['server n1-u1 127.0.0.1:8001'], self.servers())
        self.assertEqual(['.lb1.loaded', '.lock', 'lb1.cfg'], self.files())

    def test_a_file_that_cannot_be_loaded_is_rolled_back(self) -> None:
        bad = self.home / 'bad-reload'
        bad.touch()
        self.refusal(MEMBER)
        self.assertEqual(['.lock'], self.files())

        bad.unlink()
        self.applied(MEMBER)
        bad.touch()
        self.assertIn('Reloading the load balancer failed', self.refusal(OTHER))
        self.assertEqual(['server n1-u1 127.0.0.1:8001'], self.servers())

        bad.unlink()
        self.applied(OTHER)
        self.assertEqual(['server n_2-u2 127.0.0.1:8002'], self.servers())

    def test_a_removed_load_balancer_is_not_loaded(self) -> None:
        self.applied(MEMBER)
        (self.home / 'bad-reload').touch()
        self.assertRaises(exceptions.WatcherliteError, self.driver().remove, 'lb1')
        (self.home / 'bad-reload').unlink()
        self.calls()

        # A failed reload is repeated, and only until it succeeds.
        self.driver().remove('lb1')
        self.driver().remove('lb1')

        self.assertEqual([['reload', False]], self.calls())
        self.assertEqual(['.lock'], self.files())

    def test_a_command_that_takes_too_long_is_ended(self) -> None:
        slow = f'{sys.executable} -c "import signal; signal.pause()"'

        text = self.refusal(
            MEMBER, driver=self.driver(validate=slow, command_timeout=1)
        )

        self.assertEqual(
            'Checking the load balancer has taken more than 1 s: '
            f'{sys.executable} was terminated',
            text,
        )

    def test_listeners_and_members_have_permitted_addresses_only(self) -> None:
        group = 'in the group [watcherlite.load_balancers.haproxy]'
        smuggled = '127.0.0.1 check\nserver x 10.0.0.1'
        refused = (
            'The address {}, port {}, is not allowed; an operator may allow it by the '
            f'option frontends {group}'
        )
        for vip, member, text in (
            ({'protocol_port': 80}, {}, refused.format('any', 80)),
            (
                *({'address': '0.0.0.0', 'protocol_port': 8000}, {}),
                refused.format('0.0.0.0', 8000),
            ),
            (
                *({'address': '1.2.3', 'protocol_port': 8000}, {}),
                "vip.address: '1.2.3' is not an IP address",
            ),
            (
                *({'protocol_port': 8000}, {'address': '10.0.0.1'}),
                'The address of the node n1, 10.0.0.1, is in none of 127.0.0.0/8, '
                f'::1/128 (option networks {group})',
            ),
            (
                *({'protocol_port': 8000}, {'address': smuggled}),
                f'The address of the node n1: {smuggled!r} is not an IP address',
            ),
        ):
            self.assertEqual(text, self.refusal({**MEMBER, **member}, vip=vip))
        self.assertEqual(
            'The driver haproxy cannot be used: an operator has to set the option '
            f'directory {group}',
            self.refusal(MEMBER, driver=self.driver(directory=None)),
        )
        self.assertEqual([], self.files())

    def test_the_name_of_a_node_cannot_inject_configuration(self) -> None:
        self.applied({**MEMBER, 'name': 'x 10.0.0.1:1\nbackend y\n#'})

        self.assertEqual(
            ['server x_10.0.0.1_1_backend_y_-u1 127.0.0.1:8001'], self.servers()
        )

    def test_the_file_has_the_balancing_options(self) -> None:
        self.applied(
            MEMBER,
            pool={
                'lb_method': 'LEAST_CONNECTIONS',
                'session_persistence': {'type': 'HTTP_COOKIE'},
            },
            vip={'protocol_port': 8000, 'connection_limit': 9},
            health_monitor={'type': 'HTTP', 'url_path': '/ok', 'delay': 2},
        )

        for line in (
            'maxconn 9',
            'balance leastconn',
            'timeout check 5s',
            'option httpchk GET /ok',
            'http-check expect status 200',
            'cookie SRV insert indirect nocache',
            'server n1-u1 127.0.0.1:8001 check inter 2s fall 3 cookie u1',
        ):
            self.assertIn(f'    {line}\n', self.text())

    def test_an_address_with_ports_is_parsed(self) -> None:
        self.assertEqual(('127.0.0.1', 80, 80), Frontend.parts('127.0.0.1:80'))
        self.assertEqual(('::1', 8000, 8999), Frontend.parts('[::1]:8000-8999'))
        for text in ('127.0.0.1', '127.0.0.1:9-1', 'host:80', '127.0.0.1:70000'):
            self.assertRaises(ValueError, Frontend(), text)
