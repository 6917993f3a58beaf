"""A stack that two daemons share survives the loss of one of them."""

import collections
import importlib
import signal
import threading
from typing import ClassVar

from tests.acceptance.daemons import ENGINE, DaemonTestCase, wait_until
from tests.acceptance.listening import NotificationCase, data
from tests.acceptance.target import APPLIED, APPLY, BEGIN
from tests.bounded import TIMEOUT
from watcherlite import bootstrap, conf
from watcherlite.domain.stacks import StackRequest
from watcherlite.plugins import options
from watcherlite.plugins.base import RESOURCE_HANDLERS
from watcherlite.plugins.loader import Plugins
from watcherlite.states import stack as states

TENANT = 'a-project'
MARK = 'Zeta::Mark'
COUNT = 100

_zeta = importlib.import_module('tests.acceptance.zeta.zeta_resources')


class Orchestrator:
    """Creates and observes stacks in the process of the test."""

    def __init__(self, ini):
        configuration = conf.new([f'--config-file={ini}'])
        self.runtime = bootstrap.Runtime(
            configuration,
            lanes=(),
            plugins=Plugins.of(
                resource_handlers={MARK: _zeta.Mark}, options=configuration
            ),
        )
        self.store = self.runtime.store
        self.stacks = self.runtime.stacks

    def close(self):
        self.runtime.stop(0)

    def create(self, resources, name='shared', **keys):
        """Request a stack; return its initial state."""
        template = {'heat_template_version': '2018-08-31', 'resources': resources}
        return self.stacks.create(StackRequest(name, template, **keys), TENANT)

    def reload(self, stack):
        return self.store.stacks_by_id([stack.id])[stack.id]

    def wait_until_settled(self, stack):
        """Wait until no operation runs on a stack; return it."""
        wait_until(
            lambda: not self.reload(stack).state.busy, lambda: self.describe(stack)
        )
        return self.reload(stack)

    def states(self, stack):
        """Return the number of resources of a stack in each state."""
        rows = self.store.list_resources([stack.id])
        return dict(collections.Counter(row.state.name for row in rows))

    def waiting(self, stack):
        """Return the names of the resources that wait at hooks."""
        return [row.name for row in self.store.waiting_resources([stack.id])]

    def describe(self, stack):
        return f'{self.reload(stack)}\n{self.states(stack)}'


class CallBlocker:
    """Blocks all further calls of the process that creates mark number `count`."""

    def __init__(self, count):
        self._count = count
        self._condition = threading.Condition()
        self._pid = None
        self._over = threading.Event()

    def __call__(self, what, pid):
        with self._condition:
            self._count -= what == APPLY
            if self._pid is None and self._count <= 0:
                self._pid = pid
                self._condition.notify_all()
            mine = pid == self._pid
        if mine:
            self._over.wait(TIMEOUT)
        return not mine

    def wait(self):
        """Return the pid of the blocked process, once there is one."""
        with self._condition:
            self._condition.wait_for(lambda: self._pid is not None, TIMEOUT)
        return self._pid

    def drop_calls(self):
        """Abort the blocked calls."""
        self._over.set()


def marks(count=COUNT):
    """Return marks, ten of which have no dependencies, and one depends on all."""
    found = {
        f'r{at}': {'type': MARK, **({} if at < 10 else {'depends_on': f'r{at % 10}'})}
        for at in range(count - 1)
    }
    return {**found, 'last': {'type': MARK, 'depends_on': list(found)}}


class SharedCase(NotificationCase, DaemonTestCase):
    """Two daemons on PostgreSQL and RabbitMQ; one of them is killed with SIGKILL.

    :cvar nouns: of the notifications: the created object and its parts
    :cvar maker: the class that creates it in the process of the test
    """

    nouns: ClassVar[tuple[str, str]]
    maker: ClassVar[type]

    def ini(self, name='watcherlite.conf', **groups):
        lane = {'lease': 2, 'sweep_interval': 0.3}
        own = {options.group_name(RESOURCE_HANDLERS, MARK): {'target': self.target.url}}
        return super().ini(name, **{'engine': lane, **own, **groups})

    def setUp(self):
        super().setUp()
        self.own = self.maker(self.path)
        self.addCleanup(self.own.close)
        self.daemons = [self.start_ready(ENGINE, self.path) for _ in range(2)]

    def kill_one_in_progress(self, count, begin):
        """Kill a daemon that has created half of the marks; return the whole object."""
        middle = self.target.on_call = CallBlocker(count // 2)
        begun = begin()
        pid = middle.wait()
        (doomed,) = (d for d in self.daemons if pid in d.workers())
        self.both = set.union(*(daemon.workers() for daemon in self.daemons))
        doomed.kill()
        middle.drop_calls()
        return begun

    def assert_each_created_once(self, names):
        """Check that each mark was created once, and that both daemons created some."""
        made = [c.name for c in self.target.calls() if c.result == APPLIED]
        self.assertEqual(dict.fromkeys(names, 1), dict(collections.Counter(made)))
        self.assertEqual(self.both, self.target.pids())

    def kill_all_at(self, name, begin):
        """Kill both daemons at a mark, start another one; return the created object."""
        gate = self.target.hold(name, what=BEGIN)
        begun = begin()
        gate.wait()
        gate.stop_holding()
        for daemon in self.daemons:
            daemon.send_all(signal.SIGKILL)
            daemon.end()
        gate.drop()
        self.start_ready(ENGINE, self.path)
        return begun

    def assert_notified(self, row, verb, count):
        """Check that each start and each end has exactly one notification."""
        whole, part = self.nouns
        notifications = {n['message_id']: n for n in self.receive()}.values()
        types = collections.Counter(n['event_type'] for n in notifications)
        for moment in ('start', 'end'):
            self.assertEqual(1, types[f'{whole}.{verb}.{moment}'], types)
            self.assertEqual(count, types[f'{part}.{verb}.{moment}'], types)
        last = [n for n in notifications if n['event_type'].startswith(f'{whole}.')][-1]
        self.assertEqual(f'{whole}.{verb}.end', last['event_type'])
        self.assertEqual(row.uuid, data(last)['uuid'])


class SharedTest(SharedCase):
    nouns = ('stack', 'resource')
    maker = Orchestrator

    def test_a_creation_completes_and_each_resource_is_created_once(self):
        stack = self.kill_one_in_progress(COUNT, lambda: self.own.create(marks()))

        stack = self.own.wait_until_settled(stack)

        self.assertEqual('CREATE_COMPLETE', stack.state.name)
        self.assertEqual({'CREATE_COMPLETE': COUNT}, self.own.states(stack))
        self.assert_each_created_once(marks())
        self.assert_notified(stack, 'create', COUNT)

    def test_a_deletion_completes_after_all_daemons_are_killed_and_one_restarts(self):
        stack = self.own.create(marks(20))
        self.own.wait_until_settled(stack)
        delete = (stack.uuid, TENANT, states.DELETE)
        self.kill_all_at('r12', lambda: self.own.stacks.start_operation(*delete))

        stack = self.own.wait_until_settled(stack)

        self.assertEqual('DELETE_COMPLETE', stack.state.name)
        self.assertEqual([], self.own.store.list_resources([stack.id]))
        self.assert_notified(stack, 'delete', 20)

    def test_a_hook_waits_while_no_daemon_runs_and_is_cleared_after_a_restart(self):
        hooks = {'resource_registry': {'resources': {'r3': {'hooks': 'pre-create'}}}}
        stack = self.own.create(marks(20), environment=hooks)
        # It, and the two that depend on it.
        desired = ['r3'], {'CREATE_COMPLETE': 17, 'INIT_COMPLETE': 3}
        wait_until(
            lambda: desired == (self.own.waiting(stack), self.own.states(stack)),
            lambda: self.own.describe(stack),
        )
        for daemon in self.daemons:
            daemon.send_all(signal.SIGKILL)
            daemon.end()

        # No daemon receives the message; the signal is in the database.
        self.own.stacks.signal(stack.uuid, TENANT, 'r3', {'unset_hook': 'pre-create'})
        self.start_ready(ENGINE, self.path)
        stack = self.own.wait_until_settled(stack)

        self.assertEqual('CREATE_COMPLETE', stack.state.name)
        made = [c.name for c in self.target.calls() if c.result == APPLIED]
        self.assertEqual(sorted(marks(20)), sorted(made))
        self.assert_notified(stack, 'create', 20)
