"""The scripts of `watcherlite complete`, executed by their shells."""

import os
import subprocess

from tests import base, services
from tests.acceptance.daemons import SCRIPTS
from tests.bounded import TIMEOUT

#: shell -> a script that prints the completions of `watcherlite strategy sh`
LINES = {
    'bash': 'eval "$(watcherlite complete)"; COMP_WORDS=(watcherlite strategy sh); '
    'COMP_CWORD=2; _watcherlite; printf "%s\\n" "${COMPREPLY[@]}"',
    # The functions belong to its completion system, which needs a terminal.
    'zsh': 'compdef() { : }; _describe() { print -rl -- $candidates }; '
    'eval "$(watcherlite complete --shell zsh)"; '
    'words=(watcherlite strategy sh); CURRENT=3; _watcherlite',
    'fish': 'watcherlite complete --shell fish | source; '
    'complete --do-complete "watcherlite strategy sh"',
}


class ShellCompletionTest(base.TestCase):
    def complete(self, path, line):
        done = subprocess.run(
            [path, '-c', line],
            env={**os.environ, 'PATH': f'{SCRIPTS}:{os.environ["PATH"]}'},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def test_bash_completes_commands_and_options(self):
        self.assertEqual((0, 'show\n', ''), self.complete('/bin/bash', LINES['bash']))

    def test_zsh_completes_commands_and_options(self):
        path = services.program(services.ZSH)

        self.assertEqual(
            (0, 'show:Show a strategy.\n', ''), self.complete(path, LINES['zsh'])
        )

    def test_fish_completes_commands_and_options(self):
        path = services.program(services.FISH)

        self.assertEqual(
            (0, 'show\tShow a strategy.\n', ''), self.complete(path, LINES['fish'])
        )
