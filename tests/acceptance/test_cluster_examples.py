"""The examples of clusters: their commands, as the documentation has them."""

import os
import random
import re
import socket

from tests.acceptance.daemons import wait_until
from tests.acceptance.test_stack_examples import ROOT, ExampleCase, told_commands
from tests.acceptance.test_stack_examples import plain as plain_lines

PAGE = ROOT / 'doc/source/clusters_command_line.rst'
#: How the ports of the nodes begin, as the examples have it; behind it is the index.
PREFIX = '2866'
RECOVERED = 'watcherlite cluster event list --action CLUSTER_RECOVER -f value -c Status'
_NODE = re.compile(r'\bweb-\d\b')
_TIMESTAMP = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ')


def plain(lines):
    """Return lines without what differs from run to run; which nodes it are does."""
    text = _TIMESTAMP.sub('TIMESTAMP', '\n'.join(lines))
    return plain_lines(_NODE.sub('web-N', text).splitlines())


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(('127.0.0.1', port))
        except OSError:
            return False
    return True


def free_prefix():
    """Return a beginning for three ports on which nobody listens."""
    while True:
        prefix = random.randint(2000, 3199)
        if all(is_free(int(f'{prefix}{index}')) for index in (1, 2, 3)):
            return str(prefix)


class ClusterExampleCase(ExampleCase):
    """Has ports for its nodes, too."""

    def setUp(self):
        self.prefix = free_prefix()
        super().setUp()

    def own(self, text):
        """Return a text with what this test has for itself."""
        return super().own(text).replace(PREFIX, self.prefix)

    def delete_stack(self):
        """Delete what a test that failed has left: its processes outlive all of it."""
        if 'web' in self.shell('watcherlite cluster list -f value')[1]:
            self.shell('watcherlite cluster delete web --force --yes --wait')

    def wait_for_the_recovery(self):
        """Wait until what was killed is there again."""
        wait_until(
            lambda: 'end' in self.shell(RECOVERED)[1],
            lambda: self.shell('watcherlite cluster event list')[1],
        )


class TestWebServers(ClusterExampleCase):
    """The example of the page on the command, which shows everything."""

    def test_every_command_does_what_the_page_shows(self):
        told, seen = [], []
        for line, expected in told_commands(PAGE, 'An example from beginning to end'):
            line = self.own(line)
            if line.endswith(' &'):
                self.serve(line)
                continue
            if line.startswith('sleep '):
                self.wait_for_the_recovery()
                continue
            _, printed = self.shell(line)
            found = plain(printed.splitlines())
            if 'event list' in line:
                # Perhaps it was looked at before it was killed, or is again
                found = sorted(set(found))
            told.append((line, plain(self.own(text) for text in expected)))
            seen.append((line, found))

        self.assertLess(10, len(told))
        for expected, found in zip(told, seen, strict=True):
            self.assertEqual(expected, found)
        self.assertEqual([], os.listdir(self.directory))
