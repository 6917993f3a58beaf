"""A test of commands on clusters, against an API that answers as the test says."""

from tests.functional.cli.clusters import cluster_objects as shown
from tests.functional.cli.fake_api import RemoteCase, Reply

ROOT = '/clustering/v1'
CLUSTER = f'{ROOT}/clusters/{shown.CLUSTER_ID}'
NODE = f'{ROOT}/nodes/{shown.NODE_ID}'
ACTION = f'{ROOT}/actions/{shown.ACTION_ID}'
#: Where it is said what does what was asked for.
BEGUN = {'Location': f'http://h/clustering/v1/actions/{shown.ACTION_ID}'}


class ClusterCase(RemoteCase):
    """The cluster `web` and its node `web-1` can be found."""

    def setUp(self):
        super().setUp()
        cluster, node = {'cluster': shown.CLUSTER}, {'node': shown.NODE}
        self.api.answers |= {
            f'GET {ROOT}/clusters/web': cluster,
            f'GET {CLUSTER}': cluster,
            f'GET {ROOT}/nodes/web-1': node,
            f'GET {NODE}': node,
            f'GET {ACTION}': {'action': shown.ACTION},
        }

    def asked(self):
        """Return what was asked to be done; forget it, and all that was looked at."""
        found = [
            (asked[0].replace(ROOT, ''), *asked[1:])
            for asked in self.api.asked
            if not asked[0].startswith('GET ')
        ]
        self.api.asked.clear()
        return found

    def looked(self):
        """Return what was looked at; forget it."""
        found = [asked[0].replace(ROOT, '') for asked in self.api.asked]
        self.api.asked.clear()
        return found

    def begins(self, line, answer=None):
        """Let a request begin an action."""
        body = {'action': shown.ACTION_ID} if answer is None else answer
        self.api.answers[line] = Reply(body, 202, BEGUN)

    def goes_on(self, about, *looks):
        """Let an action be waited for: its status and events, look after look.

        :param about: what the events are asked for by: `cluster_id=...`
        """
        self.api.answers[f'GET {ACTION}'] = [
            {'action': {**shown.ACTION, 'status': status, 'status_reason': 'why'}}
            for status, _ in looks
        ]
        events = f'GET {ROOT}/events?{about}'
        self.api.answers[f'{events}&sort=timestamp%3Adesc&limit=1'] = {'events': []}
        marker = ''
        for _, found in looks:
            line = f'{events}&sort=timestamp%3Aasc{marker}&limit=1000'
            self.api.answers.setdefault(line, {'events': found})
            if found:
                marker = f'&marker={found[-1]["id"]}'
        line = f'{events}&sort=timestamp%3Aasc{marker}&limit=1000'
        self.api.answers.setdefault(line, {'events': []})
