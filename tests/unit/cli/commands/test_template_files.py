"""The files that are sent with a template."""

import base64
import io
import json

import fixtures

from tests import base
from watcherlite import exceptions
from watcherlite.cli.commands.stacks.template_files import FileCollection, data, values
from watcherlite.domain.templates import document

HEAD = 'heat_template_version: 2021-04-16\n'


class TemplateFilesTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.collection = FileCollection()

    def file(self, name, text):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return str(path)

    def url(self, name):
        return f'file://{self.home / name}'

    def template(self, text, name='stack.yaml'):
        return self.collection.template(self.file(name, text))

    def error_of(self, call, *args):
        return str(self.assertRaises(exceptions.Invalid, call, *args)).replace(
            str(self.home), 'HOME'
        )

    def test_templates_without_references_are_sent_unchanged(self):
        nothing = f'{HEAD}# so\nresources: {{a: {{type: "OS::Heat::None"}}}}\n'
        other = '# heat_template_version: none\ntype: a.yaml   # a comment\n'
        binary = base64.encodebytes(b'\xff\x00').decode()
        for name, content, reference, sent in (
            # Errors have the lines of the file that contains them.
            ('inner.yaml', nothing, 'resources: {a: {type: inner.yaml}}', nothing),
            ('settings.yaml', other, 'x: {get_file: settings.yaml}', other),
            ('picture', b'\xff\x00', 'x: {get_file: picture}', binary),
        ):
            self.collection = FileCollection()
            self.file(name, content)

            self.template(f'{HEAD}{reference}')

            self.assertEqual({self.url(name): sent}, self.collection.files)
        self.collection = FileCollection()
        self.assertEqual(nothing, self.template(nothing))
        self.assertEqual({}, self.collection.files)

    def test_relative_names_of_files_become_absolute_urls(self):
        self.file('in/motd', 'hello')

        found = self.template(
            f"""{HEAD}
resources:
  a:
    type: Local::File
    properties: {{content: {{get_file: in/motd}}, more: [{{get_file: in/motd}}]}}
"""
        )

        properties = found['resources']['a']['properties']
        self.assertEqual({'get_file': self.url('in/motd')}, properties['content'])
        self.assertEqual([{'get_file': self.url('in/motd')}], properties['more'])
        self.assertEqual({self.url('in/motd'): 'hello'}, self.collection.files)

    def test_templates_of_both_formats_are_sent_with_each_other(self):
        inner = f'{HEAD}resources: {{x: {{type: deeper.template}}}}'
        deeper = 'HeatTemplateFormatVersion: 2012-12-12\n'
        self.file('inner.yaml', inner)
        self.file('deeper.template', deeper)

        found = self.template(
            'AWSTemplateFormatVersion: 2010-09-09\n'
            'Parameters: {p: {Type: String}}\n'
            'Resources:\n'
            '  a: {Type: inner.yaml}\n'
            '  b: {Type: X, Properties: {TemplateURL: deeper.template}}\n'
        )

        self.assertEqual(
            {
                'a': {'Type': self.url('inner.yaml')},
                'b': {
                    'Type': 'X',
                    'Properties': {'TemplateURL': self.url('deeper.template')},
                },
            },
            found['Resources'],
        )
        self.assertEqual(
            {
                self.url('inner.yaml'): json.dumps(
                    {
                        'heat_template_version': '2021-04-16',
                        'resources': {'x': {'type': self.url('deeper.template')}},
                    }
                ),
                self.url('deeper.template'): deeper,
            },
            self.collection.files,
        )

    def test_nested_templates_are_sent_with_their_files(self):
        inner = f'{HEAD}resources: {{x: {{type: deeper.yml}}}}'
        self.file('nested/inner.yaml', inner)
        self.file('nested/deeper.yml', f'{HEAD}outputs: {{o: {{value: 2021-04-16}}}}')

        found = self.template(
            f"""{HEAD}
resources:
  a: {{type: nested/inner.yaml}}
  b:
    type: OS::Heat::ResourceGroup
    properties: {{resource_def: {{type: nested/inner.yaml}}}}
"""
        )

        name = self.url('nested/inner.yaml')
        group = found['resources']['b']['properties']['resource_def']
        self.assertEqual(name, found['resources']['a']['type'])
        self.assertEqual({'type': name}, group)
        files = {
            name: document.parse(text) for name, text in self.collection.files.items()
        }
        self.assertEqual(
            {
                name: {
                    'heat_template_version': '2021-04-16',
                    'resources': {'x': {'type': self.url('nested/deeper.yml')}},
                },
                self.url('nested/deeper.yml'): {
                    'heat_template_version': '2021-04-16',
                    'outputs': {'o': {'value': '2021-04-16'}},
                },
            },
            files,
        )

    def test_templates_in_get_file_are_sent_with_their_files_even_if_recursive(self):
        self.file('in/leaf.yaml', HEAD)
        self.file('in/inner.yaml', f'{HEAD}resources: {{x: {{type: leaf.yaml}}}}')
        itself = self.file(
            'again.yaml', f'{HEAD}resources: {{x: {{type: again.yaml}}}}'
        )

        self.template(f'{HEAD}resources: {{a: {{p: {{get_file: in/inner.yaml}}}}}}')
        self.collection.template(itself)

        for name, inner in (
            ('in/inner.yaml', 'in/leaf.yaml'),
            ('again.yaml', 'again.yaml'),
        ):
            sent = json.loads(self.collection.files[self.url(name)])
            self.assertEqual({'x': {'type': self.url(inner)}}, sent['resources'])

    def test_file_urls_may_contain_escaped_characters(self):
        self.file('a b%', 'hello')

        text = f'{HEAD}x: {{get_file: "file://{self.home}/a%20b%25"}}'

        self.assertEqual(text, self.template(text))
        self.assertEqual({self.url('a%20b%25'): 'hello'}, self.collection.files)

    def test_unreadable_files_are_reported_with_their_reference(self):
        url = 'https://example.org/x.yaml'
        fetched = f'{url} is not fetched; save it to a local file and refer to it'
        remote = self.file('remote.yaml', f'{HEAD}resources: {{a: {{type: "{url}"}}}}')
        gone = self.file('gone.yaml', f'{HEAD}a: [{{get_file: gone}}]')
        for name, expected in (
            (remote, f'HOME/remote.yaml: resources.a.type: {fetched}'),
            (url, fetched),
            ('file://there/x', 'file://there/x is on another host; use a local file'),
            (gone, 'HOME/gone.yaml: a[0].get_file: the file HOME/gone does not exist'),
            (f'{self.home}/none.yaml', 'the template HOME/none.yaml does not exist'),
            (str(self.home), 'the template HOME cannot be read: Is a directory'),
        ):
            self.assertEqual(expected, self.error_of(self.collection.template, name))
        # Errors are reported with their lines.
        self.file('inner.yaml', f'{HEAD}a: 1\na: 2\n')
        path = self.file('stack.yaml', f'{HEAD}resources: {{a: {{type: inner.yaml}}}}')
        error = self.error_of(self.collection.template, path)
        self.assertIn('HOME/inner.yaml:3: ', error)

    def test_a_template_is_read_from_standard_input(self):
        self.file('motd', 'hello')
        self.useFixture(fixtures.MonkeyPatch('os.getcwd', lambda: str(self.home)))
        text = io.BytesIO(f'{HEAD}x: {{get_file: motd}}'.encode())
        self.useFixture(fixtures.MonkeyPatch('sys.stdin', io.TextIOWrapper(text)))

        found = self.collection.template('-')

        self.assertEqual({'get_file': self.url('motd')}, found['x'])

    def test_an_environment_is_sent_with_the_templates_of_its_types(self):
        for name in ('types/web.yaml', 'types/db.yaml', 'far/one.yaml'):
            self.file(name, f'{HEAD}description: {name}')

        name = self.collection.environment(
            self.file(
                'types/env.yaml',
                """
                parameters: {size: 3, since: 2030-01-01}
                resource_registry:
                  My::Web: web.yaml
                  My::None: OS::Heat::None
                  My::Off: ''
                  My::*: OS::*
                  resources:
                    one:
                      base_url: ../far
                      My::Web: one.yaml
                    two: {My::Db: db.yaml, hooks: pre-create}
                """,
            )
        )

        self.assertEqual(self.url('types/env.yaml'), name)
        self.assertEqual(
            {
                'parameters': {'size': 3, 'since': '2030-01-01'},
                'resource_registry': {
                    'My::Web': self.url('types/web.yaml'),
                    'My::None': 'OS::Heat::None',
                    'My::Off': '',
                    'My::*': 'OS::*',
                    'resources': {
                        'one': {
                            'base_url': '../far',
                            'My::Web': self.url('far/one.yaml'),
                        },
                        'two': {
                            'My::Db': self.url('types/db.yaml'),
                            'hooks': 'pre-create',
                        },
                    },
                },
            },
            json.loads(self.collection.files.pop(name)),
        )
        self.assertEqual(
            {self.url(n) for n in ('types/web.yaml', 'types/db.yaml', 'far/one.yaml')},
            set(self.collection.files),
        )
        name = self.collection.environment(self.file('env.yaml', '\n'))
        self.assertEqual('{}', self.collection.files[name])


class ParameterValuesTest(base.TestCase):
    def test_parameter_values_remain_text(self):
        path = self.home / 'key'
        path.write_text('secret\n')

        self.assertEqual(
            {'a': '1', 'b': 'x=y', 'c': '', 'key': 'secret\n'},
            values(['a=0', 'a=1', 'b=x=y', 'c='], [f'key={path}']),
        )

    def test_malformed_parameter_and_binary_file_are_rejected(self):
        path = self.home / 'key'
        path.write_bytes(b'\xff')
        binary = f'{path}, the value of parameter key, is not UTF-8 text'
        for given, files, text in (
            (['a'], [], "'a' is not of the form NAME=VALUE"),
            (['=1'], [], "'=1' is not of the form NAME=VALUE"),
            ([], [f'key={path}'], binary),
        ):
            error = self.assertRaises(exceptions.Invalid, values, given, files)

            self.assertEqual(text, str(error))

    def test_data_is_json_text_or_a_json_file(self):
        path = self.home / 'data.json'
        path.write_text('{"a": 1}')

        self.assertEqual([1], data('[1]'))
        self.assertEqual({'a': 1}, data(f'@{path}'))
        error = self.assertRaises(exceptions.Invalid, data, '{a: 1}')
        self.assertIn('the data: invalid JSON: ', str(error))
