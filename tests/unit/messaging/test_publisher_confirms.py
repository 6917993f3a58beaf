"""The counting of publisher confirms in every form."""

import collections
import contextlib

from tests import base
from watcherlite import exceptions
from watcherlite.messaging import addresses, publisher_confirms


class FakeChannel:
    """Records messages, and responds as the test requires."""

    def __init__(self):
        self.events = collections.defaultdict(set)
        self.published = []

    def confirm_select(self):
        self.selected = True

    def prepare_message(self, body, **properties):
        return body, properties

    def basic_publish(self, message, exchange, routing_key, mandatory):
        self.published.append((message, exchange, routing_key, mandatory))

    def answer(self, event, *values):
        for callback in self.events[f'basic_{event}']:
            callback(*values)


class FakeConnection:
    """A connection that delivers one scripted response per drain."""

    address = addresses.Address('h', 5672, 'v', False)
    blocked = False

    def __init__(self, *script):
        self.opened = FakeChannel()
        self.drained = 0
        self.looked = 0
        self._script = list(script)

    def buffered_writes(self):
        return contextlib.nullcontext()

    def channel(self):
        return self.opened

    def set_timeout(self, seconds):
        self.limited = seconds

    def poll(self):
        self.looked += 1

    def drain_events(self, timeout):
        self.drained += 1
        if self._script:
            self.opened.answer(*self._script.pop(0))
        return bool(self._script)


class Returned(Exception):
    reply_text = 'NO_ROUTE'


def batch(count):
    return [
        publisher_confirms.OutgoingMessage('e', f'k{number}', b'%d' % number)
        for number in range(1, count + 1)
    ]


def publish(link, messages, timeout=10):
    return publisher_confirms.ConfirmChannel(link).publish(messages, timeout)


class TestPublish(base.TestCase):
    def test_messages_equal_those_of_oslo_messaging_and_are_mandatory(self):
        link = FakeConnection(('ack', 2, True))
        transient = publisher_confirms.OutgoingMessage('e', 'k', b'2', persistent=False)

        publish(link, [publisher_confirms.OutgoingMessage('e', 'k', b'1'), transient])

        properties = {
            'priority': 0,
            'content_type': 'application/json',
            'content_encoding': 'utf-8',
            'headers': {},
            'properties': {'delivery_mode': 2},
        }
        self.assertTrue(link.opened.selected)
        self.assertEqual(
            [
                ((b'1', properties), 'e', 'k', True),
                (
                    (b'2', {**properties, 'properties': {'delivery_mode': 1}}),
                    'e',
                    'k',
                    True,
                ),
            ],
            link.opened.published,
        )

    def test_confirmations_come_in_any_order_and_grouping_of_all_batches(self):
        for script, batches, looked in (
            ([('ack', 1000, True)], [1000], 1),
            ([('ack', 3, False), ('ack', 2, True), ('ack', 4, False)], [4], 0),
            ([('ack', 2, True), ('ack', 3, False), ('ack', 4, True)], [2, 2], 0),
        ):
            with self.subTest(script=script):
                link = FakeConnection(*script)
                channel = publisher_confirms.ConfirmChannel(link)

                for count in batches:
                    self.assertEqual([], channel.publish(batch(count), 10))

                self.assertEqual(sum(batches), len(link.opened.published))
                self.assertEqual((len(script), looked), (link.drained, link.looked))

    def test_returned_and_refused_messages_are_reported_with_their_key(self):
        link = FakeConnection(
            ('return', Returned(), 'e', 'k1', b'1'),
            ('ack', 1, False),
            ('nack', 3, True),
        )

        self.assertEqual(
            [
                publisher_confirms.PublishFailure('e', 'k1', 'NO_ROUTE'),
                publisher_confirms.PublishFailure('e', 'k2', 'the queue is full'),
                publisher_confirms.PublishFailure('e', 'k3', 'the queue is full'),
            ],
            publish(link, batch(3)),
        )

    def test_a_lost_confirm_is_reported_as_unavailable_with_the_reason(self):
        lost, blocked = FakeConnection(('ack', 1, False)), FakeConnection()
        blocked.blocked = True

        errors = [
            str(
                self.assertRaises(
                    exceptions.BrokerUnavailable, publish, link, batch(count), 0.01
                )
            )
            for link, count in ((lost, 3), (blocked, 1))
        ]

        self.assertEqual(
            'The message broker at h:5672 (virtual host v) did not confirm 2 messages '
            'in 0.01 s.',
            errors[0],
        )
        self.assertIn('short of memory or disk', errors[1])
