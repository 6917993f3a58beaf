"""The commands of the cluster examples in the documentation."""

import random
import re
import socket

from tests.acceptance.daemons import wait_until
from tests.acceptance.test_stack_examples import ROOT, ExampleCase

PAGE = ROOT / 'doc/source/clusters_command_line.rst'
#: The common prefix of the ports of the nodes in the examples; the index follows.
PREFIX = '2866'
RECOVERED = 'watcherlite cluster event list --action CLUSTER_RECOVER -f value -c Status'
_NODE = re.compile(r'\bweb-\d\b')
_TIMESTAMP = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ')


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(('127.0.0.1', port))
        except OSError:
            return False
    return True


def free_prefix():
    """Return a prefix of three free ports."""
    while True:
        prefix = random.randint(2000, 3199)
        if all(is_free(int(f'{prefix}{index}')) for index in (1, 2, 3)):
            return str(prefix)


class ClusterExampleCase(ExampleCase):
    """Also assigns free ports to nodes."""

    def setUp(self):
        self.prefix = free_prefix()
        super().setUp()

    def own(self, text):
        """Return a text with the values of this test and with short waits."""
        text = super().own(text).replace(PREFIX, self.prefix)
        return text.replace('interval: 10\n', 'interval: 1\n')

    def plain(self, lines):
        """Return lines without the values that vary between runs."""
        text = _TIMESTAMP.sub('TIMESTAMP', '\n'.join(lines))
        return super().plain(_NODE.sub('web-N', text).splitlines())

    def delete_stack(self):
        """Delete the cluster of a failed test; its processes would outlive the test."""
        if 'web' in self.shell('watcherlite cluster list -f value')[1]:
            self.shell('watcherlite cluster delete web --force --yes --wait')

    def wait_for_the_recovery(self):
        """Wait until the killed process has been replaced."""
        wait_until(
            lambda: 'end' in self.shell(RECOVERED)[1],
            lambda: self.shell('watcherlite cluster event list')[1],
        )


class TestWebServers(ClusterExampleCase):
    """The example of the page on the command, which contains all steps."""

    def test_every_command_has_the_documented_result(self):
        self.follow(PAGE)
