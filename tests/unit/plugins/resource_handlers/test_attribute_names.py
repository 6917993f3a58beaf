"""Which attributes templates may ask for."""

from tests import base
from watcherlite.plugins.resource_handlers.http_resource import HttpResource
from watcherlite.plugins.resource_handlers.nested_stack import NestedStack
from watcherlite.plugins.resource_handlers.nothing import Nothing
from watcherlite.plugins.resource_handlers.resource_group import ResourceGroup


class TestAttributeNames(base.TestCase):
    """What templates may ask for, by the properties of a resource."""

    def test_an_http_resource_has_what_its_outputs_name(self) -> None:
        names = HttpResource().attribute_names
        self.assertEqual({'id'}, names({}))
        self.assertEqual({'id', 'at'}, names({'outputs': {'at': 'server.address'}}))
        # Which they are is not known yet.
        self.assertIsNone(names({'outputs': None}))

    def test_some_have_any_and_a_stack_those_that_are_declared(self) -> None:
        self.assertIsNone(Nothing().attribute_names({}))
        self.assertIsNone(ResourceGroup().attribute_names({}))
        self.assertEqual(
            {'stack_name', 'outputs'}, set(NestedStack().attribute_names({}))
        )
