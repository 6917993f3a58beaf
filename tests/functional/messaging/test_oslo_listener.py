"""A listener of oslo.messaging receives the published notifications.

The envelope is that of oslo.messaging 2.0, written out here, so that the test depends
on the publisher alone.
"""

import json
import uuid

import oslo_messaging
from oslo_config import cfg

from tests.functional.messaging import base, recording

PAYLOAD = {
    'watcher_object.name': 'ActionPlanUpdatePayload',
    'watcher_object.namespace': 'watcher',
    'watcher_object.version': '1.0',
    'watcher_object.data': {'uuid': '4b9f6b8e-0c2e-4b56-8b1c-c1d3e4a7c001'},
}


def envelope(priority, message_id):
    inner = {
        'message_id': message_id,
        'publisher_id': 'infra-optim:host',
        'event_type': 'actionplan.update',
        'priority': priority,
        'payload': PAYLOAD,
        'timestamp': '2026-11-21 10:00:00.000001',
        '_unique_id': uuid.UUID(message_id).hex,
    }
    return json.dumps(
        {'oslo.version': '2.0', 'oslo.message': json.dumps(inner)}
    ).encode()


class Endpoint:
    """Records received notifications with their priorities."""

    def __init__(self, recorder):
        self._recorder = recorder

    def info(self, *notification):
        self._record('info', *notification)

    def error(self, *notification):
        self._record('error', *notification)

    def _record(self, priority, context, publisher_id, event_type, payload, metadata):
        self._recorder.control(
            (priority, publisher_id, event_type, payload, metadata['message_id'])
        )


class TestListener(base.RabbitTestCase):
    def listen(self, recorder, **options):
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        transport = oslo_messaging.get_notification_transport(
            conf, url=self.vhost.url.replace('amqp://', 'rabbit://')
        )
        self.addCleanup(transport.cleanup)
        for name, value in options.items():
            conf.set_override(name, value, group='oslo_messaging_rabbit')
        listener = oslo_messaging.get_notification_listener(
            transport,
            [
                oslo_messaging.Target(
                    topic=self.topic, exchange=self.notifications.exchange
                )
            ],
            [Endpoint(recorder)],
            executor='threading',
        )
        listener.start()
        self.addCleanup(listener.wait)
        self.addCleanup(listener.stop)

    def expected(self, priority, message_id):
        return (priority, 'infra-optim:host', 'actionplan.update', PAYLOAD, message_id)

    def publish(self, publisher, priority):
        message_id = str(uuid.uuid4())
        publisher.publish(
            [(f'{self.topic}.{priority}', envelope(priority.upper(), message_id))],
            recording.TIMEOUT,
        )
        return message_id

    def test_a_listener_receives_earlier_and_later_messages(self):
        received = recording.Recorder()
        publisher = self.publisher()

        before = self.publish(publisher, 'info')
        self.listen(received)
        received.wait_for(1)
        after = self.publish(publisher, 'error')

        self.assertEqual(
            [self.expected('info', before), self.expected('error', after)],
            received.wait_for(2),
        )

    def test_a_duplicate_is_delivered_once(self):
        received = recording.Recorder()
        self.listen(received)
        publisher = self.publisher()
        message_id = str(uuid.uuid4())
        message = (f'{self.topic}.info', envelope('INFO', message_id))

        publisher.publish([message], recording.TIMEOUT)
        # oslo.messaging only remembers handled messages, so the first one must be
        # handled.
        received.wait_for(1)
        publisher.publish([message], recording.TIMEOUT)
        last = self.publish(publisher, 'info')

        self.assertEqual(
            [self.expected('info', message_id), self.expected('info', last)],
            received.wait_for(2),
        )
