"""The messages of events of plans and actions."""

import cProfile
import json
import pstats

from tests import factories
from tests.notification_samples import documents, infra_optim
from tests.unit.notifications import expectations, messages_case
from tests.unit.notifications.expectations import PLAN, action_event, plan_event
from watcherlite.domain import events
from watcherlite.domain.action_plans import PlanRelations
from watcherlite.notifications.payloads import action_plans
from watcherlite.notifications.settings import NotificationSettings
from watcherlite.objects import action, action_plan, registry


class FakeSource(messages_case.FakeSource):
    """The objects that the payloads of plans refer to."""

    def key(self, found):
        return found.plan.id

    def relations_of_plans(self, plan_ids):
        return self.find(plan_ids)

    def change_to(
        self, plan=PLAN, audit=expectations.AUDIT, strategy=expectations.STRATEGY
    ):
        self.known[plan.id] = PlanRelations(plan, audit, expectations.GOAL, strategy)


class MessagesTestCase(messages_case.MessagesCase):
    def make_source(self):
        return FakeSource(expectations.PLAN_RELATIONS)


class TestSamples(MessagesTestCase):
    def test_messages_equal_the_samples(self):
        sent = {}
        for event_type, stored in expectations.sample_events().items():
            (sent[event_type],) = (
                notification
                for notification in map(expectations.inner, self.build(stored))
                if notification['event_type'] == event_type
            )
            sent[event_type].pop('_unique_id')

        self.assertEqual(documents.samples(), sent)

    def test_a_plan_without_strategy_and_efficacy_has_null_there(self):
        self.source.change_to(
            PLAN.evolve(strategy_id=None, global_efficacy=()), strategy=None
        )

        created, running, _ = self.build(
            plan_event(1, None, 'RECOMMENDED', kind=events.CREATED),
            action_event(2, 'READY', 'RUNNING'),
        )

        self.assertEqual(
            [(None, None, None)],
            expectations.fields(
                [created], 'global_efficacy', 'strategy', 'strategy_uuid'
            ),
        )
        nested = expectations.data(running)['action_plan']
        self.assertIsNone(nested['watcher_object.data']['strategy_uuid'])

        # The audit does not name a strategy.
        self.source.change_to(audit=expectations.AUDIT.evolve(strategy_id=None))
        (updated,) = self.build(plan_event(1, 'RECOMMENDED', 'PENDING'))

        strategies = [
            each['strategy_uuid']
            for each in (expectations.data(updated), _audit(updated))
        ]
        self.assertEqual([infra_optim.STRATEGY_UUID, None], strategies)

    def test_times_of_a_deleted_plan_and_of_its_actions(self):
        sent = self.build(
            plan_event(1, 'FAILED', 'DELETED', kind=events.DELETED),
            *(
                action_event(
                    number, 'FAILED', 'FAILED', kind=events.DELETED, plan_state=state
                )
                for number, state in enumerate(('DELETED', 'FAILED'), 2)
            ),
        )

        at = '2026-03-29T01:30:15Z'
        self.assertEqual(
            [(at, at)] * 6, expectations.fields(sent, 'updated_at', 'deleted_at')
        )
        # These depend on the state of the plan itself.
        nested = [expectations.data(each)['action_plan'] for each in sent[2:]]
        self.assertEqual(
            [at, at, None, None],
            [plan['watcher_object.data']['deleted_at'] for plan in nested],
        )


class TestOrder(MessagesTestCase):
    def test_actions_are_notified_in_order_with_the_plan_of_the_event(self):
        skipped = 'One or more actions were skipped.'
        sent = self.build(
            action_event(1, 'READY', 'RUNNING'),
            action_event(2, 'RUNNING', 'SUCCEEDED'),
            action_event(
                *(3, 'READY', 'SKIPPED'), plan_state='PENDING', plan_message=skipped
            ),
            action_event(4, 'RUNNING', 'FAILED'),
        )

        self.assertEqual(
            [
                'action.update: PENDING -> ONGOING',
                'action.execution.start: ONGOING',
                'action.update: ONGOING -> SUCCEEDED',
                'action.execution.end: SUCCEEDED',
                'action.update: PENDING -> SKIPPED',
                'action.update: ONGOING -> FAILED',
                'action.execution.error: FAILED',
            ],
            expectations.message_lines(sent),
        )
        nested = expectations.data(sent[4])['action_plan']['watcher_object.data']
        self.assertEqual(
            ('PENDING', skipped), (nested['state'], nested['status_message'])
        )
        # The field of a failure without a fault is null.
        self.assertIsNone(expectations.data(sent[6])['fault'])


class TestSettings(MessagesTestCase):
    def setUp(self):
        super().setUp()
        self.failure = [
            action_event(1, 'RUNNING', 'FAILED'),
            plan_event(2, 'ONGOING', 'FAILED'),
        ]

    def test_every_topic_gets_the_same_message(self):
        sent = self.build(*self.failure, topics=('one', 'two'))

        self.assertEqual(
            ['one.info', 'two.info', 'one.error', 'two.error'] * 2,
            [routing_key for routing_key, _ in sent],
        )
        self.assertEqual(
            [body for _, body in sent[::2]], [body for _, body in sent[1::2]]
        )

    def test_a_message_has_its_id_whatever_the_level(self):
        ids = [
            {
                notification['event_type']: notification['message_id']
                for notification in map(
                    expectations.inner, self.build(*self.failure, **level)
                )
            }
            for level in ({}, {'level': 'error'})
        ]

        self.assertEqual(ids[0] | ids[1], ids[0])
        self.assertEqual(
            [
                self.failure[0].event.uuid,
                self.failure[0].event.uuid[:-1] + '1',
                self.failure[1].event.uuid,
                self.failure[1].event.uuid[:-1] + '1',
            ],
            list(ids[0].values()),
        )

    def test_level_omits_lower_priorities_and_the_highest_all(self):
        for level in ('critical', ''):
            self.assertEqual([], self.build(*self.failure, level=level))
        self.assertEqual([], self.source.asked)
        sent = self.build(*self.failure, level='error')
        self.assertEqual(
            ['action.execution.error: FAILED', 'actionplan.execution.error: FAILED'],
            expectations.message_lines(sent),
        )
        # A repetition is identical in every byte.
        self.assertEqual(self.build(*self.failure), self.build(*self.failure))

    def test_the_prefix_is_that_of_plans_only(self):
        self.assertEqual(
            [
                'action.update',
                'action.execution.error',
                'action_plan.update',
                'action_plan.execution.error',
            ],
            [
                expectations.inner(message)['event_type']
                for message in self.build(*self.failure, event_prefix='action_plan')
            ],
        )

    def test_pinned_payloads_equal_those_of_the_objects(self):
        expected = documents.samples()
        for event_type, stored in expectations.sample_events().items():
            sent = map(expectations.inner, self.build(stored, payload_version='1.0'))
            payload = {n['event_type']: n['payload'] for n in sent}[event_type]
            sample = expected[event_type]['payload']
            cls = _CLASSES[sample['watcher_object.name']]
            self.assertEqual(
                cls.obj_from_primitive(sample).to_wire('1.0'), payload, event_type
            )

    def test_other_settings_count_from_the_next_batch_on(self):
        builder = self.builder()
        first = builder.build(self.failure).messages
        builder.configure(NotificationSettings('elsewhere', level='error'))

        second = builder.build(self.failure).messages

        self.assertEqual((4, 2), (len(first), len(second)))
        self.assertEqual(
            'infra-optim:elsewhere', expectations.inner(second[0])['publisher_id']
        )


class TestReads(MessagesTestCase):
    def test_a_plan_is_read_once_for_all_its_actions(self):
        builder = self.builder()

        for _ in range(3):
            builder.build([action_event(n, 'READY', 'RUNNING') for n in range(9)])

        self.assertEqual([[4]], self.source.asked)

    def test_the_audit_is_read_once_per_batch(self):
        builder = self.builder()
        stored = plan_event(1, 'PENDING', 'ONGOING')
        states = []
        for state in ('ONGOING', 'SUCCEEDED'):
            self.source.change_to(audit=factories.make_audit(1, state=state))
            first, second = builder.build([stored]).messages
            self.assertEqual(_audit(first), _audit(second))
            states.append(_audit(first)['state'])

        self.assertEqual(['ONGOING', 'SUCCEEDED'], states)
        self.assertEqual([[4], [4]], self.source.asked)

    def test_all_plans_of_a_batch_are_read_at_once(self):
        other = PLAN.evolve(uuid=factories.new_uuid()).stored(9)
        self.source.change_to(other)

        sent = self.build(
            plan_event(1, 'PENDING', 'ONGOING', plan=other),
            action_event(2, 'READY', 'RUNNING'),
            plan_event(3, 'ONGOING', 'SUCCEEDED', plan=other),
        )

        self.assertEqual([[4, 9]], self.source.asked)
        self.assertEqual(
            [other.uuid] * 2 + [infra_optim.ACTION_UUID] * 2 + [other.uuid] * 2,
            [expectations.data(message)['uuid'] for message in sent],
        )

    def test_plans_are_not_kept_without_a_bound(self):
        builder = self.builder()
        many = range(100, 100 + action_plans.CACHED_PLANS + 1)
        for n in many:
            self.source.change_to(PLAN.stored(n))
        of_plan = {
            n: action_event(
                n, 'READY', 'RUNNING', action=expectations.ACTION.evolve(plan_id=n)
            )
            for n in many
        }
        builder.build(of_plan.values())
        self.source.asked.clear()

        builder.build([of_plan[many[-1]], of_plan[many[0]]])

        self.assertEqual([[many[0]]], self.source.asked)


class TestBuildFailures(MessagesTestCase):
    def test_a_build_failure_does_not_delay_other_messages(self):
        change = ('READY', 'RUNNING')
        gone = action_event(1, *change, action=expectations.ACTION.evolve(plan_id=99))
        invalid = action_event(2, 'READY', 'NO STATUS')
        incomplete = action_event(3, *change, plan_state=None)
        half = action_event(4, 'RUNNING', 'FAILED', detail={'fault': {'message': 7}})
        fine = action_event(5, *change)

        batch = self.builder().build([gone, invalid, incomplete, half, fine])

        self.assertEqual(
            ['action.update: PENDING -> ONGOING', 'action.execution.start: ONGOING'],
            expectations.message_lines(batch.messages),
        )
        self.assertEqual(
            [
                (1, 'None'),
                (2, f'event {invalid.event.uuid}: no action can be NO STATUS'),
                (
                    3,
                    f'ActionUpdatePayload {action.ActionUpdatePayload.VERSION}: '
                    'TerseActionPlanPayload '
                    f'{action_plan.TerseActionPlanPayload.VERSION}: '
                    'state must not be null',
                ),
            ],
            [(u.stored.sequence, str(u.error)) for u in batch.build_failures[:3]],
        )
        self.assertEqual(
            [1, 2, 3, 4], [u.stored.sequence for u in batch.build_failures]
        )

    def test_store_errors_are_raised(self):
        stored = action_event(1, 'READY', 'RUNNING')

        self.assert_raised(stored, TypeError('a bug in the store'))


class TestCost(MessagesTestCase):
    """The budget is 0.05 ms per notification, counted in function calls."""

    def test_messages_need_a_tenth_of_the_calls_of_versioned_objects(self):
        stored = [
            action_event(n, old, new)
            for n in range(25)
            for old, new in (('READY', 'RUNNING'), ('RUNNING', 'SUCCEEDED'))
        ]
        stored += [plan_event(99, 'PENDING', 'ONGOING')]
        builder = self.builder()
        sent = builder.build(stored).messages

        ours = _cost(lambda: builder.build(stored))
        theirs = _cost(lambda: [_through_objects(message) for message in sent])

        self.assertLess(ours * 10, theirs)


def _audit(message):
    return expectations.data(message)['audit']['watcher_object.data']


def _cost(work):
    """Return the number of function calls, after caches have been filled."""
    work()
    profile = cProfile.Profile()
    profile.runcall(work)
    return pstats.Stats(profile).total_calls


def _through_objects(message):
    """Build one notification as oslo.versionedobjects and oslo.messaging do."""
    notification = dict(_PLAIN.setdefault(message[1], expectations.inner(message)))
    name = notification['payload']['watcher_object.name']
    notification['payload'] = _object(notification['payload']).to_wire()
    assert notification['payload']['watcher_object.name'] == name
    return json.dumps(
        {'oslo.version': '2.0', 'oslo.message': json.dumps(notification)}
    ).encode()


def _object(primitive):
    values = {
        key: _object(value)
        if isinstance(value, dict) and 'watcher_object.name' in value
        else value
        for key, value in primitive['watcher_object.data'].items()
    }
    return _CLASSES[primitive['watcher_object.name']](**values)


_PLAIN = {}
_CLASSES = registry.payload_classes()
