"""The parts of OpenStack that are loaded, and when."""

import subprocess
import sys

from tests import base

MISSING = """
import sys
sys.modules['openstack'] = None
from watcherlite import exceptions
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.settings import OpenStackSettings
clouds = Clouds(OpenStackSettings(auth={'auth_url': 'http://127.0.0.1:9/v3'}))
try:
    clouds.service_connection()
except exceptions.ConfigurationError as error:
    print(error)
"""
LOADED = """
import sys
import watcherlite.bootstrap
from watcherlite import conf
plugins = watcherlite.bootstrap.load_plugins(conf.new(config_files=[]))
assert not plugins.clouds.is_configured
print(sorted({'openstack', 'keystoneauth1'} & set(sys.modules)))
"""


class TestImports(base.TestCase):
    def output(self, source):
        return subprocess.run(
            [sys.executable, '-c', source], check=True, capture_output=True, text=True
        ).stdout.strip()

    def test_without_openstacksdk_the_first_use_names_the_package(self):
        self.assertEqual(
            'OpenStack requires openstacksdk: pip install "watcherlite[openstack]"',
            self.output(MISSING),
        )

    def test_no_library_of_openstack_is_loaded_at_the_start_of_a_daemon(self):
        self.assertEqual('[]', self.output(LOADED))
