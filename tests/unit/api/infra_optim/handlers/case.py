"""Operations called on a world, as the application calls them."""

from typing import Any

import jsonschema

from tests.unit.api.infra_optim import fakes
from tests.worlds import World, WorldCase
from watcherlite.api.infra_optim.handlers import ROUTES
from watcherlite.api.operation import Response, Version, at
from watcherlite.api.services import Services


class HandlerCase(WorldCase):
    """A world, and its operations by path and method."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_world()
        self.services = self.services_of(self.world)

    def services_of(self, world: World, **parts: Any) -> Services:
        """Return the services of a world."""
        return fakes.services(
            **{
                'store': world.store,
                'plans': world.plans,
                'plugins': world.types,
                'clock': world.clock,
                **parts,
            }
        )

    def call(
        self, method: str, template: str, version: Version = (1, 7), **request: Any
    ) -> Response:
        """Return a response, and check that it conforms to its schema."""
        services = request.pop('services', self.services)
        operation = ROUTES[template][method]
        answer = operation.call(fakes.request(services, version=version, **request))
        self.assertIn(answer.status, operation.responses)
        promised = operation.responses[answer.status]
        if promised is None:
            return answer
        if answer.stream is None:
            # The function `validate` would validate the schema each time.
            jsonschema.Draft202012Validator(
                at(promised, version), format_checker=jsonschema.FormatChecker()
            ).validate(answer.body)
        return answer
