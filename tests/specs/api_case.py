"""A client of the REST API of a world."""

from typing import Any

from falcon import testing

from tests.specs.skip_case import SkipCase
from tests.worlds import World
from watcherlite import conf
from watcherlite.api import deploy
from watcherlite.api.services import Services
from watcherlite.api.settings import ApiSettings
from watcherlite.applier.operations import PlanOperations

LATEST = '1.7'


class Client:
    """A client of the REST API of a world.

    :param plans: the operations on plans; by default those of the world
    """

    def __init__(self, world: World, plans: Any = None) -> None:
        services = Services(
            store=world.store,
            plans=plans or world.plans,
            audits=None,
            templates=None,
            data_models=None,
            datasources=None,
            stacks=None,
            reading=None,
            software=None,
            clusters=None,
            plugins=world.types,
            clock=world.clock,
            notifications=None,
        )
        self.streams = services.streams
        application = deploy.make_application(
            services, ApiSettings(), conf.new([], [], [])
        )
        # falcon reads the signature, which a wrapped callable does not have.
        self._client = testing.TestClient(
            lambda environ, start_response: application(environ, start_response)
        )

    def __call__(
        self, method: str, path: str, body: Any = None, version: str | None = LATEST
    ) -> testing.Result:
        """Return the response to a request."""
        headers = {}
        if version is not None:
            headers['OpenStack-API-Version'] = f'infra-optim {version}'
        return self._client.simulate_request(
            method, path, json=body, headers=headers, host='localhost'
        )

    def get(self, path: str, version: str | None = LATEST) -> Any:
        """Return the JSON body of the response to a GET request."""
        answer = self('GET', path, version=version)
        if answer.status_code != 200:
            raise AssertionError(f'{answer.status}: {answer.text}')
        return answer.json


class ApiCase(SkipCase):
    """The base case of tests that patch skippable actions through the REST API."""

    def setUp(self) -> None:
        super().setUp()
        self.client = Client(self.world)

    def path_of(self, name: str) -> str:
        """Return the URL path of an action."""
        return f'/v1/actions/{self.world.action(name).uuid}'

    def patch(
        self,
        name: str,
        *lines: tuple[str, str, Any],
        version: str | None = LATEST,
        client: Client | None = None,
    ) -> testing.Result:
        """Patch an action; each line is (op, path, value)."""
        body = [{'op': op, 'path': path, 'value': value} for op, path, value in lines]
        return (client or self.client)('PATCH', self.path_of(name), body, version)

    def show_action(self, name: str, version: str | None = LATEST) -> Any:
        """Return the representation of an action."""
        return self.client.get(self.path_of(name), version)

    def assert_refused(self, status: int, text: str, answer: testing.Result) -> None:
        """Check that a request was rejected; `text` is part of the message."""
        self.assertEqual((status, True), (answer.status_code, text in answer.text))


class InterleavedOperations:
    """Operations on plans that call a function before each operation.

    The values that a handler has read are then outdated.
    """

    def __init__(self, plans: PlanOperations, act: Any) -> None:
        self._plans = plans
        self._act = act

    def __getattr__(self, name: str) -> Any:
        operation = getattr(self._plans, name)

        def called(*arguments: Any, **named: Any) -> Any:
            self._act()
            return operation(*arguments, **named)

        return called
