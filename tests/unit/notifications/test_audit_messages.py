"""The messages of events of audits."""

from tests import factories
from tests.notification_samples import infra_optim
from tests.unit.notifications import expectations, messages_case
from tests.unit.notifications.expectations import (
    NOTIFIED_AUDIT,
    audit_event,
    audit_step,
)
from watcherlite.domain import events
from watcherlite.domain.audits import AuditRelations


class FakeSource(messages_case.FakeSource):
    """The objects that the payloads of audits refer to."""

    def key(self, found):
        return found.audit.id

    def relations_of_audits(self, audit_ids):
        return self.find(audit_ids)

    def change_to(self, audit, strategy=expectations.STRATEGY):
        self.known[audit.id] = AuditRelations(
            audit, expectations.NOTIFIED_GOAL, strategy
        )


class AuditMessagesTestCase(messages_case.MessagesCase):
    def make_source(self):
        return FakeSource(expectations.AUDIT_RELATIONS)


class TestStates(AuditMessagesTestCase):
    def test_states_are_those_of_the_event_and_not_of_the_audit(self):
        self.source.change_to(
            NOTIFIED_AUDIT.evolve(
                state='FAILED',
                status_message='too late',
                updated_at=factories.at(60),
                deleted_at=factories.at(60),
            )
        )

        sent = self.build(
            audit_event(1, None, 'PENDING', kind=events.CREATED),
            audit_event(2, 'PENDING', 'ONGOING'),
            audit_step(3, events.STRATEGY_START),
            audit_event(4, 'ONGOING', 'FAILED', message='no host'),
        )

        at = '2026-03-29T01:30:15Z'
        self.assertEqual(
            [
                ('PENDING', None, None, None),
                ('ONGOING', None, at, None),
                ('ONGOING', None, at, None),
                ('FAILED', 'no host', at, None),
            ],
            expectations.fields(
                sent, 'state', 'status_message', 'updated_at', 'deleted_at'
            ),
        )

    def test_update_has_the_old_and_the_new_state_and_a_deletion_its_time(self):
        sent = self.build(
            audit_event(1, 'PENDING', 'ONGOING'),
            audit_event(
                2, 'ONGOING', 'ONGOING', kind=events.MESSAGE_CHANGED, message='a run'
            ),
            audit_event(3, 'ONGOING', 'FAILED', message='no host'),
            audit_event(4, 'FAILED', 'DELETED', kind=events.DELETED),
        )

        names = ('old_state', 'state', 'status_message')
        self.assertEqual(
            [
                dict(zip(names, values, strict=True))
                for values in (
                    ('PENDING', 'ONGOING', None),
                    ('ONGOING', 'ONGOING', 'a run'),
                    ('ONGOING', 'FAILED', 'no host'),
                )
            ],
            [
                expectations.data(message)['state_update']['watcher_object.data']
                for message in sent[:3]
            ],
        )
        at = '2026-03-29T01:30:15Z'
        self.assertEqual(
            ['audit.update: FAILED -> DELETED', 'audit.delete: DELETED'],
            expectations.message_lines(sent[3:]),
        )
        self.assertEqual(
            [(at, at)] * 2, expectations.fields(sent[3:], 'updated_at', 'deleted_at')
        )


class TestFaults(AuditMessagesTestCase):
    def test_only_errors_have_a_fault(self):
        other = {**expectations.FAULT, 'message': 'no'}
        steps = [
            (events.STRATEGY_START, None),
            (events.STRATEGY_ERROR, expectations.FAULT),
            (events.STRATEGY_START, None),
            (events.STRATEGY_END, None),
            (events.PLANNER_START, None),
            (events.PLANNER_ERROR, other),
        ]

        sent = self.build(
            *(
                audit_step(number, step, fault=fault)
                for number, (step, fault) in enumerate(steps)
            )
        )

        shown = expectations.SHOWN_FAULT
        self.assertEqual(
            [
                ('audit.strategy.start', 'info', None),
                ('audit.strategy.error', 'error', shown),
                ('audit.strategy.start', 'info', None),
                ('audit.strategy.end', 'info', None),
                ('audit.planner.start', 'info', None),
                ('audit.planner.error', 'error', {**shown, 'exception_message': 'no'}),
            ],
            expectations.faults(sent),
        )


class TestRelatedObjects(AuditMessagesTestCase):
    def test_an_audit_without_a_strategy_has_null_for_it(self):
        self.source.change_to(NOTIFIED_AUDIT.evolve(strategy_id=None), strategy=None)

        (created,) = self.build(audit_event(1, None, 'PENDING', kind=events.CREATED))

        data = expectations.data(created)
        self.assertEqual((None, None), (data['strategy'], data['strategy_uuid']))
        self.assertEqual('dummy', data['goal']['watcher_object.data']['name'])
        self.assertEqual(infra_optim.GOAL_UUID, data['goal_uuid'])

    def test_related_objects_are_read_once_per_batch(self):
        builder = self.builder()
        stored = [audit_event(n, 'PENDING', 'ONGOING') for n in range(3)]
        intervals = []
        for interval in ('60', '*/5 * * * *'):
            self.source.change_to(NOTIFIED_AUDIT.evolve(interval=interval))
            batch = builder.build(stored)
            intervals.append(
                [expectations.data(message)['interval'] for message in batch.messages]
            )

        self.assertEqual([['60'] * 3, ['*/5 * * * *'] * 3], intervals)
        self.assertEqual([[6], [6]], self.source.asked)

    def test_objects_with_equal_ids_are_distinguished(self):
        other = NOTIFIED_AUDIT.evolve(id=4, uuid=factories.new_uuid())
        self.source.change_to(other)

        sent = self.build(
            audit_event(1, 'PENDING', 'ONGOING', audit=other),
            expectations.plan_event(2, 'RECOMMENDED', 'PENDING'),
            audit_event(3, 'PENDING', 'ONGOING'),
        )

        self.assertEqual(
            [
                ('audit.update', other.uuid),
                ('actionplan.update', infra_optim.PLAN_UUID),
                ('audit.update', infra_optim.AUDIT_UUID),
            ],
            [
                (
                    expectations.inner(message)['event_type'],
                    expectations.data(message)['uuid'],
                )
                for message in sent
            ],
        )

    def test_the_prefix_of_plans_is_not_that_of_audits(self):
        sent = self.build(
            audit_event(1, 'PENDING', 'ONGOING'), event_prefix='action_plan'
        )

        self.assertEqual(
            ['audit.update: PENDING -> ONGOING'], expectations.message_lines(sent)
        )


class TestPinned(AuditMessagesTestCase):
    def test_version_1_0_omits_later_fields(self):
        (sent,) = self.build(
            audit_event(1, 'PENDING', 'ONGOING'), payload_version='1.0'
        )

        payload = expectations.inner(sent)['payload']
        self.assertEqual('1.0', payload['watcher_object.version'])
        self.assertEqual(
            [
                *('uuid', 'audit_type', 'state', 'parameters', 'interval', 'scope'),
                *('goal_uuid', 'strategy_uuid', 'goal', 'strategy'),
                *('created_at', 'updated_at', 'deleted_at', 'state_update'),
            ],
            list(payload['watcher_object.data']),
        )
        self.assertEqual(
            {'old_state': 'PENDING', 'state': 'ONGOING'},
            expectations.data(sent)['state_update']['watcher_object.data'],
        )


class TestBuildFailures(AuditMessagesTestCase):
    def test_a_build_failure_does_not_delay_other_messages(self):
        audit, change = NOTIFIED_AUDIT, ('PENDING', 'ONGOING')
        invalid = audit_step(2, 'scoring.start')
        self.source.change_to(audit.evolve(id=7, parameters={'hosts': {'a', 'b'}}))

        batch = self.builder().build(
            [
                audit_event(1, *change, audit=audit.evolve(id=99)),
                invalid,
                audit_event(3, *change, audit=audit.evolve(id=7)),
                audit_event(4, *change, subject_id=None),
                audit_event(5, *change),
            ]
        )

        self.assertEqual(
            ['audit.update: PENDING -> ONGOING'],
            expectations.message_lines(batch.messages),
        )
        self.assertEqual(
            [
                (1, 'None'),
                (2, f'event {invalid.event.uuid}: no audit has a step scoring.start'),
                (3, 'set has no JSON representation'),
                (4, 'None'),
            ],
            [(u.stored.sequence, str(u.error)) for u in batch.build_failures],
        )

    def test_store_errors_are_raised_and_low_levels_not_read(self):
        stored = audit_event(1, 'PENDING', 'ONGOING')

        self.assert_not_read(stored, audit_step(2, events.STRATEGY_START))
        self.assert_raised(stored)
