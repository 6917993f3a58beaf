"""The base case of the tests of commands on clusters, with a fake API."""

from tests.functional.cli.clusters import cluster_objects as shown
from tests.functional.cli.fake_api import RemoteCase, Reply

ROOT = '/clustering/v1'
CLUSTER = f'{ROOT}/clusters/{shown.CLUSTER_ID}'
NODE = f'{ROOT}/nodes/{shown.NODE_ID}'
ACTION = f'{ROOT}/actions/{shown.ACTION_ID}'
#: The header with the action of a request.
BEGUN = {'Location': f'http://h/clustering/v1/actions/{shown.ACTION_ID}'}


class ClusterCase(RemoteCase):
    """Tests in which the cluster `web` and its node `web-1` exist."""

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

    def take_requests(self):
        """Return the requests that change something; forget all requests."""
        found = [
            (asked[0].replace(ROOT, ''), *asked[1:])
            for asked in self.api.asked
            if not asked[0].startswith('GET ')
        ]
        self.api.asked.clear()
        return found

    def take_queries(self):
        """Return all requests; forget them."""
        found = [asked[0].replace(ROOT, '') for asked in self.api.asked]
        self.api.asked.clear()
        return found

    def answer_with_action(self, line, answer=None):
        """Let a request start an action."""
        body = {'action': shown.ACTION_ID} if answer is None else answer
        self.api.answers[line] = Reply(body, 202, BEGUN)

    def answer_polls(self, about, *looks):
        """Set the statuses and the events of an action at each poll.

        :param about: the filter of the events: `cluster_id=...`
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
