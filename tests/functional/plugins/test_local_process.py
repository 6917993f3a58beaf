"""Local::Process with real processes."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import uuid

from tests import base
from tests.bounded import TIMEOUT
from tests.functional.plugins.http_server import Server
from tests.ports import reserve_port
from watcherlite import exceptions
from watcherlite.clock import SystemClock
from watcherlite.plugins.resource_handlers import process_table
from watcherlite.plugins.resource_handlers.local_process import LocalProcess
from watcherlite.testing import ResourceRun

SLEEP = ['/bin/sleep', '600']
QUICK = {'interval': 0.05}

#: Listens on a port once a file exists.
LISTEN = """
import os, pathlib, socket, sys, time
while not pathlib.Path(sys.argv[2]).exists():
    time.sleep(0.01)
server = socket.create_server(('127.0.0.1', int(sys.argv[1])))
while True:
    server.accept()[0].close()
"""
#: Ignores SIGTERM, and so does its child.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
open(sys.argv[1], 'a').write(f'{os.getpid()}\\n')
time.sleep(600)
"""
TELL = """
import json, os, signal, sys, time
print(json.dumps({
    'environment': dict(os.environ), 'directory': os.getcwd(),
}), flush=True)
print('and on', file=sys.stderr, flush=True)
time.sleep(600)
"""


class ProcessCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.uuids = []
        self.addCleanup(self.kill_all)

    def kill_all(self):
        for name in self.uuids:
            for process in process_table.of_resource(name):
                os.killpg(process.pid, signal.SIGKILL)

    def run_of(self, *, uuid_=None, **options):
        run = ResourceRun(
            LocalProcess,
            options={
                'allowed': ['/bin/sleep {value}', f'{sys.executable} -c ...'],
                'log_directory': str(self.home),
                'directories': [str(self.home)],
                'variables': ['COL*'],
                **options,
            },
            clock=SystemClock(),
            timeout=TIMEOUT,
            uuid=uuid_ or str(uuid.uuid4()),
        )
        self.uuids.append(run.uuid)
        return run

    def create(self, argv=SLEEP, **properties):
        run = self.run_of()
        created = run.create({'argv': argv, 'health': QUICK, **properties})
        self.assertEqual(('COMPLETE', ''), (created.status, created.reason))
        return run

    def pids(self, run):
        return [process.pid for process in process_table.of_resource(run.uuid)]

    def wait_until(self, condition):
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), deadline, 'it took too long')
            os.sched_yield()

    def kill(self, run):
        os.kill(run.attributes['pid'], signal.SIGKILL)
        self.wait_until(
            lambda: process_table.read_process(run.attributes['pid']) is None
        )

    def script(self, text, *words):
        return [sys.executable, '-c', text, *map(str, words)]

    def state(self, pid):
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2][1]


class TestLife(ProcessCase):
    def test_a_process_is_started_checked_and_ended(self):
        run = self.create()

        (pid,) = self.pids(run)
        self.assertEqual(
            {
                'pid': pid,
                'host': socket.gethostname(),
                'log': str(self.home / f'{run.physical_name}.log'),
            },
            run.attributes,
        )
        # It is no child of this process, and has a session of its own.
        self.assertEqual(pid, os.getsid(pid))
        parent = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2]
        self.assertNotEqual(os.getpid(), int(parent.split()[1]))
        # It does not inherit the ignored signals of Python.
        status = pathlib.Path(f'/proc/{pid}/status').read_text()
        self.assertIn('SigIgn:\t0000000000000000\n', status)
        start = process_table.read_process(pid).start
        self.assertEqual(f'{socket.gethostname()}:{pid}:{start}', run.physical_id)
        self.assertEqual('COMPLETE', run.check().status)
        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual([], self.pids(run))
        self.assertEqual('COMPLETE', run.delete().status)

    def test_a_reboot_starts_the_process_even_after_it_was_killed(self):
        run = self.create()
        for killed, parameters in ((False, {'type': 'SOFT'}), (True, None)):
            before = run.attributes['pid']
            if killed:
                self.kill(run)
                self.assertEqual('FAILED', run.check().status)

            rebooted = run.operate('reboot', parameters)

            self.assertEqual(('COMPLETE', ''), (rebooted.status, rebooted.reason))
            (after,) = self.pids(run)
            self.assertNotEqual(before, after)
            self.assertEqual(after, run.attributes['pid'])
            self.assertEqual('COMPLETE', run.check().status)

    def test_a_reboot_does_not_start_a_command_that_is_no_longer_allowed(self):
        run = self.create()
        run._options.allowed = ['/bin/true']

        rebooted = run.operate('reboot')

        self.assertEqual('FAILED', rebooted.status)
        self.assertIn('allowed', rebooted.reason)
        self.assertEqual(1, len(self.pids(run)))

    def test_the_process_survives_the_program_that_started_it(self):
        name = str(uuid.uuid4())
        self.uuids.append(name)
        program = (
            'import sys\n'
            'from watcherlite.clock import SystemClock\n'
            'from watcherlite.plugins.resource_handlers.local_process import '
            'LocalProcess\n'
            'from watcherlite.testing import ResourceRun\n'
            'run = ResourceRun(LocalProcess, '
            "options={'allowed': ['/bin/sleep {value}']}, "
            'uuid=sys.argv[1], clock=SystemClock())\n'
            "print(run.create({'argv': ['/bin/sleep', '600']}).status)\n"
        )
        completed = subprocess.run(
            [sys.executable, '-c', program, name], stdout=subprocess.PIPE, check=True
        )

        self.assertEqual(b'COMPLETE\n', completed.stdout)
        self.assertEqual(1, len(process_table.of_resource(name)))

    def test_the_process_has_its_environment_directory_and_log(self):
        run = self.create(
            self.script(TELL), environment={'COLOUR': 5}, directory=str(self.home)
        )
        log = pathlib.Path(run.attributes['log'])

        self.wait_until(lambda: 'and on' in log.read_text())

        line = log.read_text().splitlines()[0]
        reported = json.loads(line)
        self.assertEqual(
            {
                'PATH': '/usr/bin:/bin',
                'LANG': 'C.UTF-8',
                'COLOUR': '5',
                'WATCHERLITE_RESOURCE': run.uuid,
            },
            {n: v for n, v in reported['environment'].items() if n != 'LC_CTYPE'},
        )
        self.assertEqual(str(self.home), reported['directory'])
        self.assertEqual(0o600, log.stat().st_mode & 0o777)

    def test_a_command_that_is_not_allowed_is_refused_early(self):
        for argv, expected in (
            (
                ['/bin/sh', '-c', 'true'],
                'properties.argv.0: /bin/sh is not allowed; an operator may add it to '
                'the option allowed in the group '
                '[watcherlite.resource_handlers.local_process]',
            ),
            (
                [sys.executable, 'x'],
                f'properties.argv: {sys.executable} is allowed only as '
                f'{sys.executable} -c ... (option allowed in the group '
                '[watcherlite.resource_handlers.local_process])',
            ),
        ):
            error = self.assertRaises(
                exceptions.Invalid, self.run_of().create, {'argv': argv}
            )

            self.assertEqual(expected, str(error))
        self.assertEqual(
            [None], self.run_of().fit({'argv': [None]}, known=False)['argv']
        )

    def test_a_template_sets_only_the_permitted_variables(self):
        error = self.assertRaises(
            exceptions.Invalid,
            self.run_of().create,
            {
                'argv': SLEEP,
                'environment': {'COLOUR': 'red', 'LD_PRELOAD': '/x.so'},
                'directory': '/etc',
            },
        )

        group = '[watcherlite.resource_handlers.local_process]'
        self.assertEqual(
            [
                'properties.environment.LD_PRELOAD: is not allowed; an operator may '
                f'add it to the option variables in the group {group}',
                f'properties.directory: /etc is not within {self.home} (option '
                f'directories in the group {group})',
            ],
            error.problems,
        )

    def test_a_failed_start_is_reported(self):
        for more, expected in (
            ({'allowed': ['/bin/absent']}, 'cannot be run: No such file or directory'),
            (
                {'log_directory': str(self.home / 'absent')},
                'cannot be written: No such file or directory',
            ),
        ):
            allowed = ['/bin/absent', '/bin/sleep {value}']
            run = self.run_of(**{'allowed': allowed, **more})
            argv = SLEEP if 'log_directory' in more else ['/bin/absent']

            created = run.create({'argv': argv})

            self.assertEqual('FAILED', created.status)
            self.assertIn(expected, created.reason)


class TestHealth(ProcessCase):
    def answering(self, statuses):
        return self.useFixture(
            Server(lambda exchange, received: exchange.answer(statuses.pop(0)))
        )

    def test_the_port_is_checked_on_the_configured_host(self):
        with socket.create_server(('127.0.0.2', 0)) as server:
            port = server.getsockname()[1]
            run = self.create(
                health={'type': 'port', 'host': '127.0.0.2', 'port': port, **QUICK}
            )
            open_port = run.check()
        closed = run.check()

        self.assertEqual('COMPLETE', open_port.status)
        self.assertIn(f'port {port} of 127.0.0.2: Connection refused', closed.reason)

    def test_a_process_that_exits_early_fails_its_creation(self):
        run = self.run_of()

        created = run.create({'argv': ['/bin/sleep', 'x'], 'health': QUICK})

        self.assertEqual('FAILED', created.status)
        self.assertIn(f'see {self.home}/{run.physical_name}.log', created.reason)

    def test_a_killed_process_fails_its_check_and_is_replaced(self):
        run = self.create()
        old = run.attributes['pid']
        self.kill(run)

        checked = run.check()

        self.assertEqual('FAILED', checked.status)
        self.assertIn(f'Process {run.physical_id} is not running', checked.reason)
        before = run.uuid
        updated = run.update({'argv': SLEEP, 'health': QUICK})
        self.uuids.append(run.uuid)
        self.assertEqual(('replace', 'COMPLETE'), (updated.change, updated.status))
        self.assertNotEqual((before, old), (run.uuid, run.attributes['pid']))
        self.assertEqual('COMPLETE', run.check().status)

    def test_the_creation_completes_when_the_port_is_open(self):
        port, sign = reserve_port(), self.home / 'sign'
        run = self.run_of()
        desired = {
            'argv': self.script(LISTEN, port, sign),
            'health': {'type': 'port', 'port': port, 'interval': 0.05, 'timeout': 0.1},
        }

        failed = run.create(desired)

        self.assertIn('is unhealthy after 0.1 s: port', failed.reason)
        sign.touch()
        other = self.run_of()
        run.delete()
        desired['health']['timeout'] = TIMEOUT
        self.assertEqual('COMPLETE', other.create(desired).status)

    def test_the_process_is_healthy_while_its_url_responds_as_expected(self):
        for answers, path, more, healthy, words in (
            (
                *([503, 503, 200, 500], '/up?token=hunter2', {}),
                *(0, '/up?… answered 500, not 200-299'),
            ),
            (
                *([204, 401, 200], '', {'expected_statuses': [204, 401]}),
                *(1, ' answered 200, not 204, 401'),
            ),
        ):
            server = self.answering(list(answers))
            health = {'type': 'url', 'url': f'{server.url}{path}', **more, **QUICK}

            run = self.create(health=health)
            checked = [run.check() for _ in range(healthy + 1)]

            self.assertEqual(
                ['COMPLETE'] * healthy + ['FAILED'], [one.status for one in checked]
            )
            self.assertIn(f'is unhealthy: {server.url}{words}', checked[-1].reason)
            self.assertEqual(
                ['GET'] * len(answers), [request.method for request in server.received]
            )

    def test_the_health_of_a_suspended_process_is_not_checked(self):
        server = self.answering([200, 500])
        run = self.create(health={'type': 'url', 'url': server.url, **QUICK})

        run.suspend()
        at_rest = run.check()
        run.resume()
        going_on = run.check()

        self.assertEqual(['COMPLETE', 'FAILED'], [at_rest.status, going_on.status])
        run.suspend()
        self.kill(run)
        self.assertIn('is not running', run.check().reason)

    def test_an_incomplete_health_property_is_refused(self):
        for kind in ('port', 'url'):
            error = self.assertRaises(
                exceptions.Invalid,
                self.run_of().create,
                {'argv': SLEEP, 'health': {'type': kind}},
            )

            self.assertEqual(
                f'properties.health.{kind}: is required for the type {kind}', str(error)
            )

    def test_a_reused_process_id_is_detected(self):
        run = self.create()
        run.data['start'] -= 1

        self.assertIn('is not running', run.check().reason)
        run.data['start'] += 1
        run.data['boot'] = 'another'
        self.assertIn('is not running', run.check().reason)

    def test_a_process_of_another_host_is_managed_there(self):
        run = self.create()
        run.data['host'] = 'elsewhere'

        for operation in (run.check, run.delete):
            self.assertIn(
                f'is on elsewhere, and this worker on {socket.gethostname()}',
                operation().reason,
            )
        self.assertEqual(1, len(self.pids(run)))


class TestChanging(ProcessCase):
    def test_only_a_changed_command_restarts_the_process(self):
        run = self.create()
        uuid_ = run.uuid
        for argv, grace, restarted in (
            # Another health check needs no restart.
            (SLEEP, 1, False),
            (['/bin/sleep', '601'], 1, True),
        ):
            old = run.attributes['pid']

            updated = run.update({'argv': argv, 'stop_grace': grace, 'health': QUICK})

            self.assertEqual(('update', 'COMPLETE'), (updated.change, updated.status))
            self.assertEqual(restarted, old != run.attributes['pid'])
            self.assertEqual(
                ([run.attributes['pid']], uuid_), (self.pids(run), run.uuid)
            )

    def test_a_failed_process_with_a_port_is_restarted_in_place(self):
        port, sign = reserve_port(), self.home / 'sign'
        sign.touch()
        desired = {
            'argv': self.script(LISTEN, port, sign),
            'health': {'type': 'port', 'port': port, **QUICK},
            'exclusive': True,
        }
        run = self.create(**desired)
        old, uuid_ = run.attributes['pid'], run.uuid
        # A user has marked it.
        run.failed = True

        updated = run.update(desired)

        self.assertEqual(('update', 'COMPLETE'), (updated.change, updated.status))
        self.assertEqual((uuid_, 1), (run.uuid, len(self.pids(run))))
        self.assertNotEqual(old, run.attributes['pid'])

    def test_a_suspended_process_is_stopped(self):
        run = self.create(stop_grace=3600)
        (pid,) = self.pids(run)

        run.suspend()
        self.wait_until(lambda: self.state(pid) == 'T')
        self.assertEqual('COMPLETE', run.check().status)
        run.resume()
        self.wait_until(lambda: self.state(pid) == 'S')
        run.suspend()

        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual([], self.pids(run))

    def test_a_lock_is_stored_with_the_process(self):
        run = self.create()

        self.assertTrue(LocalProcess.supports('lock'))
        for change, locked in ((run.lock, True), (run.unlock, False)):
            change()
            self.assertEqual(locked, run.data['locked'])
        self.assertEqual('COMPLETE', run.check().status)


class TestEnding(ProcessCase):
    def create_unkillable(self, grace):
        """Return a process that ignores SIGTERM, as its child does, and their file."""
        pids = self.home / str(grace)
        run = self.create(self.script(STUBBORN, pids), stop_grace=grace)
        # Both must ignore the signal before it is sent.
        self.wait_until(
            lambda: pids.exists() and len(pids.read_text().splitlines()) == 2
        )
        return run, pids

    def test_a_process_that_ignores_sigterm_is_killed_with_its_children(self):
        for grace, has_died in ((0.2, False), (0, True)):
            run, pids = self.create_unkillable(grace)
            if has_died:
                self.kill(run)

            deleted = run.delete()

            self.assertEqual('COMPLETE', deleted.status)
            if not has_died:
                self.assertGreaterEqual(deleted.polls, 2)
            self.assertEqual(
                [None, None],
                [process_table.read_process(int(p)) for p in pids.read_text().split()],
            )

    def test_a_hard_reboot_has_no_grace_period(self):
        run, _ = self.create_unkillable(3600)
        before = set(self.pids(run))

        rebooted = run.operate('reboot', {'type': 'HARD'})

        self.assertEqual(('COMPLETE', ''), (rebooted.status, rebooted.reason))
        self.assertEqual(set(), before & set(self.pids(run)))


class TestLostWorker(ProcessCase):
    def test_an_unstarted_process_of_a_lost_worker_is_started_once(self):
        first = self.run_of()
        for run in (first, self.run_of(uuid_=first.uuid)):
            created = run.create({'argv': SLEEP, 'health': QUICK}, attempt=2)

            self.assertEqual('COMPLETE', created.status)
            self.assertEqual(self.pids(run), [first.attributes['pid']])
            self.assertEqual(first.attributes, run.attributes)

    def test_other_processes_in_an_adopted_session_are_not_killed(self):
        foreign = subprocess.Popen(SLEEP)
        adopted = subprocess.Popen(SLEEP)
        for process in (foreign, adopted):
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        run = self.run_of()
        run.properties = run.fit({'argv': SLEEP})
        run.data = {
            'pid': adopted.pid,
            'start': process_table.read_process(adopted.pid).start,
            'boot': process_table.boot_id(),
            'host': socket.gethostname(),
        }

        self.assertEqual('COMPLETE', run.check().status)
        self.assertEqual('COMPLETE', run.delete().status)

        self.assertEqual(-signal.SIGTERM, adopted.wait(TIMEOUT))
        self.assertIsNone(foreign.poll())

    def test_an_unknown_physical_id_belongs_to_no_host(self):
        run = self.run_of()
        run.properties = run.fit({'argv': SLEEP})
        run.physical_id = '4711'

        self.assertIn('Process 4711 is not running', run.check().reason)
        self.assertEqual('COMPLETE', run.delete().status)

    def test_an_unrecorded_process_is_deleted(self):
        run = self.create()
        run.data, run.physical_id = {}, None

        self.assertEqual('COMPLETE', run.delete().status)
        self.assertEqual([], self.pids(run))
