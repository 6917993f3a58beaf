"""Spec 004: a lock protects a stack from all changes."""

from collections.abc import Callable, Collection

from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res, template
from watcherlite import exceptions
from watcherlite.domain.stacks import Stack, StackRequest
from watcherlite.states import stack as states

#: operation -> the function that begins it
Asked = dict[str, Callable[[StackWorld, Stack], object]]


def _act(operation: str) -> Callable[[StackWorld, Stack], object]:
    return lambda world, stack: world.stacks.start_operation(
        stack.uuid, TENANT, operation
    )


def _update(world: StackWorld, stack: Stack) -> object:
    new = StackRequest(stack.name, template({'a': res(value='new')}))
    return world.stacks.update(stack.uuid, TENANT, new)


OPERATIONS: Asked = {
    'lock': _act(states.LOCK),
    'unlock': _act(states.UNLOCK),
    'delete': lambda world, stack: world.stacks.delete(stack.uuid, TENANT),
    'update': _update,
    'suspend': _act(states.SUSPEND),
    'resume': _act(states.RESUME),
    'check': _act(states.CHECK),
    'abandon': lambda world, stack: world.stacks.abandon(stack.uuid, TENANT),
    'mark': lambda world, stack: world.mark(stack, 'a'),
    'cancel': lambda world, stack: world.stacks.cancel(stack.uuid, TENANT, False),
}


class LockCase(StackWorldCase):
    """A stack of a lockable resource, one that is not lockable, and a group."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        self.stack = self.world.make(
            {
                'a': res(value='v'),
                'b': res(value={'get_attr': ['a', 'output']}),
                'n': res('Nothing'),
                'g': res('Group', count=1),
            }
        )
        self.inner = self.world.nested(self.stack, 'g')

    def assert_allowed(self, *allowed: str) -> None:
        """Check that exactly these operations are permitted."""
        before = self.world.reload(self.stack)
        for name, begin in OPERATIONS.items():
            if name in allowed:
                continue
            refused = self.assertRaises(
                (exceptions.Conflict, exceptions.NotSupported),
                begin,
                self.world,
                self.stack,
            )
            self.assertIn('Stack s ', str(refused), name)
            self.assertEqual(before, self.world.reload(self.stack), name)

    def refusal_of(
        self, operation: str, stack: Stack, error: type[Exception] = exceptions.Conflict
    ) -> str:
        """Check that an operation is rejected; return the message."""
        return str(self.assertRaises(error, OPERATIONS[operation], self.world, stack))

    def fail_lock(self, *names: str) -> None:
        """Let a lock fail on some resources, by default on one."""
        self.world.external.fails |= {('lock', name) for name in names or 'a'}
        self.world.act(self.stack, states.LOCK)
        self.world.external.fails.clear()

    def fail_unlock(self) -> None:
        """Let an unlock fail on one resource."""
        self.world.act(self.stack, states.LOCK)
        self.world.external.fails.add(('unlock', 'a'))
        self.world.act(self.stack, states.UNLOCK)
        self.world.external.fails.clear()


class TestWhileALockRuns(LockCase):
    """LOCK_IN_PROGRESS, UNLOCK_IN_PROGRESS: no operation may begin."""

    def test_the_state_is_in_progress_when_the_response_is_sent(self) -> None:
        for operation in (states.LOCK, states.UNLOCK):
            gate = self.create_gate_at(self.world, operation.lower(), 'a')
            stack = self.world.stacks.start_operation(
                self.stack.uuid, TENANT, operation
            )
            self.assertEqual(f'{operation}_IN_PROGRESS', stack.state.name)
            gate.wait_until_entered()
            self.assert_allowed()
            gate.open()
            self.world.wait_until_settled(self.stack)


class TestLockComplete(LockCase):
    """LOCK_COMPLETE: unlock, and lock to change the level."""

    def test_no_other_operation_starts_and_a_repeated_lock_does_nothing(self) -> None:
        stack = self.world.act(self.stack, states.LOCK)
        self.assertEqual(
            ('LOCK_COMPLETE', states.ALL), (stack.state.name, stack.lock_level)
        )
        self.assertEqual(
            dict.fromkeys('abng', 'LOCK_COMPLETE'), self.world.states(self.stack)
        )
        # Every handler was called, dependents first.
        locked = self.world.external.of('lock')
        self.assertEqual({'a', 'b', 'm0'}, set(locked))
        self.assertLess(locked.index('b'), locked.index('a'))
        protected = {n: self.world.resource(self.stack, n).protected for n in 'an'}
        self.assertEqual({'a': True, 'n': False}, protected)
        self.assert_allowed('lock', 'unlock')
        self.assertEqual(
            'Stack s is locked (LOCK_COMPLETE): UPDATE needs an unlock first.',
            self.refusal_of('update', self.stack),
        )
        before = self.world.transitions(self.stack)
        self.world.act(self.stack, states.LOCK)
        self.assertEqual(before, self.world.transitions(self.stack))


class TestLockFailed(LockCase):
    """LOCK_FAILED: unlock, delete, lock."""

    def test_no_other_operation_starts_and_the_permitted_ones_complete_the_lock(
        self,
    ) -> None:
        self.fail_lock()
        stack = self.world.reload(self.stack)
        self.assertEqual('LOCK_FAILED', stack.state.name)
        self.assertIn('resources.a: ', stack.status_reason)
        self.assertEqual(
            {**dict.fromkeys('bng', 'LOCK_COMPLETE'), 'a': 'LOCK_FAILED'},
            self.world.states(self.stack),
        )
        self.assert_allowed('lock', 'unlock', 'delete')
        del self.world.external.calls[:]
        stack = self.world.act(self.stack, states.LOCK, states.ALL)
        self.assertEqual('LOCK_COMPLETE', stack.state.name)
        # Only the resources that are not locked yet are locked.
        self.assertNotIn('b', self.world.external.of('lock'))
        self.assertIn('a', self.world.external.of('lock'))
        self.assertEqual(3, len(self.world.external.locked))
        self.world.act(self.stack, states.UNLOCK)
        for operation in (states.UNLOCK, states.DELETE):
            self.fail_lock()
            self.assertEqual('LOCK_FAILED', self.world.reload(self.stack).state.name)
            self.assertNotEqual(set(), self.world.external.locked)
            stack = self.world.act(self.stack, operation)
            self.assertEqual(f'{operation}_COMPLETE', stack.state.name)
            self.assertEqual(set(), self.world.external.locked)
        self.assertEqual({}, self.world.external.samples)


class TestUnlockComplete(LockCase):
    """UNLOCK_COMPLETE: all actions but unlock."""

    def test_a_second_unlock_is_refused_and_other_actions_are_executed(self) -> None:
        self.world.act(self.stack, states.LOCK)
        stack = self.world.act(self.stack, states.UNLOCK)
        self.assertEqual('UNLOCK_COMPLETE', stack.state.name)
        self.assertIn('not locked', self.refusal_of('unlock', self.stack))
        # An unlock follows the dependencies in the opposite order of a lock.
        unlocked = self.world.external.of('unlock')
        self.assertLess(unlocked.index('a'), unlocked.index('b'))
        for operation in ('CHECK', 'SUSPEND', 'RESUME', 'LOCK'):
            stack = self.world.act(self.stack, operation)
            self.assertEqual(f'{operation}_COMPLETE', stack.state.name)
        self.world.act(self.stack, states.UNLOCK)
        stack = self.world.change(self.stack, {'a': res(value='new')})
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.world.act(self.stack, states.DELETE)
        self.assertEqual({}, self.world.external.samples)


class TestUnlockFailed(LockCase):
    """UNLOCK_FAILED: delete, unlock; it counts as locked."""

    def test_only_an_unlock_or_a_delete_starts_and_unlocks_the_rest(self) -> None:
        for operation in (states.UNLOCK, states.DELETE):
            self.fail_unlock()
            self.assertEqual('UNLOCK_FAILED', self.world.reload(self.stack).state.name)
            self.assert_allowed('unlock', 'delete')
            self.assertIn('unlock it first', self.refusal_of('lock', self.stack))
            self.assertNotEqual(set(), self.world.external.locked)
            stack = self.world.act(self.stack, operation)
            self.assertEqual(f'{operation}_COMPLETE', stack.state.name)
            self.assertEqual(set(), self.world.external.locked)
        self.assertEqual({}, self.world.external.samples)


class TestOtherStates(LockCase):
    """A lock needs a final state; an unlock needs a lock, complete or failed."""

    def test_a_stack_cannot_be_locked_while_it_or_a_related_stack_changes(self) -> None:
        of_inner, of_outer = (self.stack, self.inner.name), (self.stack, 'UPDATE')
        # The update has not reached the nested stack yet.
        of_parent = (self.inner, 'Stack s, which')
        for stack, operation, name, refusals in (
            (self.inner, 'check', 'm0', [of_inner]),
            (self.stack, 'update', 'a', [of_parent, of_outer]),
        ):
            gate = self.create_gate_at(self.world, operation, name)
            OPERATIONS[operation](self.world, stack)
            gate.wait_until_entered()
            for locked, text in refusals:
                refused = self.refusal_of('lock', locked, exceptions.ActionInProgress)
                self.assertIn(text, refused)
            gate.open()
            self.world.wait_until_settled(stack)

    def test_a_failed_stack_can_be_locked_and_keeps_its_state(self) -> None:
        self.world.external.fails.add(('update', 'a'))
        self.world.change(self.stack, {'a': res(value='x'), 'b': res()})
        self.world.external.fails.clear()
        stack = self.world.act(self.stack, states.LOCK)
        self.assertEqual('LOCK_COMPLETE', stack.state.name)
        stack = self.world.act(self.stack, states.UNLOCK)
        self.assertEqual('UPDATE_FAILED', stack.base.name)
        before = self.world.ids(self.stack)
        self.world.change(self.stack)
        self.assertNotEqual(before['a'], self.world.ids(self.stack)['a'])

    def test_a_suspended_stack_is_suspended_again_after_the_lock(self) -> None:
        self.world.act(self.stack, states.SUSPEND)
        self.world.act(self.stack, states.LOCK)
        stack = self.world.act(self.stack, states.UNLOCK)
        self.assertEqual('SUSPEND_COMPLETE', stack.base.name)
        self.assertRaises(exceptions.NotSupported, _update, self.world, self.stack)
        stack = self.world.act(self.stack, states.SUSPEND)
        self.assertEqual('SUSPEND_COMPLETE', stack.state.name)
        # Clients wait for this event.
        self.assertEqual(
            ('s', 'SUSPEND_COMPLETE'), self.world.transitions(self.stack)[-1]
        )
        stack = self.world.act(self.stack, states.RESUME)
        self.assertEqual('RESUME_COMPLETE', stack.state.name)
        self.assertEqual(
            {'RESUME_COMPLETE'}, set(self.world.states(self.stack).values())
        )

    def test_an_unhealthy_resource_is_replaced_after_the_lock(self) -> None:
        # A stack that was never locked cannot be unlocked.
        self.refusal_of('unlock', self.stack)
        self.world.mark(self.stack, 'a')
        before = self.world.ids(self.stack)
        self.world.act(self.stack, states.LOCK)
        self.world.act(self.stack, states.UNLOCK)
        self.world.change(self.stack)
        after = self.world.ids(self.stack)
        self.assertEqual({'a'}, {n for n in after if after[n] != before[n]})


class TestLevels(LockCase):
    """`all`, the default, protects all lockable resources; `stacks` protects none."""

    def test_the_level_stacks_locks_nested_stacks_and_no_resources(self) -> None:
        stack = self.world.act(self.stack, states.LOCK, states.STACKS)
        self.assertEqual(states.STACKS, stack.lock_level)
        self.assertEqual([], self.world.external.of('lock'))
        self.assertEqual('LOCK_COMPLETE', self.world.reload(self.inner).state.name)
        self.assertEqual('CREATE_COMPLETE', self.world.states(self.stack)['a'])
        self.assert_allowed('lock', 'unlock')
        # An unlock only unlocks locked resources.
        self.world.act(self.stack, states.UNLOCK)
        self.assertEqual([], self.world.external.of('unlock'))
        self.assertEqual('CREATE_COMPLETE', self.world.states(self.stack)['a'])
        # The level can be changed without an interval in which the stack is unlocked.
        facts = len(self.world.transitions(self.stack))
        self.world.act(self.stack, states.LOCK, states.STACKS)
        self.world.act(self.stack, states.LOCK, states.ALL)
        self.assertEqual(3, len(self.world.external.locked))
        stack = self.world.act(self.stack, states.LOCK, states.STACKS)
        self.assertEqual(set(), self.world.external.locked)
        self.assertEqual('LOCK_COMPLETE', stack.state.name)
        self.assertNotIn(
            ('s', 'UNLOCK_IN_PROGRESS'), self.world.transitions(self.stack)[facts:]
        )


class TestNestedStacks(LockCase):
    """A lock includes all nested stacks, which cannot be unlocked separately."""

    def test_a_nested_stack_is_locked_and_unlocked_with_its_parent(self) -> None:
        self.world.act(self.stack, states.LOCK)
        self.assertEqual(states.ALL, self.world.reload(self.inner).inherited_level)
        # The nested stack cannot be unlocked alone.
        self.assertIn('unlock s', self.refusal_of('unlock', self.inner))
        self.world.act(self.stack, states.UNLOCK)
        inner = self.world.reload(self.inner)
        self.assertEqual(('UNLOCK_COMPLETE', None), (inner.state.name, inner.level))
        # The lock of a nested stack outlives that of its parent.
        self.world.act(self.inner, states.LOCK)
        self.world.act(self.stack, states.LOCK)
        self.world.act(self.stack, states.UNLOCK)
        inner = self.world.reload(self.inner)
        self.assertEqual(
            ('LOCK_COMPLETE', states.ALL), (inner.state.name, inner.lock_level)
        )
        self.world.act(self.inner, states.UNLOCK)
        self.assertEqual('UNLOCK_COMPLETE', self.world.reload(self.inner).state.name)

    def test_the_contents_of_a_failed_nested_stack_are_locked(self) -> None:
        self.fail_unlock()
        self.assertEqual('UNLOCK_COMPLETE', self.world.reload(self.inner).state.name)
        self.assert_nested_unchanged(allowed={'delete'})
        self.world.act(self.stack, states.UNLOCK)
        self.fail_lock('m0')
        self.assertEqual('LOCK_FAILED', self.world.reload(self.inner).state.name)
        self.assert_nested_unchanged(allowed={'delete'})

    def test_a_failed_lock_of_a_nested_stack_keeps_the_lock_of_its_parent(self) -> None:
        self.world.act(self.stack, states.LOCK, states.STACKS)
        self.world.external.fails.add(('lock', 'm0'))
        self.world.act(self.inner, states.LOCK, states.ALL)
        self.world.external.fails.clear()
        found = [self.world.reload(s).state.name for s in (self.stack, self.inner)]
        self.assertEqual(['LOCK_COMPLETE', 'LOCK_FAILED'], found)
        self.assert_nested_unchanged()

    def assert_nested_unchanged(self, allowed: Collection[str] = ()) -> None:
        """Check that the nested stack cannot be changed while its parent is locked."""
        before, members = self.world.reload(self.inner), self.world.ids(self.inner)
        for name in {'update', 'delete', 'suspend', 'check', 'abandon'} - {*allowed}:
            self.assertIn('locked', self.refusal_of(name, self.inner), name)
        refused = self.assertRaises(
            exceptions.Conflict, self.world.mark, self.inner, 'm0'
        )
        self.assertIn('locked', str(refused))
        for stack, name in ((self.inner, 'm0'), (self.stack, 'g')):
            self.world.stacks.signal(stack.uuid, TENANT, name, {'count': 3})
            last = self.world.store.list_events(limit=10_000)[-1].event
            self.assertIn('Signal ignored: ', last.message or '')
        self.assertEqual(
            (before, members),
            (self.world.reload(self.inner), self.world.ids(self.inner)),
        )

    def test_the_parent_of_a_locked_stack_is_not_changed_partially(self) -> None:
        self.world.act(self.inner, states.LOCK)
        for name in ('update', 'delete', 'suspend', 'check'):
            self.assertIn(self.inner.name, self.refusal_of(name, self.stack))
        self.assertEqual('CREATE_COMPLETE', self.world.reload(self.stack).state.name)


class TestSignals(LockCase):
    """Signals that modify are accepted and ignored."""

    def signal(self, stack: Stack, name: str, **details: object) -> None:
        self.world.stacks.signal(stack.uuid, TENANT, name, details)
        self.world.wait_until_settled(stack)

    def test_a_signal_under_a_lock_only_stores_an_event(self) -> None:
        self.world.act(self.stack, states.LOCK, states.STACKS)
        self.signal(self.stack, 'g', count=3)
        self.signal(self.stack, 'a', value='signalled')
        self.assertEqual([], self.world.external.of('signal'))
        self.assertEqual(
            [('g', 'SIGNAL_COMPLETE'), ('a', 'SIGNAL_COMPLETE')],
            self.world.transitions(self.stack)[-2:],
        )
        self.assertEqual({'m0'}, self.world.ids(self.inner).keys())
        self.world.act(self.stack, states.UNLOCK)
        # A lock on the nested stack of the group suffices.
        self.world.act(self.inner, states.LOCK)
        self.signal(self.stack, 'g', count=3)
        self.assertEqual({'m0'}, self.world.ids(self.inner).keys())
        self.world.act(self.inner, states.UNLOCK)
        self.signal(self.stack, 'a', value='signalled')
        row = self.world.resource(self.stack, 'a')
        self.assertEqual({'output': 'signalled'}, row.attributes)
        self.assertEqual(
            ('a', 'SIGNAL_COMPLETE'), self.world.transitions(self.stack)[-1]
        )
        self.signal(self.stack, 'g', count=3)
        self.assertEqual({'m0', 'm1', 'm2'}, self.world.ids(self.inner).keys())


class TestLostWorker(LockCase):
    """Another worker continues; a lock does not wait for a dead owner."""

    def test_a_lock_completes_after_the_loss_of_its_worker(self) -> None:
        gate = self.create_gate_at(self.world, 'lock', 'a')
        self.world.stacks.start_operation(self.stack.uuid, TENANT, states.LOCK)
        gate.wait_until_entered()
        (worker,) = self.world.workers
        del self.world.external.gates['lock', 'a']
        self.world.worker(sweep_interval=0.2)
        self.world.kill(worker)
        self.world.wait_until_settled(self.stack)
        self.assertEqual('LOCK_COMPLETE', self.world.reload(self.stack).state.name)
        self.assertEqual({'LOCK_COMPLETE'}, set(self.world.states(self.stack).values()))
