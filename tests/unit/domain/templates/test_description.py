"""The description of a template."""

from tests import base
from tests.unit.domain.templates.worlds import parsed
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

    def test_an_environment_has_all_sections_and_the_files_that_are_types(self):
        files = {'inner.yaml': '', 'other.yaml': ''}
        shop = template.load(parsed(OUTER.replace('type: Pool', 'type: inner.yaml')))

        self.assertEqual(
            {
                'parameters': {'name': 'bob', 'password': '******'},
                'parameter_defaults': {},
                'event_sinks': [],
                'resource_registry': {
                    'inner.yaml': 'inner.yaml',
                    'Pool': 'other.yaml',
                    'resources': {},
                },
            },
            description.describe_environment(
                shop,
                {
                    'parameters': {'name': 'bob', 'password': 'hunter1'},
                    'resource_registry': {'Pool': 'other.yaml'},
                },
                files,
            ),
        )
