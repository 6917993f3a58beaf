"""A cluster behind a real HAProxy, while nodes are added and removed."""

import pathlib
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import fixtures

from tests import services
from tests.bounded import TIMEOUT
from tests.cluster_worlds import BY, ClusterCase, ClusterWorld
from tests.functional.plugins.http_server import Server
from tests.ports import reserve_port
from watcherlite.domain import events
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, NewPolicyObject, PolicyObject
from watcherlite.engine.clusters import action_types
from watcherlite.plugins import options
from watcherlite.plugins.load_balancers.haproxy import HAProxy
from watcherlite.plugins.policies.deletion import Deletion
from watcherlite.plugins.policies.load_balance import LoadBalance

LOAD_BALANCE, DELETION = 'senlin.policy.loadbalance-1.3', 'senlin.policy.deletion-1.1'
#: Reads a directory of files, and reloads it on SIGUSR2.
MAIN = """\
global
    stats socket {home}/socket
defaults
    timeout connect 5s
    timeout client 5s
    timeout server 5s
"""
#: Begins like the file of a load balancer, but is invalid.
BROKEN = (
    'frontend {{ name }}\n    bind {{ bind }}:{{ vip.protocol_port }}\n    whatever\n'
)


class Balancer(fixtures.Fixture):
    """A running HAProxy.

    :ivar options: the options of its driver
    :ivar port: the port for requests
    """

    def __init__(self, program: str, templates: str | None = None) -> None:
        super().__init__()
        self._program = program
        self._templates = templates

    def _setUp(self) -> None:
        home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.directory = home / 'balancers'
        self.directory.mkdir()
        (home / 'main.cfg').write_text(MAIN.format(home=home))
        self.port = reserve_port()
        log = open(home / 'log', 'w+')  # noqa: SIM115  (closed below)
        self.addCleanup(log.close)
        argv = [self._program, '-W', '-db', '-f', str(home / 'main.cfg')]
        process = subprocess.Popen(
            [*argv, '-f', str(self.directory)], stdout=log, stderr=subprocess.STDOUT
        )
        self.addCleanup(process.wait, TIMEOUT)
        self.addCleanup(process.terminate)
        wait_until((home / 'socket').exists, lambda: (home / 'log').read_text())
        kill = f'import os, signal; os.kill({process.pid}, signal.SIGUSR2)'
        self.options = options.standalone_group(
            HAProxy,
            {
                'directory': str(self.directory),
                'templates': self._templates,
                'frontends': [f'127.0.0.1:{self.port}'],
                'validate': f'{self._program} -c -f {{file}}',
                'reload': f'{{python}} -c "{kill}"',
            },
        )

    def driver(self) -> type[HAProxy]:
        """Return the driver with these options."""
        given = self.options

        class Configured(HAProxy):
            def __init__(self, options: Any = None) -> None:
                super().__init__(given)

        return Configured

    def answers(self) -> set[str]:
        """Return the names of the responding nodes; none if requests are refused."""
        found = set()
        for _ in range(6):
            try:
                with urllib.request.urlopen(
                    f'http://127.0.0.1:{self.port}/', timeout=TIMEOUT
                ) as answer:
                    found.add(answer.read().decode())
            except (urllib.error.URLError, ConnectionError):
                # The process is being replaced, or has no server.
                continue
        return found


class HAProxyTest(ClusterCase):
    """Nodes that are real HTTP servers."""

    def setUp(self) -> None:
        super().setUp()
        self.program = services.program(services.HAPROXY)

    def create_world(self, templates: str | None = None) -> ClusterWorld:
        self.balancer = self.useFixture(Balancer(self.program, templates))
        return self.create_cluster_world(
            policies={LOAD_BALANCE: LoadBalance, DELETION: Deletion},
            load_balancers={'haproxy': self.balancer.driver()},
        )

    def insert_cluster(self, world: ClusterWorld, *names: str) -> Cluster:
        """Return a cluster of servers that respond with their names."""
        profile = world.profile()
        cluster = world.insert_cluster(profile, next_index=len(names) + 1)
        for index, name in enumerate(names, 1):
            body = name.encode()
            server = self.useFixture(
                Server(lambda exchange, _, body=body: exchange.answer(body=body))
            )
            where = {'address': '127.0.0.1', 'port': server.port}
            world.create_node(
                world.insert_node(profile, name, cluster, index, metadata=where)
            )
        return cluster

    def attach(
        self, world: ClusterWorld, cluster: Cluster, type_: str, **properties: Any
    ) -> tuple[PolicyObject, Action]:
        spec = {'properties': properties}
        row = NewPolicyObject(events.new_uuid(), 'p', type_, spec, BY.owner)
        with world.store.transaction() as tx:
            policy = tx.insert_object(row)
        given = {'policy_id': policy.uuid}
        return policy, world.run_action(
            action_types.CLUSTER_ATTACH_POLICY, cluster, given
        )

    def wait_until_answered_by(self, *names: str) -> None:
        """Wait until exactly these nodes respond."""
        answers: set[str] = set()

        def so() -> bool:
            nonlocal answers
            answers = self.balancer.answers()
            return answers == set(names)

        wait_until(so, lambda: f'{answers} answer, not {names}')

    def test_only_members_receive_requests(self) -> None:
        world = self.create_world()
        # A name that would inject a second option without escaping.
        cluster = self.insert_cluster(world, 'n1', 'n2', 'n3 127.0.0.1:1')
        self.attach(world, cluster, DELETION, criteria='OLDEST_FIRST')
        vip = {'protocol_port': self.balancer.port}
        monitor = {'type': 'HTTP', 'delay': 1}
        policy, attached = self.attach(
            world, cluster, LOAD_BALANCE, vip=vip, health_monitor=monitor
        )

        self.assertEqual('SUCCEEDED', attached.status, attached.status_message)
        self.wait_until_answered_by('n1', 'n2', 'n3 127.0.0.1:1')

        shrunk = world.run_action(action_types.CLUSTER_SCALE_IN, cluster, {'count': 1})
        self.assertEqual('SUCCEEDED', shrunk.status, shrunk.status_message)
        self.wait_until_answered_by('n2', 'n3 127.0.0.1:1')

        given = {'policy_id': policy.uuid}
        detached = world.run_action(action_types.CLUSTER_DETACH_POLICY, cluster, given)
        self.assertEqual('SUCCEEDED', detached.status, detached.status_message)
        self.wait_until_answered_by()
        self.assertEqual([], list(self.balancer.directory.glob('*.cfg')))

    def test_an_invalid_configuration_is_not_loaded(self) -> None:
        (self.home / 'broken.cfg').write_text(BROKEN)
        world = self.create_world(str(self.home))
        cluster = self.insert_cluster(world, 'n1')
        vip = {'protocol_port': self.balancer.port}

        _, attached = self.attach(
            world, cluster, LOAD_BALANCE, vip=vip, template='broken.cfg'
        )

        self.assertEqual('FAILED', attached.status)
        self.assertIn(
            f'Checking the load balancer failed: {self.program} ended with exit code 1',
            attached.status_message or '',
        )
        self.assertEqual([], list(self.balancer.directory.glob('*.cfg')))

        _, attached = self.attach(world, cluster, LOAD_BALANCE, vip=vip)
        self.assertEqual('SUCCEEDED', attached.status, attached.status_message)
        self.wait_until_answered_by('n1')


def wait_until(condition: Callable[[], bool], shown: Callable[[], str]) -> None:
    """Poll a condition until it is true; fail after a timeout."""
    deadline, pause = time.monotonic() + TIMEOUT, threading.Event()
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(shown())
        pause.wait(0.05)
