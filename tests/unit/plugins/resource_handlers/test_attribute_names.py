"""The attributes of resource types."""

from tests import base
from watcherlite.plugins.resource_handlers.http_resource import HttpResource
from watcherlite.plugins.resource_handlers.nested_stack import NestedStack
from watcherlite.plugins.resource_handlers.nothing import Nothing
from watcherlite.plugins.resource_handlers.resource_group import ResourceGroup


class TestAttributeNames(base.TestCase):
    """The attributes that depend on the properties of a resource."""

    def test_an_http_resource_has_the_attributes_in_its_outputs(self) -> None:
        names = HttpResource().attribute_names
        self.assertEqual({'id'}, names({}))
        self.assertEqual({'id', 'at'}, names({'outputs': {'at': 'server.address'}}))
        # Which they are is not known yet.
        self.assertIsNone(names({'outputs': None}))

    def test_groups_have_any_attribute_and_stacks_the_declared_ones(self) -> None:
        self.assertIsNone(Nothing().attribute_names({}))
        self.assertIsNone(ResourceGroup().attribute_names({}))
        self.assertEqual(
            {'stack_name', 'outputs'}, set(NestedStack().attribute_names({}))
        )
