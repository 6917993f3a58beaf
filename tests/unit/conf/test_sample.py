import importlib.metadata
import os
import pathlib
import re

from oslo_config import cfg, generator

from tests import base

ROOT = pathlib.Path(__file__).parents[3]
GENERATOR = ROOT / 'etc/watcherlite/config-generator.conf'
SAMPLE = ROOT / 'etc/watcherlite/watcherlite.conf.sample'
#: Namespaces of options with texts of this project. The texts of oslo.log change with
#: its releases, and must not make the file outdated.
OURS = ('watcherlite', 'watcherlite.plugins')
THEIRS = (
    'oslo.log',
    'oslo.middleware.cors',
    'oslo.middleware.http_proxy_to_wsgi',
    'oslo.policy',
    'keystonemiddleware.auth_token',
)


class TestSample(base.TestCase):
    """etc/watcherlite/watcherlite.conf.sample is up to date."""

    def setUp(self):
        super().setUp()
        # Otherwise the generator would use the current directory for its state, and
        # write the file there.
        self.output = self.home / 'watcherlite.conf.sample'

    def generate(self):
        configuration = cfg.ConfigOpts()
        generator.register_cli_opts(configuration)
        configuration(
            ['--config-file', str(GENERATOR), '--output-file', str(self.output)],
            default_config_files=[],
        )
        generator.generate(configuration)
        return self.output.read_text()

    def test_every_namespace_of_the_generator_is_installed(self):
        installed = importlib.metadata.entry_points(group='oslo.config.opts').names
        named = re.findall(r'^namespace = (.*)$', GENERATOR.read_text(), re.MULTILINE)

        self.assertEqual([*OURS, *THEIRS], named)
        self.assertEqual(set(), set(named) - installed)

    def test_the_sample_is_current(self):
        expected = _ours(self.generate())
        found = _ours(SAMPLE.read_text())

        self.assertEqual(
            expected,
            found,
            'run: oslo-config-generator '
            '--config-file etc/watcherlite/config-generator.conf',
        )

    def test_the_sample_has_the_options_of_the_logs(self):
        text = SAMPLE.read_text()

        self.assertIn('# From oslo.log', text)
        self.assertIn('#default_log_levels = alembic=WARN,amqp=WARN', text)

    def test_the_sample_contains_no_value_of_its_machine(self):
        # Other tests may have changed the defaults of `default_log_levels` before.
        text = self.generate()

        for word in (os.uname().nodename, str(self.home), os.path.expanduser('~')):
            with self.subTest(word=word):
                self.assertNotRegex(text, rf'= .*\b{re.escape(word)}\b')

    def test_a_user_may_start_from_the_sample_as_it_is(self):
        lines = [
            line
            for line in SAMPLE.read_text().splitlines()
            if line and not line.startswith(('#', '['))
        ]

        self.assertEqual([], lines)


def _ours(text):
    """Return {(group, namespace): its lines} of the namespaces of this project."""
    blocks = {}
    for section in re.split(r'^(?=\[)', text, flags=re.MULTILINE):
        group = section.partition('\n')[0]
        head, *rest = re.split(r'^#\n# From (.*)\n#\n', section, flags=re.MULTILINE)
        for namespace, lines in zip(rest[::2], rest[1::2], strict=True):
            if namespace in OURS:
                blocks[group, namespace] = (head + lines).strip()
    return blocks
