"""The policies of OpenStack's services for the role of this service."""

import pathlib

import yaml

from tests import base

ROOT = pathlib.Path(__file__).parents[2]
FILES = sorted((ROOT / 'etc/watcherlite/openstack_policies').glob('*.yaml'))
PAGE = ROOT / 'doc/source/openstack_rights.rst'
ROLE = 'role:watcherlite'
#: Rules that give the role no right, or not only this one, each with its reason there.
OTHERS = {
    ('nova', 'context_is_admin'),
    ('nova', 'os_compute_api:servers:migrations:index:host'),
    ('cinder', 'admin_api'),
    ('cinder', 'admin_or_owner'),
    ('neutron', 'context_with_global_access'),
}


class TestPolicies(base.TestCase):
    def test_every_rule_adds_the_role_to_those_that_have_the_right(self):
        others = set()
        for path in FILES:
            for name, rule in yaml.safe_load(path.read_text()).items():
                before, separator, role = rule.rpartition(' or ')
                if (separator, role) != (' or ', ROLE) or ROLE in before:
                    others.add((path.stem, name))

        self.assertEqual(OTHERS, others)

    def test_the_documentation_prints_every_file(self):
        page = PAGE.read_text()

        self.assertEqual(
            ['cinder', 'keystone', 'neutron', 'nova', 'placement'],
            [
                path.stem
                for path in FILES
                if f'.. literalinclude:: ../../{path.relative_to(ROOT)}\n' in page
            ],
        )
