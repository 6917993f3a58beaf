"""The base case of the tests of commands on clusters, with a fake API."""

from tests.functional.cli.clusters import cluster_objects as shown
from tests.functional.cli.fake_api import ApiCommandCase, Reply

ROOT = '/clustering/v1'
CLUSTER = f'{ROOT}/clusters/{shown.CLUSTER_ID}'
NODE = f'{ROOT}/nodes/{shown.NODE_ID}'
ACTION = f'{ROOT}/actions/{shown.ACTION_ID}'
#: The header with the action of a request.
BEGUN = {'Location': f'http://h/clustering/v1/actions/{shown.ACTION_ID}'}


class ClusterCase(ApiCommandCase):
    """Tests in which the cluster `web` and its node `web-1` exist."""

    def setUp(self):
        super().setUp()
        cluster, node = {'cluster': shown.CLUSTER}, {'node': shown.NODE}
        self.api.responses |= {
            f'GET {ROOT}/clusters/web': cluster,
            f'GET {CLUSTER}': cluster,
            f'GET {ROOT}/nodes/web-1': node,
            f'GET {NODE}': node,
            f'GET {ACTION}': {'action': shown.ACTION},
        }

    def take_requests(self):
        """Return the requests that change something; forget all requests."""
        found = [
            (request[0].replace(ROOT, ''), *request[1:])
            for request in self.api.requests
            if not request[0].startswith('GET ')
        ]
        self.api.requests.clear()
        return found

    def take_queries(self):
        """Return all requests; forget them."""
        found = [request[0].replace(ROOT, '') for request in self.api.requests]
        self.api.requests.clear()
        return found

    def answer_with_action(self, line, answer=None):
        """Let a request start an action."""
        body = {'action': shown.ACTION_ID} if answer is None else answer
        self.api.responses[line] = Reply(body, 202, BEGUN)

    def answer_polls(self, event_filter, *polls):
        """Set the statuses and the events of an action at each poll.

        :param event_filter: the filter of the events: `cluster_id=...`
        """
        self.api.responses[f'GET {ACTION}'] = [
            {'action': {**shown.ACTION, 'status': status, 'status_reason': 'why'}}
            for status, _ in polls
        ]
        events = f'GET {ROOT}/events?{event_filter}'
        self.api.responses[f'{events}&sort=timestamp%3Adesc&limit=1'] = {'events': []}
        marker = ''
        for _, found in polls:
            line = f'{events}&sort=timestamp%3Aasc{marker}&limit=1000'
            self.api.responses.setdefault(line, {'events': found})
            if found:
                marker = f'&marker={found[-1]["id"]}'
        line = f'{events}&sort=timestamp%3Aasc{marker}&limit=1000'
        self.api.responses.setdefault(line, {'events': []})
