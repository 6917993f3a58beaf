"""The base of tests whose service user has the documented role, and no other.

The rights of the role are the files in `etc/watcherlite/openstack_policies`, which the
documentation prints. The services read them from `policy.d` in their configuration when
a file there has changed, so that a test can add them to a cloud that runs already.

This disturbs no other test: the files only add rights of a role that no other user has.
They stay there, as the role does, because each removal would have all services read
their policies again, and requests that arrive at that moment can be refused.
"""

import json
import os
import pathlib
import subprocess
import uuid
from typing import Any

from tests import bounded
from tests.cloud import case
from watcherlite.plugins.openstack.connections import Clouds

ROLE = 'watcherlite'
POLICIES = pathlib.Path(__file__).parents[2] / 'etc/watcherlite/openstack_policies'
#: The configuration of the services, below the working directory of the launcher.
CONFIGURATION = 'state/etc'
#: The Python of the services, below the working directory of the launcher.
PYTHON = 'venvs/openstack/bin/python'
PROGRAM = pathlib.Path(__file__).with_name('effective_rules.py')


class RoleCase(case.CloudCase):
    """A test in which the cloud `SERVICE` of clouds.yaml is a user with the role.

    :ivar work: the working directory of the launcher
    """

    def setUp(self) -> None:
        super().setUp()
        self.add_policies()
        admin = self.connect(case.ADMIN)
        identity = admin.identity
        role = identity.find_role(ROLE) or identity.create_role(name=ROLE)
        name, password = self.unique_name('service'), uuid.uuid4().hex
        user = identity.create_user(name=name, password=password, domain_id='default')
        self.addCleanup(identity.delete_user, user)
        identity.assign_project_role_to_user(
            identity.find_project('service'), user, role
        )
        clouds = self.changed_clouds(
            auth=self.options(username=name, password=password)
        )
        self.variables = {**self.variables, 'OS_CLIENT_CONFIG_FILE': clouds}

    def add_policies(self) -> None:
        """Add the policies to the services; skip the test where that is impossible."""
        directory = self._configuration()
        if directory is None:
            self.skipTest(
                'The policies of this cloud cannot be changed: neither CLOUD_WORK nor '
                f'the place of clouds.yaml leads to {CONFIGURATION} of a launcher'
            )
        for policies in sorted(POLICIES.glob('*.yaml')):
            target = directory / policies.stem / 'policy.d' / f'{ROLE}.yaml'
            desired = policies.read_bytes()
            if target.exists() and target.read_bytes() == desired:
                continue
            target.parent.mkdir(exist_ok=True)
            # The services ignore it; they must not read a part of the file.
            hidden = target.with_name(f'.{ROLE}-{os.getpid()}')
            hidden.write_bytes(desired)
            hidden.replace(target)

    def effective_rules(self, service: str) -> set[str]:
        """Return the rules of a service that allow the role what others may not."""
        configuration = self.work / CONFIGURATION / service / f'{service}.conf'
        done = subprocess.run(
            [str(self.work / PYTHON), str(PROGRAM), service, str(configuration), ROLE],
            check=False,
            capture_output=True,
            text=True,
            timeout=bounded.TIMEOUT,
        )
        self.assertEqual(0, done.returncode, done.stderr)
        return set(json.loads(done.stdout))

    def _configuration(self) -> pathlib.Path | None:
        work = self.variables.get('CLOUD_WORK')
        clouds = pathlib.Path(self.variables['OS_CLIENT_CONFIG_FILE'])
        self.work = pathlib.Path(work) if work else clouds.parents[1]
        path = self.work / CONFIGURATION
        return path if path.is_dir() else None

    def service_clouds(self, **values: Any) -> Clouds:
        """Return the connections of the user with the role."""
        return self.open_clouds(case.SERVICE, **values)
