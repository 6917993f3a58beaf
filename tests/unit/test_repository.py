"""The files around the package: commands of the README and of the gate."""

import configparser
import importlib.metadata
import pathlib
import re
import shlex

from tests import base

ROOT = pathlib.Path(__file__).parents[2]
GATE = ROOT / '.ci' / 'run'


class TestReadme(base.TestCase):
    """Two commands, one line each, with nothing before them."""

    def setUp(self):
        super().setUp()
        self.text = (ROOT / 'README.rst').read_text()

    def command(self, name):
        """Return the words of a command, as the gate parses it."""
        block = self.text.partition(f'\n.. {name} command\n')[2]
        lines = re.match(r'\n\.\. code-block:: console\n\n((?:   .*\n)+)\n', block)[
            1
        ].splitlines()
        self.assertEqual(1, len(lines), lines)
        return shlex.split(lines[0].removeprefix('   $ '))

    def test_the_first_installs_and_runs_the_example(self):
        words = self.command('first')

        steps = ' '.join(words).split(' && ')
        self.assertEqual(
            ['python3 -m venv .venv', '.venv/bin/pip install --quiet --editable .'],
            steps[:2],
        )
        self.assertEqual(
            ['.venv/bin/watcherlite', 'run', '--config-file'], steps[2].split()[:3]
        )
        for path in steps[2].split()[3:]:
            self.assertTrue((ROOT / path).is_file(), path)
        self.assertNotIn('$ ', self.text.partition('.. first command')[0])

    def test_the_second_installs_the_test_requirements_and_runs_the_tests(self):
        self.assertEqual(
            shlex.split(
                ".venv/bin/pip install --quiet --editable '.[test]' && "
                '.venv/bin/stestr run --concurrency '
                '"$((4 * $(getconf _NPROCESSORS_ONLN)))"'
            ),
            self.command('second'),
        )

    def test_the_gate_calls_both(self):
        for name in ('first', 'second'):
            self.assertRegex(
                GATE.read_text(), rf"(?m)^step 'README: .*' run_readme_command {name} "
            )


class TestTox(base.TestCase):
    """tox runs the same commands as the gate."""

    def test_each_command_is_one_of_the_gate(self):
        tox = configparser.ConfigParser(interpolation=None)
        tox.read(ROOT / 'tox.ini')
        text = GATE.read_text().partition("require 'fresh clone'")[2]
        steps = [
            ' '.join(step.replace('\\\n', ' ').replace('"$bin/', '').split())
            for step in re.split(r'(?m)^(?:step|require) ', text)
        ]

        for name in ('lint', 'types', 'docs'):
            for line in tox[f'testenv:{name}']['commands'].strip().splitlines():
                # Each of them chooses its own output directory.
                words = line.replace(' doc/build/html', '').split()
                pattern = re.compile('.*?'.join(map(re.escape, words)))
                self.assertTrue(any(map(pattern.search, steps)), (line, steps))
        self.assertEqual('stestr run {posargs}', tox['testenv']['commands'].strip())


class TestPackaging(base.TestCase):
    def test_every_command_can_be_imported(self):
        scripts = importlib.metadata.entry_points(group='console_scripts')
        ours = {s.name: s for s in scripts if s.value.startswith('watcherlite.')}

        self.assertEqual(
            [
                *('watcherlite', 'watcherlite-api', 'watcherlite-applier'),
                *('watcherlite-engine', 'watcherlite-manage', 'watcherlite-status'),
            ],
            sorted(ours),
        )
        for script in ours.values():
            self.assertTrue(callable(script.load()), script)

    def test_the_license_is_the_declared_one(self):
        self.assertRegex(
            (ROOT / 'LICENSE').read_text(), r'\A\s+Apache License\n\s+Version 2\.0,'
        )
        metadata = importlib.metadata.metadata('watcherlite')
        self.assertIn(
            'Apache-2.0', (metadata['License'], metadata['License-Expression'])
        )
