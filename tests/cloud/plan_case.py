"""The base case of tests in which daemons execute plans on a cloud."""

from tests.acceptance.daemons import APPLIER, wait_until
from tests.acceptance.test_api import ApiCase
from tests.cloud import case
from watcherlite.plugins.base import ACTION_TYPES

POLLED = ('migrate', 'resize', 'volume_migrate', 'stop', 'start')
ENDED = frozenset({'SUCCEEDED', 'FAILED', 'CANCELLED'})
HOSTS = ('compute-1', 'compute-2')
#: Seconds of real time, for steps of several services on a busy machine.
TIMEOUT = 240


def action(name, action_type, *parents, **inputs):
    """Return an action of a plan document."""
    return {
        'name': name,
        'action_type': action_type,
        'parents': list(parents),
        'input_parameters': inputs,
    }


def other_host(host):
    """Return the host beside a host."""
    return next(each for each in HOSTS if each != host)


class PlanCase(ApiCase, case.CloudCase):
    """The API and an applier, and the cloud as an administrator sees it.

    :ivar clouds_file: the clouds.yaml of the daemons
    """

    def setUp(self):
        super().setUp()
        self.admin = self.connect(case.ADMIN)
        self.demo = self.connect(case.DEMO)
        self.clouds_file = self.variables['OS_CLIENT_CONFIG_FILE']
        self.port = None

    # The product

    def start_daemons(self):
        """Start the API and an applier; return the applier."""
        self.options = {
            'openstack': {
                'cloud': case.SERVICE,
                'client_config_file': self.clouds_file,
            },
            'applier': {'sweep_interval': 0.3},
            **{f'{ACTION_TYPES}.{name}': {'poll_interval': 0.5} for name in POLLED},
        }
        _, self.port = self.serve(**self.options)
        return self.start_applier()

    def start_applier(self):
        return self.start_ready(APPLIER, self.ini(**self.options))

    def start_plan(self, *actions, **options):
        """Create a plan by the API and start it; return its path."""
        status, plan = self.ask(
            self.port,
            'POST',
            '/v1/action_plans',
            {'name': self.unique_name('plan'), 'actions': list(actions), **options},
        )
        self.assertEqual(201, status, plan)
        place = f'/v1/action_plans/{plan["uuid"]}'
        status, answer = self.ask(self.port, 'POST', f'{place}/start')
        self.assertEqual(200, status, answer)
        return place

    def actions(self, place):
        """Return the actions of a plan by name."""
        uuid = place.rpartition('/')[2]
        _, found = self.ask(
            self.port,
            'GET',
            f'/v1/actions/detail?action_plan_uuid={uuid}',
            OpenStack_API_Version='infra-optim latest',
        )
        return {each['name']: each for each in found['actions']}

    def wait_for_plan(self, place):
        """Wait for the end of a plan; return its state."""

        def state():
            return self.ask(self.port, 'GET', place)[1]['state']

        wait_until(lambda: state() in ENDED, lambda: str(self.actions(place)), TIMEOUT)
        return state()

    def run_plan(self, *actions, **options):
        """Execute a plan; return its state, and its actions by name."""
        place = self.start_plan(*actions, **options)
        return self.wait_for_plan(place), self.actions(place)

    def assert_states(self, expected, actions):
        """Check the states of actions; the messages explain a difference."""
        self.assertEqual(
            expected,
            {name: each['state'] for name, each in actions.items()},
            {name: each['status_message'] for name, each in actions.items()},
        )

    # The cloud

    def server(self, uuid):
        """Return a server with its host."""
        return self.admin.compute.get_server(uuid)

    def wait_for_server(self, uuid, **fields):
        """Wait until a server has values; return it."""

        def found():
            server = self.server(uuid)
            desired = fields.items()
            return server if all(getattr(server, k) == v for k, v in desired) else None

        return wait_until(found, lambda: str(self.server(uuid)), TIMEOUT)

    def create_server(self, **metadata):
        """Create a server of the project demo; delete it at the end of the test."""
        compute = self.demo.compute
        server = compute.create_server(
            name=self.unique_name('server'),
            image_id=self.admin.image.find_image('tiny').id,
            flavor_id=compute.find_flavor('m1.nano').id,
            networks=[{'uuid': self.demo.network.find_network('private').id}],
            metadata=metadata,
        )
        self.addCleanup(self.delete_server, server.id)
        return self.wait_for_server(server.id, status='ACTIVE', task_state=None)

    def delete_server(self, uuid):
        """Delete a server, and wait until it is gone."""
        self.delete_servers([uuid])

    def delete_servers(self, uuids):
        """Delete servers at the same time, and wait until they are gone."""
        compute = self.admin.compute
        for uuid in uuids:
            compute.delete_server(uuid, ignore_missing=True)
        for uuid in uuids:
            wait_until(
                lambda uuid=uuid: compute.find_server(uuid, all_projects=True) is None,
                lambda uuid=uuid: f'server {uuid} is gone',
                TIMEOUT,
            )

    def create_volume(self, size=1, volume_type='fast', connection=None):
        """Create a volume; delete it at the end of the test.

        :param connection: of its project; None: the project demo
        """
        volume = (connection or self.demo).block_storage.create_volume(
            name=self.unique_name('volume'), size=size, volume_type=volume_type
        )
        self.addCleanup(self.delete_volume, volume.id)
        return self.wait_for_volume(volume.id, 'available')

    def wait_for_volume(self, uuid, status):
        """Wait until a volume has a status; return it as the administrator sees it."""

        def found():
            volume = self.admin.block_storage.get_volume(uuid)
            return volume if volume.status == status else None

        return wait_until(found, lambda: f'volume {uuid} is {status}', TIMEOUT)

    def delete_volume(self, uuid):
        """Detach a volume, and delete it."""
        storage = self.admin.block_storage
        volume = storage.find_volume(uuid, all_projects=True)
        if volume is None:
            return
        for attachment in volume.attachments:
            self.admin.compute.delete_volume_attachment(
                attachment['server_id'], uuid, ignore_missing=True
            )
        self.wait_for_volume(uuid, 'available')
        storage.delete_volume(uuid, ignore_missing=True)

    def other_pool(self, host):
        """Return another pool of the backend of a pool."""
        backend = host.partition('#')[0]
        names = [pool.name for pool in self.admin.block_storage.backend_pools()]
        return next(n for n in names if n != host and n.startswith(f'{backend}#'))

    def wait_for_migrations(self, uuid, *statuses):
        """Wait until a server has these migrations, the oldest first, and no others.

        nova records the end of a migration after that of the task of the server.
        """

        def found():
            migrations = self.admin.compute.migrations(server_id=uuid)
            return tuple(
                m.status for m in sorted(migrations, key=lambda m: m.created_at)
            )

        wait_until(lambda: found() == statuses, lambda: str(found()), TIMEOUT)
