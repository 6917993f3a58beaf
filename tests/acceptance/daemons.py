"""Daemons as an operator starts them, and the operator in another process."""

import contextlib
import importlib
import os
import pathlib
import signal
import subprocess
import sysconfig
import threading
import time
import unittest

from testtools import content

from tests import base, schemas, services
from tests.acceptance import preloaded
from tests.acceptance.target import Target
from tests.bounded import TIMEOUT
from tests.functional.third_party.installation import Installation
from watcherlite import bootstrap, conf
from watcherlite.domain.documents import plan_document
from watcherlite.plugins import base as plugins
from watcherlite.plugins.action_types import command, nop, sleep
from watcherlite.plugins.loader import Plugins
from watcherlite.states import action_plan as plan_states

ZETA = pathlib.Path(__file__).parent / 'zeta'
SCRIPTS = pathlib.Path(sysconfig.get_path('scripts'))
#: The third-party action types that report their calls to the target.
REPORTING_TYPES = ('mark', 'mark_once', 'mark_checked', 'sleeping', 'faulty')
APPLIER = ('watcherlite-applier',)
ENGINE = ('watcherlite-engine',)
STANDALONE = ('watcherlite', 'standalone')
API = ('watcherlite-api',)
#: The first and the last interval of polls of other processes, in seconds.
FIRST_INTERVAL, LAST_INTERVAL = 0.01, 0.1

_zeta = importlib.import_module('tests.acceptance.zeta.zeta_actions')


def wait_until(answer, problem, timeout=TIMEOUT):
    """Poll a condition with growing intervals until it is true; return its value.

    For changes of a database or of a process that nothing signals.

    :param problem: returns the failure message after a timeout
    """
    deadline = time.monotonic() + timeout
    pause, pausing = FIRST_INTERVAL, threading.Event()
    while not (found := answer()):
        if time.monotonic() > deadline:
            raise AssertionError(f'not within {timeout} s: {problem()}')
        pausing.wait(pause)
        pause = min(pause * 1.5, LAST_INTERVAL)
    return found


def start_script(argv, **options):
    """Start a program by its installed script."""
    return subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, start_new_session=True, **options
    )


class Daemon:
    """A daemon: its manager process, and the workers that the manager has forked.

    :param start: starts the process; by default the installed script
    """

    def __init__(self, argv, environment, directory, log, start=start_script):
        self.log = log
        with log.open('wb') as file:
            self._process = start(
                argv, cwd=directory, env=environment, stdout=file, stderr=file
            )
        self.pid = self._process.pid

    def text(self):
        """Return its log."""
        return self.log.read_text(errors='replace')

    def wait_for_text(self, text, times=1):
        """Wait until the log contains a text this number of times."""
        wait_until(
            lambda: self.text().count(text) >= times,
            lambda: f'{text!r} in the log of {self.pid}:\n{self.text()}',
        )

    def workers(self):
        """Return the pids of its workers."""
        try:
            children = pathlib.Path(f'/proc/{self.pid}/task/{self.pid}/children')
            # The thread of the manager that forks has the children in its list.
            tasks = children.parents[1].iterdir()
            return {
                int(pid)
                for task in tasks
                for pid in (task / 'children').read_text().split()
            }
        except (FileNotFoundError, ProcessLookupError):
            return set()

    def send(self, number):
        """Send a signal to the manager, as an operator does."""
        self._process.send_signal(number)

    def send_all(self, number):
        """Send a signal to the manager and its workers."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def end(self):
        """Wait for the end; return the exit code."""
        try:
            return self._process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            raise AssertionError(f'{self.pid} does not end:\n{self.text()}') from None

    def kill(self):
        """Kill all of its processes, and wait for the end."""
        self.send_all(signal.SIGKILL)
        return self.end()


class Operator:
    """Creates, starts and observes plans in the process of the test.

    It has the third-party action types too, without the broken ones.
    """

    def __init__(self, ini):
        types = {
            'command': command.Command,
            'nop': nop.Nop,
            'sleep': sleep.Sleep,
            'mark': _zeta.Mark,
            'mark_checked': _zeta.MarkChecked,
            'mark_once': _zeta.MarkOnce,
            'sleeping': _zeta.SleepingAction,
            'faulty': _zeta.ContractViolation,
            'absent': plugins.ActionType,
            'quits': plugins.ActionType,
        }
        configuration = conf.new([f'--config-file={ini}'])
        self.runtime = bootstrap.Runtime(
            configuration,
            lanes=(),
            plugins=Plugins.of(action_types=types, options=configuration),
        )
        self.plans = self.runtime.plans
        self.store = self.runtime.store

    def close(self):
        """Publish pending events, and close all connections."""
        self.runtime.stop(0)

    def create(self, *actions, **options):
        """Store a plan; return its uuid.

        :param actions: (name, action type, inputs, parents...) each
        :param options: of the plan; `timeouts`: by name
        """
        timeouts = options.pop('timeouts', {})
        document = {
            'actions': [
                {
                    'name': name,
                    'action_type': action_type,
                    'input_parameters': inputs,
                    'parents': list(parents),
                    **({'timeout': timeouts[name]} if name in timeouts else {}),
                }
                for name, action_type, inputs, *parents in actions
            ],
            **options,
        }
        return self.plans.create(plan_document.from_mapping(document)).uuid

    def start(self, *actions, **options):
        """Store and start a plan; return its uuid."""
        uuid = self.create(*actions, **options)
        self.plans.start(uuid)
        return uuid

    def plan(self, uuid):
        """Return the current state of a plan."""
        return self.store.get_plan(uuid)

    def actions(self, uuid):
        """Return the current actions of a plan, by name."""
        plan_id = self.plan(uuid).id
        return {a.name: a for a in self.store.list_actions(plan_id=plan_id)}

    def events(self, uuid):
        """Return the history of a plan."""
        return self.store.list_events(plan_id=self.plan(uuid).id)

    def wait_until_ended(self, *uuids, timeout=TIMEOUT):
        """Wait until plans have ended; return the state of the last one."""
        for uuid in uuids:
            wait_until(
                lambda uuid=uuid: self.plan(uuid).state in plan_states.ENDED,
                lambda uuid=uuid: f'the end of {self.describe(uuid)}',
                timeout,
            )
        return self.plan(uuids[-1]).state

    def wait_for_status(self, uuid, status, *names):
        """Wait until actions of a plan have a status."""
        wait_until(
            lambda: all(self.actions(uuid)[n].status == status for n in names),
            lambda: f'{names} are {status} in {self.describe(uuid)}',
        )

    def describe(self, uuid):
        """Return a description of a plan and its actions for failure messages."""
        lines = [
            f'{a.name} ({a.action_type}): {a.status}, owner {a.owner}, attempt '
            f'{a.attempt}: {a.status_message}'
            for a in self.actions(uuid).values()
        ]
        return '\n'.join([f'plan {uuid}, which is {self.plan(uuid).state}', *lines])

    def states(self, uuid):
        """Return the states of the actions of a plan, by name."""
        return {name: a.state for name, a in self.actions(uuid).items()}

    def messages(self, uuid):
        """Return the status messages of the actions that have one, by name."""
        return {
            name: a.status_message
            for name, a in self.actions(uuid).items()
            if a.status_message
        }

    def worker_of(self, pid):
        """Wait for the lease of the worker in a process; return its uuid."""

        def found():
            workers = self.store.live_workers()
            return [w.uuid for w in workers if w.identity.split('/')[-2] == str(pid)]

        return wait_until(found, lambda: f'a worker with the pid {pid}')[0]


class DaemonTestCase(base.TestCase):
    """Provides a database and a broker, and starts daemons.

    The database is empty for each test.

    :cvar database: the kind of the database, None for SQLite
    :cvar broker: whether to use one; else messages stay within each process
    :cvar own_broker: whether notifications of other classes would interfere
    :cvar third_party: whether third-party plugins are installed, including broken ones
    :cvar start_process: starts a process
    """

    database = services.POSTGRESQL
    broker = True
    own_broker = False
    third_party = True
    start_process = staticmethod(preloaded.start)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.installation = Installation()
        cls.installation.setUp()
        cls.addClassCleanup(cls.installation.cleanUp)
        if cls.third_party:
            cls.installation.add(ZETA)
        if cls.database is not None:
            cls.database_url = schemas.server(cls.database)
        if cls.broker:
            if cls.own_broker:
                cls.vhost = services.RabbitVhost()
                cls.vhost.setUp()
                cls.addClassCleanup(cls.vhost.cleanUp)
            else:
                cls.vhost = services.vhost()
            if not cls.vhost.isolated:
                text = 'a virtual host for daemons needs a usable rabbitmqctl'
                raise unittest.SkipTest(text)

    def setUp(self):
        super().setUp()
        if self.database is None:
            self.database_url = schemas.copy_sqlite(self.home / 'watcherlite.sqlite')
        else:
            schemas.empty_at(self.database_url)
        self.broker_url = self.vhost.url if self.broker else 'memory://'
        self.target = self.useFixture(Target())
        self._daemons = 0

    # Configuration and processes

    def ini(self, name='watcherlite.conf', **groups):
        """Write an ini file; return its path.

        :param groups: group -> {option: value}, in addition to the options of all
            daemons of a test
        """
        lane = {
            'lease': 2,
            # Too long for a test, so that it fails if a message is missing.
            'sweep_interval': 300,
            'signal_grace': 0.2,
        }
        target = {'target': self.target.url}
        own = {f'{plugins.ACTION_TYPES}.{name}': target for name in REPORTING_TYPES}
        settings = {
            'DEFAULT': {'host': 'here', 'state_path': self.home},
            'database': {'connection': self.database_url},
            'messaging': {'url': self.broker_url, 'reconnect_max': 1},
            # The lease of the relay role is ten seconds longer than this.
            'notifications': {'publish_timeout': 1},
            # Any free port; the log contains its number.
            'api': {'port': 0},
            'outgoing_http': {'allowed_networks': '127.0.0.0/8'},
            **(own if self.third_party else {}),
        }
        for group in ('applier', 'engine'):
            settings[group] = {**lane, **groups.pop(group, {})}
        for group, options in groups.items():
            settings[group] = {**settings.get(group, {}), **options}
        path = self.home / name
        path.write_text(
            ''.join(
                f'[{group}]\n'
                + ''.join(f'{option} = {value}\n' for option, value in options.items())
                for group, options in settings.items()
            )
        )
        return path

    def start(self, what, ini, *arguments):
        """Start a daemon; kill it at the end of the test.

        :param what: APPLIER, ENGINE or STANDALONE
        """
        self._daemons += 1
        log = self.home / f'{what[-1]}-{self._daemons}.log'
        daemon = Daemon(
            [str(SCRIPTS / what[0]), *what[1:], f'--config-file={ini}', *arguments],
            {
                **os.environ,
                'PYTHONPATH': str(self.installation.path),
                'XDG_CACHE_HOME': str(self.installation.path / 'cache'),
                'PYTHONUNBUFFERED': '1',
            },
            self.home,
            log,
            self.start_process,
        )
        # Reads the text now: the file is gone when a failure is reported.
        self.addCleanup(
            lambda: self.addDetail(log.name, content.text_content(daemon.text()))
        )
        self.addCleanup(daemon.kill)
        return daemon

    def start_ready(self, what, ini):
        """Start a daemon; wait until it has a lease and consumes messages."""
        daemon = self.start(what, ini)
        self.wait_until_ready(daemon)
        return daemon

    def wait_until_ready(self, daemon, times=1):
        """Wait until the worker of a daemon is ready, for the given time."""
        daemon.wait_for_text(' serves ', times)
        if self.broker:
            daemon.wait_for_text('Consuming messages from', times)

    def operator(self, ini):
        """Return an operator with the same database and broker."""
        operator = Operator(ini)
        self.addCleanup(operator.close)
        return operator
