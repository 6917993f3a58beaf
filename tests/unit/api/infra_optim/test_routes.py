"""The table of routes is complete and unique, and each row is valid."""

from tests import base
from watcherlite.api.infra_optim import handlers
from watcherlite.api.operation import Operation, Request, merge_routes


def nothing(request: Request) -> None:
    """Do nothing; the operation is never called."""


class TestRouteTable(base.TestCase):
    def test_operation_cannot_be_defined_twice(self) -> None:
        one = {'/v1/a': {'GET': Operation(nothing, None, 'A.')}}  # type: ignore[arg-type]
        error = self.assertRaises(ValueError, merge_routes, one, one)
        self.assertEqual('GET /v1/a is defined twice', str(error))

    def test_methods_of_one_url_are_merged(self) -> None:
        get = {'/v1/a': {'GET': Operation(nothing, None, 'A.')}}  # type: ignore[arg-type]
        post = {'/v1/a': {'POST': Operation(nothing, None, 'B.')}}  # type: ignore[arg-type]
        self.assertEqual({'GET', 'POST'}, set(merge_routes(get, post)['/v1/a']))

    def test_actionplans_is_an_alias_of_action_plans(self) -> None:
        plans = {
            template.replace('action_plans', 'actionplans'): operations
            for template, operations in handlers.ROUTES.items()
            if template.split('/')[-1:] == ['action_plans']
            or '/action_plans/' in template
        }
        alike = {key: value for key, value in handlers.ROUTES.items() if key in plans}
        self.assertEqual(6, len(plans))
        self.assertEqual(plans, alike)

    def test_templates_have_uniform_spelling(self) -> None:
        for template in handlers.ROUTES:
            self.assertRegex(template, r'\A/\Z|\A/v1(/[a-z_]+|/\{[a-z_]+\})*\Z')
