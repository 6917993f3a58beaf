"""How soon the command is there."""

import subprocess
import sys
import time

from tests import base

#: What takes long to load, and is of no use to somebody who asks for help.
HEAVY = 'alembic jsonschema kombu oslo_config oslo_log rich sqlalchemy yaml'

LOADED = f"""
import contextlib, io, sys
from watcherlite.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    for argv in (['--help'], ['--version']):
        try:
            main.main(argv)
        except SystemExit:
            continue
print([name for name in '{HEAVY}'.split() if name in sys.modules])
"""


class StartTest(base.TestCase):
    def call(self, *argv):
        return subprocess.run(
            [sys.executable, *argv],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_help_loads_nothing_that_takes_long(self):
        self.assertEqual('[]\n', self.call('-c', LOADED).stdout)

    def test_help_comes_within_four_tenths_of_a_second(self):
        taken = []
        for _ in range(5):
            began = time.monotonic()
            self.call('-m', 'watcherlite.cli.main', '--help')
            taken.append(time.monotonic() - began)

        # The best of five: the machine may have other things to do
        self.assertLess(min(taken), 0.4)
