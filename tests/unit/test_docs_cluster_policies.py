"""The page about the policies of clusters is complete, and its example works."""

import inspect
import re
import textwrap

from tests.unit.test_docs import SOURCE, DocsTestCase
from watcherlite.plugins import base as contract
from watcherlite.plugins import loader
from watcherlite.plugins.load_balancers import haproxy, template
from watcherlite.plugins.policies.spreading import RegionPlacement

PAGE = SOURCE / 'cluster_policies.rst'


class TestPage(DocsTestCase):
    def setUp(self):
        super().setUp()
        self.text = PAGE.read_text()

    def blocks(self, language):
        pattern = rf'\.\. code-block:: {language}\n\n((?:   .*\n|\n)+)'
        return [textwrap.dedent(block) for block in re.findall(pattern, self.text)]

    def test_every_built_in_type_has_its_section_with_its_versions(self):
        plugins = loader.load([contract.POLICIES])
        found = {}
        for name, kind in plugins.loadable(contract.POLICIES).items():
            if kind.__module__.startswith('watcherlite.'):
                bare, _, version = name.rpartition('-')
                found.setdefault(bare, []).append((version, kind))
        sections = re.split(r'^(senlin\.\S+)\n-+$', self.text, flags=re.MULTILINE)
        documented = dict(zip(sections[1::2], sections[2::2], strict=True))

        self.assertEqual(set(found), set(documented))
        for bare, versions in found.items():
            for version, _ in versions:
                self.assertIn(version, documented[bare])
            last = versions[-1][1]
            self.assertIn(
                f'.. policy-type:: {last.__module__}:{last.__qualname__}',
                documented[bare],
            )

    def test_the_tables_have_every_property(self):
        policy_tables = self.extension('policy_tables')
        self.assertEqual(
            [
                'Priority 200; one of this type for a cluster.',
                '',
                'Evaluated before ``CLUSTER_RESIZE``, ``CLUSTER_SCALE_IN``, '
                '``CLUSTER_SCALE_OUT``, ``NODE_CREATE``.',
                '',
                '.. list-table::',
                '   :header-rows: 1',
                '   :widths: 34 14 52',
                '',
                '   * - Property',
                '     - Type',
                '     - Meaning',
                '   * - ``regions`` (required)',
                '     - array',
                '     - The regions over which nodes are distributed.',
                '   * - ``regions[].name`` (required)',
                '     - string',
                '     - The name of the region.',
                '   * - ``regions[].weight``',
                '     - integer',
                '     - The number of its nodes relative to the others; 0: none. '
                'Default: ``100``.',
                '   * - ``regions[].cap``',
                '     - integer',
                '     - Maximum number of its nodes; -1: unlimited. Default: ``-1``.',
                '',
            ],
            policy_tables.lines(RegionPlacement),
        )

    def test_every_hook_has_its_paragraph_with_its_arguments(self):
        documented = dict(re.findall(r'(?m)^``(\w+)\(([\w, ]*)\)``\n  \S', self.text))
        expected = {
            name: ', '.join(list(inspect.signature(member).parameters)[1:])
            for kind in (contract.Policy, contract.LoadBalancer)
            for name, member in vars(kind).items()
            if inspect.isfunction(member) and not name.startswith('_')
        }

        self.assertEqual(expected, documented)

    def test_every_declaration_is_listed(self):
        declared = set(contract.Policy.__annotations__)
        known = set(contract.PolicyContext.__annotations__) | {
            name
            for name, member in vars(contract.PolicyContext).items()
            if inspect.isfunction(member) and not name.startswith('_')
        }
        for name in declared | known:
            self.assertRegex(self.text, rf'``{name}(?:\([\w, ]*\))?``')

    def test_the_settings_are_those_of_the_driver(self):
        (block,) = [b for b in self.blocks('ini') if 'haproxy' in b]
        named = re.findall(r'^(\w+) = ', block, re.MULTILINE)

        self.assertLessEqual(set(named), {opt.name for opt in haproxy.OPTIONS})

    def test_the_template_works(self):
        (text,) = self.blocks('jinja')
        (self.home / 'mine.cfg').write_text(text)
        member = {'word': 'n1', 'id': 'u1', 'host': '127.0.0.1', 'port': 8001}
        values = {
            'name': 'lb',
            'bind': '127.0.0.1',
            'vip': {'protocol_port': 8000},
            'members': [member],
        }

        self.assertIn(
            'listen lb\n    bind 127.0.0.1:8000\n    mode tcp\n'
            '    server n1-u1 127.0.0.1:8001 check\n',
            template.render(str(self.home), 'mine.cfg', values),
        )

    def test_the_example_and_its_test_work(self):
        names = {'__name__': 'example'}
        for block in self.blocks('python'):
            exec(block, names)

        names['test_by_day_nothing_shrinks']()
