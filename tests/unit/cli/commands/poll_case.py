"""Polls of a scripted API."""

from tests import base
from tests.unit.cli.capturing import Lines


class ScriptedApi:
    """A scripted API.

    :param polls: (status, events) of each poll, or an error to raise; the last one is
        repeated
    """

    def __init__(self, *polls):
        self.polls = list(polls)
        self.queries = []
        self.events = []

    def next_status(self):
        """Return the next status."""
        poll = self.polls.pop(0) if len(self.polls) > 1 else self.polls[0]
        if isinstance(poll, Exception):
            raise poll
        status, self.events = poll
        return status

    def take_events(self, *query):
        """Return the events of the last poll, once."""
        self.queries.append(query)
        found, self.events = self.events, []
        if isinstance(found, Exception):
            raise found
        return found


class PollTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.now = 0.0
        self.waits = []
        self.err = Lines()

    def wait(self, seconds):
        self.waits.append(round(seconds, 3))
        self.now += seconds

    def clock_options(self):
        """Return the arguments for the clock of a poll."""
        return {'wait': self.wait, 'monotonic': lambda: self.now}
