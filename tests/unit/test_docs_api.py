"""The pages about the API and the command agree with the code."""

import importlib
import json
import re
import shlex

from tests import base
from tests.unit.test_docs import ROOT, SOURCE, DocsTestCase, read
from watcherlite.api import deploy, errors, microversions, openapi, policies
from watcherlite.api.infra_optim.schemas import audits
from watcherlite.api.infra_optim.versions import INFRA_OPTIM
from watcherlite.api.operation import at
from watcherlite.api.orchestration.schemas import stacks
from watcherlite.cli import command_table
from watcherlite.cli.http import access
from watcherlite.db.query import FILTERS, SORT_KEYS
from watcherlite.plugins import base as contract
from watcherlite.plugins import loader

PAGES = [*sorted(SOURCE.glob('*.rst')), ROOT / 'README.rst']

#: The policies of python-watcher 17.0.0.
VERBS_OF_WATCHER = {
    'action': 'get get_all detail update',
    'action_plan': 'get get_all detail update start delete',
    'audit': 'create get get_all detail update delete',
    'audit_template': 'create get get_all detail update delete',
    'goal': 'get get_all detail',
    'scoring_engine': 'get get_all detail',
    'service': 'get get_all detail',
    'strategy': 'get get_all detail state',
    'data_model': 'get_all',
    'webhook': 'trigger',
}
#: The sort keys of every collection, which are documented once.
COMMON_KEYS = {'id', 'uuid', 'created_at', 'updated_at', 'deleted_at'}


def literals(text):
    return re.findall(r'``([^`]+)``', text)


def rows(text):
    """Return the cells of the rows of the list-tables in a text."""
    found = []
    for row in re.findall(r'(?m)^   \* - (.*(?:\n     .*)*)', text):
        found.append(re.split(r'\n     - ?', row))
    return found


class TestGenerated(DocsTestCase):
    """The tables that are generated from the code, and the OpenAPI documents."""

    def setUp(self):
        super().setUp()
        self.rest = self.extension('rest_tables')

    def first_column(self, lines):
        """Return the first cell of each row of a table below its head."""
        return [row[0] for row in rows('\n'.join(lines))[1:]]

    def test_every_operation_has_its_row(self):
        for mount, prefix, lines in (
            (deploy.infra_optim(), '', self.rest.operations()),
            (deploy.orchestration(), '/orchestration', self.rest.stack_operations()),
        ):
            self.assertEqual(
                [
                    f'``{method} {(prefix + template).rstrip("/") or "/"}``'
                    for template, operations in mount.routes.items()
                    for method in operations
                ],
                self.first_column(lines),
            )

    def test_every_microversion_has_its_row(self):
        shown = self.first_column(self.rest.versions())

        self.assertEqual(
            [microversions.text(version) for version in INFRA_OPTIM.history], shown
        )
        self.assertEqual([f'1.{minor}' for minor in range(9)], shown)

    def test_every_microversion_links_to_its_document(self):
        links = re.findall(r'<([^>]+\.json)>', '\n'.join(self.rest.versions()))

        self.rest.write_documents(self.home)

        self.assertEqual(
            {
                link: microversions.text(version)
                for link, version in zip(links, INFRA_OPTIM.history, strict=True)
            },
            {
                str(path.relative_to(self.home)): json.loads(path.read_text())['info'][
                    'version'
                ]
                for path in self.home.rglob('infra-optim-*.json')
            },
        )

    def test_the_page_of_stacks_links_to_their_document(self):
        (link,) = re.findall(r'<(openapi/[^>]+)>', read('orchestration_api.rst'))

        self.rest.write_documents(self.home)

        document = json.loads((self.home / link).read_text())
        self.assertEqual(set(deploy.orchestration().routes), set(document['paths']))

    def test_every_policy_rule_has_its_row(self):
        shown = self.first_column(self.rest.rules())

        self.assertEqual([f'``{rule.name}``' for rule in policies.list_rules()], shown)


class TestGuide(base.TestCase):
    """The API guide is complete and contains nothing else."""

    def test_filters_and_sort_keys_are_those_of_the_collections(self):
        documented = {
            literals(row[0])[0]: (set(literals(row[1])), set(literals(row[2])))
            for row in rows(read('api_guide.rst'))[1:]
        }

        self.assertEqual(
            {
                noun: (set(FILTERS[noun]), set(keys) - COMMON_KEYS)
                for noun, keys in SORT_KEYS.items()
            },
            documented,
        )

    def test_every_refusal_is_explained(self):
        table = read('api_guide.rst').partition('\nErrors\n')[2]
        documented = {int(status) for status in re.findall(r'(?m)^([45]\d\d)  ', table)}
        # These belong to no operation.
        possible = {405, 500}
        mount = deploy.infra_optim()
        for version in INFRA_OPTIM.history:
            document = openapi.document(mount, version)
            for item in document['paths'].values():
                for operation in item.values():
                    if isinstance(operation, dict):
                        possible |= {int(s) for s in operation['responses']}

        self.assertEqual({status for status in possible if status >= 400}, documented)

    def test_every_attribute_of_a_new_audit_is_explained(self):
        section = read('api_guide.rst').partition('\nAudits\n')[2]
        table = section.partition('The answer to a ``POST``')[0]
        documented = {
            name
            for line in re.findall(r'(?m)^(``.*?)  ', table)
            for name in literals(line)
        }

        self.assertEqual(set(at(audits.NEW, (1, 7))['properties']), documented)

    def test_addresses_in_examples_exist(self):
        templates = [
            re.compile(r'[^/]+'.join(map(re.escape, re.split(r'\{\w+\}', template))))
            for mount in deploy.served()
            for template in (*mount.routes, *_endpoints(mount))
        ]
        for page in PAGES:
            for found in re.findall(r'/v1/[\w/.{}-]+', page.read_text()):
                path = re.sub(r'(?<=[^/])[/.]+$', '', found)
                known = any(template.fullmatch(path) for template in templates)
                self.assertTrue(known, (page, path))

    def test_differences_from_watcher_are_named(self):
        known = {
            f'{noun}:{verb}'
            for noun, verbs in VERBS_OF_WATCHER.items()
            for verb in verbs.split()
        }
        # The names in the other APIs are those of Heat and Senlin.
        others = ('/orchestration', '/clustering')
        names = {
            rule.name
            for rule in policies.list_rules()
            if ':' in rule.name
            and not all(o['path'].startswith(others) for o in rule.operations)
        }
        introduction = read('policies.rst').partition('\nRoles\n')[0]

        self.assertEqual(set(), known - names)
        self.assertEqual(
            names - known, {name for name in literals(introduction) if ':' in name}
        )


class TestStacks(base.TestCase):
    """The page of the orchestration API."""

    PAGE = 'orchestration_api.rst'

    def test_every_action_is_explained(self):
        documented = set(literals(read(self.PAGE)))

        self.assertEqual(set(), set(stacks.ACTIONS) - documented)

    def test_every_type_of_error_is_explained(self):
        table = read(self.PAGE).partition('\nErrors\n')[2].partition('\nSnapshots')[0]
        documented = set(literals(table))

        self.assertEqual(
            set(),
            {name for _, name in errors.HEAT_TYPES} - documented,
            'add a row for each',
        )


class TestProposers(base.TestCase):
    def test_every_proposer_of_plans_is_explained(self):
        plugins = loader.load()
        documented = set(literals(read('strategies.rst')))

        for namespace in (contract.GOALS, contract.STRATEGIES, contract.PLANNERS):
            for name in plugins.names(namespace):
                kind = plugins.plugin(namespace, name)
                if kind.__module__.startswith('watcherlite.plugins.'):
                    self.assertIn(name, documented, namespace)


class TestCommand(base.TestCase):
    """The documented commands and options exist."""

    def test_commands_and_options_in_examples_exist(self):
        for page in PAGES:
            text = re.sub(r'\\\n *', '', page.read_text())
            for line in re.findall(r'\$ watcherlite (.*)', text):
                words = shlex.split(line.rstrip('&'), comments=True)
                while words and words[0] in access.value_options():
                    del words[:2]
                if not words or words[0].startswith('-'):
                    continue
                starts = [' '.join(words[:n]) for n in (4, 3, 2, 1)]
                name = next(
                    (s for s in starts if s in command_table.COMMANDS), starts[2]
                )
                self.assertIn(name, command_table.COMMANDS, (page, line))
                unknown = _options(words) - options_of(name)
                self.assertEqual(set(), unknown, (page, line))


def _endpoints(mount):
    """Return the path of a mount that clients use in addition to the operations."""
    return [] if mount.project is None else [f'/v1/{{{mount.project}}}']


def _options(words):
    return {word.partition('=')[0] for word in words if re.match(r'--?[a-z]', word)}


def options_of(command):
    module, _, name = command_table.COMMANDS[command][0].partition(':')
    made = getattr(importlib.import_module(module), name)(None, None)
    parser = made.get_parser(f'watcherlite {command}')
    return {option for action in parser._actions for option in action.option_strings}
