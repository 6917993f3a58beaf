from tests import base
from tests.unit.api.orchestration.requests import make_request
from watcherlite import exceptions
from watcherlite.api.orchestration import stack_requests
from watcherlite.domain.stacks import StackRequest

TEMPLATE = {'heat_template_version': '2018-08-31'}


def new(body, existing=False):
    return stack_requests.new_stack(make_request(body=body), 'one', existing)


class TestNewStacks(base.TestCase):
    """The parsing of the body of a request for a stack."""

    def test_complete_body_is_parsed(self):
        found = new(
            {
                'stack_name': 'one',
                'template': TEMPLATE,
                'environment': {'parameters': {'a': 1}},
                'files': {'more.yaml': 'parameters: {b: 2}', 'f': 'text'},
                'environment_files': ['more.yaml'],
                'parameters': {'c': 3},
                'timeout_mins': '5',
                'disable_rollback': 'False',
                'tags': 'red, blue,red,',
                'clear_parameters': ['d'],
                'colour': 'red',
            }
        )

        self.assertEqual(
            StackRequest(
                name='one',
                template=TEMPLATE,
                environment={'parameters': {'a': 1, 'b': 2}},
                files={'more.yaml': 'parameters: {b: 2}', 'f': 'text'},
                parameters={'c': 3},
                timeout_mins=5,
                disable_rollback=False,
                tags=('red', 'blue'),
                clear_parameters=('d',),
            ),
            found,
        )

    def test_null_members_count_as_omitted(self):
        nothing = dict.fromkeys(
            (
                *('template', 'template_url', 'environment', 'environment_files'),
                *('files', 'parameters', 'timeout_mins', 'disable_rollback', 'tags'),
                *('clear_parameters', 'adopt_stack_data'),
            )
        )
        for body in (nothing, None):
            self.assertEqual(
                StackRequest('one', None, existing=True), new(body, existing=True)
            )

    def test_json_and_yaml_texts_are_parsed(self):
        found = new(
            {
                'template': 'heat_template_version: 2018-08-31',
                'environment': 'parameters: {a: 1}',
                'adopt_stack_data': '{"resources": {}}',
                'tags': ['red'],
            }
        )

        self.assertEqual(TEMPLATE, found.template)
        self.assertEqual({'parameters': {'a': 1}}, found.environment)
        self.assertEqual({'resources': {}}, found.adopt)
        self.assertEqual(('red',), found.tags)

    def test_missing_oversized_and_remote_templates_are_rejected(self):
        text = f'heat_template_version: 2018-08-31\nx: {"x" * 200}'
        large = {**TEMPLATE, 'description': 'x' * 200}
        for body, error in (
            ({}, exceptions.StackValidationFailed),
            ({'template': large}, exceptions.RequestLimitExceeded),
            ({'template': text}, exceptions.TemplateInvalid),
        ):
            self.assertRaises(error, new, body)
        remote = {'template_url': 'http://127.0.0.1/t.yaml'}
        refusal = self.assertRaises(exceptions.NotSupported, new, remote)
        self.assertIn('Send the template as template', str(refusal))


class TestChangesNothing(base.TestCase):
    """The detection of updates without changes."""

    def test_empty_members_are_no_change(self):
        empty = {'files': {}, 'environment': {}, 'parameters': {}}
        for body in (
            {},
            {'stack_name': 'one', 'template': None, **empty, 'converge': True},
        ):
            self.assertTrue(stack_requests.changes_nothing(body))

    def test_other_members_are_a_change(self):
        for name, value in (
            ('template', TEMPLATE),
            ('parameters', {'a': 1}),
            ('environment', {'parameters': {}}),
            ('files', {'a': ''}),
            ('environment_files', ['a']),
            ('disable_rollback', False),
            ('timeout_mins', 0),
            ('tags', 'red'),
            ('tags', ''),
            ('tags', []),
            ('clear_parameters', ['a']),
        ):
            with self.subTest(name):
                self.assertFalse(stack_requests.changes_nothing({name: value}))
