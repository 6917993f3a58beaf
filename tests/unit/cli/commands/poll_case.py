"""Polls of a scripted API."""

from tests import base
from tests.unit.cli.capturing import Lines


class Script:
    """A scripted API.

    :param looks: (status, events) of each poll, or an error to raise; the last one is
        repeated
    """

    def __init__(self, *looks):
        self.looks = list(looks)
        self.asked = []
        self.events = []

    def look(self):
        """Return the next status."""
        look = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        if isinstance(look, Exception):
            raise look
        status, self.events = look
        return status

    def take_events(self, *asked):
        """Return the events of the last poll, once."""
        self.asked.append(asked)
        found, self.events = self.events, []
        if isinstance(found, Exception):
            raise found
        return found


class PollCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.now = 0.0
        self.waits = []
        self.err = Lines()

    def wait(self, seconds):
        self.waits.append(round(seconds, 3))
        self.now += seconds

    def times(self):
        """Return the arguments for the clock of a poll."""
        return {'wait': self.wait, 'monotonic': lambda: self.now}
