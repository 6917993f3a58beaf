"""A process on the machine of the worker."""

import contextlib
import datetime
import fnmatch
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain import resource_results
from watcherlite.domain.resource_results import (
    UPDATE,
    Operation,
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.plugins import base, options, paths
from watcherlite.plugins.action_types import allow_list
from watcherlite.plugins.base import (
    ResourceContext,
    ResourceCoroutineContext,
    ResourceHandler,
    RunningResource,
)
from watcherlite.plugins.resource_handlers import (
    file_access,
    health,
    launcher,
    process_table,
)
from watcherlite.plugins.resource_handlers.errors import ResourceFault
from watcherlite.plugins.resource_handlers.process_table import Process

NAME = 'Local::Process'
#: The only operation.
REBOOT = 'reboot'
_GROUP = options.group_name(base.RESOURCE_HANDLERS, NAME)
#: Timeout of the start until exec, in seconds.
_START_TIMEOUT = 30.0
#: Seconds between two checks whether a process has ended.
_END_INTERVAL = 0.1
#: Seconds that a process may take to end after SIGKILL.
_KILL_TIMEOUT = 30.0
#: Properties whose change restarts it.
_STARTED_WITH = frozenset({'argv', 'environment', 'directory'})

_TEXT = {'type': 'string', 'pattern': '^[^\\x00]*$', 'description': 'no NUL characters'}


class LocalProcess(ResourceHandler):
    """Start and supervise a process.

    It runs in a session of its own and outlives the worker that started it; any worker
    of this machine can find it again. A changed command restarts it; a FAILED one is
    replaced by the next update.
    """

    description = 'A process on the machine of the engine.'
    idempotent = True
    modified_by_signals = False
    # Adoption by pid would let users end the processes of others.
    adoptable = False
    properties: ClassVar[Mapping[str, Property]] = {
        'argv': Property(
            {'type': 'array', 'items': _TEXT, 'minItems': 1},
            'The executable, which the operator must allow, and its arguments. It '
            'must stay in the foreground.',
            required=True,
            updatable=True,
        ),
        'environment': Property(
            {
                'type': 'object',
                'propertyNames': {'pattern': '^[^=\\x00]+$'},
                'additionalProperties': _TEXT,
                'default': {},
            },
            'Variables added to the environment that the operator sets; the operator '
            'must allow their names.',
            updatable=True,
        ),
        'directory': Property(
            {**_TEXT, 'pattern': '^/[^\\x00]*$', 'default': '/'},
            'The working directory: `/`, or a directory that the operator allows.',
            updatable=True,
        ),
        'health': Property(
            health.SCHEMA,
            'The health check. `type`: `pid`, it runs; `port`, it also accepts '
            'connections on `port` of `host`; `url`, it also responds to a GET of '
            '`url` with one of `expected_statuses` (200 to 299). Repeated every '
            '`interval` seconds (1) until it succeeds, for at most `timeout` '
            'seconds (60).',
            updatable=True,
        ),
        'exclusive': Property(
            {'type': 'boolean', 'default': False},
            'Whether only one instance can run at a time, for example because it '
            'uses a port. Then every update restarts it in place, even a FAILED '
            'one, which is replaced otherwise.',
            updatable=True,
        ),
        'stop_grace': Property(
            {'type': 'number', 'minimum': 0, 'maximum': 3600, 'default': 10},
            'The number of seconds between SIGTERM and SIGKILL.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'pid': 'Its number.',
        'host': 'The machine on which it runs.',
        'log': 'The file with its output, or null.',
    }
    operations: ClassVar[Mapping[str, Operation]] = {
        REBOOT: Operation(
            'Restarts it.',
            {
                'type': 'object',
                'properties': {
                    'type': {
                        'enum': ['SOFT', 'HARD'],
                        'default': 'SOFT',
                        'description': 'HARD: SIGKILL without SIGTERM',
                    }
                },
                'additionalProperties': False,
            },
        )
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return process_table.OPTIONS

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate the command by the option `allowed`."""
        problems = [
            health.options_problem(properties.get('health') or {}),
            *self._environment_problems(properties),
        ]
        argv = properties.get('argv')
        if argv and None not in argv:
            named = f'allowed in the group [{_GROUP}]'
            allowed = self.options.allowed
            problems.append(allow_list.problem('properties.argv', argv, allowed, named))
        found = [text for text in problems if text is not None]
        if found:
            raise exceptions.StackValidationFailed(found)

    def _environment_problems(self, properties: Mapping[str, Any]) -> Iterator[str]:
        """Yield the problems of environment and directory."""
        for name in properties.get('environment') or ():
            if not any(
                fnmatch.fnmatchcase(name, pattern) for pattern in self.options.variables
            ):
                yield (
                    f'properties.environment.{name}: is not allowed; an operator may '
                    f'add it to the option variables in the group [{_GROUP}]'
                )
        directory = properties.get('directory')
        if directory in (None, '/'):
            return
        allowed = self.options.directories or ()
        wrong = paths.problem(directory) or file_access.not_within(directory, allowed)
        if wrong:
            yield (
                f'properties.directory: {wrong} (option directories in the group '
                f'[{_GROUP}])'
            )

    def host(self, physical_id: str | None, data: Mapping[str, Any]) -> str | None:
        return _host(physical_id, data)

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Replace a FAILED process, unless the old one must end first."""
        if failed and after['exclusive']:
            return UPDATE
        return resource_results.decide(self, before, after, failed)

    def create(self, context: ResourceContext) -> Result:
        return self._start(context)

    def find(self, context: ResourceContext) -> Result:
        """Return a running process of the resource."""
        found = process_table.of_resource(context.resource_uuid)
        return self._started(context, found[0]) if found else None

    async def check(self, context: ResourceCoroutineContext) -> Ready:
        """Check that it runs and is healthy; a suspended one only runs."""
        process = self._running(context)
        if not context.data.get('suspended'):
            wrong = await self._problem(context)
            if wrong:
                raise ResourceFault(f'Process {process.pid} is unhealthy: {wrong}')
        return Ready()

    def check_external(self, context: ResourceContext) -> Ready:
        """Check that the external process `host:pid:start` runs."""
        _check_here(context)
        _, *numbers = (context.physical_id or '').rsplit(':', 2)
        if len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
            raise ResourceFault(
                f'{context.physical_id} is not of the form host:pid:start'
            )
        process = process_table.read_process(int(numbers[0]))
        if process is None or process.start != int(numbers[1]):
            raise ResourceFault(f'Process {context.physical_id} is not running')
        return Ready(attributes={'pid': process.pid, 'host': socket.gethostname()})

    def update(self, context: ResourceContext) -> Result:
        """Restart it if a property for its start has changed."""
        changes = set(resource_results.changed(context.before, context.properties))
        process = _find_process(context)
        anew = context.properties['exclusive'] or changes & _STARTED_WITH
        if process is not None and not anew:
            return self._started(context, process)
        return self._stop(context) or self._start(context)

    def delete(self, context: ResourceContext) -> Result:
        """End it with all its descendants."""
        return self._stop(context)

    def operate(
        self, context: ResourceContext, operation: str, parameters: Mapping[str, Any]
    ) -> Result:
        """Restart it, or start it if it does not run."""
        self.validate(context.properties)
        grace = 0 if parameters.get('type') == 'HARD' else None
        return self._stop(context, grace) or self._start(context)

    def suspend(self, context: ResourceContext) -> Ready:
        self._running(context)
        _signal_all(context, _own_processes(context), signal.SIGSTOP)
        return Ready(data={**context.data, 'suspended': True})

    def resume(self, context: ResourceContext) -> Ready:
        self._running(context)
        _signal_all(context, _own_processes(context), signal.SIGCONT)
        return Ready(data={**context.data, 'suspended': False})

    def lock(self, context: ResourceContext) -> Ready:
        """Disable its supervision."""
        return Ready(data={**context.data, 'locked': True})

    def unlock(self, context: ResourceContext) -> Ready:
        """Enable its supervision."""
        return Ready(data={**context.data, 'locked': False})

    async def poll(
        self, context: ResourceCoroutineContext, operation: str, token: Any
    ) -> Result:
        """Check whether it is healthy, or has ended."""
        until = datetime.datetime.fromisoformat(token['until'])
        if token['step'] == 'health':
            return await self._await_health(context, token, until)
        return await _finish_in_thread(
            lambda: self._await_end(context, operation, token, until)
        )

    def _await_end(
        self,
        context: RunningResource,
        operation: str,
        token: Any,
        until: datetime.datetime,
    ) -> Result:
        """Return whether it has ended; if it is to run again, start it then."""
        waiting = self._ended(context, token, until)
        if waiting is None and operation in ('update', REBOOT):
            return self._start(context)
        return waiting

    # starting

    def _start(self, context: RunningResource) -> Result:
        desired = context.properties
        environment = {
            **self.options.environment,
            **desired['environment'],
            process_table.MARKER: context.resource_uuid,
        }
        context.fence()
        pid = launch(
            allow_list.resolved(desired['argv']),
            environment,
            desired['directory'],
            self._log(context),
        )
        process = process_table.read_process(pid)
        if process is None:
            raise ResourceFault(
                f'{desired["argv"][0]} ended immediately{self._observe(context)}'
            )
        return self._started(context, process)

    def _started(
        self, context: RunningResource, process: Process
    ) -> ResourceInProgress:
        desired = context.properties['health']
        return ResourceInProgress(
            {'step': 'health', 'until': _seconds_text(context, desired['timeout'])},
            desired['interval'],
            f'{socket.gethostname()}:{process.pid}:{process.start}',
            {
                'pid': process.pid,
                'start': process.start,
                'boot': process_table.boot_id(),
                'host': socket.gethostname(),
            },
        )

    async def _await_health(
        self, context: ResourceCoroutineContext, token: Any, until: datetime.datetime
    ) -> Result:
        """Return Ready once it is healthy; raise if it cannot become healthy."""
        process = self._running(context)
        wrong = await self._problem(context)
        if wrong is None:
            return Ready(
                attributes={
                    'pid': process.pid,
                    'host': context.data['host'],
                    'log': self._log(context),
                }
            )
        desired = context.properties['health']
        if context.now() >= until:
            raise ResourceFault(
                f'Process {process.pid} is unhealthy after {desired["timeout"]} s: '
                f'{wrong}{self._observe(context)}'
            )
        return ResourceInProgress(token, desired['interval'])

    async def _problem(self, context: ResourceCoroutineContext) -> str | None:
        desired = context.properties['health']
        return await health.health_problem(
            context, desired, self.options, _GROUP, self.destinations
        )

    def _running(self, context: RunningResource) -> Process:
        process = _find_process(context)
        if process is None:
            raise ResourceFault(
                f'Process {context.physical_id} is not running{self._observe(context)}'
            )
        return process

    def _log(self, context: RunningResource) -> str | None:
        directory = self.options.log_directory
        name = context.physical_name.replace('/', '_')
        return os.path.join(directory, f'{name}.log') if directory else None

    def _observe(self, context: RunningResource) -> str:
        log = self._log(context)
        return f'; see {log}' if log else ''

    # ending

    def _stop(
        self, context: ResourceContext, grace: float | None = None
    ) -> ResourceInProgress | None:
        """Send it a signal to terminate; None: it has ended.

        :param grace: seconds until SIGKILL; None: from its properties
        """
        _check_here(context)
        mine = _own_processes(context)
        if not mine:
            return None
        _signal_all(context, mine, signal.SIGTERM)
        # A stopped process does not handle it.
        _signal_all(context, mine, signal.SIGCONT)
        if grace is None:
            grace = context.properties.get('stop_grace', 10)
        token = {
            'step': 'end',
            'until': _seconds_text(context, grace),
            'sessions': sorted({process.session for process in mine}),
        }
        return ResourceInProgress(token, min(_END_INTERVAL, grace))

    def _ended(
        self, context: RunningResource, token: Any, until: datetime.datetime
    ) -> ResourceInProgress | None:
        mine = _own_processes(context, frozenset(token['sessions']))
        if not mine:
            return None
        if context.now() < until:
            return ResourceInProgress(token, _END_INTERVAL)
        if token['step'] == 'killed':
            pids = ', '.join(str(process.pid) for process in mine)
            raise ResourceFault(
                f'Process {pids} does not end after SIGKILL; check the system'
            )
        _signal_all(context, mine, signal.SIGKILL)
        killed = {
            **token,
            'step': 'killed',
            'until': _seconds_text(context, _KILL_TIMEOUT),
        }
        return ResourceInProgress(killed, _END_INTERVAL)


async def _finish_in_thread(call: Callable[[], Result]) -> Result:
    """Return the result of a function that blocks, also after a signal.

    What it has done must be recorded.
    """
    # Needed only by coroutines.
    import asyncio

    called = asyncio.ensure_future(asyncio.to_thread(call))
    while not called.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(called)
    return called.result()


def launch(
    argv: Sequence[str], environment: Mapping[str, str], directory: str, log: str | None
) -> int:
    """Start a detached process, and return its pid.

    :param log: a file for its output; None: nowhere
    :raises ResourceFault: it cannot be started
    """
    desired = {
        'argv': list(argv),
        'environment': dict(environment),
        'directory': directory,
        'log': log,
    }
    try:
        ended = subprocess.run(  # noqa: S603  # nosec B603  # it is our own
            [sys.executable, '-I', '-S', launcher.__file__],
            input=json.dumps(desired).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={'LANG': 'C.UTF-8'},
            cwd='/',
            timeout=_START_TIMEOUT,
            check=False,
        )
        response = json.loads(ended.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise ResourceFault(
            f'{argv[0]} cannot be started: {type(error).__name__}'
        ) from error
    if 'error' in response:
        raise ResourceFault(response['error'])
    return int(response['pid'])


def _host(physical_id: str | None, data: Mapping[str, Any]) -> str | None:
    named, colon, _ = (physical_id or '').partition(':')
    # Other physical ids contain no machine.
    return data.get('host') or (named if colon else None)


def _check_here(context: RunningResource) -> None:
    """Raise unless the process runs on this machine."""
    host = _host(context.physical_id, context.data)
    if host and host != socket.gethostname():
        raise exceptions.StateUnknown(
            f'{context.resource_name} is on {host}, and this worker on '
            f'{socket.gethostname()}: run a worker there'
        )


def _find_process(context: RunningResource) -> Process | None:
    """Return the process of the resource; None: it is not running."""
    _check_here(context)
    data = context.data
    if 'pid' not in data or data.get('boot') != process_table.boot_id():
        return None
    process = process_table.read_process(data['pid'])
    return process if process and process.start == data['start'] else None


def _own_processes(
    context: RunningResource, sessions: frozenset[int] = frozenset()
) -> list[Process]:
    """Return all running processes of the resource.

    :param sessions: former sessions of the resource: a process in them with its marker
        belongs to it, and may be the only one left
    """
    leaders = process_table.of_resource(context.resource_uuid)
    known = _find_process(context)
    trusted = {leader.session for leader in leaders}
    if known is not None and known.session == known.pid:
        trusted.add(known.session)
    asked = frozenset(trusted) | sessions | {context.data.get('pid', -1)}
    mine = [
        process
        for process in process_table.in_sessions(asked)
        if process.session in trusted
        or process_table.is_marked(process.pid, context.resource_uuid)
    ]
    # An adopted process may share its session with unrelated ones.
    return mine if known is None or known in mine else [known, *mine]


def _signal_all(
    context: RunningResource, processes: Sequence[Process], number: signal.Signals
) -> None:
    context.fence()
    try:
        for process in processes:
            process_table.send_signal(process, number)
    except PermissionError:
        raise ResourceFault(
            f'Process {process.pid} belongs to another user and cannot be sent '
            f'{number.name}'
        ) from None


def _seconds_text(context: RunningResource, seconds: float) -> str:
    return (context.now() + datetime.timedelta(seconds=seconds)).isoformat()
