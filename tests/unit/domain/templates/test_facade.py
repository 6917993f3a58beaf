"""The facade of a nested stack: the parts of the resource that it is."""

from tests import base
from tests.unit.domain.templates import test_cfn, worlds
from watcherlite import exceptions
from watcherlite.domain.templates import facade

PARTS = {
    'metadata': {'role': 'web', 'ports': [80, 443]},
    'deletion_policy': 'Retain',
    'update_policy': {'batch_create': {'max_batch_size': 2}},
}
ENVIRONMENT = {facade.KEY: PARTS}


class FunctionsTest(base.TestCase):
    def test_they_return_each_part_in_both_formats(self):
        hot = {part: {'resource_facade': part} for part in facade.PARTS}
        aws = {
            part: {'Fn::ResourceFacade': name}
            for part, name in zip(
                facade.PARTS,
                ('Metadata', 'DeletionPolicy', 'UpdatePolicy'),
                strict=True,
            )
        }

        self.assertEqual(
            [PARTS, PARTS],
            [
                worlds.evaluated(hot, environment=ENVIRONMENT),
                test_cfn.blueprint(
                    {'Resources': {'web': {'Type': 'T', 'Properties': aws}}},
                    environment=ENVIRONMENT,
                ).properties('web', worlds.NoReferences()),
            ],
        )

    def test_conditions_and_outputs_may_use_them(self):
        made = worlds.blueprint(
            """
            conditions:
              kept: {equals: [{resource_facade: deletion_policy}, Retain]}
            resources:
              web: {type: T, condition: kept}
              other: {type: T, condition: {not: kept}}
            outputs:
              role:
                value:
                  str_replace:
                    template: a role
                    params: {resource_facade: metadata}
            """,
            environment=ENVIRONMENT,
        )

        self.assertEqual(['web'], list(made.resources))
        (output,) = made.outputs(worlds.NoReferences())
        self.assertEqual(('a web', None), (output.value, output.error))

    def test_an_unknown_part_is_a_problem_of_the_template(self):
        texts = [
            str(self.assertRaises(exceptions.TemplateInvalid, make))
            for make in (
                lambda: worlds.evaluated({'resource_facade': 'Metadata'}),
                lambda: worlds.evaluated({'resource_facade': {'get_param': 'x'}}),
                lambda: test_cfn.evaluated({'Fn::ResourceFacade': 'metadata'}),
            )
        ]

        hot = (
            'resources.web.properties.value.resource_facade: Incorrect arguments to '
            '"resource_facade" should be one of: metadata, deletion_policy, '
            'update_policy'
        )
        aws = (
            "Resources.web.Properties.value.'Fn::ResourceFacade': Incorrect arguments "
            'to "Fn::ResourceFacade" should be one of: Metadata, DeletionPolicy, '
            'UpdatePolicy'
        )
        self.assertEqual([hot, hot, aws], texts)

    def test_a_stack_that_is_no_resource_has_none(self):
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            worlds.evaluated,
            {'resource_facade': 'metadata'},
        )

        self.assertEqual(
            'resources.web.properties.value.resource_facade: the stack is not a '
            'resource of another one; use the template as the type of a resource',
            str(error),
        )


class UseTest(base.TestCase):
    def test_templates_that_call_a_function_use_the_facade(self):
        templates = [
            {'resources': {'a': {'properties': {'b': [{'resource_facade': 'x'}]}}}},
            {'Outputs': {'a': {'Value': {'Fn::ResourceFacade': 'Metadata'}}}},
            {'resources': {'a': {'properties': {'resource_facade': 'x', 'b': 1}}}},
            {'description': 'resource_facade', 'resources': None},
        ]

        self.assertEqual([True, True, False, False], [*map(facade.is_used, templates)])
