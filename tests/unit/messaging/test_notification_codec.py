"""The decoder of notifications of oslo.messaging."""

import datetime
import json

from tests import base, service_notifications
from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.messaging import codec, notification_codec

MESSAGE = {
    'event_type': 'instance.update',
    'publisher_id': 'nova-compute:host',
    'payload': {'a': 1},
    'timestamp': '2030-01-01 12:00:00.000000',
}


def enveloped(message, version='2.0'):
    return json.dumps(
        {'oslo.version': version, 'oslo.message': json.dumps(message)}
    ).encode()


class TestDecode(base.TestCase):
    def test_a_notification_has_an_envelope(self):
        body = service_notifications.envelope('instance.update', {'a': 1}, 'nova:host')

        self.assertEqual(
            ServiceNotification(
                'instance.update', 'nova:host', {'a': 1}, service_notifications.EMITTED
            ),
            notification_codec.decode(body),
        )

    def test_the_driver_messaging_writes_no_envelope(self):
        self.assertEqual(
            notification_codec.decode(enveloped(MESSAGE)),
            notification_codec.decode(json.dumps(MESSAGE).encode()),
        )

    def test_times_with_a_zone_are_converted(self):
        found = notification_codec.decode(
            enveloped({**MESSAGE, 'timestamp': '2030-01-01T13:00:00+01:00'})
        )

        self.assertEqual(
            datetime.datetime(2030, 1, 1, 12, tzinfo=datetime.UTC), found.emitted
        )

    def test_other_messages_are_malformed(self):
        deep = {'a': None}
        for _ in range(notification_codec.DEPTH_LIMIT):
            deep = {'a': [deep]}
        for body, reason in (
            (b'', 'not JSON'),
            (b'\xff', 'not JSON'),
            (b'[' * 100_000, 'not JSON'),
            (b'[]', 'not an object'),
            (b' ' * (notification_codec.SIZE_LIMIT + 1), 'has 1048577 bytes'),
            (enveloped(MESSAGE, '3.0'), 'version of its envelope'),
            (b'{"oslo.version": "2.0"}', 'no oslo.message'),
            (enveloped([]), 'not an object'),
            (enveloped({**MESSAGE, 'event_type': 5}), 'no event_type'),
            (enveloped({**MESSAGE, 'payload': []}), 'no payload'),
            (enveloped({**MESSAGE, 'timestamp': 'noon'}), 'timestamp is no time'),
            (enveloped({**MESSAGE, 'payload': deep}), 'more than 50 levels deep'),
        ):
            with self.assertRaisesRegex(codec.MalformedMessage, reason):
                notification_codec.decode(body)
