"""The base case of the tests of commands on stacks, with a fake API."""

from tests.functional.cli.fake_api import ApiCommandCase, Reply
from tests.functional.cli.stacks import stack_objects as shown

#: The paths of all stacks and of one of them.
ALL = '/orchestration/v1/default/stacks'
WEB = f'{ALL}/web/{shown.STACK_ID}'

TEMPLATE = """\
heat_template_version: 2021-04-16
resources:
  motd:
    type: Local::File
    properties: {content: {get_file: motd}}
"""


class StackCase(ApiCommandCase):
    """Tests in which the stack `web` exists."""

    def setUp(self):
        super().setUp()
        self.api.responses[f'GET {ALL}/web'] = Reply(
            b'<html>', 302, {'Location': shown.STACK_URL, 'Content-Type': 'text/html'}
        )
        self.api.responses[f'GET {ALL}/{shown.STACK_ID}'] = self.api.responses[
            f'GET {ALL}/web'
        ]

    def take_requests(self):
        """Return the requests except for that of the stack; forget them."""
        found = [
            (request[0].replace(WEB, 'WEB').replace(ALL, 'ALL'), *request[1:])
            for request in self.api.requests
        ]
        self.api.requests.clear()
        return [
            request
            for request in found
            if request[0] not in ('GET ALL/web', f'GET ALL/{shown.STACK_ID}')
        ]


class ModifyingStackCase(StackCase):
    def setUp(self):
        super().setUp()
        self.motd = f'file://{self.file("hello", "motd")}'
        self.template = self.file(TEMPLATE, 'stack.yaml')
        self.sent = {
            'heat_template_version': '2021-04-16',
            'resources': {
                'motd': {
                    'type': 'Local::File',
                    'properties': {'content': {'get_file': self.motd}},
                }
            },
        }
        self.api.responses[f'GET {WEB}'] = shown.stack()

    def answer_polls(self, *polls):
        """Set the statuses and the events of the stack at each poll."""
        self.api.responses[f'GET {WEB}?resolve_outputs=false'] = [
            shown.stack(stack_status=status, stack_status_reason='why')
            for status, _ in polls
        ]
        query = f'GET {WEB}/events?sort_dir=asc'
        marker = ''
        for _, events in polls:
            for line in (f'{query}{marker}&limit=1000',):
                self.api.responses.setdefault(line, {'events': events})
            if events:
                marker = f'&marker={events[-1]["id"]}'
        self.api.responses.setdefault(f'{query}{marker}&limit=1000', {'events': []})
