"""A consumer of notifications on the broker."""

import json
import threading

import fixtures
import jsonschema
import kombu
import oslo_messaging
from oslo_config import cfg

from tests.acceptance.daemons import wait_until
from tests.bounded import TIMEOUT
from watcherlite.domain import events
from watcherlite.notifications.rules import subjects
from watcherlite.objects import registry

TOPIC = 'versioned_notifications'
EXCHANGE = 'watcher'
QUEUE = 'everything'


class NotificationQueue(fixtures.Fixture):
    """A queue that receives every notification, in the order of publication.

    By default ERROR and INFO notifications have two queues, without a common order.
    """

    def __init__(self, url):
        super().__init__()
        self._url = url
        self._received = []

    def _setUp(self):
        self._connection = kombu.Connection(self._url, connect_timeout=TIMEOUT)
        self.addCleanup(self._connection.release)
        channel = self._connection.channel()
        for priority in ('info', 'error'):
            # A relay that was killed in an earlier test may have published again.
            channel.queue_delete(f'{TOPIC}.{priority}')
        exchange = kombu.Exchange(EXCHANGE, type='topic', durable=False)
        queue = kombu.Queue(QUEUE, exchange, '#', durable=False)
        self._queue = queue(channel)
        self._queue.declare()
        self._queue.purge()

    def received(self, *plans):
        """Return the received notifications, of these plans or of all."""
        while (message := self._queue.get(no_ack=True)) is not None:
            outer = json.loads(message.body)
            self._received.append(json.loads(outer['oslo.message']))
        return [n for n in self._received if not plans or plan_of(n) in plans]

    def wait_for_all(self, store, *plans):
        """Wait until all events are published; return the received notifications."""
        wait_until(
            lambda: store.oldest_pending_event() is None,
            lambda: f'events from {store.oldest_pending_event()} are not sent',
        )
        return self.received(*plans)


class Endpoint:
    """The endpoint of an oslo.messaging consumer."""

    def __init__(self):
        self._received = []
        self._condition = threading.Condition()

    def info(self, context, publisher_id, event_type, payload, metadata):
        self._record('INFO', publisher_id, event_type, payload, metadata)

    def error(self, context, publisher_id, event_type, payload, metadata):
        self._record('ERROR', publisher_id, event_type, payload, metadata)

    def _record(self, priority, publisher_id, event_type, payload, metadata):
        with self._condition:
            self._received.append(
                {
                    'priority': priority,
                    'publisher_id': publisher_id,
                    'event_type': event_type,
                    'payload': payload,
                    **metadata,
                }
            )
            self._condition.notify_all()

    def wait_for(self, count):
        """Return the received messages once there are `count`, or after a timeout.

        A redelivered message counts once, by its `message_id`: oslo.messaging drops a
        repetition only among the last 16 messages.
        """
        with self._condition:
            self._condition.wait_for(lambda: len(self._unique()) >= count, TIMEOUT)
            return self._unique()

    def _unique(self):
        return unique(self._received)


class Listener(fixtures.Fixture):
    """A notification listener of oslo.messaging with default options.

    Except that it calls its endpoints sequentially.

    :param rabbit: options of [oslo_messaging_rabbit] to change
    """

    def __init__(self, url, exchange=EXCHANGE, topic=TOPIC, **rabbit):
        super().__init__()
        self._url = url
        self._target = oslo_messaging.Target(exchange=exchange, topic=topic)
        self._rabbit = rabbit
        self.endpoint = Endpoint()

    def _setUp(self):
        options = cfg.ConfigOpts()
        options([], default_config_files=[], default_config_dirs=[])
        transport = oslo_messaging.get_notification_transport(
            options, url=self._url.replace('amqp://', 'rabbit://', 1)
        )
        self.addCleanup(transport.cleanup)
        for name, value in self._rabbit.items():
            options.set_override(name, value, group='oslo_messaging_rabbit')
        listener = oslo_messaging.get_notification_listener(
            transport, [self._target], [self.endpoint], executor='threading'
        )
        options.set_override('executor_thread_pool_size', 1)
        listener.start()
        self.addCleanup(listener.wait)
        self.addCleanup(listener.stop)


class NotificationCase:
    """A mixin for a test case with daemons, whose notifications it records."""

    own_broker = True

    def setUp(self):
        super().setUp()
        self.notification_queue = self.useFixture(NotificationQueue(self.vhost.url))
        self.path = self.ini()
        self.operators = self.operator(self.path)

    def receive(self, *uuids):
        """Return all notifications; check that a listener receives the same.

        :param uuids: of all objects that have notifications
        """
        notifications = self.notification_queue.wait_for_all(
            self.operators.store, *uuids
        )
        for notification in notifications:
            self.assert_payload_reads_back(notification['payload'])
        # A relay that is killed after publishing and before its commit publishes again.
        sent = unique(notifications)
        listener = self.useFixture(Listener(self.vhost.url))
        received = listener.endpoint.wait_for(len(sent))
        for priority in ('INFO', 'ERROR'):
            # Each priority has a queue, and an order of its own.
            self.assertEqual(
                [without_id(n) for n in sent if n['priority'] == priority],
                [n for n in received if n['priority'] == priority],
            )
        return notifications

    def assert_payload_reads_back(self, payload):
        """Check that the payload classes deserialise and serialise it unchanged."""
        cls = registry.payload_classes()[payload['watcher_object.name']]
        jsonschema.Draft4Validator(cls.to_json_schema()).validate(payload)
        self.assertEqual(payload, cls.obj_from_primitive(payload).to_wire())


def unique(notifications):
    """Return the notifications without repetitions, ordered by their first copies."""
    first = {}
    for notification in notifications:
        first.setdefault(notification['message_id'], notification)
    return list(first.values())


def data(notification):
    """Return the fields of a payload."""
    return notification['payload']['watcher_object.data']


def without_id(notification):
    """Return a notification without the private fields of oslo.messaging."""
    return {key: value for key, value in notification.items() if key != '_unique_id'}


def plan_of(notification):
    """Return the uuid of the plan of a notification."""
    fields = data(notification)
    return fields.get('action_plan_uuid', fields['uuid'])


def expected(stored_events):
    """Return the ids of the messages that the events must produce, in order."""
    found = []
    for stored in stored_events:
        matched = subjects.match(stored.event)
        count = len(matched.notifications) if matched is not None else 0
        found += [events.message_id(stored.event.uuid, n) for n in range(count)]
    return found


def ids(notifications):
    """Return the ids of messages, in the order of their first occurrence."""
    return list(dict.fromkeys(n['message_id'] for n in notifications))


def notification_lines(notifications, names):
    """Return one line for each notification.

    :param names: uuid of an action -> its name
    """
    return [_line(notification, names) for notification in notifications]


def _line(notification, names):
    fields = data(notification)
    whose = names.get(fields['uuid'], '')
    states = fields['state']
    if update := fields.get('state_update'):
        update = update['watcher_object.data']
        states = f'{update["old_state"]} -> {update["state"]}'
    event = notification['event_type']
    if notification['priority'] != 'INFO':
        event = f'{notification["priority"]} {event}'
    text = f'{event} {whose}'.rstrip() + f': {states}'
    if fault := fields.get('fault'):
        text += f', {fault["watcher_object.data"]["exception_message"]}'
    return text
