"""The base of tests that call the API with tokens of a real keystone."""

import dataclasses
from typing import Any, ClassVar

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from falcon import testing
from openstack import exceptions as sdk_exceptions

from tests import bounded
from tests.cloud import case
from tests.functional.api import fixtures
from watcherlite import bootstrap, conf, settings
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.resource_results import Property, Ready
from watcherlite.plugins import base as contract
from watcherlite.plugins import loader
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.errors import translated
from watcherlite.plugins.resource_handlers.nested_stack import NestedStack

#: The role of callers who may use stacks and clusters.
KEY_PAIR = 'Test::KeyPair'


class KeyPair(contract.CloudClient, contract.ResourceHandler):
    """A key pair of nova, which belongs to the user who creates it."""

    properties: ClassVar = {'comment': Property({'type': 'string'}, updatable=True)}
    attributes: ClassVar = {'user': 'The id of its user.'}
    idempotent = True

    def create(self, context):
        with translated('compute', f'key pair {context.physical_name}'):
            compute = self._compute(context)
            key = compute.create_keypair(
                name=context.physical_name, public_key=public_key()
            )
        return Ready(physical_id=key.name, attributes={'user': key.user_id})

    def update(self, context):
        return self.check(context)

    def check(self, context):
        with translated('compute', f'key pair {context.physical_id}'):
            self._compute(context).get_keypair(context.physical_id)
        return Ready()

    def delete(self, context):
        if context.physical_id is not None:
            with translated('compute', f'key pair {context.physical_id}'):
                self._compute(context).delete_keypair(context.physical_id)
        return Ready()

    def _compute(self, context):
        clouds, secret = self.clouds, context.cloud_secret
        if secret is not None:
            return clouds.remote_connection(
                context.credential, secret, context.region
            ).compute
        return clouds.connection_for(context.credential, context.region).compute


def public_key() -> str:
    """Return a new public key of SSH."""
    key = ed25519.Ed25519PrivateKey.generate().public_key()
    return key.public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
    ).decode()


class CloudApiFixture(fixtures.ApiFixture):
    """The API with auth_strategy keystone, and an engine that uses the cloud."""

    lanes: ClassVar = (ENGINE,)

    def __init__(self, test: 'CloudApiCase') -> None:
        super().__init__()
        self._test = test

    def ini(self) -> str:
        options = {'auth_type': 'password', **self._test.options()}
        return '[keystone_authtoken]\n' + ''.join(
            f'{name} = {value}\n' for name, value in options.items()
        )

    def configure(self, configuration: conf.Configuration) -> None:
        for name, value, group in (
            ('auth_strategy', 'keystone', 'api'),
            ('cloud', case.SERVICE, 'openstack'),
            (
                'client_config_file',
                self._test.variables['OS_CLIENT_CONFIG_FILE'],
                'openstack',
            ),
        ):
            configuration.set_override(name, value, group)

    def make_runtime(self, configuration, store):
        plugins = loader.Plugins.of(
            resource_handlers={KEY_PAIR: KeyPair, 'OS::Heat::Stack': NestedStack},
            options=configuration,
            clouds=Clouds(settings.openstack_settings(configuration)),
        )
        return bootstrap.Runtime(
            configuration, lanes=self.lanes, store=store, plugins=plugins
        )


@dataclasses.dataclass(frozen=True)
class User:
    """A user of the cloud, with a connection and a token."""

    connection: Any
    token: str
    id: str
    project: str


class CloudApiCase(case.CloudCase):
    """A test with the API and the users of the cloud.

    :cvar site: the API and its engine
    """

    site: ClassVar[type[CloudApiFixture]] = CloudApiFixture

    def setUp(self) -> None:
        super().setUp()
        site = self.site(self)
        site.start_fixture()
        self.addCleanup(site.stop_fixture)
        self.runtime = site.runtime
        # falcon inspects the function to find out which kind of application it is.
        self.client = testing.TestClient(
            lambda environ, start: site.application(environ, start)
        )

    def user(self, cloud: str) -> User:
        """Return a user of clouds.yaml."""
        connection = self.connect(cloud)
        session = connection.session
        return User(
            connection,
            session.get_token(),
            session.get_user_id(),
            session.get_project_id(),
        )

    def call(self, user: User, method: str, path: str, body: Any = None) -> Any:
        """Call the API as a user; return the response."""
        return self.client.simulate_request(
            method, path, json=body, headers={'X-Auth-Token': user.token}
        )

    def trusts_of(self, user: User) -> list[dict[str, Any]]:
        """Return the trusts of a user to this service."""
        trustee = self.connect(case.SERVICE).session.get_user_id()
        response = user.connection.identity.get(
            f'/OS-TRUST/trusts?trustor_user_id={user.id}'
        )
        return [
            user.connection.identity.get(f'/OS-TRUST/trusts/{t["id"]}').json()['trust']
            for t in response.json()['trusts']
            if t['trustee_user_id'] == trustee
        ]

    def wait_for_stack(self, stack: str, *names: str) -> Any:
        """Wait until a stack has one of these states; return it."""

        def is_there() -> bool:
            row = self.runtime.store.find_stack(stack, None, True)
            if row.state.name.endswith('FAILED') and row.state.name not in names:
                self.fail(f'{row.state.name}: {row.state.reason}')
            return row.state.name in names

        bounded.wait_until(is_there)
        return self.runtime.store.find_stack(stack, None, True)

    def exists(self, user: User, key_pair: str) -> bool:
        """Return whether a user has a key pair."""
        try:
            user.connection.compute.get_keypair(key_pair)
        except sdk_exceptions.NotFoundException:
            return False
        return True
