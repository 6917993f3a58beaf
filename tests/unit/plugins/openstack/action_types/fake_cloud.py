"""A cloud in memory that answers as openstacksdk does, as far as the actions use it.

Every call is recorded. A task of a server or volume ends at the second reading after
its request.
"""

import copy
import json
import types

from tests.unit.plugins.openstack.test_errors import from_service
from watcherlite import testing
from watcherlite.domain.outcomes import Done, Failed, InProgress, Retry, Skipped
from watcherlite.plugins import options

SERVER = '6f70656e-0000-4000-8000-000000000001'
VOLUME = '6f70656e-0000-4000-8000-000000000002'
PROJECT = 'p1'


def make_flavor(number, name, ram, is_public=True):
    return types.SimpleNamespace(
        id=number, name=name, vcpus=1, ram=ram, disk=1, is_public=is_public
    )


NANO, TINY = make_flavor('1', 'm1.nano', 128), make_flavor('2', 'm1.tiny', 512)
LARGE = make_flavor('3', 'private', 4096, is_public=False)
#: Calls without an effect.
READING = frozenset(
    {
        'get_server',
        'get_server_action',
        'server_actions',
        'server_migrations',
        'services',
        'flavors',
        'get',
        'get_node',
        'get_volume',
        'types',
        'backend_pools',
    }
)


class Crash(BaseException):
    """The end of the process of a worker."""


class Service:
    """One service; the public methods of a subclass are calls of it."""

    def __init__(self, cloud):
        self.cloud = cloud

    def __getattribute__(self, name):
        value = object.__getattribute__(self, name)
        if name.startswith('_') or not callable(value):
            return value
        return lambda *args, **kwargs: self.cloud.call(name, value, args, kwargs)


class Compute(Service):
    def get_server(self, uuid):
        server = self.cloud.servers.get(uuid)
        if server is None:
            raise from_service(404, 'Instance could not be found.')
        self.cloud.proceed(server)
        return copy.copy(server)

    def _task(self, uuid, task, status, *, after, states=('ACTIVE', 'SHUTOFF')):
        server = self.cloud.servers[uuid]
        if server.task_state is not None or server.status not in states:
            raise from_service(409, f'Cannot do this in {server.task_state}')
        server.task_state, server.status = task, status
        self.cloud.start(server, {'task_state': None, **after})

    def live_migrate_server(self, uuid, host, block_migration):
        server = self.cloud.servers[uuid]
        host = host or self.cloud.other(server.compute_host)
        after = {'status': server.status, 'compute_host': host}
        if self.cloud.failure:
            after['compute_host'] = server.compute_host
        states = ('ACTIVE', 'PAUSED')
        self._task(uuid, 'migrating', 'MIGRATING', after=after, states=states)

    def migrate_server(self, uuid, host):
        server = self.cloud.servers[uuid]
        host = host or self.cloud.other(server.compute_host)
        after = {'status': 'VERIFY_RESIZE', 'compute_host': host}
        if self.cloud.failure:
            after = {'status': server.status}
        self._task(uuid, 'resize_prep', 'RESIZE', after=after)

    def resize_server(self, uuid, flavor):
        made = {each.id: each for each in (NANO, TINY, LARGE)}[flavor]
        after = {'status': 'VERIFY_RESIZE', 'flavor': made}
        self._task(uuid, 'resize_prep', 'RESIZE', after=after)

    def confirm_server_resize(self, uuid):
        server = self.cloud.servers[uuid]
        if server.status != 'VERIFY_RESIZE' or self.cloud.changes.get(id(server)):
            raise from_service(400, 'Instance has not been resized.')
        self.cloud.start(server, {'status': 'ACTIVE'})

    def revert_server_resize(self, uuid):
        self.cloud.servers[uuid].status = 'REVERT_RESIZE'

    def stop_server(self, uuid):
        after = {'status': 'SHUTOFF'}
        self._task(uuid, 'powering-off', 'ACTIVE', after=after, states=('ACTIVE',))

    def start_server(self, uuid):
        after = {'status': 'ACTIVE'}
        self._task(uuid, 'powering-on', 'SHUTOFF', after=after, states=('SHUTOFF',))

    def server_migrations(self, uuid):
        return iter(self.cloud.migrations.pop(0) if self.cloud.migrations else [])

    def abort_server_migration(self, migration, uuid):
        if migration == 'early':
            raise from_service(400, 'Migration is in status accepted.')

    def server_actions(self, uuid):
        return iter(self.cloud.nova_actions)

    def get_server_action(self, request_id, uuid):
        return next(a for a in self.cloud.nova_actions if a.request_id == request_id)

    def services(self, **query):
        return [
            s
            for s in self.cloud.services
            if all(getattr(s, key) == value for key, value in query.items())
        ]

    def enable_service(self, service):
        self._set_service(service, 'enabled', None)

    def disable_service(self, service, disabled_reason):
        self._set_service(service, 'disabled', disabled_reason)

    def _set_service(self, uuid, status, reason):
        for service in self.cloud.services:
            if service.id == uuid:
                service.status, service.disabled_reason = status, reason

    def flavors(self, is_public):
        return [f for f in (NANO, TINY, LARGE) if f.is_public or is_public == 'None']

    def get(self, path, microversion):
        hypervisor = {'hypervisor_hostname': 'c1', 'servers': self.cloud.hosted}
        return types.SimpleNamespace(
            status_code=200,
            json=lambda: json.loads(json.dumps({'hypervisor': hypervisor})),
        )


class BlockStorage(Service):
    def get_volume(self, uuid):
        volume = self.cloud.volumes.get(uuid)
        if volume is None:
            raise from_service(404, 'Volume could not be found.')
        self.cloud.proceed(volume)
        return copy.copy(volume)

    def migrate_volume(self, uuid, host, force_host_copy, lock_volume):
        volume = self.cloud.volumes[uuid]
        if volume.migration_status in ('starting', 'migrating'):
            raise from_service(400, 'must not be migrating')
        volume.migration_status = 'starting'
        after = {'migration_status': 'success', 'host': host}
        if self.cloud.failure:
            after = {'migration_status': 'error'}
        self.cloud.start(volume, after)

    def retype_volume(self, uuid, new_type, migration_policy):
        volume = self.cloud.volumes[uuid]
        if volume.status == 'retyping':
            raise from_service(400, 'Retype needs volume to be in available state')
        volume.status = 'retyping'
        after = {'status': 'available', 'volume_type': new_type}
        if self.cloud.failure:
            after = {'status': 'available'}
        self.cloud.start(volume, after)

    def types(self):
        spec = types.SimpleNamespace
        return [
            spec(name='fast', extra_specs={'volume_backend_name': 'fast'}),
            spec(name='slow', extra_specs={'volume_backend_name': 'slow'}),
        ]

    def backend_pools(self):
        return [
            types.SimpleNamespace(
                name=f's@{backend}#{number}',
                capabilities={'volume_backend_name': backend},
            )
            for backend, number in (('fast', 1), ('fast', 2), ('slow', 1))
        ]


class Baremetal(Service):
    def get_node(self, name):
        node = self.cloud.nodes.get(name)
        if node is None:
            raise from_service(404, 'Node could not be found.')
        self.cloud.proceed(node)
        return copy.copy(node)

    def set_node_power_state(self, name, target):
        node = self.cloud.nodes[name]
        if node.target_power_state is not None:
            raise from_service(409, 'Node is locked by host')
        node.target_power_state = target
        after = {'target_power_state': None, 'power_state': target}
        if self.cloud.failure:
            after = {'target_power_state': None, 'last_error': 'no answer of the BMC'}
        self.cloud.start(node, after)


class FakeCloud:
    """The cloud, and its connection.

    :ivar calls: the names of the calls
    :ivar faults: number of a call, from 1 -> (exception, whether it has its effect)
    :ivar failure: true: tasks fail
    """

    is_configured = True

    def __init__(self):
        self.compute = Compute(self)
        self.block_storage = BlockStorage(self)
        self.baremetal = Baremetal(self)
        self.calls, self.faults, self.changes = [], {}, {}
        self.failure = False
        self.servers, self.volumes, self.nodes = {}, {}, {}
        self.services = [
            types.SimpleNamespace(
                id=f'id-{host}',
                host=host,
                binary='nova-compute',
                status='enabled',
                disabled_reason=None,
            )
            for host in ('c1', 'c2')
        ]
        self.nova_actions, self.migrations, self.hosted = [], [], []

    def service_connection(self, region=None):
        return self

    def add_server(self, **fields):
        values = {
            'id': SERVER,
            'project_id': PROJECT,
            'compute_host': 'c1',
            'instance_name': 'instance-1',
            'status': 'ACTIVE',
            'task_state': None,
            'is_locked': False,
            'flavor': NANO,
            'fault': None,
            **fields,
        }
        server = self.servers[SERVER] = types.SimpleNamespace(**values)
        return server

    def add_volume(self, **fields):
        values = {
            'id': VOLUME,
            'host': 's@fast#1',
            'volume_type': 'fast',
            'status': 'available',
            'migration_status': None,
            'attachments': [],
            **fields,
        }
        volume = self.volumes[VOLUME] = types.SimpleNamespace(**values)
        return volume

    def add_node(self, **fields):
        values = {
            'id': 'n1',
            'power_state': 'power on',
            'target_power_state': None,
            'last_error': None,
            'extra': {},
            **fields,
        }
        node = self.nodes['n1'] = types.SimpleNamespace(**values)
        return node

    def other(self, host):
        return 'c2' if host == 'c1' else 'c1'

    def effects(self):
        """Return the calls that are not for reading only."""
        return [name for name in self.calls if name not in READING]

    def call(self, name, method, args, kwargs):
        self.calls.append(name)
        error, has_effect = self.faults.get(len(self.calls), (None, True))
        if error is None:
            return method(*args, **kwargs)
        if has_effect:
            method(*args, **kwargs)
        raise error

    def start(self, item, after):
        """Start a task: its second reading from now shows its end."""
        self.changes[id(item)] = [{}, after]

    def proceed(self, item):
        pending = self.changes.get(id(item))
        if pending:
            for name, value in pending.pop(0).items():
                setattr(item, name, value)


class Worker:
    """Executes an action with the steps of a worker, which may crash in any of them.

    :ivar token: the durable token
    :ivar started: whether its start is durable
    """

    def __init__(self, action_type, inputs, cloud, **context):
        self.action_type, self.cloud = action_type, cloud
        self.context = testing.FakeContext(inputs, **context)
        self.token, self.started = None, False

    def plugin(self):
        made = self.action_type(options.standalone_group(self.action_type, None))
        made.clouds = self.cloud
        return made

    def run(self):
        """Return the outcome; an instance replaces a lost one."""
        for _ in range(20):
            try:
                return self._run()
            except Crash:
                continue
        raise AssertionError('it crashes without end')

    def revert(self, outputs):
        self.context.outputs = outputs
        return self._polled(self.plugin().revert(self.context))

    def _run(self):
        if self.token is not None:
            return self._polled(InProgress(self.token))
        plugin = self.plugin()
        if self.started and plugin.is_applied(self.context):
            return Done()
        while isinstance(outcome := plugin.pre_condition(self.context), Retry):
            self.context.pass_time(outcome.delay)
            plugin = self.plugin()
        if isinstance(outcome, Failed | Skipped):
            return outcome
        self.started = True
        return self._polled(plugin.execute(self.context))

    def _polled(self, outcome):
        for _ in range(100):
            if not isinstance(outcome, InProgress):
                return outcome
            self.token = json.loads(json.dumps(outcome.token))
            self.context.pass_time(outcome.delay)
            outcome = self.plugin().poll(self.context, self.token)
        raise AssertionError(f'it polls without end: {outcome}')
