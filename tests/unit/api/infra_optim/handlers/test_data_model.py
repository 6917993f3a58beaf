"""The data model, by scope and version."""

import types
from typing import Any

from tests import base
from watcherlite import exceptions
from watcherlite.api.infra_optim.handlers import data_model

ROW = {
    'node_uuid': 'n',
    'server_uuid': 's',
    'server_pinned_az': 'a',
    'server_flavor_extra_specs': {},
}


class Services:
    """Data models with one row, and a store with one audit."""

    names = ('compute', 'storage')

    def __init__(self, error: Exception | None = None) -> None:
        self.data_models = self.store = self
        self.scopes: list[Any] = []
        self._error = error

    def find_audit(self, uuid: str) -> Any:
        audit = types.SimpleNamespace(scope=[uuid])
        return types.SimpleNamespace(audit=audit)

    def rows(self, kind: str, scope: Any) -> list[dict[str, Any]]:
        self.scopes.append(scope)
        if self._error is not None:
            raise self._error
        return [{**ROW, 'kind': kind}]


class TestDataModel(base.TestCase):
    def show(
        self,
        version: tuple[int, int] = (1, 7),
        services: Services | None = None,
        **query: str,
    ) -> Any:
        request: Any = types.SimpleNamespace(
            services=services or Services(), version=version, query=query
        )
        return data_model.show(request).body

    def test_fields_of_later_versions_are_hidden(self) -> None:
        self.assertEqual(
            {'node_uuid', 'server_uuid', 'kind'}, set(self.show((1, 5))['context'][0])
        )
        self.assertLess(set(ROW), set(self.show((1, 6))['context'][0]))

    def test_the_scope_is_that_of_the_audit(self) -> None:
        services = Services()

        self.show(services=services)
        self.show(services=services, audit_uuid='UUID')

        self.assertEqual([(), ['uuid']], services.scopes)

    def test_other_models_are_shown_from_1_8_on(self) -> None:
        shown = self.show((1, 8), data_model_type='storage')

        self.assertEqual('storage', shown['context'][0]['kind'])
        with self.assertRaisesRegex(exceptions.NotFound, 'There is compute$'):
            self.show((1, 7), data_model_type='storage')

    def test_without_a_cloud_the_model_is_empty_with_the_reason(self) -> None:
        services = Services(exceptions.ConfigurationError('No cloud'))

        self.assertEqual(
            {'context': [], 'comment': 'No compute model: No cloud'},
            self.show(services=services),
        )

    def test_a_cloud_that_is_down_is_an_error(self) -> None:
        services = Services(exceptions.ServiceUnavailable('nova is down'))

        self.assertRaises(exceptions.ServiceUnavailable, self.show, services=services)
