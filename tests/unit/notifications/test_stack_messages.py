"""The messages of events of stacks and resources."""

from tests import base, factories
from tests.notification_samples import documents
from tests.notification_samples import stacks as stack_samples
from tests.unit.notifications import expectations, messages_case
from tests.unit.notifications.expectations import STACK, resource_event, stack_event
from watcherlite.domain import events
from watcherlite.domain.stacks import StackAncestry

OUTER = ('outer', factories.new_uuid())
OUTERMOST = ('outermost', factories.new_uuid())


class FakeSource(messages_case.FakeSource):
    """The objects that the payloads of stacks refer to."""

    def key(self, found):
        return found.stack.id

    def ancestry_of_stacks(self, stack_ids):
        return self.find(stack_ids)

    def change_to(self, stack, *ancestors):
        self.known[stack.id] = StackAncestry(stack, ancestors)


class StackMessagesTestCase(messages_case.MessagesCase):
    def make_source(self):
        return FakeSource(expectations.STACK_ANCESTRY)


class TestMessages(StackMessagesTestCase):
    def test_the_creation_of_a_stack_of_one_resource_is_notified(self):
        sent = self.build(
            stack_event(1, None, 'CREATE_IN_PROGRESS', kind=events.CREATED),
            resource_event(2, 'INIT_COMPLETE', 'CREATE_IN_PROGRESS'),
            resource_event(3, 'CREATE_IN_PROGRESS', 'CREATE_COMPLETE'),
            stack_event(4, 'CREATE_IN_PROGRESS', 'CREATE_COMPLETE'),
        )

        self.assertEqual(
            [
                'stack.create.start: CREATE_IN_PROGRESS',
                'resource.create.start: CREATE_IN_PROGRESS',
                'resource.create.end: CREATE_COMPLETE',
                'stack.update: CREATE_IN_PROGRESS -> CREATE_COMPLETE',
                'stack.create.end: CREATE_COMPLETE',
            ],
            expectations.message_lines(sent),
        )
        self.assertEqual(
            {f'orchestration:{documents.HOST}'},
            {expectations.inner(message)['publisher_id'] for message in sent},
        )

    def test_initiators_of_events_are_in_no_payload(self):
        self.assert_without_initiator(
            stack_event(1, 'CREATE_COMPLETE', 'CHECK_IN_PROGRESS'),
            resource_event(2, 'CREATE_COMPLETE', 'CHECK_FAILED'),
        )

    def test_a_change_has_two_ids_and_the_old_and_the_new_state(self):
        stored = stack_event(
            1, 'CREATE_COMPLETE', 'CHECK_IN_PROGRESS', message='Stack CHECK started'
        )

        update, started = self.build(stored)

        self.assertEqual(
            [
                (events.message_id(stored.event.uuid, 0), 'stack.update'),
                (events.message_id(stored.event.uuid, 1), 'stack.check.start'),
            ],
            [
                (found['message_id'], found['event_type'])
                for found in map(expectations.inner, (update, started))
            ],
        )
        self.assertEqual(
            {
                'old_state': 'CREATE_COMPLETE',
                'state': 'CHECK_IN_PROGRESS',
                'status_reason': 'Stack CHECK started',
            },
            expectations.data(update)['state_update']['watcher_object.data'],
        )

    def test_states_and_times_are_those_of_the_event(self):
        self.source.change_to(
            STACK.evolve(
                action='DELETE', updated_at=factories.at(60), status_reason='later'
            )
        )

        sent = self.build(
            stack_event(1, None, 'CREATE_IN_PROGRESS', kind=events.CREATED),
            stack_event(2, 'DELETE_IN_PROGRESS', 'DELETE_COMPLETE', message='gone'),
            resource_event(3, 'DELETE_IN_PROGRESS', 'DELETE_COMPLETE'),
        )

        at = '2026-03-29T01:30:15Z'
        self.assertEqual(
            [
                ('CREATE_IN_PROGRESS', None, None, None),
                ('DELETE_COMPLETE', 'gone', at, at),
                ('DELETE_COMPLETE', 'gone', at, at),
                ('DELETE_COMPLETE', None, at, at),
            ],
            expectations.fields(
                sent, 'state', 'status_reason', 'updated_at', 'deleted_at'
            ),
        )


class TestFaults(StackMessagesTestCase):
    def test_only_errors_have_a_fault(self):
        fault = {'fault': expectations.FAULT}
        change = ('CREATE_IN_PROGRESS', 'CREATE_FAILED')
        sent = self.build(
            resource_event(1, *change, **fault),
            stack_event(2, *change, detail=fault),
            resource_event(3, 'CREATE_COMPLETE', 'CHECK_FAILED'),
            stack_event(4, 'CREATE_FAILED', 'DELETE_IN_PROGRESS'),
        )

        update = ('stack.update', 'info', 'has none')
        self.assertEqual(
            [
                ('resource.create.error', 'error', expectations.SHOWN_FAULT),
                update,
                ('stack.create.error', 'error', expectations.SHOWN_FAULT),
                ('resource.check.error', 'error', None),
                update,
                ('stack.delete.start', 'info', None),
            ],
            expectations.faults(sent),
        )


class TestRelatedObjects(StackMessagesTestCase):
    def test_a_nested_stack_names_its_parent_and_the_root(self):
        self.source.change_to(STACK, OUTERMOST, OUTER)
        change = ('INIT_COMPLETE', 'CREATE_IN_PROGRESS')

        (_, started, resource) = self.build(
            stack_event(1, *change), resource_event(2, *change)
        )

        terse = expectations.data(resource)['stack']['watcher_object.data']
        self.assertEqual(
            [(OUTER[1], OUTERMOST[1])] * 2,
            [
                (d['owner_uuid'], d['root_uuid'])
                for d in (expectations.data(started), terse)
            ],
        )

    def test_all_objects_of_a_batch_are_read_together_and_again_for_the_next(self):
        other = STACK.evolve(id=9, uuid=factories.new_uuid(), name='db')
        self.source.change_to(other)
        builder = self.builder()
        stored = [
            stack_event(1, 'CREATE_COMPLETE', 'CHECK_IN_PROGRESS'),
            resource_event(2, 'CREATE_COMPLETE', 'CHECK_IN_PROGRESS'),
            stack_event(3, 'CREATE_COMPLETE', 'CHECK_IN_PROGRESS', stack=other),
        ]
        tags = []
        for value in ('a', 'b'):
            self.source.change_to(STACK.evolve(tags=(value,)))
            batch = builder.build(stored)
            tags.append(
                [expectations.data(message).get('tags') for message in batch.messages]
            )

        self.assertEqual([[8, 9], [8, 9]], self.source.asked)
        self.assertEqual(
            [
                [['a'], ['a'], None, ['nightly'], ['nightly']],
                [['b'], ['b'], None, ['nightly'], ['nightly']],
            ],
            tags,
        )

    def test_values_that_may_be_hidden_are_omitted(self):
        self.source.change_to(STACK.evolve(context={'token': 'TOPSECRET'}))

        sent = self.build(
            stack_event(1, 'CREATE_COMPLETE', 'UPDATE_IN_PROGRESS'),
            resource_event(2, 'CREATE_COMPLETE', 'UPDATE_IN_PROGRESS'),
        )

        self.assertEqual(
            [
                {'parameters', 'template', 'properties', 'attributes', 'context'}
                & set(expectations.data(message))
                for message in sent
            ],
            [set()] * 3,
        )
        self.assertNotIn('TOPSECRET', str(sent))

    def test_a_lock_has_its_level_and_so_has_its_end(self):
        sent = self.build(
            stack_event(
                *(1, 'LOCK_IN_PROGRESS', 'LOCK_COMPLETE'),
                detail={'lock_level': 'stacks'},
            ),
            stack_event(2, 'UNLOCK_COMPLETE', 'UPDATE_IN_PROGRESS'),
        )

        self.assertEqual(
            ['stacks', 'stacks', None, None],
            [expectations.data(message)['lock_level'] for message in sent],
        )


class TestBuildFailures(StackMessagesTestCase):
    def test_a_build_failure_does_not_delay_other_messages(self):
        gone = stack_event(
            *(1, 'CREATE_COMPLETE', 'CHECK_IN_PROGRESS'), stack=STACK.evolve(id=99)
        )
        nameless = resource_event(
            2, 'CREATE_COMPLETE', 'CHECK_IN_PROGRESS', resource={}
        )
        fine = stack_event(3, None, 'CREATE_IN_PROGRESS', kind=events.CREATED)

        batch = self.builder().build([gone, nameless, fine])

        self.assertEqual(
            ['stack.create.start: CREATE_IN_PROGRESS'],
            expectations.message_lines(batch.messages),
        )
        self.assertEqual(
            [(1, 'None'), (2, 'ResourceActionPayload 1.0: uuid must not be null')],
            [(u.stored.sequence, str(u.error)) for u in batch.build_failures],
        )

    def test_store_errors_are_raised_and_low_levels_not_read(self):
        stored = stack_event(1, 'CREATE_COMPLETE', 'CHECK_IN_PROGRESS')

        self.assert_not_read(stored)
        self.assert_raised(stored)


class TestSamples(base.TestCase):
    def test_new_resource_has_no_physical_id(self):
        payloads = {
            name: document['payload']['watcher_object.data']
            for name, document in documents.samples().items()
            if name.startswith('resource.create')
        }

        self.assertEqual(
            {
                'resource.create.start': None,
                'resource.create.end': stack_samples.PHYSICAL_ID,
                'resource.create.error': stack_samples.PHYSICAL_ID,
            },
            {name: data['physical_resource_id'] for name, data in payloads.items()},
        )
