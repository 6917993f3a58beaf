"""Spec 003: versioned notifications of action plans."""

import dataclasses
import threading

import oslo_messaging
from oslo_config import cfg

from tests import base, factories, services
from tests.unit.notifications import expectations
from watcherlite.clock import SystemClock
from watcherlite.domain import events
from watcherlite.messaging import factory
from watcherlite.messaging.settings import MessagingSettings
from watcherlite.notifications import messages
from watcherlite.notifications.relay import Relay
from watcherlite.notifications.samples import documents
from watcherlite.notifications.settings import NotificationSettings, RelaySettings
from watcherlite.testing.memory_store import MemoryStore

#: Seconds until a test that waits has failed.
DEADLINE = 20.0

# The documents of the spec. Where its samples contradict each other (the uuid of
# the audit, what is missing here and is there) its data model is what counts.
AUDIT = {
    'watcher_object.data': {
        'audit_type': 'ONESHOT',
        'parameters': {'para2': 'hello', 'para1': 3.2},
        'state': 'SUCCEEDED',
        'updated_at': None,
        'deleted_at': None,
        'fault': None,
        'interval': None,
        'scope': [],
        'created_at': '2016-11-04T16:29:20Z',
        'uuid': '55bc1fe8-8030-4bd0-b0d0-2e62937f02a0',
        'goal_uuid': 'bc830f84-8ae3-4fc6-8bc6-e3dd15e8b49a',
        'strategy_uuid': '75234dfe-87e3-4f11-a0e0-3c3305d86a39',
    },
    'watcher_object.name': 'AuditPayload',
    'watcher_object.version': '1.0',
    'watcher_object.namespace': 'watcher',
}
STRATEGY = {
    'watcher_object.data': {
        'parameters_spec': {
            'properties': {
                'para2': {
                    'type': 'string',
                    'default': 'hello',
                    'description': 'string parameter example',
                },
                'para1': {
                    'description': 'number parameter example',
                    'maximum': 10.2,
                    'type': 'number',
                    'default': 3.2,
                    'minimum': 1.0,
                },
            }
        },
        'name': 'dummy',
        'uuid': '75234dfe-87e3-4f11-a0e0-3c3305d86a39',
        'updated_at': None,
        'deleted_at': None,
        'created_at': '2016-11-04T16:25:35Z',
        'display_name': 'Dummy strategy',
    },
    'watcher_object.name': 'StrategyPayload',
    'watcher_object.version': '1.0',
    'watcher_object.namespace': 'watcher',
}
PLAN = {
    'uuid': '4a97b9dd-2023-43dc-b713-815bdd94d4d6',
    'global_efficacy': {
        'description': 'Global efficacy',
        'name': 'test_global_efficacy',
        'unit': '%',
        'value': 95,
    },
    'audit_uuid': '55bc1fe8-8030-4bd0-b0d0-2e62937f02a0',
    'strategy_uuid': '75234dfe-87e3-4f11-a0e0-3c3305d86a39',
    'created_at': '2016-11-04T16:29:20Z',
    'updated_at': '2016-11-04T16:31:36Z',
    'deleted_at': None,
    'audit': AUDIT,
    'strategy': STRATEGY,
}


def document(name, **data):
    return {
        'watcher_object.name': name,
        'watcher_object.version': '1.0',
        'watcher_object.namespace': 'watcher',
        'watcher_object.data': data,
    }


def state_update(old_state, state):
    return document('ActionPlanStateUpdatePayload', old_state=old_state, state=state)


class TestStructure(base.TestCase):
    """Proposed change: the structure of each of the events."""

    def sent(self, event_type):
        builder = messages.MessageBuilder(
            NotificationSettings('localhost', payload_version='1.0'),
            expectations.Source(),
        )
        batch = builder.build([expectations.sample_events()[event_type]])
        found = {n['event_type']: n for n in map(expectations.inner, batch.messages)}
        return found[event_type]

    def assert_payload(self, event_type, priority, name, **data):
        sent = self.sent(event_type)

        self.assertEqual(priority, sent['priority'])
        self.assertEqual(document(name, **{**PLAN, **data}), sent['payload'])

    def test_create_as_a_whole(self):
        sent = self.sent('actionplan.create')

        self.assertEqual(
            {
                'priority': 'INFO',
                'payload': document(
                    'ActionPlanCreatePayload',
                    **{**PLAN, 'state': 'RECOMMENDED', 'updated_at': None},
                ),
                'publisher_id': 'infra-optim:localhost',
                'timestamp': '2016-11-04 16:31:36.264673',
                'event_type': 'actionplan.create',
                'message_id': documents.EVENT_UUID,
                '_unique_id': documents.EVENT_UUID.replace('-', ''),
            },
            sent,
        )

    def test_update(self):
        self.assert_payload(
            'actionplan.update',
            'INFO',
            'ActionPlanUpdatePayload',
            state='PENDING',
            state_update=state_update('RECOMMENDED', 'PENDING'),
        )

    def test_delete(self):
        self.assert_payload(
            'actionplan.delete',
            'INFO',
            'ActionPlanDeletePayload',
            state='DELETED',
            deleted_at='2016-11-04T16:31:36Z',
        )

    def test_execution_start(self):
        self.assert_payload(
            'actionplan.execution.start',
            'INFO',
            'ActionPlanActionPayload',
            state='ONGOING',
            fault=None,
        )

    def test_execution_end(self):
        self.assert_payload(
            'actionplan.execution.end',
            'INFO',
            'ActionPlanActionPayload',
            state='SUCCEEDED',
            fault=None,
        )

    def test_execution_error(self):
        self.assert_payload(
            'actionplan.execution.error',
            'ERROR',
            'ActionPlanActionPayload',
            state='FAILED',
            fault=document(
                'ExceptionPayload',
                exception='ActionFailed',
                exception_message='The instance does not exist.',
                function_name='Nop.execute',
                module_name='watcherlite.plugins.action_types.nop',
            ),
        )


class Recorder:
    """A broker in this process that keeps what it is given."""

    def __init__(self):
        self.messages = []
        self._condition = threading.Condition()
        self.closed = False

    def publish(self, batch, timeout):
        with self._condition:
            self.messages.extend(batch)
            self._condition.notify_all()

    def has_subscribers(self):
        return True

    def keep_alive(self):
        """There is no connection that could be given up."""

    def close(self):
        self.closed = True

    def wait_for(self, count):
        with self._condition:
            return self._condition.wait_for(
                lambda: len(self.messages) >= count, DEADLINE
            )


class TestUseCases(base.TestCase):
    """Use cases: to be told when a plan is created, changed, executed, deleted."""

    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)
        self.plan, (self.action,) = factories.store_plan(
            self.store, factories.make_action(), state='RECOMMENDED'
        )
        self.publisher = Recorder()
        self.relay = Relay(
            self.store,
            self.publisher,
            NotificationSettings('localhost'),
            factories.new_uuid(),
            SystemClock(),
            # Whoever waits for the sweep has not been woken.
            RelaySettings(sweep_interval=600.0),
        )

    def happens(self, *changes):
        """Store events, in one transaction each, as what happens stores them."""
        for change in changes:
            with self.store.transaction() as tx:
                tx.add_events([change])

    def becomes(self, old, new, **values):
        return factories.make_event(self.plan, old_status=old, new_status=new, **values)

    def action_becomes(self, old, new, **values):
        return factories.make_event(
            self.action, old_status=old, new_status=new, **values
        )

    def story(self):
        self.assertTrue(self.relay.stop(DEADLINE))
        self.relay.run()
        return expectations.story(self.publisher.messages)

    def test_from_its_creation_to_its_deletion(self):
        self.happens(
            self.becomes(None, 'RECOMMENDED', kind=events.CREATED),
            self.becomes('RECOMMENDED', 'PENDING'),
            self.becomes('PENDING', 'ONGOING'),
            self.action_becomes('INIT', 'RUNNING'),
            self.action_becomes('RUNNING', 'SUCCEEDED'),
            self.becomes('ONGOING', 'SUCCEEDED'),
            self.becomes('SUCCEEDED', 'DELETED', kind=events.DELETED),
        )

        self.assertEqual(
            [
                'actionplan.create: RECOMMENDED',
                'actionplan.update: RECOMMENDED -> PENDING',
                'actionplan.update: PENDING -> ONGOING',
                'actionplan.execution.start: ONGOING',
                'action.update: PENDING -> ONGOING',
                'action.execution.start: ONGOING',
                'action.update: ONGOING -> SUCCEEDED',
                'action.execution.end: SUCCEEDED',
                'actionplan.update: ONGOING -> SUCCEEDED',
                'actionplan.execution.end: SUCCEEDED',
                'actionplan.update: SUCCEEDED -> DELETED',
                'actionplan.delete: DELETED',
            ],
            self.story(),
        )

    def test_one_that_fails(self):
        fault = {'exception': 'E', 'message': 'M', 'module': 'm', 'function': 'f'}
        self.happens(
            self.becomes('PENDING', 'ONGOING'),
            self.action_becomes('INIT', 'FAILED', detail={'fault': fault}),
            self.becomes('ONGOING', 'FAILED', detail={'fault': fault}),
        )

        self.assertEqual(
            [
                'actionplan.update: PENDING -> ONGOING',
                'actionplan.execution.start: ONGOING',
                'action.update: PENDING -> FAILED',
                'action.execution.error: FAILED',
                'actionplan.update: ONGOING -> FAILED',
                'actionplan.execution.error: FAILED',
            ],
            self.story(),
        )
        faults = [
            expectations.inner(message)['payload']['watcher_object.data']['fault']
            for message in self.publisher.messages
            if message[0].endswith('.error')
        ]
        self.assertEqual(
            [
                {
                    'exception': 'E',
                    'exception_message': 'M',
                    'module_name': 'm',
                    'function_name': 'f',
                }
            ]
            * 2,
            [found['watcher_object.data'] for found in faults],
        )

    def test_one_that_is_cancelled_while_it_runs(self):
        self.happens(
            self.becomes('ONGOING', 'CANCELLING'),
            self.action_becomes(
                'RUNNING',
                'RUNNING',
                kind=events.SIGNALLED,
                detail={'signal': 'CANCEL'},
            ),
            self.action_becomes('RUNNING', 'CANCELLED'),
            self.becomes('CANCELLING', 'CANCELLED'),
        )

        self.assertEqual(
            [
                'actionplan.update: ONGOING -> CANCELLING',
                'actionplan.cancel.start: CANCELLING',
                'action.cancel.start: ONGOING',
                'action.update: ONGOING -> CANCELLED',
                'action.cancel.end: CANCELLED',
                'actionplan.update: CANCELLING -> CANCELLED',
                'actionplan.cancel.end: CANCELLED',
            ],
            self.story(),
        )

    def test_a_running_relay_tells_of_a_change_as_soon_as_it_is_stored(self):
        self.relay.start()
        self.addCleanup(self.relay.stop, DEADLINE)
        self.happens(self.becomes('RECOMMENDED', 'PENDING'))
        self.relay.wake()
        self.assertTrue(self.publisher.wait_for(1))
        self.happens(self.becomes('PENDING', 'ONGOING'))
        self.relay.wake()
        self.assertTrue(self.publisher.wait_for(3))

        self.assertTrue(self.relay.stop(DEADLINE))

        self.assertEqual(
            [
                'actionplan.update: RECOMMENDED -> PENDING',
                'actionplan.update: PENDING -> ONGOING',
                'actionplan.execution.start: ONGOING',
            ],
            expectations.story(self.publisher.messages),
        )
        self.assertTrue(self.publisher.closed)
        self.assertIsNone(self.store.oldest_pending_event())


class Endpoint:
    """What a consumer of oslo.messaging is made of."""

    def __init__(self):
        self.heard = []
        self._condition = threading.Condition()

    def info(self, context, publisher_id, event_type, payload, metadata):
        with self._condition:
            self.heard.append((event_type, payload, metadata))
            self._condition.notify_all()

    error = info

    def wait_for(self, count):
        with self._condition:
            self._condition.wait_for(lambda: len(self.heard) >= count, DEADLINE)
            return list(self.heard)


class TestListening(base.TestCase):
    """Use case: as an OpenStack developer, I want to listen to notifications."""

    def setUp(self):
        super().setUp()
        self.vhost = self.useFixture(services.RabbitVhost())
        self.where = self.vhost.notifications()
        bus = factory.open_bus(
            MessagingSettings(self.vhost.url, prefix=self.vhost.prefix()),
            host='tester',
            notifications=self.where,
        )
        self.addCleanup(bus.close, DEADLINE)
        self.publisher = bus.notification_publisher()
        self.addCleanup(self.publisher.close)

    def publish(self, *stored):
        builder = messages.MessageBuilder(
            NotificationSettings('localhost', topics=self.where.topics),
            expectations.Source(),
        )
        batch = builder.build(stored).messages
        self.publisher.publish(batch, DEADLINE)
        return [expectations.inner(message) for message in batch]

    def listen(self):
        """Return the endpoint of a listener, which consumes from now on."""
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[], default_config_dirs=[])
        transport = oslo_messaging.get_notification_transport(
            conf, url=self.vhost.url.replace('amqp://', 'rabbit://', 1)
        )
        self.addCleanup(transport.cleanup)
        endpoint = Endpoint()
        listener = oslo_messaging.get_notification_listener(
            transport,
            [
                oslo_messaging.Target(exchange=self.where.exchange, topic=topic)
                for topic in self.where.topics
            ],
            [endpoint],
            executor='threading',
        )
        listener.start()
        self.addCleanup(listener.wait)
        self.addCleanup(listener.stop)
        return endpoint

    def test_a_listener_of_oslo_messaging_hears_each_of_them(self):
        stored = [
            dataclasses.replace(
                one, event=dataclasses.replace(one.event, uuid=events.new_uuid())
            )
            for one in expectations.sample_events().values()
        ]

        sent = self.publish(*stored)
        heard = self.listen().wait_for(len(sent))

        self.assertEqual(
            {
                one['message_id']: (
                    one['event_type'],
                    one['payload'],
                    {'message_id': one['message_id'], 'timestamp': one['timestamp']},
                )
                for one in sent
            },
            {metadata['message_id']: (*rest, metadata) for *rest, metadata in heard},
        )
        self.assertEqual(len(sent), len(heard))
