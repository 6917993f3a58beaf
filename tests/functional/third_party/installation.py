"""Installs a distribution as far as needed: its metadata is on the path."""

import json
import os
import pathlib
import subprocess
import sys
import tomllib

import fixtures

from tests.acceptance import preloaded
from tests.bounded import TIMEOUT

ACME = pathlib.Path(__file__).parent / 'acme'
ROOT = pathlib.Path(__file__).parents[3]


class Installation(fixtures.Fixture):
    """A directory with the modules and the metadata of distributions.

    An interpreter with the directory on its path finds the entry points like those of
    any other distribution.
    """

    def _setUp(self):
        self.path = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def add(self, source=ACME):
        """Install from a directory with a pyproject.toml."""
        project = tomllib.loads((source / 'pyproject.toml').read_text())['project']
        for module in source.glob('*.py'):
            (self.path / module.name).write_text(module.read_text())
        points = {
            f'{namespace}': [f'{name} = {target}' for name, target in points.items()]
            for namespace, points in project['entry-points'].items()
        }
        self.add_metadata(project['name'], project['version'], points)

    def add_metadata(self, name, version, points):
        """Install metadata alone; points: namespace -> lines `name = target`."""
        info = self.path / f'{name.replace("-", "_")}-{version}.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(
            f'Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n'
        )
        (info / 'entry_points.txt').write_text(
            ''.join(
                f'[{namespace}]\n' + ''.join(f'{line}\n' for line in lines)
                for namespace, lines in points.items()
            )
        )

    def run(self, source, *arguments):
        """Run a program in a forked process; return the JSON that it prints."""
        return self._read(preloaded.complete, ['python', '-c', source, *arguments])

    def run_anew(self, source):
        """Run a program in a new interpreter; return the JSON that it prints."""
        return self._read(
            subprocess.run,
            [sys.executable, '-c', source],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )

    def _read(self, run, argv, **options):
        environment = {
            **os.environ,
            'PYTHONPATH': str(self.path),
            # stevedore caches the entry points there, too.
            'XDG_CACHE_HOME': str(self.path / 'cache'),
        }
        ended = run(argv, env=environment, cwd=ROOT, **options)
        if ended.returncode:
            raise AssertionError(f'{ended.returncode}: {ended.stderr}')
        return json.loads(ended.stdout)
