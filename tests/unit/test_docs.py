"""The documentation agrees with the code."""

import importlib
import inspect
import pathlib
import pkgutil
import re
import sys
import textwrap
import tomllib
import xml.etree.ElementTree

import fixtures

from tests import base
from watcherlite import conf, states
from watcherlite.cli.local import run
from watcherlite.cmd import exits
from watcherlite.conf import opts
from watcherlite.domain import outcomes
from watcherlite.plugins import base as contract
from watcherlite.plugins import loader
from watcherlite.states.machine import Machine

ROOT = pathlib.Path(__file__).parents[2]
SOURCE = ROOT / 'doc/source'
PAGES = sorted(SOURCE.glob('*.rst'))
#: Files outside doc/ that are written for readers.
OTHERS = [
    ROOT / name for name in ('README.rst', 'CONTRIBUTING.rst', 'tests/README.rst')
]


def read(name):
    return (SOURCE / name).read_text()


def mentions(pattern, pages=(*PAGES, *OTHERS)):
    """Yield (name of the page, match) of all matches of a pattern."""
    for page in pages:
        for found in re.findall(pattern, page.read_text(), re.MULTILINE):
            yield page.name, found


class DocsTestCase(base.TestCase):
    def extension(self, name):
        """Import an extension of Sphinx from its directory."""
        path = [str(ROOT / 'doc/ext'), *sys.path]
        self.useFixture(fixtures.MonkeyPatch('sys.path', path))
        return importlib.import_module(name)


class TestPages(base.TestCase):
    """The pages are linked, and the objects that they name exist."""

    def test_every_page_is_in_the_table_of_contents(self):
        contents = re.search(
            r'\.\. toctree::\n(?:   :.*\n)*\n((?:   \S+\n)+)', read('index.rst')
        )

        listed = contents[1].split()

        self.assertEqual({page.stem for page in PAGES} - {'index'}, set(listed))
        self.assertEqual(len(listed), len(set(listed)))

    def test_links_between_pages_lead_somewhere(self):
        known = {page.stem for page in PAGES}
        found = mentions(r':doc:`(?:[^`<]*<)?([^`>]+)>?`', PAGES)

        self.assertEqual([], [link for link in found if link[1] not in known])

    def test_modules_that_the_architecture_names_exist(self):
        named = re.findall(r'``([a-z_/]+(?:\.py|/))``', read('architecture.rst'))

        self.assertEqual(
            [],
            [
                path
                for path in named
                if not any((ROOT / top / path).exists() for top in ('', 'watcherlite'))
            ],
        )
        self.assertGreater(len(named), 20)

    def test_files_that_are_included_or_named_exist(self):
        directive = r'^ *\.\. (?:literal)?include:: (\S+)$'
        path = r'``((?:watcherlite|etc|doc|tests|releasenotes)/[\w./-]*\w)``'

        self.assertEqual(
            [],
            [
                *(
                    m
                    for m in mentions(directive, PAGES)
                    if not (SOURCE / m[1]).is_file()
                ),
                *(m for m in mentions(path) if not (ROOT / m[1]).exists()),
            ],
        )

    def test_included_parts_of_files_exist(self):
        directive = r'^ *\.\. include:: (\S+)\n((?: +:.*\n)+)'
        for page, (target, options) in mentions(directive, PAGES):
            text = (SOURCE / target).read_text()
            for marker in re.findall(r':(?:start-after|end-before): (.*)', options):
                self.assertEqual(1, text.count(marker), (page, marker))


class TestOptions(base.TestCase):
    """Every option is documented, and no others."""

    def setUp(self):
        super().setUp()
        self.options = {
            (group.name if group else 'DEFAULT', option.dest)
            for group, options in opts.list_opts()
            for option in options
        }

    def test_the_page_has_the_text_of_the_sample_file(self):
        generator = ROOT / 'etc/watcherlite/config-generator.conf'
        namespaces = re.findall(
            r'^namespace = (.*)$', generator.read_text(), re.MULTILINE
        )
        directive = re.search(
            r'^\.\. show-options::\n\n((?:   \S+\n)+)',
            read('configuration.rst'),
            re.MULTILINE,
        )

        self.assertEqual(namespaces, directive[1].split())

    def test_every_option_is_in_the_sample_file(self):
        sample = (ROOT / 'etc/watcherlite/watcherlite.conf.sample').read_text()
        shown = set()
        for section in re.split(r'^(?=\[)', sample, flags=re.MULTILINE):
            group = section.partition(']')[0].removeprefix('[')
            names = re.findall(r'^#(\w+) =', section, re.MULTILINE)
            shown |= {(group, name) for name in names}

        self.assertEqual(set(), self.options - shown)

    def test_every_group_is_explained_in_words(self):
        groups, text = {group for group, _ in self.options} - {'DEFAULT'}, read_all()

        self.assertEqual([], [name for name in groups if f'[{name}]' not in text])

    def test_options_that_texts_name_exist(self):
        configuration = conf.new(config_files=[])
        logs = {
            ('DEFAULT', info['opt'].dest)
            for info, group in configuration._all_opt_infos()
            if group is None
        }
        # Each of: ``[group] option``, ``[group] option = value``
        found = mentions(r'``\[(\w+)\]\s+(\w+)(?:\s*=[^`]*)?``')

        known = self.options | logs
        self.assertEqual([], [named for named in found if named[1] not in known])

    def test_options_in_examples_exist(self):
        group = None
        for page, block in mentions(r'\.\. code-block:: ini\n\n((?:   .*\n|\n)+)'):
            for line in block.splitlines():
                section = re.fullmatch(r' +\[(.*)\]', line)
                setting = re.match(r' +(\w+) *=', line)
                if section:
                    group = section[1]
                elif setting and group in {name for name, _ in self.options}:
                    self.assertIn((group, setting[1]), self.options, (page, line))


class TestPlugins(base.TestCase):
    """The guide documents each method of the plugin interface."""

    def test_every_hook_has_its_paragraph(self):
        page = read('plugins.rst')
        for name, member in vars(contract.ActionType).items():
            if not name.startswith('_') and inspect.isroutine(member):
                self.assertRegex(page, rf'(?m)^``.*\b{name}\([\w, ]*\)``.*\n  \S')

    def test_the_signatures_are_those_of_the_contract(self):
        page = read('plugins.rst')
        for name, signature in re.findall(r'(?m)^``.*?\b(\w+)\(([\w, ]*)\)``', page):
            if name == '__init__':
                continue
            hook = getattr(contract.ActionType, name)
            expected = [p for p in inspect.signature(hook).parameters if p != 'self']
            self.assertEqual(', '.join(expected), signature, name)

    def test_entry_points_are_valid_for_every_build_backend(self):
        namespaces = {
            *(contract.ACTION_TYPES, contract.RESOURCE_HANDLERS, contract.POLICIES),
            contract.STRATEGIES,
        }
        shown = set()
        for page in [*PAGES, *OTHERS]:
            text = page.read_text()
            self.assertNotRegex(text, r'(?m)^ +\[(options\.)?entry_points\]', page.name)
            blocks = re.findall(r'(?m)^\.\. code-block:: toml\n\n((?: {3}.*\n)+)', text)
            for block in blocks:
                groups = tomllib.loads(textwrap.dedent(block))['project']
                for namespace, points in groups['entry-points'].items():
                    shown.add(namespace)
                    for target in points.values():
                        self.assertRegex(target, r'^[a-z_.]+:[A-Za-z]+$')

        self.assertEqual(namespaces, shown)

    def test_everything_of_the_contract_is_explained(self):
        members = set(contract.ActionContext.__annotations__) | {
            name
            for name, member in vars(contract.ActionContext).items()
            if inspect.isfunction(member) and not name.startswith('_')
        }
        page = read('plugins.rst')
        for pattern, names in (
            (r'``{}(?:\(\w*\))?``', members),
            (r'\b{}\b', contract.ActionType.__annotations__),
            (r'\* - ``{}\(', [kind.__name__ for kind in outcomes.Outcome.__args__]),
            ('{}', [contract.ACTION_TYPES, contract.POLICIES]),
        ):
            missing = [n for n in names if not re.search(pattern.format(n), page)]
            self.assertEqual([], missing, pattern)


class TestActionTypes(base.TestCase):
    """The inputs of the built-in types are documented, and no others."""

    def setUp(self):
        super().setUp()
        plugins = loader.load()
        self.types = {
            name: plugins.action_type(name)
            for name in plugins.names(contract.ACTION_TYPES)
            if plugins.action_type(name).__module__.startswith('watcherlite.')
        }
        parts = re.split(r'(?m)^(\w+)\n=+\n', read('action_types.rst'))
        self.sections = dict(zip(parts[1::2], parts[2::2], strict=True))

    def test_every_built_in_type_has_its_section(self):
        self.assertEqual(set(self.types), set(self.sections))

    def test_the_tables_are_those_of_the_schemas(self):
        for name, kind in self.types.items():
            rows = re.findall(
                r'   \* - ``(\w+)``( \(required\))?\n', self.sections[name]
            )
            required = kind.schema.get('required', ())
            self.assertEqual(
                {key: key in required for key in kind.schema['properties']},
                {key: bool(mark) for key, mark in rows},
                name,
            )


class TestCommands(base.TestCase):
    """The commands on the pages exist."""

    def test_every_exit_code_is_explained(self):
        codes = {
            value
            for name, value in vars(exits).items()
            if name.isupper() and isinstance(value, int) and name != 'MAX_PROBLEMS'
        }
        table = read('operations.rst').partition('code  meaning')[2]
        table = table.partition('Purging the database')[0]

        self.assertEqual(
            codes, {int(code) for code in re.findall(r'(?m)^(\d+)  ', table)}
        )

    def test_the_options_of_run_that_are_shown_exist(self):
        parser = run.Run(None, None).get_parser('watcherlite run')
        known = {
            option for action in parser._actions for option in action.option_strings
        }
        for page, line in mentions(r'\$ .*watcherlite run (.*)'):
            for option in re.findall(r'(?:^| )(--?[a-z][\w-]*)', line):
                self.assertIn(option, known, page)


class TestStates(DocsTestCase):
    """Every machine has a diagram, and every state and transition has a reason."""

    def setUp(self):
        super().setUp()
        self.drawing, self.tables = map(self.extension, ('drawing', 'tables'))
        self.machines = {
            name: module.MACHINE
            for name, module in _state_modules()
            if isinstance(getattr(module, 'MACHINE', None), Machine)
        }

    def test_every_machine_has_its_drawing_on_the_page(self):
        shown = re.findall(r'\.\. state-machine:: (\S+)', read('states.rst'))

        self.assertEqual(set(self.machines), set(shown))

    def test_every_state_has_a_meaning_and_every_transition_a_reason(self):
        for name, machine in self.machines.items():
            for state, meaning in machine.states.items():
                self.assertRegex(meaning, r'^[A-Z].{15,}\.$', (name, state))
            for pair, why in machine.transitions.items():
                self.assertRegex(why, r'^\w.{4,}[^.]$', (name, pair))

    def test_the_drawing_has_every_state_and_every_transition_once(self):
        for name, machine in self.machines.items():
            root = xml.etree.ElementTree.fromstring(self.drawing.svg(machine))
            titles = [element.text for element in root.iter(f'{SVG}title')]
            names = [
                element.text
                for element in root.iter(f'{SVG}text')
                if element.get('class') == 'name'
            ]

            self.assertEqual(list(machine.states), names)
            self.assertEqual(
                [
                    f'{number}. {source} to {target}: {why}'
                    for number, ((source, target), why) in enumerate(
                        machine.transitions.items(), 1
                    )
                ],
                titles[1 + len(machine.states) :],
                name,
            )

    def test_lines_that_meet_run_in_different_lanes(self):
        for name, machine in self.machines.items():
            lines = self.drawing._lines(machine, list(machine.states))
            for right in (True, False):
                side = [line for line in lines if line.right is right]
                self.drawing._give_lanes(side)
                for one in side:
                    for other in side:
                        if one is not other and one.lane == other.lane:
                            apart = one.last < other.first or other.last < one.first
                            self.assertTrue(apart, (name, one, other))

    def test_the_tables_have_every_state_and_every_transition(self):
        machine = Machine(
            'sample',
            {'NEW': 'It is new.', 'OLD': 'It is old.'},
            {('NEW', 'OLD'): 'time passes'},
            initial=('NEW',),
        )

        self.assertEqual(
            [
                '.. list-table::',
                '   :header-rows: 1',
                '   :widths: 20 80',
                '',
                '   * - State',
                '     - Meaning',
                '   * - ``NEW``',
                '     - It is new. *(initial)*',
                '   * - ``OLD``',
                '     - It is old. *(final)*',
                '',
            ],
            self.tables.states(machine),
        )
        self.assertEqual(
            ['   * - 1', '     - ``NEW``', '     - ``OLD``', '     - time passes', ''],
            self.tables.transitions(machine)[-5:],
        )


SVG = '{http://www.w3.org/2000/svg}'


def _state_modules():
    for info in pkgutil.iter_modules(states.__path__, f'{states.__name__}.'):
        yield info.name, importlib.import_module(info.name)


def read_all():
    return '\n'.join(page.read_text() for page in PAGES)
