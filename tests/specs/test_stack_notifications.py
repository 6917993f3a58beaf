"""Notifications of stacks while workers create, change and lock them."""

from typing import Any

from tests.specs.published import published
from tests.stack_worlds import StackWorldCase, res
from tests.unit.notifications import expectations

SECRET = 'correct-horse'
HIDDEN = {'parameters': {'pw': {'type': 'string', 'hidden': True}}}
ONE = {'a': res(value={'get_param': 'pw'})}


class TestStackNotifications(StackWorldCase):
    """Notifications of one stack."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        self.messages: list[Any] = []

    def sent(self) -> list[Any]:
        """Return the messages since the last call."""
        sent = published(self.world.store)
        self.messages += sent
        return sent

    def test_a_stack_is_created_updated_and_deleted(self) -> None:
        stack = self.world.make(ONE, sections=HIDDEN, parameters={'pw': SECRET})
        made = expectations.message_lines(self.sent())
        self.world.change(stack, {'b': res()})
        changed = expectations.message_lines(self.sent())
        self.world.act(stack, 'DELETE')

        self.assertEqual(
            [
                'stack.create.start: CREATE_IN_PROGRESS',
                'resource.create.start: CREATE_IN_PROGRESS',
                'resource.create.end: CREATE_COMPLETE',
                'stack.update: CREATE_IN_PROGRESS -> CREATE_COMPLETE',
                'stack.create.end: CREATE_COMPLETE',
            ],
            made,
        )
        self.assertEqual(
            [
                'stack.update: CREATE_COMPLETE -> UPDATE_IN_PROGRESS',
                'stack.update.start: UPDATE_IN_PROGRESS',
                'resource.create.start: CREATE_IN_PROGRESS',
                'resource.create.end: CREATE_COMPLETE',
                'resource.delete.start: DELETE_IN_PROGRESS',
                'resource.delete.end: DELETE_COMPLETE',
                'stack.update: UPDATE_IN_PROGRESS -> UPDATE_COMPLETE',
                'stack.update.end: UPDATE_COMPLETE',
            ],
            changed,
        )
        last = self.sent()[-1]
        self.assertEqual(
            ['stack.delete.end: DELETE_COMPLETE'], expectations.message_lines([last])
        )
        self.assertIsNotNone(expectations.data(last)['deleted_at'])
        self.assertNotIn(SECRET, str(self.messages))

    def test_a_stack_that_cannot_be_created(self) -> None:
        self.world.external.fails.add(('create', 'a'))
        self.world.make({'a': res()})

        sent = self.sent()

        self.assertEqual(
            [
                'stack.create.start: CREATE_IN_PROGRESS',
                'resource.create.start: CREATE_IN_PROGRESS',
                'resource.create.error: CREATE_FAILED',
                'stack.update: CREATE_IN_PROGRESS -> CREATE_FAILED',
                'stack.create.error: CREATE_FAILED',
            ],
            expectations.message_lines(sent),
        )
        faults = [expectations.fault(message) for message in sent]
        keys = ('exception', 'exception_message', 'function_name')
        self.assertEqual(
            ['HandlerError', 'create of a does not work', 'record_call'],
            [faults[2][key] for key in keys],
        )
        self.assertEqual(
            'Resource action failed: resources.a: create of a does not work',
            faults[4]['exception_message'],
        )
        self.assertEqual([None] * 3, [faults[at] for at in (0, 1, 3)])

    def test_a_mark_a_replacement_a_lock_and_an_ignored_signal(self) -> None:
        stack = self.world.make({'a': res()})
        self.sent()
        self.world.mark(stack, 'a', reason='it is slow')
        (marked,) = self.sent()
        self.world.change(stack)
        self.sent()
        self.world.act(stack, 'LOCK', 'all')
        locked = self.sent()
        self.world.stacks.signal(stack.uuid, stack.tenant, 'a', {'value': 'x'})
        (ignored,) = self.sent()
        self.world.act(stack, 'UNLOCK')
        locked += self.sent()

        self.assertEqual(
            ['resource.check.error: CHECK_FAILED'], expectations.message_lines([marked])
        )
        self.assertEqual(
            ('it is slow', None),
            (expectations.data(marked)['status_reason'], expectations.fault(marked)),
        )
        self.assertEqual(
            [
                'stack.update: UPDATE_COMPLETE -> LOCK_IN_PROGRESS',
                'stack.lock.start: LOCK_IN_PROGRESS',
                'resource.lock.start: LOCK_IN_PROGRESS',
                'resource.lock.end: LOCK_COMPLETE',
                'stack.update: LOCK_IN_PROGRESS -> LOCK_COMPLETE',
                'stack.lock.end: LOCK_COMPLETE',
                'stack.update: LOCK_COMPLETE -> UNLOCK_IN_PROGRESS',
                'stack.unlock.start: UNLOCK_IN_PROGRESS',
                'resource.unlock.start: UNLOCK_IN_PROGRESS',
                'resource.unlock.end: UNLOCK_COMPLETE',
                'stack.update: UNLOCK_IN_PROGRESS -> UNLOCK_COMPLETE',
                'stack.unlock.end: UNLOCK_COMPLETE',
            ],
            expectations.message_lines(locked),
        )
        self.assertEqual(
            ['resource.signal.end: LOCK_COMPLETE'],
            expectations.message_lines([ignored]),
        )
        self.assertIn('Signal ignored', expectations.data(ignored)['status_reason'])
        self.assertEqual(
            [*(['all'] * 6), None, None],
            [
                expectations.data(message)['lock_level']
                for message in locked
                if 'lock_level' in expectations.data(message)
            ],
        )

    def test_nested_stacks_are_notified_with_their_parent(self) -> None:
        stack = self.world.make({'g': res('Group', count=1)})

        sent = self.sent()

        inner = self.world.nested(stack, 'g')
        self.assertEqual(
            [
                'stack.create.start: CREATE_IN_PROGRESS',
                'resource.create.start: CREATE_IN_PROGRESS',
                'stack.update: INIT_COMPLETE -> CREATE_IN_PROGRESS',
                'stack.create.start: CREATE_IN_PROGRESS',
                'resource.create.start: CREATE_IN_PROGRESS',
                'resource.create.end: CREATE_COMPLETE',
                'stack.update: CREATE_IN_PROGRESS -> CREATE_COMPLETE',
                'stack.create.end: CREATE_COMPLETE',
                'resource.create.end: CREATE_COMPLETE',
                'stack.update: CREATE_IN_PROGRESS -> CREATE_COMPLETE',
                'stack.create.end: CREATE_COMPLETE',
            ],
            expectations.message_lines(sent),
        )
        # No message is sent twice.
        ids = {expectations.inner(message)['message_id'] for message in sent}
        self.assertEqual((len(sent), []), (len(ids), self.sent()))
        self.assertEqual(
            [(stack.uuid, None, stack.uuid), (inner.uuid, stack.uuid, stack.uuid)],
            [
                (data['uuid'], data['owner_uuid'], data['root_uuid'])
                for data in (expectations.data(sent[at]) for at in (0, 3))
            ],
        )
