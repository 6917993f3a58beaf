"""The command starts quickly and imports few modules."""

import json
import subprocess
import sys

from tests import base
from tests.bounded import TIMEOUT
from tests.functional.cli import api_objects
from tests.functional.cli.fake_api import Api
from watcherlite.cli import main

#: Packages that load slowly, and that a request for help does not need.
HEAVY = (
    'alembic cryptography jsonschema keystoneauth1 kombu openstack oslo_config '
    'oslo_log requests rich sqlalchemy yaml'
)
#: The parts of watcherlite that commands for the API do not need.
INNER = 'api applier bootstrap conf db engine execution messaging plugins'

#: Prints the modules of watcherlite that a command loads, and all other packages.
LOADED = """
import contextlib, io, sys
before = set(sys.modules)
from watcherlite.cli import main
out = io.StringIO()
with contextlib.redirect_stdout(out):
    try:
        code = main.main(sys.argv[1:])
    except SystemExit as leaving:
        code = leaving.code
loaded = set(sys.modules) - before
ours = sorted(name for name in loaded if name.startswith('watcherlite.'))
tops = {name.partition('.')[0] for name in loaded} - {'watcherlite'}
print(code)
print(*ours)
print(*sorted(tops - sys.stdlib_module_names))
"""
#: Prints the packages that the help of all these commands loads.
LOADED_BY_HELP = """
import contextlib, io, json, sys
from watcherlite.cli import main
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            main.main([*words, '--help'])
        except SystemExit as leaving:
            assert leaving.code == 0, words
print(*sys.modules)
"""
#: The modules of `watcherlite --help`.
HELP = [
    'watcherlite.cli',
    'watcherlite.cli.command_table',
    'watcherlite.cli.http',
    'watcherlite.cli.http.access',
    'watcherlite.cli.main',
    'watcherlite.cmd',
    'watcherlite.cmd.arguments',
    'watcherlite.cmd.exits',
    'watcherlite.exceptions',
]
#: The additional modules of a command that lists objects.
LIST = [
    'watcherlite.cli.command',
    'watcherlite.cli.commands',
    'watcherlite.cli.commands.catalog',
    'watcherlite.cli.commands.base',
    'watcherlite.cli.examples',
    'watcherlite.cli.formatting',
    'watcherlite.cli.output',
    'watcherlite.clock',
]


class ImportsTest(base.TestCase):
    def run_python(self, *argv):
        return subprocess.run(
            [sys.executable, *argv],
            check=True,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )

    def imported_modules(self, *argv):
        """Return the modules of watcherlite and the packages that a command loads."""
        code, ours, others = self.run_python('-c', LOADED, *argv).stdout.splitlines()
        self.assertEqual('0', code)
        return ours.split(), others.split()

    def test_help_imports_only_required_modules(self):
        for option in ('--help', '--version'):
            self.assertEqual(
                (HELP, ['autopage', 'cliff', 'stevedore']),
                self.imported_modules(option),
            )

    def test_help_of_a_command_imports_only_required_modules(self):
        self.assertEqual(
            (sorted(HELP + LIST), ['autopage', 'cliff', 'prettytable', 'stevedore']),
            self.imported_modules('goal', 'list', '--help'),
        )

    def test_help_of_every_command_imports_no_slow_package(self):
        # `run` reads plans in YAML.
        names = [name.split() for name in main.COMMANDS if name != 'run']

        found = self.run_python('-c', LOADED_BY_HELP, json.dumps(names)).stdout.split()

        self.assertEqual(set(), set(HEAVY.split()) & set(found))
        self.assertIn('prettytable', found)

    def test_api_commands_import_no_module_of_the_daemons(self):
        api = self.useFixture(Api())
        api.responses['GET /v1/goals'] = api_objects.page('goals', api_objects.GOAL)
        self._set('WATCHERLITE_ENDPOINT', api.url)

        ours, others = self.imported_modules('goal', 'list')

        parts = {name.split('.')[1] for name in ours}
        self.assertEqual(set(), set(INNER.split()) & parts)
        self.assertEqual({'requests'}, set(HEAVY.split()) & set(others))
