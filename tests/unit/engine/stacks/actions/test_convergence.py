"""The convergence of a resource to a changed definition."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tests import base
from tests.stack_worlds import Group, Nothing, Outside, thing
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
    'Thing',
    'Thing',
    'CREATE',
    'COMPLETE',
    id=1,
    physical_id='p',
    properties=BEFORE,
)
MARKED = MADE.at(State('CHECK', 'FAILED'), under_mark=State('CREATE', 'COMPLETE'))


class TestDecision(base.TestCase):
    def decided(
        self,
        row: Resource = MADE,
        handler: Any = None,
        name: str = 'Thing',
        external: str | None = None,
        **wanted: Any,
    ) -> str:
        made = (handler or thing(Outside()))()
        return decide(row, made, name, {**BEFORE, **wanted}, external)

    def test_an_unchanged_resource_is_kept(self) -> None:
        self.assertEqual(KEEP, self.decided())

    def test_a_change_is_made_in_place_if_possible(self) -> None:
        self.assertEqual(UPDATE, self.decided(value='z'))
        self.assertEqual(REPLACE, self.decided(fixed='z'))
        self.assertRaises(exceptions.Invalid, self.decided, final='z')

    def test_a_failed_resource_is_replaced(self) -> None:
        for row in (MADE.at(State('UPDATE', 'FAILED')), MARKED):
            self.assertEqual(REPLACE, self.decided(row))

    def test_a_lock_hides_no_failure(self) -> None:
        unlocked = MADE.at(
            State('UNLOCK', 'COMPLETE'), under_lock=State('CHECK', 'FAILED')
        )

        self.assertEqual(REPLACE, self.decided(unlocked))

    def test_a_failed_resource_with_nothing_to_repair_is_kept(self) -> None:
        self.assertEqual(KEEP, self.decided(MARKED, Nothing))

    def test_a_new_type_replaces_the_resource(self) -> None:
        self.assertEqual(REPLACE, self.decided(name='Other'))

    def test_the_members_of_a_nested_stack_converge_by_themselves(self) -> None:
        failed = MADE.at(State('CHECK', 'FAILED'))

        for row in (MADE, failed):
            self.assertEqual(UPDATE, self.decided(row, Group, fixed='y'))
        self.assertEqual(REPLACE, self.decided(MARKED, Group))
        self.assertEqual(REPLACE, self.decided(MADE.evolve(physical_id=None), Group))

    def test_a_nested_stack_with_an_interrupted_creation_is_updated(self) -> None:
        class Fixed(Group):
            properties: ClassVar[Mapping[str, Property]] = {
                **Group.properties,
                'kind': Property({'type': 'string'}),
            }

        begun = MADE.at(State('CREATE', 'FAILED'), properties={})
        settled = begun.evolve(definition_id=1)

        self.assertEqual(UPDATE, self.decided(begun, Fixed, kind='x'))
        self.assertEqual(REPLACE, self.decided(settled, Fixed, kind='x'))

    def test_an_external_resource_is_kept(self) -> None:
        self.assertEqual(KEEP, self.decided(external='p', fixed='z'))
        self.assertEqual(ADOPT, self.decided(MARKED, external='p'))
        never = MADE.at(State('CREATE', 'FAILED'), physical_id=None)
        self.assertEqual(ADOPT, self.decided(never, external='p'))

    def test_a_new_external_id_replaces_the_resource(self) -> None:
        self.assertEqual(REPLACE, self.decided(external='other'))


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
