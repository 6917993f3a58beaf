"""The validation of requests: names, timeouts, tags, and limits of stacks."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from tests import base
from tests.stack_worlds import TENANT, Group, StackWorldCase, res, template
from watcherlite import exceptions
from watcherlite.domain.resource_results import Batch, Property
from watcherlite.domain.stacks import Definition, NewStack, Stack, StackRequest
from watcherlite.engine.stacks.requests import validation
from watcherlite.engine.stacks.services import StackLimits

EMPTY = Definition({'description': 'of nothing'})


class TestNames(base.TestCase):
    def test_valid_names_are_accepted(self) -> None:
        for name in ('a', 'A-1_b.c', 'x' * 255):
            with self.subTest(name=name):
                validation.check_name(name)

    def test_invalid_names_are_rejected_with_the_rule(self) -> None:
        for name in ('', '1a', '-a', 'a b', 'a/b', 'ä', 'a\n', 'x' * 256, None, 5):
            with self.subTest(name=name):
                error = self.assertRaises(
                    exceptions.StackValidationFailed, validation.check_name, name
                )
                self.assertIn('must begin with a letter', str(error))


class TestStack(base.TestCase):
    def stack_of(self, **keys: Any) -> Stack:
        return validation.build_stack(
            StackRequest('s', {}, **keys),
            EMPTY,
            TENANT,
            'me',
            {'a': 1},
            limits=StackLimits(timeout=77),
        )

    def test_omitted_values_have_defaults(self) -> None:
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

    def test_given_values_are_used(self) -> None:
        stack = self.stack_of(
            timeout_mins=3, tags=('a', 'b', 'a'), disable_rollback=False
        )

        self.assertEqual(
            (180, ('a', 'b'), False),
            (stack.timeout, stack.tags, stack.disable_rollback),
        )

    def test_all_problems_are_reported_together(self) -> None:
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
    STACK = NewStack(
        'u', 's', TENANT, 1, tags=('old',), timeout=5, disable_rollback=False
    )

    def changed(self, **keys: Any) -> tuple[Any, ...]:
        found = validation.attribute_changes(
            self.STACK, StackRequest('s', {}, **keys), EMPTY
        )
        return found['tags'], found['timeout'], found['disable_rollback']

    def test_only_an_existing_update_without_tags_keeps_them(self) -> None:
        for keys, tags in (
            ({'existing': True}, ('old',)),
            ({}, ()),
            ({'existing': True, 'tags': ()}, ()),
        ):
            with self.subTest(keys=keys):
                self.assertEqual((tags, 5, False), self.changed(**keys))


class TestQuota(StackWorldCase):
    def test_the_stack_quota_is_enforced(self) -> None:
        world = self.create_stack_world(limits=StackLimits(stacks=1))
        world.start_creation({'a': res()})

        self.assertRaises(
            exceptions.RequestLimitExceeded,
            world.start_creation,
            {'a': res()},
            name='other',
        )
        world.stacks.create(
            StackRequest('s', template({'a': res()})), 'another project'
        )


class TestImmutable(StackWorldCase):
    SECTIONS: ClassVar[Any] = {
        'parameters': {'p': {'type': 'string', 'immutable': True}}
    }

    def test_an_immutable_parameter_keeps_its_value(self) -> None:
        world = self.create_stack_world()
        stack = world.start_creation(
            {'a': res()}, sections=self.SECTIONS, parameters={'p': 'x'}
        )

        world.start_update(stack, parameters={'p': 'x'})
        self.assertRaises(
            exceptions.ImmutableParameterModified,
            world.start_update,
            stack,
            parameters={'p': 'y'},
        )


class TestTemplateFixes(StackWorldCase):
    def test_the_previous_definition_may_be_invalid(self) -> None:
        world = self.create_stack_world()
        stack = world.start_creation({'a': res()})
        with world.store.transaction() as tx:
            (locked,) = tx.lock_stacks([stack.id]).values()
            bad = tx.insert_definition(Definition({'resources': 'of another release'}))
            tx.save_stacks([locked.evolve(definition_id=bad.id)])

        after = world.start_update(stack, {'b': res()})

        self.assertEqual('UPDATE_IN_PROGRESS', after.state.name)


class Values(Group):
    """A group of the given resources; its properties are required."""

    properties: ClassVar[Mapping[str, Property]] = {
        'resources': Property({'type': 'object'}, required=True)
    }

    def expand(self, context: Any, members: Any) -> Any:
        return [Batch(template(context.properties['resources']))]


class TestDescribed(StackWorldCase):
    """The validation of a template whose parameters have no values."""

    def described(self, resources: Any, parameters: Any) -> dict[str, Any]:
        world = self.create_stack_world()
        whole = template(resources, parameters=parameters)
        return world.stacks.validate(StackRequest('s', whole))

    def test_parameters_need_no_values(self) -> None:
        found = self.described(
            {'a': res(value={'get_param': 'p'}, wait={'get_param': 'n'})},
            {
                'p': {'type': 'string', 'constraints': [{'length': {'min': 3}}]},
                'n': {'type': 'number', 'default': 2},
            },
        )

        self.assertEqual(['p', 'n'], list(found['Parameters']))

    def test_problems_independent_of_values_are_reported(self) -> None:
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            self.described,
            {'a': res(value={'get_param': 'p'}, other=1), 'b': res('Thingy')},
            {'p': {'type': 'string'}},
        )

        self.assertEqual(2, len(error.problems), error.problems)

    def test_problems_that_depend_on_missing_values_are_not_reported(self) -> None:
        p, b = {'get_param': 'p'}, {'get_param': 'b'}
        equal = {'equals': [p, 'x']}
        group = {'type': 'n.yaml', 'properties': {'q': p}}
        world = self.create_stack_world({'Values': Values})
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
                world.stacks.validate(StackRequest('s', whole, files=files))

    def test_the_size_limit_applies_to_nested_templates(self) -> None:
        world = self.create_stack_world(limits=StackLimits(template=600_000))
        large = template({'b': res()}, description='x' * 550_000)
        new = StackRequest(
            's', template({'a': res('n.yaml')}), files={'n.yaml': json.dumps(large)}
        )

        found = world.stacks.validate(new, nested=True)

        self.assertEqual(['a'], list(found['NestedParameters']))
