"""The resource type OS::Heat::Stack."""

from typing import Any

from tests import base
from tests.unit.plugins.resource_handlers.group_world import Context
from watcherlite import exceptions
from watcherlite.domain.resource_results import Batch
from watcherlite.plugins import properties
from watcherlite.plugins.resource_handlers.nested_stack import NestedStack

TEXT = """\
heat_template_version: 2021-04-16
resources:
  one: {type: OS::Heat::None}
"""
DOCUMENT = {
    'heat_template_version': '2021-04-16',
    'resources': {'one': {'type': 'OS::Heat::None'}},
}


class NestedStackTest(base.TestCase):
    """The template, and the attributes of the stack."""

    def context(self, **wanted: Any) -> Context:
        return Context(properties.fit(NestedStack, wanted))

    def test_the_stack_gets_its_template_parameters_and_timeout(self) -> None:
        limits = {'parameters': {'a': 1}, 'timeout': '2'}
        for batch, wanted in (
            (Batch(DOCUMENT), {'template': TEXT}),
            (Batch(DOCUMENT), {'template': DOCUMENT}),
            (Batch(DOCUMENT, {'a': 1}, timeout=120), {'template': TEXT, **limits}),
        ):
            found = NestedStack().expand(self.context(**wanted), [])
            self.assertEqual((batch,), found, wanted)

    def test_the_outputs_are_an_attribute(self) -> None:
        self.assertEqual(
            {'stack_name': 'around-group-1', 'outputs': {'a': 1}},
            NestedStack().gather(self.context(template=TEXT), [], {'a': 1}),
        )

    def test_an_invalid_template_is_rejected_with_its_line(self) -> None:
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            NestedStack().validate,
            {'template': 'a: 1\nb: [\n'},
        )
        self.assertTrue(error.problems[0].startswith('properties.template:'))
        # The template is not known yet.
        self.assertIsNone(NestedStack().validate({'template': None}))
