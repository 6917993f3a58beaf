"""Messages built from events and from objects of the test."""

import dataclasses

from tests import base
from tests.notification_samples import documents
from tests.unit.notifications import expectations
from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.notifications import messages
from watcherlite.notifications.settings import NotificationSettings


class FakeSource(expectations.Source):
    """A source of the objects that payloads embed.

    :ivar known: id -> the objects around one of the tested kind
    :ivar asked: the ids of each query
    :ivar error: raised by each query, or None
    """

    def __init__(self, *found):
        self.known = {self.key(one): one for one in found}
        self.asked = []
        self.error = None

    def key(self, found):
        """Return the id of the object to which the others belong."""
        raise NotImplementedError

    def find(self, ids):
        self.asked.append(list(ids))
        if self.error is not None:
            raise self.error
        return {key: self.known[key] for key in ids if key in self.known}


class MessagesCase(base.TestCase):
    """The base case of the tests of messages of one kind of object."""

    def make_source(self):
        """Return the source of the objects that payloads of this kind embed."""
        raise NotImplementedError

    def setUp(self):
        super().setUp()
        self.source = self.make_source()

    def builder(self, **settings):
        return messages.MessageBuilder(
            NotificationSettings(**{'host': documents.HOST, **settings}), self.source
        )

    def build(self, *stored, **settings):
        batch = self.builder(**settings).build(stored)
        self.assertEqual([], batch.build_failures)
        return batch.messages

    def assert_not_read(self, *stored):
        """Assert that no objects are queried for events below the level."""
        sent = self.build(*stored, level='error')

        self.assertEqual(([], []), (sent, self.source.asked))

    def assert_without_initiator(self, *stored):
        """Assert that messages do not contain who caused their events."""
        who = {'user_id': 'u1', 'project_id': 'p1', 'request_id': 'req-1'}
        named = [
            dataclasses.replace(one, event=one.event.with_detail(events.INITIATOR, who))
            for one in stored
        ]

        self.assertEqual(self.build(*stored), self.build(*named))

    def assert_raised(self, stored, *errors):
        """Assert that errors of the store are not reported as faults of an event."""
        builder = self.builder()
        for error in (exceptions.StoreUnavailable(), *errors):
            self.source.error = error
            self.assertRaises(type(error), builder.build, [stored])
        self.source.error = None
        batch = builder.build([stored])
        self.assertEqual([], batch.build_failures)
        self.assertNotEqual([], batch.messages)
