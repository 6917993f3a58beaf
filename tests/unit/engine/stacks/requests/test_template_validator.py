"""All problems of a stack are reported before any resource is created."""

import json
from typing import Any, ClassVar

from tests.stack_worlds import VERSION, Group, StackWorld, StackWorldCase, res, template
from watcherlite import exceptions
from watcherlite.domain.resource_results import Batch, Expansion
from watcherlite.domain.stacks import Definition, NewStack
from watcherlite.engine.stacks.requests import validation
from watcherlite.engine.stacks.requests.unknown_parameters import UnknownNames
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.plugins.base import ResourceHandler


def inner(resources: Any, **sections: Any) -> str:
    """Return the text of a template."""
    return json.dumps(template(resources, **sections))


class AnyPropertyHandler(ResourceHandler):
    """Accepts any property and has no attributes."""

    allows_undeclared = True

    def create(self, context: Any) -> Any:
        return None

    def delete(self, context: Any) -> Any:
        return None


class FailingHandler(AnyPropertyHandler):
    """Fails to validate its properties."""

    def validate(self, properties: Any) -> None:
        raise KeyError('a secret')


class AnyAttributeHandler(AnyPropertyHandler):
    """Has any attribute."""

    def attribute_names(self, properties: Any) -> Any:
        return None


class SizeRejectingGroup(Group):
    """Rejects its number of members."""

    def expand(self, context: Any, members: Any) -> Any:
        raise exceptions.Invalid('count: there are too many')


class PolicyRejectingGroup(Group):
    """Rejects update policies."""

    def expand(self, context: Any, members: Any) -> Any:
        raise exceptions.StackValidationFailed(
            ['update_policy.batch: is unknown', 'update_policy.rolling: is unknown']
        )


class Wrapper(Group):
    """A nested stack of the given resources."""

    properties: ClassVar[Any] = {}
    allows_undeclared = True

    def expand(self, context: Any, members: Any) -> Any:
        return [Batch(template(context.properties['resources']))]


class SignalStoringGroup(Group):
    """Keeps the details of signals in its data."""

    def adjust(self, context: Any, members: Any, details: Any) -> Any:
        return Expansion(super().adjust(context, members, details), dict(details))


class CheckingCase(StackWorldCase):
    def world(self, **limits: Any) -> StackWorld:
        kinds = (
            AnyAttributeHandler,
            AnyPropertyHandler,
            FailingHandler,
            PolicyRejectingGroup,
            SignalStoringGroup,
            SizeRejectingGroup,
            Wrapper,
        )
        return self.create_stack_world(
            {kind.__name__: kind for kind in kinds}, limits=StackLimits(**limits)
        )

    def check(
        self, members: Any, files: Any = None, environment: Any = None, **limits: Any
    ) -> list[str]:
        """Return the problems of a stack of these resources."""
        definition = Definition(template(members), environment or {}, files or {})
        return self.problems_of(definition, **limits)

    def assert_problem(self, start: str, *arguments: Any) -> None:
        """Assert that a stack has one problem, whose text starts like this."""
        (problem,) = self.check(*arguments)
        self.assertEqual(start, problem[: len(start)], problem)

    def problems_of(self, definition: Definition, **limits: Any) -> list[str]:
        """Return the problems of a stack of this definition."""
        world = self.world(**limits)
        try:
            validation.validate_stack(
                world.parts(world.store), NewStack('u', 's', 'tenant', 0), definition
            )
        except exceptions.StackValidationFailed as error:
            return error.problems
        return []


class TestResources(CheckingCase):
    def test_all_problems_are_reported_together_with_their_places(self) -> None:
        found = self.check(
            {
                'a': res('Sampel'),
                'b': res(valeu='x', wait='often'),
                'c': res('FailingHandler', x=1),
                'd': res('SizeRejectingGroup', count=1),
                'e': res('missing.yaml'),
                'f': res(value='right'),
            }
        )

        self.assertEqual(
            [
                'resources.a.type',
                'resources.b.properties.valeu',
                'resources.b.properties.wait',
                'resources.c.properties',
                'resources.d.properties',
                'resources.e.type',
            ],
            sorted(problem.partition(': ')[0] for problem in found),
            found,
        )
        self.assertIn('Did you mean Sample?', found[0])
        self.assertNotIn('a secret', str(found))

    def test_values_that_depend_on_resources_are_unknown(self) -> None:
        self.assertEqual(
            [],
            self.check(
                {
                    'a': res(),
                    'b': res(
                        value={'get_attr': ['a', 'output']},
                        wait={'get_attr': ['a', 'output']},
                    ),
                    'c': res(
                        wait={
                            'str_replace': {
                                'template': 'xN',
                                'params': {'N': {'get_attr': ['a', 'output']}},
                            }
                        }
                    ),
                    'g': res('Group', count={'get_attr': ['a', 'output']}),
                }
            ),
        )

    def test_external_resources_need_no_properties_but_cannot_be_nested(self) -> None:
        members = {
            'a': res(_external_id='x', wait='odd'),
            'g': res('Group', _external_id='x', count=1),
        }
        self.assert_problem('resources.g.external_id: ', members)


class TestMasking(StackWorldCase):
    def test_only_dependent_values_are_masked(self) -> None:
        refers = {'get_attr': ['a', 'b']}
        written = {
            'plain': {'x': [1, 2]},
            'text': {'str_replace': {'template': 't', 'params': {'p': refers}}},
            'list': [1, refers, {'k': refers, 'l': 2}],
            'given': {'get_param': 'unknown'},
            'known': {'get_param': ['known', 'k']},
        }
        masked = {
            'plain': {'x': [1, 2]},
            'text': None,
            'list': [1, None, {'k': None, 'l': 2}],
            'given': None,
            'known': 3,
        }
        value = {**masked, 'text': 't', 'given': ''}

        names = UnknownNames({}, frozenset({'unknown'}))
        self.assertEqual(masked, names.mask(written, value))

    def test_references_have_the_names_of_the_format(self) -> None:
        written = {
            'resource': {'Ref': 'a'},
            'attribute': {'Fn::GetAtt': ['a', 'b']},
            'unknown': {'Ref': 'unknown'},
            'known': {'Ref': 'known'},
            'data': {'get_attr': ['a', 'b']},
        }
        value = dict.fromkeys(written, 'x')
        template = {'AWSTemplateFormatVersion': '2010-09-09', 'Resources': {'a': {}}}
        names = UnknownNames(template, frozenset({'unknown'}))
        in_hot = UnknownNames({}, frozenset({'unknown'}))

        self.assertEqual(
            {
                'resource': None,
                'attribute': None,
                'unknown': None,
                'known': 'x',
                'data': 'x',
            },
            names.mask(written, value),
        )
        self.assertEqual({**value, 'data': None}, in_hot.mask(written, value))

    def test_a_template_of_aws_accepts_any_value_of_unknown_parameters(self) -> None:
        template = {
            'AWSTemplateFormatVersion': '2010-09-09',
            'Parameters': {
                'p': {'Type': 'Number', 'MinValue': 5},
                'q': {'Type': 'String'},
            },
            'Conditions': {
                'c': {'Fn::Equals': [{'Ref': 'p'}, 1]},
                'd': {'Fn::Not': ['c']},
                'e': {'Fn::Equals': [{'Ref': 'q'}, 1]},
            },
            'Resources': {
                'a': {'Type': 'T', 'Condition': 'd', 'Properties': {'x': {'Ref': 'p'}}},
                'b': {'Type': 'T', 'Condition': 'e'},
            },
            'Outputs': {'o': {'Value': {'Fn::GetAtt': [{'Ref': 'p'}, 'x']}}},
        }

        self.assertEqual(
            {
                **template,
                'Parameters': {
                    'p': {'Type': 'Number', 'Default': 0},
                    'q': {'Type': 'String'},
                },
                'Conditions': {
                    'c': True,
                    'd': True,
                    'e': {'Fn::Equals': [{'Ref': 'q'}, 1]},
                },
                'Resources': {
                    'a': {'Type': 'T', 'Properties': {'x': {'Ref': 'p'}}},
                    'b': {'Type': 'T', 'Condition': 'e'},
                },
                'Outputs': {'o': {'Value': None}},
            },
            UnknownNames(template, frozenset({'p'})).relaxed_template(),
        )


class TestNested(CheckingCase):
    PARAMETER: ClassVar[Any] = {
        'p': {'type': 'string', 'constraints': [{'allowed_values': ['x', 'y']}]}
    }

    def test_problems_of_a_nested_template_have_its_lines(self) -> None:
        text = (
            f'heat_template_version: {VERSION}\n'
            'resources:\n'
            '  deep:\n'
            '    type: Sample\n'
            '    properties:\n'
            '      value: {get_param: nothing}\n'
        )
        start = 'resources.n: n.yaml:6: resources.deep'
        self.assert_problem(start, {'n': res('n.yaml')}, {'n.yaml': text})

    def test_the_properties_of_a_template_are_its_parameters(self) -> None:
        files = {'n.yaml': inner({'a': res()}, parameters=self.PARAMETER)}

        self.assertEqual([], self.check({'n': res('n.yaml', p='x')}, files))
        for properties in ({}, {'p': 'z'}, {'p': 'x', 'q': 1}):
            members = {'n': res('n.yaml', **properties)}
            self.assert_problem('resources.n: parameters.', members, files)

    def test_unknown_parameters_are_not_reported(self) -> None:
        files = {
            'n.yaml': inner(
                {
                    'a': res(value={'get_param': 'p'}),
                    'm': res('m.yaml', p={'get_param': 'p'}),
                },
                parameters=self.PARAMETER,
            ),
            'm.yaml': inner(
                {'a': res(wait={'get_param': 'p'})}, parameters=self.PARAMETER
            ),
        }
        unknown = res('n.yaml', p={'get_attr': ['a', 'output']})

        self.assertEqual([], self.check({'a': res(), 'n': unknown}, files))
        start = 'resources.n: resources.m: m.yaml:1: resources.a.properties.wait'
        self.assert_problem(start, {'n': res('n.yaml', p='x')}, files)

    def test_templates_that_contain_each_other_are_rejected(self) -> None:
        files = {
            'a.yaml': inner({'x': res('b.yaml')}),
            'b.yaml': inner({'y': res('a.yaml')}),
        }
        (problem,) = self.check({'n': res('a.yaml')}, files)

        self.assertEqual(
            'resources.n: resources.x: b.yaml:1: resources.y: templates contain each '
            'other in a cycle: a.yaml -> b.yaml -> a.yaml',
            problem,
        )

    def test_the_resource_registry_applies_to_nested_templates(self) -> None:
        files = {'n.yaml': inner({'a': res('My::Sample', value='x')})}
        environment = {'resource_registry': {'My::*': 'Sample'}}

        start = 'resources.n: n.yaml:1: resources.a.type'
        self.assert_problem(start, {'n': res('n.yaml')}, files)
        found = self.check({'n': res('n.yaml')}, files, environment=environment)
        self.assertEqual([], found)

    def test_the_members_of_a_group_are_validated(self) -> None:
        members = {'g': res('Wrapper', resources={'m': res('Sampel')})}
        self.assert_problem('resources.g: resources.m.type: ', members)

    def test_each_problem_of_a_policy_has_its_own_place(self) -> None:
        self.assertEqual(
            [
                'resources.g.update_policy.batch: is unknown',
                'resources.g.update_policy.rolling: is unknown',
            ],
            self.check({'g': res('PolicyRejectingGroup', count=1)}),
        )


class TestLimits(CheckingCase):
    def assert_limit_exceeded(self, text: str, *arguments: Any, **limits: Any) -> None:
        error = self.assertRaises(
            exceptions.RequestLimitExceeded, self.check, *arguments, **limits
        )
        self.assertIn(text, str(error))

    def test_the_nesting_depth_is_limited(self) -> None:
        files = {'a.yaml': inner({'x': res('b.yaml')}), 'b.yaml': inner({'y': res()})}

        self.assertEqual([], self.check({'n': res('a.yaml')}, files, depth=2))
        self.assert_limit_exceeded(
            'resources.n: resources.x: this is 2 stacks deep',
            {'n': res('a.yaml')},
            files,
            depth=1,
        )

    def test_resources_of_nested_stacks_count(self) -> None:
        files = {'a.yaml': inner({'x': res(), 'g': res('Group', count=3)})}
        resources = {'n': res('a.yaml'), 'm': res('a.yaml')}

        self.assertEqual([], self.check(resources, files, resources=12))
        self.assert_limit_exceeded('at most 11', resources, files, resources=11)

    def test_an_oversized_text_is_named(self) -> None:
        self.assert_limit_exceeded(
            'files.big', {'a': res()}, {'big': 'x' * 200}, template=199
        )
        self.assert_limit_exceeded(
            'template: ', {'a': res(value='x' * 200)}, template=199
        )
