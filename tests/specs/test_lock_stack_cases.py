"""Spec 004: cases that it does not define."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from tests.specs.test_lock_stack import OPERATIONS, LockCase
from tests.stack_worlds import TENANT, Nothing, StackWorldCase, res, template
from watcherlite import exceptions
from watcherlite.domain.resource_results import Ready, ResourceInProgress
from watcherlite.domain.stacks import StackRequest
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.plugins import base
from watcherlite.states import stack as states
from watcherlite.states.stack import State

CHANGES = ('UPDATE', 'SUSPEND', 'RESUME', 'CHECK', 'CANCEL_UPDATE', 'ABANDON')


class TestStateTable(StackWorldCase):
    """All combinations of stack states and operations, as a table."""

    #: state -> the permitted operations
    under_lock: ClassVar[dict[str, set[str]]] = {
        'LOCK_IN_PROGRESS': set(),
        'LOCK_COMPLETE': {'LOCK', 'UNLOCK'},
        'LOCK_FAILED': {'LOCK', 'UNLOCK', 'DELETE'},
        'UNLOCK_IN_PROGRESS': set(),
        'UNLOCK_FAILED': {'UNLOCK', 'DELETE'},
    }

    def allowed(self, state: State, base: State) -> set[str]:
        """Return the permitted operations."""
        every = (*CHANGES, 'LOCK', 'UNLOCK', 'DELETE', 'SIGNAL', 'MARK_UNHEALTHY')
        return {
            operation
            for operation in every
            if states.blocking_reason(operation, state, base, 's') is None
        }

    def test_operations_outside_the_table_conflict_with_a_lock_and_name_the_state(
        self,
    ) -> None:
        for name, allowed in self.under_lock.items():
            state = State(*name.split('_', 1))
            for below in ('CREATE_COMPLETE', 'UPDATE_FAILED', 'SUSPEND_COMPLETE'):
                base = State(*below.split('_', 1))
                self.assertEqual(allowed, self.allowed(state, base), (name, below))
                for operation in {*CHANGES, 'LOCK', 'UNLOCK', 'DELETE'} - allowed:
                    refusal = states.blocking_reason(operation, state, base, 's')
                    assert refusal is not None
                    self.assertTrue(refusal.supported and refusal.locked, name)
                    busy = state.status == 'IN_PROGRESS'
                    self.assertIn(state.action if busy else name, refusal.text)

    def test_every_operation_but_an_unlock_may_start_after_an_unlock(self) -> None:
        found = self.allowed(State('UNLOCK', 'COMPLETE'), State('CREATE', 'COMPLETE'))
        self.assertEqual(
            {*CHANGES, 'LOCK', 'DELETE', 'SIGNAL', 'MARK_UNHEALTHY'}
            - {'RESUME', 'CANCEL_UPDATE'},
            found,
        )

    def test_a_lock_may_start_in_final_states_and_not_during_an_operation(self) -> None:
        for action in sorted(states.STACK_ACTIONS):
            state = State(action, states.IN_PROGRESS)
            found = self.allowed(state, State('CREATE', 'COMPLETE'))
            self.assertEqual(set(), found & {'LOCK', 'UNLOCK'}, state.name)
        for action in sorted(set(states.STACK_ACTIONS) - states.MAINTENANCE):
            for status in (states.COMPLETE, states.FAILED):
                state = State(action, status)
                found = self.allowed(state, state)
                gone = state.name == 'DELETE_COMPLETE'
                self.assertEqual(not gone, 'LOCK' in found, state.name)
                self.assertNotIn('UNLOCK', found, state.name)


class TestLockAgain(LockCase):
    """A7, A8: locking again with the same level does nothing; another level applies."""

    def test_a_failed_change_of_level_keeps_the_new_level_and_the_lock(self) -> None:
        self.world.act(self.stack, states.LOCK)
        self.world.external.fails.add(('unlock', 'a'))
        stack = self.world.act(self.stack, states.LOCK, states.STACKS)
        self.assertEqual(
            ('LOCK_FAILED', states.STACKS), (stack.state.name, stack.lock_level)
        )
        self.assert_allowed('lock', 'unlock', 'delete')
        self.world.external.fails.clear()
        stack = self.world.act(self.stack, states.LOCK, states.STACKS)
        self.assertEqual('LOCK_COMPLETE', stack.state.name)
        self.assertEqual(set(), self.world.external.locked)


class TestSignalsUnderLock(LockCase):
    """A9, A10: ignored in every state of a lock, unless they change nothing."""

    def test_a_signal_that_changes_no_stack_is_handled(self) -> None:
        class Handle(Nothing):
            modified_by_signals = False

            def create(self, context: base.ResourceContext) -> Any:
                return Ready(context.physical_name, attributes={'data': 'none'})

            def signal(self, context: base.ResourceContext, details: Any) -> Any:
                return Ready(attributes={'data': details['data']})

        world = self.create_stack_world({'Handle': Handle})
        stack = world.make({'h': res('Handle')})
        world.act(stack, states.LOCK)
        world.stacks.signal(stack.uuid, TENANT, 'h', {'data': 'signalled'})
        world.wait_until_settled(stack)
        row = world.resource(stack, 'h')
        self.assertEqual({'data': 'signalled'}, row.attributes)
        self.assertEqual('LOCK_COMPLETE', row.state.name)

    def test_a_signal_is_ignored_in_every_state_of_a_lock(self) -> None:
        for operation in ('lock', 'unlock'):
            if operation == 'unlock':
                self.world.act(self.stack, states.LOCK)
            gate = self.create_gate_at(self.world, operation, 'a')
            self.world.external.fails.add((operation, 'a'))
            OPERATIONS[operation](self.world, self.stack)
            gate.wait_until_entered()
            self.assert_ignored()
            gate.open()
            stack = self.world.wait_until_settled(self.stack)
            self.assertEqual(f'{operation.upper()}_FAILED', stack.state.name)
            self.assert_ignored()
            self.world.external.fails.clear()
            del self.world.external.gates[operation, 'a']
            self.world.act(self.stack, states.UNLOCK)

    def assert_ignored(self) -> None:
        """Check that a signal is accepted and ignored, and that an event records it."""
        before = len(self.world.store.list_events(limit=10_000))
        self.world.stacks.signal(self.stack.uuid, TENANT, 'a', {'value': 'signalled'})
        self.assertEqual([], self.world.external.of('signal'))
        # The lock in progress stores events at the same time.
        (stored,) = [
            stored
            for stored in self.world.store.list_events(limit=10_000)[before:]
            if stored.event.new_status == 'SIGNAL_COMPLETE'
        ]
        self.assertIn('Signal ignored: ', stored.event.message or '')


class TestRetainedResources(StackWorldCase):
    """Retained resources are unlocked before they are released."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        self.stack = self.world.make(
            {
                'broken': res(),
                'kept': res(_deletion_policy='Retain'),
                'g': res('Group', count=1, _deletion_policy='Retain'),
            }
        )
        self.inner = self.world.nested(self.stack, 'g')
        self.world.external.fails.add(('lock', 'broken'))
        self.world.act(self.stack, states.LOCK)

    def test_a_retained_resource_is_unlocked_before_it_is_released(self) -> None:
        self.assertNotEqual(set(), self.world.external.locked)

        self.world.act(self.stack, states.DELETE)

        inner = self.world.reload(self.inner)
        self.assertEqual((set(), 2), (self.world.external.locked, self.count_objects()))
        self.assertEqual((None, 'UNLOCK_COMPLETE'), (inner.level, inner.state.name))

    def test_a_group_that_stayed_locked_can_be_unlocked_separately(self) -> None:
        self.world.external.fails.add(('unlock', 'm0'))
        self.world.act(self.stack, states.DELETE)
        inner = self.world.reload(self.inner)
        self.assertEqual(('UNLOCK_FAILED', 'all'), (inner.state.name, inner.level))
        self.world.external.fails.clear()

        inner = self.world.act(inner, states.UNLOCK)

        self.assertEqual((None, 'UNLOCK_COMPLETE'), (inner.level, inner.state.name))
        self.world.act(inner, states.DELETE)
        self.assertEqual(1, self.count_objects())

    def count_objects(self) -> int:
        return len(self.world.external.samples)


class TestRepresentation(StackWorldCase):
    """The representation of a lock."""

    def test_only_locked_resources_are_shown_as_locked(self) -> None:
        class Declared(Nothing):
            def lock(self, context: Any) -> Any:
                return None

            def protects(self, context: Any) -> bool:
                return 'lock' in context.properties

        world = self.create_stack_world({'Declared': Declared})
        stack = world.make({'a': res('Declared', lock=1), 'b': res('Declared')})
        world.act(stack, states.LOCK)
        protected = {n: world.resource(stack, n).protected for n in 'ab'}
        self.assertEqual({'a': True, 'b': False}, protected)


class TestLockedResources(LockCase):
    """A11, A14, A15, A19, A25: the resources that a lock and an unlock include."""

    def test_resources_that_were_never_created_are_skipped(self) -> None:
        world = self.world
        world.external.fails.add(('create', 'bad'))
        stack = world.make(
            {'ok': res(), 'bad': res(), 'late': res(_depends_on='bad')}, name='other'
        )
        world.external.fails.clear()
        del world.external.calls[:]
        self.assertEqual('LOCK_COMPLETE', world.act(stack, states.LOCK).state.name)
        self.assertEqual(['ok'], world.external.of('lock'))
        self.assertEqual(
            {'ok': 'LOCK_COMPLETE', 'bad': 'CREATE_FAILED', 'late': 'INIT_COMPLETE'},
            world.states(stack),
        )
        stack = world.act(stack, states.UNLOCK)
        self.assertEqual('CREATE_FAILED', stack.base.name)

    def test_all_resources_that_could_not_be_locked_are_named(self) -> None:
        self.fail_lock('a', 'm0')
        stack = self.world.reload(self.stack)
        self.assertEqual('LOCK_FAILED', stack.state.name)
        for text in ('a: lock of a does not work', 'g: ', 'm0: '):
            self.assertIn(f'resources.{text}', stack.status_reason)
        self.assertEqual('LOCK_COMPLETE', self.world.states(self.stack)['b'])


class TestVanishedStack(LockCase):
    """A19: a resource that vanished while it was being locked is no longer locked."""

    def test_the_parent_of_a_vanished_stack_unlocks_and_recreates_it(self) -> None:
        self.fail_lock('m0')
        self.world.act(self.inner, states.DELETE)
        stack = self.world.act(self.stack, states.UNLOCK)
        self.assertEqual('UNLOCK_COMPLETE', stack.state.name)
        stack = self.world.change(self.stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        inner = self.world.nested(self.stack, 'g')
        self.assertEqual({'m0'}, self.world.ids(inner).keys())


class TestRefusals(LockCase):
    """A12, A20: every change is rejected; operations that only read are allowed."""

    def test_every_change_of_the_stack_or_a_nested_stack_is_refused(self) -> None:
        self.world.act(self.stack, states.LOCK)
        before = self.world.transitions(self.stack)
        new = StackRequest(self.stack.name, template({'a': res(value='new')}))
        found = self.world.stacks.preview_update(self.stack.uuid, TENANT, new)
        self.assertEqual(['a'], [planned.name for planned in found['updated']])
        new = StackRequest(self.stack.name, None, existing=True, tags=('t',))
        self.assertRaises(
            exceptions.Conflict, self.world.stacks.update, self.stack.uuid, TENANT, new
        )
        self.assertEqual((), self.world.reload(self.stack).tags)
        for name in ('update', 'delete', 'suspend', 'check', 'abandon'):
            self.assertIn(self.inner.name, self.refusal_of(name, self.inner))
        self.assertRaises(exceptions.Conflict, self.world.mark, self.inner, 'm0')
        self.assertEqual(before, self.world.transitions(self.stack))
        self.world.act(self.stack, states.UNLOCK)
        row = self.world.mark(self.inner, 'm0')
        self.assertEqual('CHECK_FAILED', row.state.name)


class TestRaces(LockCase):
    """A23: one compare and set decides; the loser is rejected."""

    def test_of_a_concurrent_lock_and_operation_only_one_starts(self) -> None:
        names = ('update', 'check', 'suspend', 'abandon', 'lock')
        stacks = [self.world.make({'a': res()}, name=f'race-{name}') for name in names]
        # No operation may end before the other one reads the state.
        for worker in list(self.world.workers):
            self.world.kill(worker)
        for name, stack in zip(names, stacks, strict=True):
            begun, refused = self.call_concurrently(
                lambda s=stack: self.world.stacks.start_operation(
                    s.uuid, TENANT, states.LOCK
                ),
                lambda s=stack, n=name: self.other(n, s),
            )
            self.assertEqual((1, 1), (len(begun), len(refused)), name)

    def other(self, name: str, stack: Any) -> Any:
        """Begin the operation that races with a lock."""
        if name == 'lock':
            return self.world.stacks.start_operation(
                stack.uuid, TENANT, states.LOCK, states.STACKS
            )
        return OPERATIONS[name](self.world, stack)

    def call_concurrently(
        self, *calls: Callable[[], Any]
    ) -> tuple[list[Any], list[Any]]:
        """Make calls concurrently; return the results and the exceptions."""
        barrier = threading.Barrier(len(calls))
        begun: list[Any] = []
        refused: list[Any] = []

        def run(call: Callable[[], Any]) -> None:
            barrier.wait()
            try:
                begun.append(call())
            except (exceptions.Conflict, exceptions.NotFound) as error:
                refused.append(error)

        with ThreadPoolExecutor(len(calls)) as pool:
            list(pool.map(run, calls))
        return begun, refused


class TestTimeout(StackWorldCase):
    """A24: a lock has a timeout; afterwards it can be unlocked."""

    def test_a_lock_that_times_out_fails_and_can_be_unlocked(self) -> None:
        class Slow(Nothing):
            def lock(self, context: base.ResourceContext) -> Any:
                return ResourceInProgress({}, 0.05)

            def poll(self, context: base.ResourceContext, *arguments: Any) -> Any:
                return ResourceInProgress({}, 0.05)

        world = self.create_stack_world({'Slow': Slow}, limits=StackLimits(timeout=1))
        world.clock.pause()
        stack = world.make({'x': res('Slow'), 'y': res()})
        world.stacks.start_operation(stack.uuid, TENANT, states.LOCK, None)
        world.wait_until(lambda: world.states(stack)['y'] == 'LOCK_COMPLETE')
        world.clock.resume()
        stack = world.wait_until_settled(stack)
        self.assertEqual('LOCK_FAILED', stack.state.name)
        self.assertIn('Timed out', stack.status_reason)
        self.assertEqual('LOCK_COMPLETE', world.states(stack)['y'])
        stack = world.act(stack, states.UNLOCK)
        self.assertEqual('UNLOCK_COMPLETE', stack.state.name)
        self.assertEqual(set(), world.external.locked)


class TestFinalStates(LockCase):
    """A27: a stack can be locked in any final state, which it keeps."""

    def test_rolled_back_and_undeletable_stacks_can_be_locked_and_deleted_ones_not(
        self,
    ) -> None:
        self.world.external.fails.add(('update', 'a'))
        changed = {'a': res(value='x'), 'b': res()}
        before = self.world.change(self.stack, changed, disable_rollback=False)
        self.world.external.fails.clear()
        self.assert_lock_and_unlock(before.state.name)
        self.world.external.fails.add(('delete', 'a'))
        before = self.world.act(self.stack, states.DELETE)
        self.world.external.fails.clear()
        self.assertEqual('DELETE_FAILED', before.state.name)
        self.assert_lock_and_unlock('DELETE_FAILED')
        stack = self.world.act(self.stack, states.DELETE)
        self.assertEqual('DELETE_COMPLETE', stack.state.name)
        for operation in ('lock', 'unlock'):
            self.assertEqual(
                'Stack s is deleted.', self.refusal_of(operation, self.stack)
            )
        self.refusal_of('check', self.stack, exceptions.StackNotFound)

    def assert_lock_and_unlock(self, before: str) -> None:
        for operation in (states.LOCK, states.UNLOCK):
            stack = self.world.act(self.stack, operation)
            found = (stack.state.name, stack.base.name)
            self.assertEqual((f'{operation}_COMPLETE', before), found)


class TestTwoLocks(StackWorldCase):
    """A17, three levels of stacks: one lock ends, the other one remains."""

    def setUp(self) -> None:
        super().setUp()
        inner = 'heat_template_version: 2018-08-31\nresources: {x: {type: Sample}}\n'
        middle = (
            'heat_template_version: 2018-08-31\n'
            'resources: {y: {type: Sample}, inner: {type: inner.yaml}}\n'
        )
        self.world = self.create_stack_world()
        self.outer = self.world.make(
            {'z': res(), 'middle': {'type': 'middle.yaml'}},
            files={'middle.yaml': middle, 'inner.yaml': inner},
        )
        self.middle = self.world.nested(self.outer, 'middle')
        self.inner = self.world.nested(self.middle, 'inner')

    def levels(self) -> list[tuple[str, str | None]]:
        """Return the state and the lock level of each stack."""
        stacks = (self.outer, self.middle, self.inner)
        return [(s.state.name, s.level) for s in map(self.world.reload, stacks)]

    def protected(self) -> set[str]:
        """Return the names of the locked resources."""
        return {
            name
            for stack in (self.outer, self.middle, self.inner)
            for name in self.world.states(stack)
            if self.world.resource(stack, name).physical_id
            in self.world.external.locked
        }

    def test_a_weaker_lock_of_a_parent_does_not_reduce_a_stronger_lock(self) -> None:
        self.world.act(self.middle, states.LOCK, states.ALL)
        refused = self.assertRaises(
            exceptions.Conflict, OPERATIONS['unlock'], self.world, self.inner
        )
        self.assertTrue(str(refused).endswith(f'unlock {self.middle.name}.'), refused)
        self.world.act(self.outer, states.LOCK, states.STACKS)
        middle = self.world.reload(self.middle)
        self.assertEqual(
            (states.ALL, states.STACKS, states.ALL),
            (middle.lock_level, middle.inherited_level, middle.level),
        )
        self.assertEqual({'y', 'x'}, self.protected())
        self.world.act(self.outer, states.UNLOCK)
        locked = [('LOCK_COMPLETE', states.ALL)] * 2
        self.assertEqual([('UNLOCK_COMPLETE', None), *locked], self.levels())
        self.assertEqual({'y', 'x'}, self.protected())
        self.world.act(self.middle, states.UNLOCK)
        self.assertEqual(set(), self.protected())
        self.assertEqual([('UNLOCK_COMPLETE', None)] * 3, self.levels())

    def test_the_end_of_a_stronger_lock_of_a_parent_keeps_the_weaker_lock(self) -> None:
        self.world.act(self.middle, states.LOCK, states.STACKS)
        self.world.act(self.outer, states.LOCK, states.ALL)
        self.assertEqual({'z', 'y', 'x'}, self.protected())
        self.world.act(self.outer, states.UNLOCK)
        self.assertEqual(set(), self.protected())
        locked = [('LOCK_COMPLETE', states.STACKS)] * 2
        self.assertEqual([('UNLOCK_COMPLETE', None), *locked], self.levels())

    def test_the_end_of_an_own_lock_keeps_the_lock_of_the_parent(self) -> None:
        self.world.act(self.middle, states.LOCK, states.ALL)
        self.world.act(self.outer, states.LOCK, states.ALL)
        self.world.act(self.middle, states.UNLOCK)
        self.assertEqual([('LOCK_COMPLETE', states.ALL)] * 3, self.levels())
        self.assertEqual({'z', 'y', 'x'}, self.protected())
        self.world.act(self.outer, states.UNLOCK)
        self.assertEqual(set(), self.protected())
        self.assertEqual([('UNLOCK_COMPLETE', None)] * 3, self.levels())
