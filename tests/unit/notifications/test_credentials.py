"""Credentials in inputs and parameters are masked in notifications."""

import dataclasses
import json

from tests import base
from tests.unit.notifications import expectations
from watcherlite.domain import events
from watcherlite.domain.action_plans import PlanRelations
from watcherlite.domain.audits import AuditRelations
from watcherlite.notifications import messages
from watcherlite.notifications.settings import NotificationSettings

GIVEN = {
    'url': 'https://ada:canary@example.org/hosts',
    'headers': {'X-Auth-Token': 'canary', 'Accept': 'application/json'},
    'body': {'admin_password': 'canary', 'hosts': ['a', 'b']},
}
MASKED = {
    'url': 'https://ada:***@example.org/hosts',
    'headers': {'X-Auth-Token': '***', 'Accept': 'application/json'},
    'body': {'admin_password': '***', 'hosts': ['a', 'b']},
}
PLAIN = {'message': 'hällo "x"', 'n': [1, 2.5, None, True]}


class Source:
    """A plan and an audit with these parameters; see `payloads.Source`."""

    def __init__(self, parameters):
        self._of_plan = expectations.AUDIT.evolve(parameters=parameters)
        self._audit = expectations.NOTIFIED_AUDIT.evolve(parameters=parameters)

    def relations_of_plans(self, plan_ids):
        found = PlanRelations(
            expectations.PLAN, self._of_plan, expectations.GOAL, expectations.STRATEGY
        )
        return dict.fromkeys(plan_ids, found)

    def relations_of_audits(self, audit_ids):
        found = AuditRelations(
            self._audit, expectations.NOTIFIED_GOAL, expectations.STRATEGY
        )
        return dict.fromkeys(audit_ids, found)


class TestCredentials(base.TestCase):
    def sent(self, *stored, parameters=None):
        """Return the fields of the payloads; check that they contain no canary."""
        source = Source(parameters or {})
        builder = messages.MessageBuilder(NotificationSettings('host'), source)
        batch = builder.build(stored)
        self.assertEqual([], batch.build_failures)
        self.assertNotIn(b'canary', b''.join(body for _, body in batch.messages))
        return [expectations.data(message) for message in batch.messages]

    def test_credentials_in_inputs_of_an_action_are_masked(self):
        stored = expectations.action_event(1, 'READY', 'RUNNING')
        for inputs, expected in ((GIVEN, MASKED), (PLAIN, PLAIN)):
            given = dataclasses.replace(stored, action_inputs=json.dumps(inputs))

            self.assertEqual(
                [expected, expected],
                [fields['input_parameters'] for fields in self.sent(given)],
            )

    def test_credentials_in_parameters_of_an_audit_are_masked(self):
        created, updated, of_plan = self.sent(
            expectations.audit_event(1, None, 'PENDING', kind=events.CREATED),
            expectations.audit_event(2, 'PENDING', 'ONGOING'),
            expectations.plan_event(3, 'RECOMMENDED', 'PENDING'),
            parameters=GIVEN,
        )
        audit = of_plan['audit']['watcher_object.data']
        self.assertEqual(
            [MASKED] * 3, [each['parameters'] for each in (created, updated, audit)]
        )

    def test_initiators_of_events_are_in_no_payload(self):
        who = {'user_id': 'canary', 'project_id': 'canary', 'request_id': 'req-canary'}
        for stored in (
            expectations.action_event(1, 'READY', 'RUNNING'),
            expectations.audit_event(2, 'PENDING', 'ONGOING'),
            expectations.plan_event(3, 'RECOMMENDED', 'PENDING'),
        ):
            event = stored.event.with_detail(events.INITIATOR, who)
            self.assertEqual(
                self.sent(stored), self.sent(dataclasses.replace(stored, event=event))
            )
