"""The base of tests that use a real OpenStack.

The cloud is described by the variables `OS_*`, with OS_CLIENT_CONFIG_FILE as a
clouds.yaml that has cloud-admin, cloud-demo, cloud-alt, cloud-reader and
cloud-tenant-service; or by WATCHERLITE_TEST_CLOUD, a command that prints them when it
is called with `env`. Without both the tests are skipped, or fail if
WATCHERLITE_TEST_REQUIRE_CLOUD is set to 1.

The cloud may be shared: a test names what it creates by `unique_name`, and deletes it.
"""

import functools
import json
import os
import shlex
import subprocess
import uuid
from typing import Any, NoReturn

import yaml

from tests import base
from watcherlite.plugins.openstack.connections import Clouds
from watcherlite.plugins.openstack.settings import OpenStackSettings

LAUNCHER = 'WATCHERLITE_TEST_CLOUD'
REQUIRE = 'WATCHERLITE_TEST_REQUIRE_CLOUD'
#: What a test needs of the environment, which `tests.base` removes from it.
PREFIXES = ('OS_', 'CLOUD_', 'WATCHERLITE_TEST_', 'no_proxy')
#: The clouds of clouds.yaml.
ADMIN = 'cloud-admin'
DEMO = 'cloud-demo'
ALT = 'cloud-alt'
READER = 'cloud-reader'
SERVICE = 'cloud-tenant-service'

_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name.startswith(PREFIXES)
}
_PATIENCE = 60


@functools.cache
def environment() -> dict[str, str] | None:
    """Return the variables of the cloud; None: there is no cloud."""
    if _ENVIRONMENT.get('OS_AUTH_URL') and _ENVIRONMENT.get('OS_CLIENT_CONFIG_FILE'):
        return _ENVIRONMENT
    launcher = _ENVIRONMENT.get(LAUNCHER)
    if not launcher:
        return None
    printed = subprocess.run(
        [launcher, 'env', 'admin'],
        check=True,
        capture_output=True,
        text=True,
        timeout=_PATIENCE,
        env={**os.environ, **_ENVIRONMENT},
    ).stdout
    found = dict(_ENVIRONMENT)
    for word in shlex.split(printed):
        name, separator, value = word.partition('=')
        if separator:
            found[name] = value.rstrip(';')
    return found


class CloudCase(base.TestCase):
    """A test with a cloud.

    :ivar variables: `OS_*` and `CLOUD_*`
    """

    def setUp(self) -> None:
        super().setUp()
        found = environment()
        if found is None:
            self.skip_without(
                f'There is no cloud: neither {LAUNCHER} nor OS_AUTH_URL and '
                'OS_CLIENT_CONFIG_FILE are set'
            )
        self.variables = found

    def skip_without(self, missing: str) -> NoReturn:
        """Skip the test for a missing service; fail it if a cloud is required."""
        if _ENVIRONMENT.get(REQUIRE) == '1':
            self.fail(missing)
        self.skipTest(missing)

    def unique_name(self, noun: str) -> str:
        """Return a unique name for an object."""
        return f'watcherlite-{noun}-{uuid.uuid4().hex[:8]}'

    def open_clouds(self, cloud: str = SERVICE, **values: Any) -> Clouds:
        """Return the connections with the authority of a cloud of clouds.yaml.

        :param values: other settings
        """
        defaults: dict[str, Any] = {
            'cloud': cloud,
            'client_config_file': self.variables['OS_CLIENT_CONFIG_FILE'],
        }
        clouds = Clouds(OpenStackSettings(**{**defaults, **values}))
        self.addCleanup(clouds.close)
        return clouds

    def connect(self, cloud: str) -> Any:
        """Return a connection of openstacksdk as a user of clouds.yaml."""
        return self.open_clouds(cloud).service_connection()

    def options(self, cloud: str = SERVICE, **changed: str) -> dict[str, str]:
        """Return the options of the authentication of a cloud of clouds.yaml."""
        return {**self._clouds()[cloud]['auth'], **changed}

    def changed_clouds(self, cloud: str = SERVICE, **values: Any) -> str:
        """Return the path of a clouds.yaml in which a cloud has other values."""
        clouds = self._clouds()
        clouds[cloud].update(values)
        path = self.home / 'clouds.yaml'
        path.write_text(json.dumps({'clouds': clouds}))
        return str(path)

    def _clouds(self) -> dict[str, Any]:
        with open(self.variables['OS_CLIENT_CONFIG_FILE'], encoding='utf-8') as file:
            clouds: dict[str, Any] = yaml.safe_load(file)['clouds']
        return clouds
