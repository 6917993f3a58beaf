"""The guide of the command contains every command and its options."""

import pathlib
import re
import shlex

from tests import base
from watcherlite.cli import main
from watcherlite.cli.http import access

SOURCE = pathlib.Path(__file__).parents[3] / 'doc/source'
GUIDES = tuple(
    SOURCE / f'{name}.rst'
    for name in ('command_line', 'stacks_command_line', 'clusters_command_line')
)
#: These are documented on other pages.
LOCAL = {'plugin list', 'run', 'standalone'}


class GuideTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.text = '\n'.join(guide.read_text() for guide in GUIDES)
        self.lines = re.findall(r'^ +\$ watcherlite (.*)$', self.text, re.MULTILINE)

    def test_every_command_has_an_example(self):
        words = [shlex.split(line) for line in self.lines]
        shown = {
            ' '.join(line[:length])
            for line in words
            for length in range(1, len(line) + 1)
        }

        for name in set(main.COMMANDS) - LOCAL - {'complete'}:
            with self.subTest(command=name):
                self.assertIn(name, shown)
        self.assertIn('complete >', shown)

    def test_every_example_is_a_valid_command_line(self):
        application = main.Application()
        for line in self.lines:
            words = shlex.split(line.partition(' > ')[0].removesuffix(' &'))
            split = access.index_of_command(words)
            if words[-1] == '--help':
                continue
            with self.subTest(line=line):
                application.parser.parse_args(words[:split])
                found, name, rest = application.command_manager.find_command(
                    words[split:]
                )
                self.assertIn(name, main.COMMANDS)
                found(application, None).get_parser(name).parse_args(rest)

    def test_every_connection_option_and_variable_is_documented(self):
        for option in access.OPTIONS:
            if not option.environment or option.names[0] == '--os-auth-url':
                # These options are common to all OpenStack clients.
                continue
            for name in (option.names[0], *option.environment):
                with self.subTest(name=name):
                    self.assertRegex(self.text, rf'``[^`]*{name}\b')
