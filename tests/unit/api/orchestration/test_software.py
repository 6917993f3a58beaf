"""Credentials in the configs of servers are masked by the names of their inputs."""

import io
import json
from typing import Any

from keystoneauth1 import exceptions as keystone_exceptions

from tests import base
from tests.unit.api.orchestration.requests import make_request
from watcherlite.api.operation import Caller, Request
from watcherlite.api.orchestration import software
from watcherlite.api.orchestration.handlers import software_deployments
from watcherlite.clock import SystemClock
from watcherlite.domain.software import TRANSPORT
from watcherlite.engine.software import SoftwareOperations
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.testing.memory_store import MemoryStore

URL = f'http://api/orchestration/v1/deployment_signals/d?token={"a" * 43}'
CONFIG = {
    'name': 'setup',
    'config': 'mysql --password=geheim',
    'inputs': [
        {'name': 'db_password', 'default': 'geheim', 'value': 'geheim'},
        {'name': 'text', 'value': 'password: geheim'},
        {'name': 'nested', 'value': {'token': 'geheim', 'user': 'root'}},
        {'name': 'deploy_signal_id', 'value': URL},
        {'name': 'empty'},
        'no mapping',
    ],
    'options': {'api_key': 'geheim'},
}
MASKED = {
    'name': 'setup',
    'config': 'mysql --password=***',
    'inputs': [
        {'name': 'db_password', 'default': '***', 'value': '***'},
        {'name': 'text', 'value': 'password: ***'},
        {'name': 'nested', 'value': {'token': '***', 'user': 'root'}},
        {'name': 'deploy_signal_id', 'value': URL.replace('a' * 43, '***')},
        {'name': 'empty'},
        'no mapping',
    ],
    'options': {'api_key': '***'},
}


class TestMasks(base.TestCase):
    def test_credentials_in_a_config_are_masked(self) -> None:
        self.assertEqual(MASKED, software.mask_config(CONFIG))

    def test_credentials_in_the_metadata_of_a_server_are_masked(self) -> None:
        metadata = {'role': 'web', 'secret': 'geheim', 'deployments': [CONFIG, 'text']}

        self.assertEqual(
            {'role': 'web', 'secret': '***', 'deployments': [MASKED, 'text']},
            software.mask_metadata(metadata),
        )

    def test_metadata_may_have_another_value_of_deployments(self) -> None:
        self.assertEqual(
            {'deployments': 'none'}, software.mask_metadata({'deployments': 'none'})
        )


class FakeSwift:
    """The connections to a cloud with one object.

    :ivar body: of the object
    :ivar failure: of all requests
    :ivar tokens: of the requests
    """

    is_configured = True

    def __init__(self) -> None:
        self.body = b''
        self.failure: Exception | None = None
        self.tokens: list[str] = []
        self.headers: dict[str, str] = {}
        # It is also the plugins, a client and a response.
        self.clouds = self

    def identities(self) -> 'FakeSwift':
        return self

    def service_client(self, token: str, service_type: str) -> 'FakeSwift':
        self.tokens.append(token)
        return self

    def get(self, path: str, **options: Any) -> Any:
        if self.failure is not None:
            raise self.failure
        return self

    def __enter__(self) -> 'FakeSwift':
        return self

    def __exit__(self, *error: object) -> None:
        """Close nothing."""

    def iter_content(self, size: int) -> Any:
        return iter(io.BytesIO(self.body).read, b'')


class TestResults(base.TestCase):
    """Results that servers have stored in the cloud."""

    def setUp(self) -> None:
        super().setUp()
        self.store, self.swift = MemoryStore(), FakeSwift()
        self.addCleanup(self.store.close)
        self.software = SoftwareOperations(self.store, SystemClock(), StackLimits())
        inputs = [
            {'name': TRANSPORT, 'value': 'TEMP_URL_SIGNAL'},
            {'name': 'deploy_signal_id', 'value': 'http://swift/v1/AUTH_p/box/object'},
        ]
        config = self.software.create_config(
            'acme', {'inputs': inputs, 'outputs': [{'name': 'result'}]}
        )
        self.deployment = self.software.create_deployment(
            'acme',
            {'server_id': 's', 'config_id': config.uuid, 'status': 'IN_PROGRESS'},
        )

    def show(self, token: str | None = 't0k3n') -> tuple[str, Any]:
        """Return status and outputs of the deployment as it is shown."""
        request: Request = make_request(
            path={'deployment_id': self.deployment},
            parts={
                'store': self.store,
                'software': self.software,
                'plugins': self.swift,
            },
            caller=Caller(user_name='ada', token=token, roles=frozenset({'admin'})),
        )
        shown = software_deployments.show(request).body['software_deployment']
        return shown['status'], shown['output_values']

    def test_they_are_stored_when_the_deployment_is_shown(self) -> None:
        self.assertEqual(('IN_PROGRESS', None), self.show())
        self.swift.body = json.dumps({'result': 'yes'}).encode()

        status, outputs = self.show()

        self.assertEqual(('COMPLETE', 'yes'), (status, outputs['result']))
        self.swift.body = json.dumps({'result': 'no'}).encode()
        self.assertEqual((status, outputs), self.show())
        self.assertEqual(['t0k3n'] * 2, self.swift.tokens)

    def test_the_deployment_is_shown_as_it_is_without_the_service_or_a_token(
        self,
    ) -> None:
        self.swift.body = json.dumps({'result': 'yes'}).encode()
        self.swift.failure = keystone_exceptions.ConnectFailure('refused')

        self.assertEqual(('IN_PROGRESS', None), self.show())
        self.swift.failure = None
        self.assertEqual(('IN_PROGRESS', None), self.show(token=None))
