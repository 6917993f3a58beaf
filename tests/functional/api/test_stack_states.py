"""The permitted operations in each state of a stack, with status codes (spec 004)."""

from tests import base
from tests.functional.api import fixtures, stacks
from tests.functional.api.stacks import TEMPLATE, level_of
from tests.unit.api.requests import ask

#: The requests: method, suffix of the path of the stack, body.
ASKED = {
    'lock': ('POST', '/actions', {'lock': None}),
    'unlock': ('POST', '/actions', {'unlock': None}),
    'suspend': ('POST', '/actions', {'suspend': None}),
    'resume': ('POST', '/actions', {'resume': None}),
    'check': ('POST', '/actions', {'check': None}),
    'cancel': ('POST', '/actions', {'cancel_update': None}),
    'put': ('PUT', '', {'template': TEMPLATE}),
    'patch': ('PATCH', '', {}),
    'mark': ('PATCH', '/resources/web', {'mark_unhealthy': True}),
    'abandon': ('DELETE', '/abandon', None),
    'delete': ('DELETE', '', None),
    'show': ('GET', '', None),
    'template': ('GET', '/template', None),
    'environment': ('GET', '/environment', None),
    'outputs': ('GET', '/outputs', None),
    'events': ('GET', '/events', None),
    'resources': ('GET', '/resources', None),
    'export': ('GET', '/export', None),
    'preview': ('PATCH', '/preview', {}),
}
READS = dict.fromkeys(
    (
        *('show', 'template', 'environment', 'outputs', 'events', 'resources'),
        *('export', 'preview'),
    ),
    200,
)
CHANGES = ('suspend', 'resume', 'check', 'cancel', 'put', 'patch', 'mark', 'abandon')
#: The responses while a lock exists.
LOCKED = dict.fromkeys(CHANGES, 409)
#: The responses while no operation runs.
AT_REST = {
    'lock': 200,
    'unlock': 409,
    'suspend': 200,
    'resume': 400,
    'check': 200,
    'cancel': 400,
    'put': 202,
    'patch': 202,
    'mark': 200,
    'abandon': 200,
    'delete': 204,
}
#: The responses while an operation runs that may be superseded.
BUSY = {
    **AT_REST,
    **dict.fromkeys(('lock', 'unlock', 'suspend', 'resume', 'check'), 409),
    'abandon': 409,
    'cancel': 400,
}
#: The responses while the stack is suspended.
SUSPENDED = {**AT_REST, 'resume': 200, **dict.fromkeys(('put', 'patch'), 400)}
#: state -> request -> status code
CODES = {
    'LOCK_IN_PROGRESS': {**LOCKED, 'lock': 409, 'unlock': 409, 'delete': 409},
    'LOCK_COMPLETE': {**LOCKED, 'lock': 200, 'unlock': 200, 'delete': 409},
    'LOCK_FAILED': {**LOCKED, 'lock': 200, 'unlock': 200, 'delete': 204},
    'UNLOCK_IN_PROGRESS': {**LOCKED, 'lock': 409, 'unlock': 409, 'delete': 409},
    'UNLOCK_COMPLETE': AT_REST,
    'UNLOCK_FAILED': {**LOCKED, 'lock': 409, 'unlock': 200, 'delete': 204},
    'CREATE_COMPLETE': AT_REST,
    'CREATE_FAILED': AT_REST,
    'UPDATE_COMPLETE': AT_REST,
    'UPDATE_FAILED': AT_REST,
    'ROLLBACK_COMPLETE': AT_REST,
    'CHECK_COMPLETE': AT_REST,
    'CHECK_FAILED': AT_REST,
    'RESUME_COMPLETE': {**AT_REST, 'resume': 200},
    'SUSPEND_COMPLETE': SUSPENDED,
    'SUSPEND_FAILED': SUSPENDED,
    'DELETE_FAILED': {
        **AT_REST,
        **dict.fromkeys(('suspend', 'check', 'put', 'patch', 'mark', 'abandon'), 400),
    },
    'CREATE_IN_PROGRESS': BUSY,
    'UPDATE_IN_PROGRESS': {**BUSY, 'cancel': 200},
    'CHECK_IN_PROGRESS': {**BUSY, 'put': 409, 'patch': 409},
    'SUSPEND_IN_PROGRESS': {**BUSY, 'put': 409, 'patch': 409},
    'RESUME_IN_PROGRESS': {**BUSY, 'put': 409, 'patch': 409},
    'DELETE_IN_PROGRESS': {**BUSY, 'put': 409, 'patch': 409, 'mark': 409},
}


class TestStackStates(base.TestCase):
    """Every operation in every state."""

    def setUp(self):
        super().setUp()
        self.fixture = fixtures.ApiFixture.of(self)
        self.application = fixtures.application()
        self.number = 1

    def store(self, name, state):
        """Store a stack in a state; return its path."""
        stack = stacks.store(self.fixture.runtime, self.number, name, state)
        self.number += 1
        return f'/orchestration/v1/acme/stacks/{name}/{stack.uuid}'

    def expected_answers(self, state):
        """Return the requests and the expected status codes in a state.

        In the states of a lock, they include requests that only read.
        """
        return CODES[state] | (READS if level_of(state) else {})

    def test_status_codes_match_table_and_lock_starts_before_response(self):
        answered = {state: {} for state in CODES}

        for state in CODES:
            for what, (method, place, body) in ASKED.items():
                if what not in self.expected_answers(state):
                    continue
                stack = self.store(f'{what}-{state}', state)
                answer = ask(
                    self.application, method, stack + place, body, Host='127.0.0.1:9322'
                )
                answered[state][what] = answer.status

        wrong = {
            state: {
                what: (desired, answered[state][what])
                for what, desired in self.expected_answers(state).items()
                if answered[state][what] != desired
            }
            for state in CODES
        }
        self.assertEqual({}, {state: found for state, found in wrong.items() if found})
        # A lock has begun when the response arrives.
        stack = self.store('one', 'CREATE_COMPLETE')

        ask(
            *(self.application, 'POST', f'{stack}/actions', {'lock': None}),
            Host='127.0.0.1:9322',
        )

        shown = ask(self.application, 'GET', stack, Host='127.0.0.1:9322').body['stack']
        self.assertEqual(
            ('LOCK_IN_PROGRESS', 'all'), (shown['stack_status'], shown['lock_level'])
        )
