"""The base of tests of stacks in a real OpenStack, executed by engines."""

import collections
from typing import Any, ClassVar

from tests.acceptance.daemons import ENGINE, DaemonTestCase, wait_until
from tests.cloud import case
from watcherlite import bootstrap, conf
from watcherlite.domain.stacks import Stack, StackRequest

TENANT = 'a-project'
#: Seconds that an operation on a stack may take on a busy machine.
TIMEOUT = 240
QUOTA = {'instances': 50, 'cores': 50}
KEYS: dict[str, Any] = {'image': 'tiny', 'flavor': 'm1.nano'}


class Stacks:
    """Requests and observes stacks in the process of the test."""

    def __init__(self, ini: Any) -> None:
        configuration = conf.new([f'--config-file={ini}'])
        self.runtime = bootstrap.Runtime(configuration, lanes=())
        self.store = self.runtime.store
        self.operations = self.runtime.stacks

    def close(self) -> None:
        """Close all connections."""
        self.runtime.stop(0)

    def request(self, name: str, template: Any, **keys: Any) -> Stack:
        """Request a stack."""
        return self.operations.create(StackRequest(name, template, **keys), TENANT)

    def delete(self, stack: Stack) -> Stack:
        """Delete a stack."""
        self.operations.delete(stack.name, TENANT)
        return self.wait_until_settled(stack)

    def reload(self, stack: Stack) -> Stack:
        """Return the present state of a stack."""
        return self.store.stacks_by_id([stack.id])[stack.id]

    def wait_until_settled(self, stack: Stack) -> Stack:
        """Wait until no operation runs on a stack; return it."""
        wait_until(
            lambda: not self.reload(stack).state.busy,
            lambda: self.describe(stack),
            TIMEOUT,
        )
        return self.reload(stack)

    def rows(self, stack: Stack) -> dict[str, Any]:
        """Return the resources of a stack by name."""
        return {row.name: row for row in self.store.list_resources([stack.id])}

    def describe(self, stack: Stack) -> str:
        """Return the states of a stack and its resources."""
        rows = self.rows(stack).values()
        lines = [f'{row.name}: {row.state.name} {row.state.reason}' for row in rows]
        return '\n'.join([f'{self.reload(stack).state}', *lines])


class StackCase(case.CloudCase, DaemonTestCase):
    """A test with an engine that acts with the authority of a user of the cloud.

    :ivar groups: further options of its configuration, by group
    """

    database: ClassVar[str | None] = None
    broker = False
    third_party = False

    def setUp(self) -> None:
        super().setUp()
        self.auth = self.options(case.ADMIN, project_name=self.make_project())
        self.connection = self.open_clouds(
            cloud=None,
            client_config_file=None,
            auth=self.auth,
            region_name=self.variables['OS_REGION_NAME'],
        ).service_connection()
        self.engine: Any = None
        self.groups: dict[str, dict[str, Any]] = {}
        self.configure()
        self.stacks = Stacks(self.path)
        self.addCleanup(self.stacks.close)

    def configure(self, **values: Any) -> None:
        """Write the configuration of the engines.

        :param values: other values of the cloud in clouds.yaml
        """
        self.path = self.ini(
            openstack=self.cloud_options(**values),
            engine={'lease': 5, 'sweep_interval': 0.5, 'max_parallel': 16},
            **self.groups,
        )

    def cloud_options(self, **values: Any) -> dict[str, Any]:
        """Return the options of the group [openstack].

        :param values: other values of the cloud in clouds.yaml
        """
        values = {'auth': self.auth, **values}
        return {
            'cloud': case.ADMIN,
            'client_config_file': self.changed_clouds(case.ADMIN, **values),
            'allow_service_authority': 'true',
        }

    def make_project(self) -> str:
        """Create a project for the test, with a quota for it; return its name."""
        admin = self.connect(case.ADMIN)
        identity, name = admin.identity, self.unique_name('project')
        project = identity.create_project(name=name, domain_id='default')
        self.addCleanup(self.remove_project, admin, project.id)
        for role in ('admin', 'member'):
            identity.assign_project_role_to_user(
                project, admin.current_user_id, identity.find_role(role)
            )
        admin.compute.update_quota_set(project.id, **QUOTA)
        return name

    def remove_project(self, admin: Any, project_id: str) -> None:
        """Delete a project, with the security group that neutron has given it."""
        for group in admin.network.security_groups(project_id=project_id):
            admin.network.delete_security_group(group)
        admin.compute.revert_quota_set(project_id)
        admin.identity.delete_project(project_id)

    def start_engine(self) -> Any:
        """Start an engine; return the daemon."""
        self.engine = self.start_ready(ENGINE, self.path)
        # It is killed next, perhaps before its stacks are deleted.
        self.addCleanup(setattr, self, 'engine', None)
        return self.engine

    def kill_engine(self) -> None:
        """Kill all processes of the engine."""
        self.engine.kill()
        self.engine = None

    def assert_settled(self, expected: str, stack: Stack) -> Stack:
        """Assert the state in which a stack ends; return the stack."""
        settled = self.stacks.wait_until_settled(stack)
        self.assertEqual(expected, settled.state.name, self.stacks.describe(settled))
        return settled

    def remove(self, stack: Stack) -> None:
        """Delete a stack; fail if something is left of it."""
        if self.engine is None:
            self.start_engine()
        if self.stacks.reload(stack).deleted_at is None:
            self.assert_settled('DELETE_COMPLETE', self.stacks.delete(stack))
        self.assertEqual({}, self.left(stack))

    def left(self, stack: Stack) -> dict[str, list[str]]:
        """Return the objects of a stack that exist, by their kind."""
        connection, found = self.connection, collections.defaultdict(list)
        listings = {
            'server': connection.compute.servers,
            'keypair': connection.compute.keypairs,
            'server group': connection.compute.server_groups,
            'volume': connection.block_storage.volumes,
            'network': connection.network.networks,
            'router': connection.network.routers,
            'port': connection.network.ports,
            'security group': connection.network.security_groups,
        }
        for kind, listing in listings.items():
            for item in listing():
                if (item.name or '').startswith(stack.name):
                    found[kind].append(item.name)
        return dict(found)

    def servers(self, stack: Stack) -> list[Any]:
        """Return the servers of a stack that exist."""
        servers = self.connection.compute.servers(name=stack.name)
        return [item for item in servers if item.name.startswith(stack.name)]
