"""The page about resource types is complete, and its example works."""

import re
import sys
import textwrap
import types

from tests.unit.test_docs import SOURCE, DocsTestCase
from watcherlite.plugins import base as contract
from watcherlite.plugins import loader
from watcherlite.plugins.resource_handlers import test_resource
from watcherlite.plugins.resource_handlers.random_string import RandomString
from watcherlite.plugins.resource_handlers.value import Value

PAGE = SOURCE / 'resource_handlers.rst'
CLOUD_PAGE = SOURCE / 'openstack_resources.rst'
PROFILES = PAGE.with_name('profiles.rst')


class FakeCloud:
    """The service of the example; a disk is ready after one poll."""

    def __init__(self):
        self.disks = {}

    def create_disk(self, name, size, key):
        self.disks[f'disk-{name}'] = disk = types.SimpleNamespace(
            id=f'disk-{name}', size=size, looks=0, address=f'/dev/{key[:4]}'
        )
        return disk

    def disk(self, name):
        disk = self.disks[name]
        disk.looks += 1
        disk.state = 'working' if disk.looks == 1 else 'ready'
        return disk

    def disk_by_name(self, name):
        return self.disks.get(f'disk-{name}')

    def resize_disk(self, name, size):
        self.disks[name].size = size

    def delete_disk(self, name, missing_ok):
        self.disks.pop(name)


class TestPage(DocsTestCase):
    def setUp(self):
        super().setUp()
        self.text = PAGE.read_text()

    def test_every_built_in_type_has_its_section(self):
        plugins = loader.load([contract.RESOURCE_HANDLERS])
        ours = {
            name: f'{kind.__module__}:{kind.__qualname__}'
            for name, kind in plugins.resource_types().items()
            if kind.__module__.startswith('watcherlite.')
            # Nested stacks and their scaling policies have a page of their own, and so
            # have types of profiles.
            and kind.in_templates
            and not issubclass(kind, contract.NestedHandler)
            and not kind.__module__.endswith('.scaling_policy')
        }
        text = self.text + CLOUD_PAGE.read_text()
        sections = set(re.findall(r'^(\S+::\S+)\n-+$', text, re.MULTILINE))
        directive = re.compile(r'^\.\. resource-type:: (\S+)$', re.MULTILINE)
        tables = set(directive.findall(text))

        self.assertLessEqual(set(ours), sections)
        declaring = {ours[name] for name in ours if name != 'OS::Heat::None'}
        self.assertLessEqual(declaring, tables)

    def test_every_type_that_is_only_a_profile_has_its_table(self):
        plugins = loader.load([contract.RESOURCE_HANDLERS])
        text = PROFILES.read_text()

        kinds = [k for k in plugins.resource_types().values() if not k.in_templates]

        self.assertLess(0, len(kinds))
        for kind in kinds:
            directive = f'.. resource-type:: {kind.__module__}:{kind.__qualname__}'
            self.assertIn(directive, text)

    def test_the_tables_have_every_property_and_the_effect_of_its_change(self):
        resource_tables = self.extension('resource_tables')
        self.assertEqual(
            [
                '.. list-table::',
                '   :header-rows: 1',
                '   :widths: 20 16 12 52',
                '',
                '   * - Property',
                '     - Type',
                '     - Change',
                '     - Meaning',
                '   * - ``value`` (required)',
                '     - anything',
                '     - updated',
                '     - The value: anything.',
            ],
            resource_tables.lines(Value)[:12],
        )
        text = '\n'.join(resource_tables.lines(RandomString))
        for name in RandomString.properties:
            self.assertIn(f'   * - ``{name}``\n', text)
        self.assertIn('     - replaced\n     - The number of characters. ', text)
        self.assertIn('Default: ``32``.', text)

    def test_the_tables_have_the_operations_of_nodes_of_a_type(self):
        resource_tables = self.extension('resource_tables')

        text = '\n'.join(resource_tables.lines(test_resource.TestResource))
        self.assertIn(
            '   * - ``break``\n'
            '     - ``reason``\n'
            '     - Makes checks find it unhealthy.',
            text,
        )
        self.assertIn('   * - ``reboot``\n     - none\n', text)

    def test_the_example_and_its_tests_work(self):
        cloud = FakeCloud()
        acme = types.ModuleType('acme')
        acme.cloud = cloud
        sys.modules['acme'] = acme
        self.addCleanup(sys.modules.pop, 'acme')
        blocks = re.findall(r'\.\. code-block:: python\n\n((?:   .*\n|\n)+)', self.text)
        names = {'__name__': 'example'}
        for block in blocks:
            exec(textwrap.dedent(block), names)

        names['test_a_disk_grows_in_place'](cloud)
        names['test_a_disk_is_not_made_twice'](cloud)
