"""The tools of oslo.policy find the rules of watcherlite."""

import pathlib
import subprocess
import sys

import fixtures

from tests import base
from tests.bounded import TIMEOUT

CALL = (
    'import sys; from oslo_policy import generator; '
    'generator.validate_policy(sys.argv[1:])'
)


class TestPolicyValidator(base.TestCase):
    def test_validator_reports_unknown_rule(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'policy.yaml').write_text(
            '"goal:get": "role:admin"\n"goal:grow": "role:admin"\n'
        )
        (folder / 'api.conf').write_text(
            f'[oslo_policy]\npolicy_file = {folder}/policy.yaml\n'
        )

        called = subprocess.run(
            [
                *(sys.executable, '-c', CALL, '--namespace', 'watcherlite'),
                *('--config-file', folder / 'api.conf'),
            ],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )

        self.assertEqual(
            (1, 'Unknown rule found in policy file: goal:grow\n'),
            (called.returncode, called.stdout),
        )
