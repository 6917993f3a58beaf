"""The tools of oslo.policy, as operators call them, know our rules."""

import pathlib
import subprocess
import sys

import fixtures

from tests import base

CALL = (
    'import sys; from oslo_policy import generator; '
    'generator.validate_policy(sys.argv[1:])'
)


class ValidatorTest(base.TestCase):
    def validate(self, text):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (folder / 'policy.yaml').write_text(text)
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
            timeout=60,
        )
        return called.returncode, called.stdout

    def test_a_file_with_rules_that_there_are_is_right(self):
        self.assertEqual((0, ''), self.validate('"goal:get": "role:admin"\n'))

    def test_unknown_rule_is_named(self):
        self.assertEqual(
            (1, 'Unknown rule found in policy file: goal:grow\n'),
            self.validate('"goal:grow": "role:admin"\n'),
        )
