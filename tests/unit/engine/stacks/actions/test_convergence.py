"""The convergence of a resource to a changed definition."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tests import base
from tests.stack_worlds import ExternalResources, Group, Nothing, sample
from watcherlite import exceptions
from watcherlite.domain.resource_results import KEEP, REPLACE, UPDATE, Property
from watcherlite.domain.stacks import Resource
from watcherlite.engine.stacks.actions.convergence import ADOPT, decide, is_new
from watcherlite.states.stack import State

BEFORE = {'value': 'x', 'fixed': 'y'}
MADE = Resource(
    'u',
    1,
    'a',
    'Sample',
    'Sample',
    'CREATE',
    'COMPLETE',
    id=1,
    physical_id='p',
    properties=BEFORE,
)
MARKED = MADE.at(State('CHECK', 'FAILED'), under_mark=State('CREATE', 'COMPLETE'))


class TestDecision(base.TestCase):
    def decision(
        self,
        row: Resource = MADE,
        handler: Any = None,
        name: str = 'Sample',
        external: str | None = None,
        **desired: Any,
    ) -> str:
        made = (handler or sample(ExternalResources()))()
        return decide(row, made, name, {**BEFORE, **desired}, external)

    def test_a_change_is_made_in_place_if_possible_and_a_failure_replaced(self) -> None:
        check_failed = State('CHECK', 'FAILED')
        unlocked = MADE.at(State('UNLOCK', 'COMPLETE'), under_lock=check_failed)
        never = MADE.at(State('CREATE', 'FAILED'), physical_id=None)
        cases: tuple[tuple[str, Resource, dict[str, Any]], ...] = (
            (KEEP, MADE, {}),
            (UPDATE, MADE, {'value': 'z'}),
            (REPLACE, MADE, {'fixed': 'z'}),
            (REPLACE, MADE, {'name': 'Other'}),
            (REPLACE, MADE.at(State('UPDATE', 'FAILED')), {}),
            (REPLACE, MARKED, {}),
            # A lock hides no failure.
            (REPLACE, unlocked, {}),
            # Nothing can be repaired.
            (KEEP, MARKED, {'handler': Nothing}),
            # The members of a nested stack converge by themselves.
            (UPDATE, MADE, {'handler': Group, 'fixed': 'y'}),
            (UPDATE, MADE.at(check_failed), {'handler': Group, 'fixed': 'y'}),
            (REPLACE, MARKED, {'handler': Group}),
            (REPLACE, MADE.evolve(physical_id=None), {'handler': Group}),
            (KEEP, MADE, {'external': 'p', 'fixed': 'z'}),
            (ADOPT, MARKED, {'external': 'p'}),
            (ADOPT, never, {'external': 'p'}),
            (REPLACE, MADE, {'external': 'other'}),
        )
        for expected, row, desired in cases:
            with self.subTest(row=row, desired=desired):
                self.assertEqual(expected, self.decision(row, **desired))
        self.assertRaises(exceptions.Invalid, self.decision, final='z')

    def test_a_nested_stack_with_an_interrupted_creation_is_updated(self) -> None:
        class Fixed(Group):
            properties: ClassVar[Mapping[str, Property]] = {
                **Group.properties,
                'kind': Property({'type': 'string'}),
            }

        begun = MADE.at(State('CREATE', 'FAILED'), properties={})
        settled = begun.evolve(definition_id=1)

        self.assertEqual(UPDATE, self.decision(begun, Fixed, kind='x'))
        self.assertEqual(REPLACE, self.decision(settled, Fixed, kind='x'))


class TestNew(base.TestCase):
    def test_a_resource_that_was_not_created_is_new(self) -> None:
        new = {
            state: is_new(MADE.at(State(*state)))
            for state in (
                ('INIT', 'COMPLETE'),
                ('CREATE', 'IN_PROGRESS'),
                ('CREATE', 'FAILED'),
                ('CREATE', 'COMPLETE'),
                ('UPDATE', 'IN_PROGRESS'),
            )
        }

        self.assertEqual([True, True, False, False, False], list(new.values()))
