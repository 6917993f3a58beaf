"""The parameters of nested templates in a validation."""

from typing import Any

from tests.stack_worlds import StackWorldCase, res, template
from watcherlite.domain.resource_results import Batch
from watcherlite.domain.stacks import StackRequest
from watcherlite.plugins import base

INNER = """
heat_template_version: pike
description: the inner one
parameters:
  n: {type: number, default: 10, description: how many}
resources:
  again: {type: innermost.yaml}
"""
INNERMOST = """
heat_template_version: pike
parameters: {deep: {type: string, hidden: true, default: x}}
resources: {a: {type: Nothing}}
"""
FILES = {'inner.yaml': INNER, 'innermost.yaml': INNERMOST}
DEEP = {
    'Type': 'innermost.yaml',
    'Description': 'No description',
    'Parameters': {
        'deep': {
            'Type': 'String',
            'Label': 'deep',
            'Description': '',
            'NoEcho': 'true',
            'Default': 'x',
        }
    },
}


def described(**more: Any) -> dict[str, Any]:
    """Return the description of the inner template.

    :param more: of its parameter
    """
    return {
        'Type': 'inner.yaml',
        'Description': 'the inner one',
        'Parameters': {
            'n': {
                'Type': 'Number',
                'Label': 'n',
                'Description': 'how many',
                'NoEcho': 'false',
                'Default': 10,
                **more,
            }
        },
        'NestedParameters': {'again': DEEP},
    }


class _Twice(base.NestedHandler):
    """A group of two nested templates."""

    def expand(self, context: base.ResourceContext, members: Any) -> Any:
        alike = {f'm{at}': res('inner.yaml', n=at + 1) for at in (0, 1)}
        return [Batch(template(alike))]


class TestNestedParameters(StackWorldCase):
    def nested(self, whole: Any, nested: bool = True, **keys: Any) -> Any:
        """Return the nested parameters of a valid template."""
        world = self.create_stack_world()
        new = StackRequest('s', whole, files=FILES, **keys)
        return world.stacks.validate(new, nested).get('NestedParameters')

    def test_they_are_shown_on_request_with_the_values_of_the_properties(self) -> None:
        outer = template(
            {
                'one': res('inner.yaml', n={'get_param': 'p'}),
                'two': res('inner.yaml'),
                'three': res('inner.yaml', n={'get_attr': ['four', 'output']}),
                'four': res(),
            },
            parameters={'p': {'type': 'number', 'default': 5}},
        )

        self.assertIsNone(self.nested(outer, nested=False))
        self.assertEqual(
            {'one': described(Value=5), 'two': described(), 'three': described()},
            self.nested(outer),
        )

    def test_a_group_shows_one_of_its_members(self) -> None:
        world = self.create_stack_world({'Twice': _Twice})
        new = StackRequest('s', template({'g': res('Twice')}), files=FILES)

        found = world.stacks.validate(new, nested=True)

        self.assertEqual(
            {
                'g': {
                    'Type': 'Twice',
                    'Description': 'No description',
                    'Parameters': {},
                    'NestedParameters': {'m0': described(Value=1)},
                }
            },
            found['NestedParameters'],
        )
