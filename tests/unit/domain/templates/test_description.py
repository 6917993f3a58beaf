"""The description of a template."""

from tests import base
from tests.unit.domain.templates.worlds import parsed
from watcherlite import exceptions
from watcherlite.domain.templates import description, template

OUTER = """
    heat_template_version: pike
    description: A shop
    parameter_groups: [{label: Size, parameters: [size]}]
    parameters:
      size:
        type: number
        label: Size
        description: How large
        default: 2
        tags: [x]
        constraints:
        - range: {min: 1, max: 9}
          description: One digit.
        - allowed_values: [1, 2, 3]
      name:
        type: string
        constraints: [{length: {min: 1, max: 8}}, {allowed_pattern: '[a-z]+'}]
      password: {type: string, hidden: true}
      tree: {type: json, default: {a: 1}}
    resources:
      pool: {type: Pool}
      other: {type: OS::Heat::None}
    """
INNER = """
heat_template_version: pike
parameters: {n: {type: boolean, default: true}}
resources: {again: {type: inner.yaml}}
"""


class DescribedTest(base.TestCase):
    def test_description_has_the_format_of_the_api(self):
        found = description.describe(
            template.load(parsed(OUTER)),
            {'size': 3, 'password': 'hunter2'},
            {'parameters': {'name': 'bob', 'password': 'hunter1'}},
        )

        self.assertEqual(
            {
                'Description': 'A shop',
                'ParameterGroups': [{'label': 'Size', 'parameters': ['size']}],
                'Environment': {'parameters': {'name': 'bob', 'password': '******'}},
                'Parameters': {
                    'size': {
                        'Type': 'Number',
                        'Label': 'Size',
                        'Description': 'How large',
                        'NoEcho': 'false',
                        'Default': 2,
                        'Value': 3,
                        'Tags': ['x'],
                        'MinValue': 1,
                        'MaxValue': 9,
                        'AllowedValues': [1, 2, 3],
                        'ConstraintDescription': 'One digit.',
                    },
                    'name': {
                        'Type': 'String',
                        'Label': 'name',
                        'Description': '',
                        'NoEcho': 'false',
                        'Value': 'bob',
                        'MinLength': 1,
                        'MaxLength': 8,
                        'AllowedPattern': '[a-z]+',
                    },
                    'password': {
                        'Type': 'String',
                        'Label': 'password',
                        'Description': '',
                        'NoEcho': 'true',
                        'Value': '******',
                    },
                    'tree': {
                        'Type': 'Json',
                        'Label': 'tree',
                        'Description': '',
                        'NoEcho': 'false',
                        'Default': '{"a": 1}',
                    },
                },
            },
            found,
        )

    def test_nested_templates_are_described_to_the_requested_level(self):
        described = {
            'Type': 'inner.yaml',
            'Description': '',
            'Parameters': {
                'n': {
                    'Type': 'Boolean',
                    'Label': 'n',
                    'Description': '',
                    'NoEcho': 'false',
                    'Default': True,
                }
            },
        }
        loaded = template.load(parsed(OUTER))
        environment = {'resource_registry': {'Pool': 'inner.yaml'}}
        files = {'inner.yaml': INNER}

        self.assertEqual(
            [
                None,
                {'pool': described},
                {'pool': {**described, 'NestedParameters': {'again': described}}},
            ],
            [
                description.describe(loaded, {}, environment, files, levels).get(
                    'NestedParameters'
                )
                for levels in (0, 1, 2)
            ],
        )

    def test_invalid_and_endless_nested_templates_are_reported(self):
        many = 'heat_template_version: pike\nresources:\n' + ''.join(
            f'  r{i}: {{type: inner.yaml}}\n' for i in range(20)
        )
        invalid, endless = (
            self.assertRaises(
                kind,
                description.describe,
                template.load(parsed(OUTER)),
                {},
                {'resource_registry': {'Pool': 'inner.yaml'}},
                {'inner.yaml': text},
                levels,
            )
            for kind, text, levels in (
                (exceptions.TemplateInvalid, 'resources: 5', 1),
                (exceptions.StackValidationFailed, many, 5),
            )
        )

        self.assertEqual(
            [
                'resources.pool: inner.yaml:1: Template version was not provided; '
                'write heat_template_version: 2021-04-16',
                'resources.pool: inner.yaml:1: resources: this is a number; it must be '
                'a mapping',
            ],
            invalid.problems,
        )
        self.assertIn('there are more than 1000 nested templates', str(endless))
