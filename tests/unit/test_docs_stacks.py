"""The documentation of stacks agrees with the code, and its examples work."""

import importlib
import re

import jsonschema
import yaml

from tests import base
from tests.unit.domain.templates import worlds
from tests.unit.test_docs import OTHERS, PAGES, ROOT, DocsTestCase, read
from tests.unit.test_docs_api import options_of
from tests.worlds import Silent
from watcherlite import bootstrap, conf, exceptions
from watcherlite.api import errors
from watcherlite.cli import command_table
from watcherlite.conf import stacks as options
from watcherlite.domain.documents import json_values
from watcherlite.domain.stacks import Definition, NewStack
from watcherlite.domain.templates import (
    constraints,
    definitions,
    document,
    environment,
    facade,
    formats,
    scope,
    versions,
)
from watcherlite.domain.templates.blueprint import Blueprint
from watcherlite.domain.templates.functions import (
    cfn_functions,
    function_tables,
    hot_functions,
    text_functions,
)
from watcherlite.engine.stacks.requests import validation
from watcherlite.engine.stacks.resolution import Blueprints
from watcherlite.engine.stacks.services import StackServices
from watcherlite.plugins import loader
from watcherlite.states import stack as states
from watcherlite.testing.memory_store import MemoryStore

_INNER = """
heat_template_version: 2021-04-16
parameters:
  who: {type: string, default: ''}
  address: {type: string, default: ''}
  size: {type: number, default: 1}
outputs:
  address: {value: 127.0.0.1}
"""
#: The files of the examples.
FILES = {'greeting.txt': 'Good morning', 'inner.yaml': _INNER, 'site.yaml': _INNER}
#: The facade of the examples: metadata without policies.
FACADE = {
    facade.KEY: {
        'metadata': {'role': 'web'},
        'deletion_policy': 'Delete',
        'update_policy': {},
    }
}
#: Pages whose examples are templates.
EXAMPLES = ('templates.rst', 'resource_handlers.rst', 'groups.rst', 'stacks.rst')
#: The configuration that the examples need.
ALLOWED = """
[watcherlite.resource_handlers.local_file]
directories = /srv
[watcherlite.resource_handlers.local_process]
directories = /srv
allowed = /usr/bin/python3 -m http.server {~[0-9]+}
allowed = /usr/bin/worker
"""
FIRST_STACK = ROOT / 'etc/watcherlite/examples/maintained-stack.yaml'


def blocks(page, language):
    """Return the code blocks of a page, without their indentation."""
    found = re.findall(
        rf'(?m)^\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)', read(page)
    )
    return [re.sub(r'(?m)^   ', '', block).rstrip('\n') + '\n' for block in found]


def sections(page, underline):
    """Return the text below each heading of a kind: heading -> text."""
    parts = re.split(rf'(?m)^(\S.*)\n{re.escape(underline)}+\n', read(page))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


class CreatedResources:
    """The created resources of the example.

    The reference of a Value is its value; that of a file is its path.
    """

    def __init__(self, template):
        self._resources = template['resources']

    def reference(self, name):
        return self._resources[name]['properties']['path']

    def attribute(self, name, path):
        value = self._resources[name]['properties']
        for step in path:
            value = value.get(step) if isinstance(value, dict) else value[step]
        return value


class TemplatesCase(base.TestCase):
    def setUp(self):
        super().setUp()
        (self.text,) = [
            block
            for block in blocks('templates.rst', 'yaml')
            if block.startswith(versions.KEY)
        ]
        self.template = document.parse(self.text)

    def value(self, written, condition=False):
        """Return the value of an expression in an output of the example."""
        template = {**self.template}
        output = {'value': written}
        if condition:
            output = {'value': {'if': [written, True, False]}}
        template['outputs'] = {'one': output}
        made = Blueprint.of(
            Definition(template, FACADE, FILES), name='hello', uuid='1', tenant='2'
        )
        (output,) = made.outputs(CreatedResources(self.template))
        self.assertIsNone(output.error)
        return output.value


class TestFunctions(TemplatesCase):
    """Every function has a section, and its examples have the documented results."""

    def setUp(self):
        super().setUp()
        self.sections = sections('templates.rst', '-')

    def test_every_function_has_its_section_and_no_other(self):
        known = [*hot_functions.FUNCTIONS, *hot_functions.CONDITION_FUNCTIONS]

        self.assertEqual({f.name for f in known}, set(self.sections))

    def test_the_examples_of_each_function_have_the_documented_results(self):
        conditions = {f.name for f in hot_functions.CONDITION_FUNCTIONS}
        for name, text in self.sections.items():
            examples = re.findall(
                r'code-block:: yaml\n\n((?:   .*\n)+?)   # gives (.*)\n', text
            )
            self.assertTrue(examples, name)
            for written, given in examples:
                self.assertIn(f'{name}:', written)
                value = self.value(yaml.safe_load(written), name in conditions)
                self.assertEqual(yaml.safe_load(given), value, written)

    def test_limits_without_an_option_are_those_of_the_code(self):
        text = read('templates.rst')
        made = f'{scope.MAX_MADE:,}'.replace(',', ' ')

        self.assertEqual(2, ' '.join(text.split()).count(f'{made} characters'))
        self.assertIn(
            '   * - nesting depth of mappings and lists\n'
            f'     - {json_values.MAX_DEPTH}\n',
            text,
        )
        for algorithm in text_functions.ALGORITHMS:
            self.assertIn(f'``{algorithm}``', self.sections['digest'])

    def test_refused_features_are_listed_with_alternatives(self):
        refused = sections('templates.rst', '=')['Validation']

        names = (*hot_functions.MISSING, *cfn_functions.MISSING)
        self.assertEqual([], [name for name in names if f'``{name}``' not in refused])


class TestCloudFormation(base.TestCase):
    """The examples of the section have the documented results."""

    def test_every_function_has_an_example_with_the_documented_result(self):
        (text,) = [
            block
            for block in blocks('templates.rst', 'yaml')
            if block.startswith('AWSTemplateFormatVersion')
        ]
        section = sections('templates.rst', '=')['CloudFormation templates']
        rows = re.findall(r'   \* - ``(.+)``\n     - ``(.+)``\n', section)
        table = function_tables.table_of(versions.CFN_VERSIONS[0])
        template = document.parse(text)
        template['Outputs'] = {}
        written = [yaml.safe_load(expression) for expression, _ in rows]
        for number, expression in enumerate(written):
            name = f'condition-{number}'
            if table.conditions.keys() & expression.keys():
                template['Conditions'][name] = expression
                expression = {'Fn::If': [name, True, False]}
            template['Outputs'][str(number)] = {'Value': expression}
        made = Blueprint.of(
            Definition(template, FACADE), name='hello', uuid='1', tenant='2'
        )
        created = worlds.CreatedResources(Address={'value': '127.0.0.1'})

        self.assertEqual(
            [yaml.safe_load(result) for _, result in rows],
            [output.value for output in made.outputs(created)],
        )
        self.assertEqual(
            {*table.values, *table.conditions},
            {name for expression in written for name in expression},
        )


class TestTemplates(TemplatesCase):
    """The page describes templates completely."""

    def test_every_section_and_every_key_of_a_resource_is_explained(self):
        known = importlib.import_module('watcherlite.domain.templates.sections')
        explained = r'(?m)^``(\w+)``\n  \S'
        text = sections('templates.rst', '=')['Resources']

        self.assertLessEqual(
            {versions.KEY, known._GROUPS, *known._SECTIONS},
            set(re.findall(explained, read('templates.rst'))),
        )
        self.assertEqual(
            {*known._RESOURCE_KEYS, *known._HOT_RESOURCE_KEYS},
            set(re.findall(explained, text)),
        )

    def test_types_and_constraints_of_parameters_are_listed(self):
        text = sections('templates.rst', '=')['Parameters']
        listed = re.findall(r'(?m)^   \* - ``([\w:]+)``\n', text)

        self.assertEqual(
            [*definitions.TYPES, *constraints._KINDS, *formats.HOT.pseudo], listed
        )
        for name in definitions._KEYS:
            self.assertRegex(text, rf'``{name}\b')

    def test_the_examples_of_constraints_are_constraints(self):
        text = sections('templates.rst', '=')['Parameters']
        rows = re.findall(r'   \* - ``(\w+)``\n     - ``(.+)``\n     - (\w+)\b', text)

        self.assertEqual(list(constraints._KINDS), [kind for kind, _, _ in rows])
        for kind, example, first in rows:
            # A custom constraint is for any type; its row differs.
            parameter = 'string' if kind == constraints.CUSTOM else first
            rule = yaml.safe_load(f'[{{{kind}: {example}}}]')
            template = {
                versions.KEY: versions.NEWEST,
                'parameters': {'one': {'type': parameter, 'constraints': rule}},
            }
            given = {'string': 'small', 'number': 3}[parameter]
            definition = Definition(template, parameters={'one': given})
            made = Blueprint.of(definition, name='hello', uuid='1', tenant='2')
            self.assertEqual(given, made.parameters['one'], kind)

    def test_every_section_of_an_environment_is_explained(self):
        text = sections('templates.rst', '=')['Environments']
        heads = ' '.join(re.findall(r'(?m)^(``.*``)\n  \S', text))

        self.assertEqual(set(environment.SECTIONS), set(re.findall(r'\w+', heads)))

    def test_the_environment_of_the_page_has_the_documented_effect(self):
        (written,) = [
            block
            for block in blocks('templates.rst', 'yaml')
            if block.startswith('parameters:\n  who')
        ]
        given = environment.load(written)

        self.assertEqual(
            ['Local::File', 'server.yaml', 'OS::Heat::None', 'OS::Heat::None'],
            [
                environment.Registry(given).type_of(resource, kind)
                for resource, kind in (
                    ('page', 'Acme::Page'),
                    ('page', 'Acme::Server'),
                    ('page', 'OS::Nova::Server'),
                    ('archive', 'Local::File'),
                )
            ],
        )

    def test_an_error_is_reported_like_on_the_page(self):
        wrong = self.text.replace('{get_param: who}', '{get_param: woh}')
        error = self.assertRaises(
            exceptions.StackValidationFailed,
            lambda: Blueprint.of(
                Definition(document.parse(wrong)), name='a', uuid='1', tenant='2'
            ),
        )
        (problem,) = error.problems
        shown = ' '.join(read('templates.rst').split())

        self.assertIn(problem, shown)


class TestExamples(base.TestCase):
    """The examples are valid without changes."""

    def check(self, text, settings):
        configuration = conf.new(config_files=[str(settings)])
        store = MemoryStore()
        parts = StackServices(
            *(store, bootstrap.load_plugins(configuration), Blueprints(store)), Silent()
        )
        template = document.parse(text)
        template.setdefault(versions.KEY, versions.NEWEST)
        given = {
            name: 'given'
            for name, declared in (template.get('parameters') or {}).items()
            if 'default' not in declared
        }
        validation.validate_stack(
            parts,
            NewStack('uuid', 'hello', 'tenant', 0),
            Definition(template, files=FILES, parameters=given),
        )

    def test_templates_are_templates_with_properties_that_their_types_have(self):
        settings = self.home / 'stacks.conf'
        settings.write_text(ALLOWED)
        for page in EXAMPLES:
            found = [b for b in blocks(page, 'yaml') if re.search('(?m)^resources:', b)]
            self.assertTrue(found, page)
            for text in found:
                with self.subTest(page=page, text=text):
                    self.check(text, settings)

    def test_the_first_stack_is_valid(self):
        self.check(FIRST_STACK.read_text(), FIRST_STACK.with_name('example.conf'))

    def test_plans_are_plans(self):
        plugins = loader.load()
        for page in ('stacks.rst', 'maintenance.rst'):
            found = [b for b in blocks(page, 'yaml') if re.search('(?m)^actions:', b)]
            self.assertTrue(found, page)
            for text in found:
                with self.subTest(page=page):
                    for action in yaml.safe_load(text)['actions']:
                        kind = plugins.action_type(action['action_type'])
                        jsonschema.validate(action['input_parameters'], kind.schema)

    def test_commands_on_stacks_exist_and_take_these_options(self):
        for page in [*PAGES, *OTHERS]:
            text = re.sub(r' \\\n +', ' ', page.read_text())
            for line in re.findall(r'(?:\$ |``|::\n\n +)watcherlite (stack .*)', text):
                written = line.partition('``')[0].partition('  #')[0].split()
                if '...' in line or '|' in line:
                    continue
                verb = _verb(written)
                self.assertIsNotNone(verb, (page, line))
                asked = {w for w in written if re.match('-{1,2}[a-z]', w)}
                self.assertEqual(set(), asked - options_of(verb), (page, line))


def _verb(words):
    """Return the longest command at the beginning of a line."""
    for count in range(len(words), 0, -1):
        name = ' '.join(words[:count])
        if name in command_table.COMMANDS:
            return name
    return None


class TestOptions(base.TestCase):
    """The limits of stacks are documented on the expected page."""

    def test_every_option_is_on_a_page_about_stacks(self):
        pages = read('templates.rst') + read('stacks.rst')
        named = set(re.findall(r'``\[stacks\] (\w+)``', pages))

        self.assertEqual({option.name for option in options.OPTS}, named)


class TestStates(DocsTestCase):
    """The tables of permitted operations agree with the code."""

    def setUp(self):
        super().setUp()
        self.tables, self.drawing = map(self.extension, ('stack_tables', 'drawing'))

    def test_the_tables_of_the_code_are_on_the_pages(self):
        for page, directive in (
            ('states.rst', 'stack-actions:: STACK_ACTIONS'),
            ('states.rst', 'stack-actions:: RESOURCE_ACTIONS'),
            ('states.rst', 'stack-statuses::'),
            ('stacks.rst', 'stack-guards::\n'),
            ('maintenance.rst', 'stack-guards:: locks'),
            ('maintenance.rst', 'lock-machine::'),
            ('templates.rst', 'template-versions::'),
        ):
            self.assertIn(f'.. {directive}', read(page))

    def test_every_state_but_deleted_is_in_one_row(self):
        rows = [
            line
            for locks in (False, True)
            for line in self.tables.guards(locks)
            if line.startswith('   * - ``')
        ]
        shown = [name for row in rows for name in re.findall(r'``(\w+)``', row)]
        every = {
            f'{action}_{status}'
            for action in states.STACK_ACTIONS
            for status in states.STATUSES
        }

        self.assertEqual(sorted(every - {'DELETE_COMPLETE'}), sorted(shown))

    def test_every_operation_of_users_is_in_each_row(self):
        for locks in (False, True):
            text = '\n'.join(self.tables.guards(locks))
            rows = re.split(r'(?m)^   \* - ', text)[2:]
            for row in rows:
                asked = set(re.findall(r'``(\w+)``', row.partition('\n')[2]))
                missing = set(self.tables.OPERATIONS) - asked
                # It makes no sense below any lock.
                self.assertEqual(set(), missing - {states.CANCEL_UPDATE}, row)
                self.assertTrue(not missing or 'UNLOCK_COMPLETE' in row, row)

    def test_the_rows_of_a_lock_are_those_of_the_specification(self):
        allowed = {
            state: {
                operation
                for operation in self.tables.OPERATIONS
                if self.tables.answer(operation, state) == self.tables.BEGINS
            }
            for state in self.tables.names(locks=True)
        }
        del allowed['UNLOCK_COMPLETE']

        self.assertEqual(
            {
                'LOCK_IN_PROGRESS': set(),
                'LOCK_COMPLETE': {'UNLOCK', 'LOCK'},
                'LOCK_FAILED': {'UNLOCK', 'DELETE', 'LOCK'},
                'UNLOCK_IN_PROGRESS': set(),
                'UNLOCK_FAILED': {'DELETE', 'UNLOCK'},
            },
            allowed,
        )

    def test_the_machine_of_locks_has_every_state_of_a_lock(self):
        machine = self.tables.lock_machine()

        self.assertLessEqual(set(self.tables.names(locks=True)), set(machine.states))
        self.assertTrue(
            machine.allows(self.tables.FREE, 'LOCK_IN_PROGRESS'), machine.transitions
        )
        self.assertFalse(machine.allows(self.tables.FREE, 'UNLOCK_IN_PROGRESS'))
        self.assertIn('LOCK_FAILED', self.drawing.svg(machine))

    def test_the_meanings_are_those_of_the_tables(self):
        lines = self.tables.actions({'CREATE': 'it is made'})

        self.assertEqual(['   * - ``CREATE``', '     - It is made.', ''], lines[-3:])
        self.assertIn('     - The action is running.', self.tables.statuses())


class TestRefusals(base.TestCase):
    """The types by which clients distinguish errors are documented."""

    def test_every_type_is_in_the_table_with_its_status(self):
        text = sections('stacks.rst', '=')['Errors']
        rows = re.findall(r'(?m)^   \* - ``(\w+)``\n     - (\d+)\n', text)

        self.assertEqual({name for _, name in errors.HEAT_TYPES}, {n for n, _ in rows})
        self.assertEqual(len(rows), len({name for name, _ in rows}))
