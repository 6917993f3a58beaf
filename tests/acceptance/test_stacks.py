"""A stack that two daemons share survives the loss of one of them."""

import collections
import importlib
import signal
import threading
from typing import ClassVar

from tests.acceptance.daemons import ENGINE, PATIENCE, DaemonTestCase, wait_until
from tests.acceptance.listening import HearingCase, data
from tests.acceptance.target import APPLIED, APPLY, BEGIN
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
    """Makes and watches stacks from the process of the test."""

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
        """Have a stack made; return it as it is then."""
        template = {'heat_template_version': '2018-08-31', 'resources': resources}
        return self.stacks.create(StackRequest(name, template, **keys), TENANT)

    def now(self, stack):
        return self.store.stacks_by_id([stack.id])[stack.id]

    def settled(self, stack):
        """Wait until nothing is done with a stack; return it."""
        wait_until(lambda: not self.now(stack).state.busy, lambda: self.describe(stack))
        return self.now(stack)

    def states(self, stack):
        """Return how many resources of a stack are in each state."""
        rows = self.store.list_resources([stack.id])
        return dict(collections.Counter(row.state.name for row in rows))

    def describe(self, stack):
        return f'{self.now(stack)}\n{self.states(stack)}'


class Middle:
    """Keeps back whoever is the one that makes so many marks, from then on."""

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
            self._over.wait(PATIENCE)
        return not mine

    def wait(self):
        """Return the process that is kept back, once there is one."""
        with self._condition:
            self._condition.wait_for(lambda: self._pid is not None, PATIENCE)
        return self._pid

    def go_on(self):
        """Let nothing come of what was kept back."""
        self._over.set()


def marks(count=COUNT):
    """Return marks of which ten are made first, and one last."""
    found = {
        f'r{at}': {'type': MARK, **({} if at < 10 else {'depends_on': f'r{at % 10}'})}
        for at in range(count - 1)
    }
    return {**found, 'last': {'type': MARK, 'depends_on': list(found)}}


class SharedTest(HearingCase, DaemonTestCase):
    """Two daemons on PostgreSQL and RabbitMQ; one of them is killed with SIGKILL."""

    lane: ClassVar[dict[str, float]] = {'lease': 2, 'sweep_interval': 0.3}

    def ini(self, name='watcherlite.conf', **groups):
        own = {options.group_name(RESOURCE_HANDLERS, MARK): {'target': self.target.url}}
        return super().ini(name, **{'engine': self.lane, **own, **groups})

    def setUp(self):
        super().setUp()
        self.orchestrator = Orchestrator(self.path)
        self.addCleanup(self.orchestrator.close)
        self.daemons = [self.start_ready(ENGINE, self.path) for _ in range(2)]

    def effects(self):
        """Return how often each mark was made."""
        made = [c.name for c in self.target.calls() if c.result == APPLIED]
        return collections.Counter(made)

    def test_a_creation_is_complete_and_each_was_made_once(self):
        middle = self.target.on_call = Middle(COUNT // 2)
        stack = self.orchestrator.create(marks())
        pid = middle.wait()
        (doomed,) = (d for d in self.daemons if pid in d.workers())
        both = set.union(*(daemon.workers() for daemon in self.daemons))
        doomed.kill()
        middle.go_on()

        stack = self.orchestrator.settled(stack)

        self.assertEqual('CREATE_COMPLETE', stack.state.name)
        self.assertEqual({'CREATE_COMPLETE': COUNT}, self.orchestrator.states(stack))
        self.assertEqual(dict.fromkeys(marks(), 1), dict(self.effects()))
        # Both had a part in it.
        self.assertEqual(both, self.target.pids())
        self.assert_told(stack, 'create', COUNT)

    def test_a_deletion_is_too_when_all_daemons_are_killed_and_one_comes_back(self):
        stack = self.orchestrator.create(marks(20))
        self.orchestrator.settled(stack)
        gate = self.target.hold('r12', what=BEGIN)
        self.orchestrator.stacks.act(stack.uuid, TENANT, states.DELETE)
        gate.wait()
        gate.let_newcomers_pass()
        for daemon in self.daemons:
            daemon.send_all(signal.SIGKILL)
            daemon.end()
        gate.drop()
        self.start_ready(ENGINE, self.path)

        stack = self.orchestrator.settled(stack)

        self.assertEqual('DELETE_COMPLETE', stack.state.name)
        self.assertEqual([], self.orchestrator.store.list_resources([stack.id]))
        self.assert_told(stack, 'delete', 20)

    def assert_told(self, stack, action, count):
        """Check that the world was told once of each start and each end."""
        heard = {n['message_id']: n for n in self.hear()}.values()
        told = collections.Counter(n['event_type'] for n in heard)
        for moment in ('start', 'end'):
            self.assertEqual(1, told[f'stack.{action}.{moment}'], told)
            self.assertEqual(count, told[f'resource.{action}.{moment}'], told)
        last = [n for n in heard if n['event_type'].startswith('stack.')][-1]
        self.assertEqual(f'stack.{action}.end', last['event_type'])
        self.assertEqual(stack.uuid, data(last)['uuid'])
