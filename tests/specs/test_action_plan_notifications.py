"""Spec 003: versioned notifications of action plans."""

from tests import base, factories
from tests.notification_samples import documents
from tests.specs import published
from tests.unit.notifications import expectations
from watcherlite.notifications import messages
from watcherlite.notifications.settings import NotificationSettings
from watcherlite.testing.memory_store import MemoryStore

# The documents of the spec. Where its samples contradict each other (the uuid of the
# audit, fields that only some have), its data model has precedence.
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

    def test_the_complete_create_notification(self):
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

    def test_the_payloads_of_all_other_notifications(self):
        fault = document(
            'ExceptionPayload',
            exception='ActionFailed',
            exception_message='The instance does not exist.',
            function_name='Nop.execute',
            module_name='watcherlite.plugins.action_types.nop',
        )
        changed = {
            'state': 'PENDING',
            'state_update': state_update('RECOMMENDED', 'PENDING'),
        }
        deleted = {'state': 'DELETED', 'deleted_at': '2016-11-04T16:31:36Z'}
        for event, priority, name, data in (
            ('update', 'INFO', 'Update', changed),
            ('delete', 'INFO', 'Delete', deleted),
            ('execution.start', 'INFO', 'Action', {'state': 'ONGOING', 'fault': None}),
            ('execution.end', 'INFO', 'Action', {'state': 'SUCCEEDED', 'fault': None}),
            ('execution.error', 'ERROR', 'Action', {'state': 'FAILED', 'fault': fault}),
        ):
            with self.subTest(event):
                sent = self.sent(f'actionplan.{event}')

                self.assertEqual(
                    (
                        priority,
                        document(f'ActionPlan{name}Payload', **{**PLAN, **data}),
                    ),
                    (sent['priority'], sent['payload']),
                )


class TestUseCases(base.TestCase):
    """Use cases: a plan is created, changed, executed, deleted."""

    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)
        self.plan, (self.action,) = factories.store_plan(
            self.store, factories.make_action(), state='RECOMMENDED'
        )
        self.publisher = published.Recorder()
        self.relay = published.make_relay(self.store, self.publisher)

    def store_changes(self, *changes):
        """Store events, each in a transaction of its own, as the product does."""
        for change in changes:
            with self.store.transaction() as tx:
                tx.add_events([change])

    def make_event(self, old, new, **values):
        return factories.make_event(self.plan, old_status=old, new_status=new, **values)

    def test_a_running_relay_publishes_a_change_as_soon_as_it_is_stored(self):
        self.relay.start()
        self.addCleanup(self.relay.stop, published.TIMEOUT)
        self.store_changes(self.make_event('RECOMMENDED', 'PENDING'))
        self.relay.wake()
        self.assertTrue(self.publisher.wait_for(1))
        self.store_changes(self.make_event('PENDING', 'ONGOING'))
        self.relay.wake()
        self.assertTrue(self.publisher.wait_for(3))

        self.assertTrue(self.relay.stop(published.TIMEOUT))

        self.assertEqual(
            [
                'actionplan.update: RECOMMENDED -> PENDING',
                'actionplan.update: PENDING -> ONGOING',
                'actionplan.execution.start: ONGOING',
            ],
            expectations.message_lines(self.publisher.messages),
        )
        self.assertTrue(self.publisher.closed)
        self.assertIsNone(self.store.oldest_pending_event())
