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

    def test_the_template_may_be_a_text_or_a_document(self) -> None:
        for template in (TEXT, DOCUMENT):
            with self.subTest(template=template):
                context = self.context(template=template)
                self.assertEqual((Batch(DOCUMENT),), NestedStack().expand(context, []))

    def test_parameters_and_timeout_are_passed_to_the_stack(self) -> None:
        context = self.context(template=TEXT, parameters={'a': 1}, timeout='2')
        self.assertEqual(
            (Batch(DOCUMENT, {'a': 1}, timeout=120),), NestedStack().expand(context, [])
        )

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

    def test_an_unknown_template_is_accepted(self) -> None:
        self.assertIsNone(NestedStack().validate({'template': None}))
