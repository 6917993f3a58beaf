"""What users may ask for: names, times, tags, and how many stacks."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from tests import base
from tests.stack_worlds import TENANT, Group, StackWorldCase, res, template
from watcherlite import exceptions
from watcherlite.domain.resource_results import Batch, Property
from watcherlite.domain.stacks import Definition, NewStack, Stack
from watcherlite.engine.stacks.requests import validation
from watcherlite.engine.stacks.services import StackLimits

EMPTY = Definition({'description': 'of nothing'})


class TestNames(base.TestCase):
    def test_a_name_fits_into_urls(self) -> None:
        for name in ('a', 'A-1_b.c', 'x' * 255):
            with self.subTest(name=name):
                validation.check_name(name)

    def test_every_other_name_is_refused_and_it_is_said_what_would_be_right(
        self,
    ) -> None:
        for name in ('', '1a', '-a', 'a b', 'a/b', 'ä', 'a\n', 'x' * 256, None, 5):
            with self.subTest(name=name):
                error = self.assertRaises(
                    exceptions.StackValidationFailed, validation.check_name, name
                )
                self.assertIn('must begin with a letter', str(error))


class TestStack(base.TestCase):
    def stack_of(self, **keys: Any) -> Stack:
        return validation.build_stack(
            NewStack('s', {}, **keys),
            EMPTY,
            TENANT,
            'me',
            {'a': 1},
            limits=StackLimits(timeout=77),
        )

    def test_what_is_not_said_has_a_default(self) -> None:
        stack = self.stack_of()

        self.assertEqual(
            ('s', TENANT, 'me', {'a': 1}, 77, (), True, 'of nothing'),
            (
                stack.name,
                stack.tenant,
                stack.user,
                stack.context,
                stack.timeout,
                stack.tags,
                stack.disable_rollback,
                stack.description,
            ),
        )

    def test_what_is_said_counts(self) -> None:
        stack = self.stack_of(
            timeout_mins=3, tags=('a', 'b', 'a'), disable_rollback=False
        )

        self.assertEqual(
            (180, ('a', 'b'), False),
            (stack.timeout, stack.tags, stack.disable_rollback),
        )

    def test_all_that_is_wrong_is_told_at_once(self) -> None:
        for minutes in (-1, 1.5, True, '5', 2**31):
            with self.subTest(minutes=minutes):
                error = self.assertRaises(
                    exceptions.StackValidationFailed,
                    self.stack_of,
                    timeout_mins=minutes,
                    tags=('a,b',),
                )
                self.assertEqual(
                    ['timeout_mins', 'tags'],
                    [problem.partition(':')[0] for problem in error.problems],
                )


class TestChanges(base.TestCase):
    STACK = Stack('u', 's', TENANT, 1, tags=('old',), timeout=5, disable_rollback=False)

    def changed(self, **keys: Any) -> tuple[Any, ...]:
        found = validation.attribute_changes(
            self.STACK, NewStack('s', {}, **keys), EMPTY
        )
        return found['tags'], found['timeout'], found['disable_rollback']

    def test_an_update_of_what_there_is_keeps_the_tags(self) -> None:
        self.assertEqual((('old',), 5, False), self.changed(existing=True))

    def test_another_one_forgets_the_tags_and_nothing_else(self) -> None:
        self.assertEqual(((), 5, False), self.changed())

    def test_tags_can_be_taken_away(self) -> None:
        self.assertEqual(((), 5, False), self.changed(existing=True, tags=()))


class TestRoom(StackWorldCase):
    def test_a_project_cannot_have_more_stacks_than_it_may(self) -> None:
        world = self.a_stack_world(limits=StackLimits(stacks=1))
        world.begin({'a': res()})

        self.assertRaises(
            exceptions.RequestLimitExceeded, world.begin, {'a': res()}, name='other'
        )
        world.stacks.create(NewStack('s', template({'a': res()})), 'another project')


class TestImmutable(StackWorldCase):
    SECTIONS: ClassVar[Any] = {
        'parameters': {'p': {'type': 'string', 'immutable': True}}
    }

    def test_an_immutable_parameter_keeps_its_value(self) -> None:
        world = self.a_stack_world()
        stack = world.begin({'a': res()}, sections=self.SECTIONS, parameters={'p': 'x'})

        world.begin_change(stack, parameters={'p': 'x'})
        self.assertRaises(
            exceptions.ImmutableParameterModified,
            world.begin_change,
            stack,
            parameters={'p': 'y'},
        )


class TestMendingATemplate(StackWorldCase):
    def test_what_a_stack_was_made_of_need_not_be_valid_any_more(self) -> None:
        world = self.a_stack_world()
        stack = world.begin({'a': res()})
        with world.store.transaction() as tx:
            (locked,) = tx.lock_stacks([stack.id or 0]).values()
            bad = tx.insert_definition(Definition({'resources': 'of another release'}))
            tx.save_stacks([locked.evolve(definition_id=bad.id or 0)])

        after = world.begin_change(stack, {'b': res()})

        self.assertEqual('UPDATE_IN_PROGRESS', after.state.name)


class Values(Group):
    """A group of what it is told; its properties are required."""

    properties: ClassVar[Mapping[str, Property]] = {
        'resources': Property({'type': 'object'}, required=True)
    }

    def expand(self, context: Any, members: Any) -> Any:
        return [Batch(template(context.properties['resources']))]


class TestDescribed(StackWorldCase):
    """A template can be checked before its parameters have values."""

    def described(self, resources: Any, parameters: Any) -> dict[str, Any]:
        world = self.a_stack_world()
        whole = template(resources, parameters=parameters)
        return world.stacks.validate(NewStack('s', whole))

    def test_parameters_need_no_values(self) -> None:
        found = self.described(
            {'a': res(value={'get_param': 'p'}, wait={'get_param': 'n'})},
            {
                'p': {'type': 'string', 'constraints': [{'length': {'min': 3}}]},
                'n': {'type': 'number', 'default': 2},
            },
        )

        self.assertEqual(['p', 'n'], list(found['Parameters']))

    def test_what_is_wrong_whatever_the_values_are_is_told(self) -> None:
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            self.described,
            {'a': res(value={'get_param': 'p'}, other=1), 'b': res('Thingy')},
            {'p': {'type': 'string'}},
        )

        self.assertEqual(2, len(error.problems), error.problems)

    def test_nothing_is_said_of_what_a_parameter_without_a_value_decides(self) -> None:
        p, b = {'get_param': 'p'}, {'get_param': 'b'}
        equal = {'equals': [p, 'x']}
        group = {'type': 'n.yaml', 'properties': {'q': p}}
        world = self.a_stack_world({'Values': Values})
        for name, resources in {
            'a file': {'a': res(value={'get_file': p})},
            'a resource': {'a': res(value={'get_resource': p})},
            'an attribute': {'a': res(), 'b': res(value={'get_attr': ['a', p]})},
            'whether a resource is there': {
                'a': res(_condition=equal),
                'b': res(value={'get_resource': 'a'}),
            },
            'whether another one is': {
                'a': res(_condition=b),
                'b': res(value={'get_attr': ['a', 'output']}),
            },
            'a named condition': {
                'a': res(_condition={'not': 'also'}),
                'b': res(value={'get_resource': 'a'}),
            },
            'what a condition is': {'a': res(_condition=p)},
            'an external id': {'a': res(_external_id=p, wait='odd')},
            'a member of a group': {'a': res('Values', resources={'m': group})},
        }.items():
            with self.subTest(decides=name):
                whole = template(
                    resources,
                    parameters={'p': {'type': 'string'}, 'b': {'type': 'boolean'}},
                    conditions={'named': equal, 'also': {'or': ['named', b]}},
                )
                inside = template(
                    {'c': res(value={'get_param': 'q'})},
                    parameters={'q': {'type': 'string'}},
                )
                files = {'n.yaml': json.dumps(inside)}
                world.stacks.validate(NewStack('s', whole, files=files))

    def test_the_templates_in_it_may_be_as_large_as_an_operator_allows(self) -> None:
        world = self.a_stack_world(limits=StackLimits(template=600_000))
        large = template({'b': res()}, description='x' * 550_000)
        new = NewStack(
            's', template({'a': res('n.yaml')}), files={'n.yaml': json.dumps(large)}
        )

        found = world.stacks.validate(new, nested=True)

        self.assertEqual(['a'], list(found['NestedParameters']))
