"""Errors in the outputs of nested stacks."""

import json
from typing import Any

from tests.stack_worlds import StackWorldCase, res, template
from watcherlite.engine.stacks.queries import StackQueries


class TestOutputErrors(StackWorldCase):
    """An error in an output of a nested stack is an error of the outer output."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        parts = self.world.parts(self.world.store)
        self.reading = StackQueries(parts.store, parts.handlers, parts.blueprints)

    def files(self, member: str) -> dict[str, str]:
        """Return a nested template with an output of a member of its group."""
        outputs = {
            'member': {'value': {'get_attr': ['g', f'resource.{member}.output']}},
            'fine': {'value': 'x'},
        }
        return {
            'n.yaml': json.dumps(
                template({'g': res('Group', count=1)}, outputs=outputs)
            )
        }

    def make(self, resources: Any) -> Any:
        outputs = {
            name: {'value': {'get_attr': ['n', name]}} for name in ('member', 'fine')
        }
        files = self.files('m7')
        return self.world.make(resources, sections={'outputs': outputs}, files=files)

    def outputs(self, stack: Any) -> dict[str, tuple[Any, str | None]]:
        found = self.reading.outputs(self.world.reload(stack))
        return {one.key: (one.value, one.error) for one in found}

    def test_it_is_shown_until_the_nested_output_is_mended(self) -> None:
        stack = self.make({'n': res('n.yaml')})

        self.assertEqual('CREATE_COMPLETE', stack.state.name)
        value, error = self.outputs(stack)['member']
        self.assertIsNone(value)
        self.assertIn('Error in n output member: ', str(error))
        self.assertIn('g has no member m7', str(error))
        self.assertEqual(('x', None), self.outputs(stack)['fine'])

        self.world.change(stack, files=self.files('m0'))

        self.assertEqual(
            {'member': ('a member', None), 'fine': ('x', None)}, self.outputs(stack)
        )

    def test_a_resource_that_needs_the_output_fails_with_the_error(self) -> None:
        needy = res(value={'get_attr': ['n', 'member']})

        stack = self.make({'n': res('n.yaml'), 'needy': needy})

        row = self.world.resource(stack, 'needy')
        self.assertEqual(
            {'n': 'CREATE_COMPLETE', 'needy': 'CREATE_FAILED'}, self.world.states(stack)
        )
        self.assertIn('Error in n output member: ', row.status_reason)
