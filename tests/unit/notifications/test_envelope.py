"""The envelope, read as oslo.messaging reads it."""

import datetime
import json

# Private, but it is the code that parses messages.
from oslo_messaging._drivers import amqp, common
from oslo_messaging.notify import dispatcher

from tests import base
from watcherlite.notifications import envelope

AT = datetime.datetime(2016, 11, 4, 16, 31, 36, tzinfo=datetime.UTC)
ID = 'cbcf9f2c-7c53-4b4d-91ec-db49cca024b0'
PAYLOAD = {'text': 'line one\nline "two" \\ €'}


class Endpoint:
    def __init__(self):
        self.received = []

    def error(self, context, publisher_id, event_type, payload, metadata):
        self.received.append((context, publisher_id, event_type, payload, metadata))


class Incoming:
    def __init__(self, context, message):
        self.ctxt = context
        self.message = message


class TestEnvelope(base.TestCase):
    def setUp(self):
        super().setUp()
        self.body = envelope.Envelope('infra-optim', 'höst "1"').body(
            'action.execution.error', 'ERROR', ID, AT, json.dumps(PAYLOAD)
        )

    def test_the_envelope_is_json_within_json(self):
        outer = json.loads(self.body)
        inner = json.loads(outer.pop('oslo.message'))

        self.assertEqual({'oslo.version': '2.0'}, outer)
        self.assertEqual(
            {
                'message_id': ID,
                '_unique_id': 'cbcf9f2c7c534b4d91ecdb49cca024b0',
                'publisher_id': 'infra-optim:höst "1"',
                'event_type': 'action.execution.error',
                'priority': 'ERROR',
                'payload': PAYLOAD,
                'timestamp': '2016-11-04 16:31:36.000000',
            },
            inner,
        )

    def test_oslo_messaging_reads_it_without_a_context(self):
        message = common.deserialize_msg(json.loads(self.body))
        context = amqp.unpack_context(message)
        endpoint = Endpoint()

        dispatcher.NotificationDispatcher([endpoint], None).dispatch(
            Incoming(context.to_dict(), message)
        )

        self.assertEqual(
            [
                (
                    {'client_timeout': None},
                    'infra-optim:höst "1"',
                    'action.execution.error',
                    PAYLOAD,
                    {'timestamp': '2016-11-04 16:31:36.000000', 'message_id': ID},
                )
            ],
            endpoint.received,
        )


class TestRoutingKeys(base.TestCase):
    def test_one_message_for_each_topic(self):
        self.assertEqual(
            ('one.warn', 'two.warn'), envelope.routing_keys(('one', 'two'), 'WARN')
        )
