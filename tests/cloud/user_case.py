"""The base of tests of the API by a user of a real OpenStack."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from openstack import config as sdk_config
from openstack import connection as sdk_connection

from tests.acceptance.clients.commands import Done, shared_clients
from tests.acceptance.clients.environments import Environment
from tests.acceptance.daemons import ENGINE
from tests.acceptance.test_api import ApiCase
from tests.cloud import case

QUOTA = {'instances': 20, 'cores': 20}


class UserCase(ApiCase, case.CloudCase):
    """The API and an engine, and a user who is a member of a project of its own.

    :cvar quota: of nova for the project
    :ivar admin: the connection of an administrator
    :ivar project: the project
    :ivar port: of the API
    :ivar user: the connection of the user, to the services and to this API
    :ivar clouds_file: a clouds.yaml with the user as cloud-demo
    :ivar engine: the engine
    """

    quota: ClassVar = QUOTA

    def setUp(self) -> None:
        super().setUp()
        self.admin = self.connect(case.ADMIN)
        self.project = self.make_project()
        _, self.port = self.serve(**self.service_options())
        self.clouds_file = self.changed_clouds(case.DEMO, **self.user_values())
        self.path = self.ini(**self.engine_options())
        self.start_engine()
        self.user = self.connect_user()

    def user_values(self) -> dict[str, Any]:
        """Return the values of the user in clouds.yaml, once the port is known."""
        url = f'http://127.0.0.1:{self.port}'
        stacks = f'{url}/orchestration/v1/{self.project.id}'
        return {
            'auth': self.options(case.DEMO, project_name=self.project.name),
            'clustering_endpoint_override': f'{url}/clustering',
            'clustering_default_microversion': '1.14',
            'orchestration_endpoint_override': stacks,
        }

    def service_options(self) -> dict[str, dict[str, Any]]:
        """Return the options of the API, by group."""
        return {
            'api': {'auth_strategy': 'keystone'},
            'keystone_authtoken': {'auth_type': 'password', **self.options()},
            'openstack': {
                'cloud': case.SERVICE,
                'client_config_file': self.service_clouds(),
            },
            'engine': {'lease': 5, 'sweep_interval': 0.3, 'max_parallel': 16},
        }

    def engine_options(self) -> dict[str, dict[str, Any]]:
        """Return the options of the engine, by group, once the port is known."""
        return self.service_options()

    def service_clouds(self) -> str:
        """Return the path of the clouds.yaml of the service."""
        return self.variables['OS_CLIENT_CONFIG_FILE']

    def start_engine(self) -> None:
        """Start an engine."""
        self.engine = self.start_ready(ENGINE, self.path)

    def make_project(self) -> Any:
        """Create a project whose only member is the user; return it."""
        identity = self.admin.identity
        project = identity.create_project(
            name=self.unique_name('project'), domain_id='default'
        )
        self.addCleanup(self.remove_project, project.id)
        identity.assign_project_role_to_user(
            project, identity.find_user('demo'), identity.find_role('member')
        )
        self.admin.compute.update_quota_set(project.id, **self.quota)
        return project

    def remove_project(self, project_id: str) -> None:
        """Delete a project, with the security group that neutron has given it."""
        for group in self.admin.network.security_groups(project_id=project_id):
            self.admin.network.delete_security_group(group)
        self.admin.compute.revert_quota_set(project_id)
        self.admin.identity.delete_project(project_id)

    def connect_user(self) -> Any:
        """Return a connection of openstacksdk as the user."""
        found = sdk_config.OpenStackConfig(
            config_files=[self.clouds_file], load_envvars=False
        )
        connection = sdk_connection.Connection(config=found.get_one(case.DEMO))
        self.addCleanup(connection.close)
        return connection

    def run_openstack(
        self, environment: Environment, *argv: str, **variables: str
    ) -> Done:
        """Run `openstack` of an environment as the user; return its result.

        :param variables: further variables of the process
        """
        return shared_clients(environment).run(
            'openstack',
            f'--os-cloud={case.DEMO}',
            *argv,
            **{'OS_CLIENT_CONFIG_FILE': self.clouds_file, **variables},
        )

    def listings(self) -> dict[str, Callable[[], Iterable[Any]]]:
        """Return the lists of the objects that a test must not leave, by kind."""
        user = self.user
        return {
            'server': user.compute.servers,
            'server group': user.compute.server_groups,
            'port': user.network.ports,
            'floating IP': user.network.ips,
            'volume': user.block_storage.volumes,
        }

    def left(self) -> dict[str, list[str]]:
        """Return the objects of the project that exist, by their kind."""
        project = self.user.current_project_id
        found = {
            kind: [
                item.name or item.id
                for item in listing()
                if getattr(item, 'project_id', project) in (project, None)
            ]
            for kind, listing in self.listings().items()
        }
        return {kind: names for kind, names in found.items() if names}
