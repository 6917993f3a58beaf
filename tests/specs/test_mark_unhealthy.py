"""Spec 002: health marks of resources."""

from collections.abc import Callable
from typing import Any

from tests.factories import make_action
from tests.stack_worlds import TENANT, Nothing, StackWorld, StackWorldCase, res, sample
from watcherlite import exceptions
from watcherlite.domain.actions import ActionChange
from watcherlite.domain.resource_results import Ready
from watcherlite.domain.stacks import Resource, Stack
from watcherlite.engine.stacks.action_inputs import CONVERGE, ResourceInputs
from watcherlite.engine.stacks.projection import resource_transitions
from watcherlite.plugins import base
from watcherlite.states import stack as states


class MarkCase(StackWorldCase):
    """A stack of two resources, one of which depends on the other."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        self.stack = self.world.make(
            {'web': res(value='w'), 'proxy': res(value={'get_resource': 'web'})}
        )

    def resource(self) -> Resource:
        return self.world.resource(self.stack, 'web')

    def refusal(self, error: type[Exception], name: str = 'web') -> str:
        """Check that a mark is rejected and changes nothing; return the message."""
        before = self.world.states(self.stack)
        raised = self.assertRaises(error, self.world.mark, self.stack, name)
        self.assertEqual(before, self.world.states(self.stack))
        return str(raised)


class TestHealthMark(MarkCase):
    """`mark_unhealthy` true: the resource is CHECK_FAILED."""

    def test_a_health_mark_is_one_event_and_changes_only_the_resource(self) -> None:
        facts = self.world.transitions(self.stack)
        stack, before = self.world.reload(self.stack), self.resource()
        row = self.world.mark(self.stack, 'web')
        self.assertEqual(resource_transitions.DEFAULT_REASON, row.status_reason)
        # A second mark changes the reason, and stores no event.
        for reason in ('it answers invalid', 'it hangs'):
            row = self.world.mark(self.stack, 'web', reason=reason)
            self.assertEqual(states.State('CHECK', 'FAILED', reason), row.state)
        self.assertEqual(
            [('web', 'CHECK_FAILED')], self.world.transitions(self.stack)[len(facts) :]
        )
        self.assertEqual(before.updated_at, row.updated_at)
        self.assertEqual(stack, self.world.reload(self.stack))
        self.assertEqual('CREATE_COMPLETE', stack.state.name)
        self.assertEqual(
            {'web': 'CHECK_FAILED', 'proxy': 'CREATE_COMPLETE'},
            self.world.states(self.stack),
        )

    def test_a_resource_is_marked_and_reset_by_its_id_or_physical_id(self) -> None:
        class Named(Nothing):
            def create(self, context: base.ResourceContext) -> Any:
                return Ready('the-id')

            def reference(self, context: base.ResourceContext) -> str:
                return 'what others call it'

        world = self.create_stack_world({'Named': Named})
        stack = world.make({'n': res('Named')})
        for name in ('the-id', 'what others call it'):
            for healthy, state in ((False, 'CHECK_FAILED'), (True, 'CHECK_COMPLETE')):
                row = world.mark(stack, name, not healthy)
                self.assertEqual(('n', state), (row.name, row.state.name))

    def test_an_unknown_resource_and_an_ambiguous_id_are_refused(self) -> None:
        text = self.refusal(exceptions.ResourceNotFound, 'unknown')
        self.assertEqual('The Resource (unknown) could not be found in Stack s.', text)
        # The physical id of a replaced resource names no resource.
        old = self.resource().physical_id or ''
        self.world.mark(self.stack, old)
        self.world.change(self.stack)
        self.refusal(exceptions.ResourceNotFound, old)
        with self.world.store.transaction() as tx:
            tx.lock_stacks([self.stack.id])
            rows = tx.resources_of([self.stack.id])
            tx.save_resources([row.evolve(physical_id='the-same') for row in rows])
        text = self.refusal(exceptions.PhysicalResourceIDAmbiguity, 'the-same')
        self.assertIn('proxy, web', text)


class TestUnchangedState(MarkCase):
    """Only its state changes; a resource that is being deleted does not change."""

    def test_a_resource_that_could_not_be_deleted_is_unchanged(self) -> None:
        self.world.external.fails.add(('delete', 'web'))
        self.world.change(self.stack, {'proxy': res(value='x')})
        before = self.resource()
        self.assertEqual('DELETE_FAILED', before.state.name)
        facts = self.world.transitions(self.stack)
        self.assertEqual(before, self.world.mark(self.stack, 'web'))
        self.assertEqual(facts, self.world.transitions(self.stack))

    def test_any_type_can_be_marked_without_a_change_of_its_group(self) -> None:
        resources = {'n': res('Nothing'), 'g': res('Group', count=2)}
        stack = self.world.make(resources, name='outer')
        self.world.mark(self.world.nested(stack, 'g'), 'm1')
        self.assertEqual(
            {'n': 'CREATE_COMPLETE', 'g': 'CREATE_COMPLETE'}, self.world.states(stack)
        )
        self.assertEqual('CREATE_COMPLETE', self.world.reload(stack).state.name)
        for name in resources:
            self.assertEqual('CHECK_FAILED', self.world.mark(stack, name).state.name)
        # A resource whose type repairs nothing is not replaced.
        before = self.world.ids(stack)['n']
        self.world.change(stack)
        self.assertEqual(before, self.world.ids(stack)['n'])
        self.assertEqual('CHECK_COMPLETE', self.world.states(stack)['n'])


class TestMarkWhileSuspended(MarkCase):
    """A mark can be removed, and the stack can be resumed."""

    def test_a_marked_resource_does_not_prevent_a_resume_of_the_others(self) -> None:
        self.world.act(self.stack, states.SUSPEND)
        self.world.mark(self.stack, 'web')
        row = self.world.mark(self.stack, 'web', False)
        # The resource is suspended again, and is resumed with the others.
        self.assertEqual('SUSPEND_COMPLETE', row.state.name)
        self.world.act(self.stack, states.RESUME)
        self.assertEqual(['web', 'proxy'], self.world.external.of('resume'))
        self.assertEqual(
            dict.fromkeys(('web', 'proxy'), 'RESUME_COMPLETE'),
            self.world.states(self.stack),
        )
        self.world.act(self.stack, states.SUSPEND)
        self.world.mark(self.stack, 'web')
        stack = self.world.act(self.stack, states.RESUME)
        self.assertEqual('RESUME_COMPLETE', stack.state.name)
        self.assertEqual(
            {'web': 'CHECK_FAILED', 'proxy': 'RESUME_COMPLETE'},
            self.world.states(self.stack),
        )
        before = self.world.ids(self.stack)
        stack = self.world.change(self.stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertNotEqual(before['web'], self.world.ids(self.stack)['web'])


class TestSuspensionAfterMark(MarkCase):
    """A mark and a failure survive the suspension and resumption of the stack."""

    def test_a_marked_resource_is_suspended_and_resumed_with_the_others(self) -> None:
        self.world.mark(self.stack, 'web', reason='it is slow')
        handler_calls = []
        for operation in (states.SUSPEND, states.RESUME):
            stack = self.world.act(self.stack, operation)
            row = self.resource()
            handler_calls.append((stack.state.name, row.state, row.under_mark))
        marked = states.State('CHECK', 'FAILED', 'it is slow')
        suspended, resumed = (
            states.State(action, 'COMPLETE', 'state changed')
            for action in (states.SUSPEND, states.RESUME)
        )
        self.assertEqual(
            [
                ('SUSPEND_COMPLETE', marked, suspended),
                ('RESUME_COMPLETE', marked, resumed),
            ],
            handler_calls,
        )
        for operation in ('suspend', 'resume'):
            names = sorted(self.world.external.of(operation))
            self.assertEqual(['proxy', 'web'], names)

    def test_a_resource_without_suspension_does_not_prevent_others(self) -> None:
        self.world.mark(self.stack, 'web')
        self.world.act(self.stack, states.SUSPEND)
        row = self.world.mark(self.stack, 'web', False)
        # A reset restores the suspended state.
        self.assertEqual('SUSPEND_COMPLETE', row.state.name)
        self.world.act(self.stack, states.RESUME)
        self.world.mark(self.stack, 'web')
        self.world.external.fails |= {('suspend', 'web'), ('resume', 'web')}
        for operation in (states.SUSPEND, states.RESUME):
            stack = self.world.act(self.stack, operation)
            self.assertEqual(f'{operation}_COMPLETE', stack.state.name)
            self.assertEqual(
                {'web': 'CHECK_FAILED', 'proxy': f'{operation}_COMPLETE'},
                self.world.states(self.stack),
            )

    def test_a_failed_resource_and_its_groups_are_unchanged(self) -> None:
        self.world.external.fails |= {('create', 'm1')}
        stack = self.world.make({'g': res('Group', count=2)}, name='t')
        self.world.external.fails.clear()
        inner = self.world.nested(stack, 'g')
        for operation in (states.SUSPEND, states.RESUME):
            self.world.act(stack, operation)
            self.assertEqual({'g': 'CREATE_FAILED'}, self.world.states(stack))
            self.assertEqual(
                {'m0': f'{operation}_COMPLETE', 'm1': 'CREATE_FAILED'},
                self.world.states(inner),
            )
        stack = self.world.change(stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertEqual('CREATE_COMPLETE', self.world.states(inner)['m1'])


class TestSkippedResources(MarkCase):
    """Resources that an operation skips show their health mark after it."""

    def lock_and_unlock(self) -> None:
        self.world.act(self.stack, states.LOCK)
        self.world.act(self.stack, states.UNLOCK)
        self.assertEqual('UNLOCK_COMPLETE', self.world.states(self.stack)['web'])

    def test_an_update_a_check_and_a_resume_show_skipped_resources(self) -> None:
        self.world.mark(self.stack, 'web', reason='it is slow')
        self.lock_and_unlock()
        self.world.mark(self.stack, 'web', False)
        self.lock_and_unlock()
        self.world.change(self.stack)
        shown = {'web': 'CHECK_COMPLETE', 'proxy': 'CREATE_COMPLETE'}
        self.assertEqual(shown, self.world.states(self.stack))

        self.world.mark(self.stack, 'web', reason='it is slow')
        self.lock_and_unlock()
        stack = self.world.act(self.stack, states.CHECK)
        self.assertEqual(
            'resources.web: marked unhealthy: it is slow', stack.status_reason
        )
        row = self.resource()
        self.assertEqual(states.State('CHECK', 'FAILED', 'it is slow'), row.state)
        self.assertIsNone(row.under_lock)
        self.assertIn(('web', 'CHECK_FAILED'), self.world.transitions(self.stack)[-4:])

        self.world.act(self.stack, states.SUSPEND)
        self.world.mark(self.stack, 'web', reason='it is slow')
        self.lock_and_unlock()
        self.world.act(self.stack, states.RESUME)
        self.assertEqual(
            {'web': 'CHECK_FAILED', 'proxy': 'RESUME_COMPLETE'},
            self.world.states(self.stack),
        )


class TestReset(MarkCase):
    """`mark_unhealthy` false: CHECK_FAILED becomes CHECK_COMPLETE."""

    def test_a_reset_applies_to_marked_and_check_failed_resources_only(self) -> None:
        facts = self.world.transitions(self.stack)
        row = self.world.mark(self.stack, 'web', False, 'it is well')
        self.assertEqual('CREATE_COMPLETE', row.state.name)
        self.assertEqual(facts, self.world.transitions(self.stack))
        self.world.mark(self.stack, 'web')
        row = self.world.mark(self.stack, 'web', False, 'it answers again')
        well = states.State('CHECK', 'COMPLETE', 'it answers again')
        self.assertEqual((well, None), (row.state, row.under_mark))
        # After two marks, a reset restores the state before the first one.
        for reason in ('it is slow', 'it hangs'):
            self.world.mark(self.stack, 'web', reason=reason)
        row = self.world.mark(self.stack, 'web', False)
        self.assertEqual('CHECK_COMPLETE', row.state.name)
        before = self.world.ids(self.stack)
        stack = self.world.change(self.stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertEqual(before, self.world.ids(self.stack))
        self.world.external.fails.add(('check', 'web'))
        self.world.act(self.stack, states.CHECK)
        self.assertEqual('CHECK_FAILED', self.resource().state.name)
        row = self.world.mark(self.stack, 'web', False)
        self.assertEqual('CHECK_COMPLETE', row.state.name)

    def test_a_reset_does_not_heal_other_failures_even_after_a_mark(self) -> None:
        self.world.external.fails.add(('update', 'web'))
        self.world.change(self.stack, {'web': res(value='x'), 'proxy': res()})
        before, facts = self.resource(), self.world.transitions(self.stack)
        self.assertEqual('UPDATE_FAILED', before.state.name)
        self.assertEqual(
            before, self.world.mark(self.stack, 'web', False, 'it is well')
        )
        self.assertEqual(facts, self.world.transitions(self.stack))
        self.world.mark(self.stack, 'web')
        row = self.world.mark(self.stack, 'web', False)
        self.assertEqual(before.state, row.state)

    def test_the_next_update_creates_an_uncreated_resource(self) -> None:
        self.world.external.fails.add(('create', 'web'))
        resources = {'web': res(), 'late': res(_depends_on='web')}
        stack = self.world.make(resources, name='other')
        self.world.mark(stack, 'late')
        row = self.world.mark(stack, 'late', False)
        self.assertEqual('INIT_COMPLETE', row.state.name)
        self.world.external.fails.clear()
        self.world.change(stack)
        self.assertEqual(2, len([i for i in self.world.ids(stack).values() if i]))


class TestMarkDuringOperation(MarkCase):
    """It fails with ActionInProgress if it cannot lock the resource."""

    def test_a_resource_in_operation_refuses_a_mark_and_others_accept_it(self) -> None:
        gate = self.create_gate_at(self.world, 'update', 'web')
        resources = {'web': res(value='x'), 'proxy': res(_depends_on='web')}
        before = self.world.ids(self.stack)
        self.world.start_update(self.stack, resources)
        gate.wait_until_entered()
        text = self.refusal(exceptions.ActionInProgress, 'web')
        self.assertEqual(
            'Resource web of stack s already has an action (UPDATE) in progress.', text
        )
        row = self.world.mark(self.stack, 'proxy')
        self.assertEqual('CHECK_FAILED', row.state.name)
        gate.open()
        stack = self.world.wait_until_settled(self.stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        after = self.world.ids(self.stack)
        self.assertEqual(
            {'proxy'}, {name for name in after if after[name] != before[name]}
        )

    def test_a_resource_marked_after_the_decision_to_keep_it_stays_marked(self) -> None:
        decided, change = {'unchanged': True, 'healed': False}, self.world.mark
        row = change(self.stack, 'web')
        inputs = ResourceInputs(row.stack_id, row.id, CONVERGE, row.handler)
        before = make_action(status='RUNNING')
        after = before.evolve(status='SUCCEEDED', outputs=decided)
        now = self.world.clock.now()

        kept = resource_transitions.follow_action(
            row, ActionChange(before, after), inputs, now
        )

        self.assertEqual((row.state, row.under_mark), (kept.state, kept.under_mark))

    def test_a_scaling_group_refuses_a_mark_and_its_idle_members_do_not(self) -> None:
        stack = self.world.make({'g': res('Group', count=1), 'z': res()}, name='outer')
        nested = self.world.nested(stack, 'g')
        gate = self.create_gate_at(self.world, 'create', 'm1')
        self.world.stacks.signal(stack.uuid, TENANT, 'g', {'count': 2})
        gate.wait_until_entered()
        for of, name in ((stack, 'g'), (nested, 'm1')):
            self.assertRaises(exceptions.ActionInProgress, self.world.mark, of, name)
        for of, name in ((stack, 'z'), (nested, 'm0')):
            row = self.world.mark(of, name)
            self.assertEqual('CHECK_FAILED', row.state.name)
        gate.open()
        self.world.wait_until_settled(stack)

    def make_changed(
        self, change: Callable[[StackWorld, Stack], object]
    ) -> tuple[StackWorld, Stack]:
        """Return a stack of one resource, and its world.

        :param change: called with both while the next update is decided
        """
        changes: list[Callable[[], object]] = []
        kind: Any = sample(self.world.external)

        class Marked(kind):
            """A handler during whose decision a user changes the resource."""

            def decide(self, before: Any, after: Any, failed: bool) -> str:
                found = str(super().decide(before, after, failed))
                while changes:
                    changes.pop()()
                return found

        world = self.create_stack_world({'Marked': Marked})
        stack = world.make({'a': res('Marked', value='1')}, name='m')
        changes.append(lambda: change(world, stack))
        return world, stack

    def test_a_resource_marked_during_the_decision_to_update_it_is_replaced(
        self,
    ) -> None:
        world, stack = self.make_changed(lambda world, stack: world.mark(stack, 'a'))
        before = world.ids(stack)

        stack = world.change(stack, {'a': res('Marked', value='2')})

        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertNotEqual(before, world.ids(stack))
        self.assertEqual({'a': 'CREATE_COMPLETE'}, world.states(stack))

    def test_a_replaced_resource_is_not_left_in_progress_if_its_update_fails(
        self,
    ) -> None:
        def mark(world: StackWorld, stack: Stack) -> None:
            world.mark(stack, 'a')
            self.world.external.fails.add(('create', 'a'))

        world, stack = self.make_changed(mark)
        earlier = len(world.transitions(stack))

        stack = world.change(stack, {'a': res('Marked', value='2')})

        self.assertEqual('UPDATE_FAILED', stack.state.name)
        rows = world.store.list_resources([stack.id], superseded=True)
        states_of_rows = sorted(row.state.name for row in rows)
        self.assertEqual(['CHECK_FAILED', 'CREATE_FAILED'], states_of_rows)
        self.assertEqual(
            [
                ('m', 'UPDATE_IN_PROGRESS'),
                ('a', 'CHECK_FAILED'),
                ('a', 'UPDATE_IN_PROGRESS'),
                ('a', 'CREATE_IN_PROGRESS'),
                ('a', 'CHECK_FAILED'),
                ('a', 'CREATE_FAILED'),
                ('m', 'UPDATE_FAILED'),
            ],
            world.transitions(stack)[earlier:],
        )
        self.world.external.fails.clear()
        stack = world.change(stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        created = {one for one in self.world.external.samples if one.startswith('m-')}
        self.assertEqual({*world.ids(stack).values()}, created)

    def test_a_locked_stack_refuses_a_mark_until_it_is_unlocked(self) -> None:
        self.world.act(self.stack, states.LOCK)
        self.assertIn('unlock', self.refusal(exceptions.Conflict))
        self.world.act(self.stack, states.UNLOCK)
        row = self.world.mark(self.stack, 'web')
        self.assertEqual('CHECK_FAILED', row.state.name)


class TestNextUpdate(MarkCase):
    """The next update replaces a FAILED resource, whatever its last action was."""

    def assert_only_replaced(self, *names: str) -> None:
        """Check that an update without changes replaces exactly these resources."""
        before = self.world.ids(self.stack)
        stack = self.world.change(self.stack)
        after = self.world.ids(self.stack)
        self.assertEqual({*names}, {n for n in after if after[n] != before[n]})
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        gone = {before[name] for name in names}
        self.assertEqual(set(), gone & self.world.external.samples.keys())

    def test_a_marked_resource_is_replaced_and_its_references_are_updated(self) -> None:
        self.world.mark(self.stack, 'web')
        self.assert_only_replaced('web')
        self.assertEqual(
            {'web': 'CREATE_COMPLETE', 'proxy': 'UPDATE_COMPLETE'},
            self.world.states(self.stack),
        )
        self.assertIsNone(self.resource().under_mark)
        row = self.world.resource(self.stack, 'proxy')
        self.assertEqual(self.resource().physical_id, row.properties['value'])
        # A check does not remove the mark.
        self.world.mark(self.stack, 'web', reason='it answers invalid')
        stack = self.world.act(self.stack, states.CHECK)
        self.assertEqual('CHECK_FAILED', stack.state.name)
        self.assertIn('it answers invalid', stack.status_reason)
        self.assertEqual('CHECK_FAILED', self.world.states(self.stack)['web'])
        self.assert_only_replaced('web')

    def test_a_resource_with_a_failed_check_or_update_is_replaced(self) -> None:
        self.world.external.fails |= {('check', 'web'), ('update', 'web')}
        stack = self.world.act(self.stack, states.CHECK)
        self.assertEqual('CHECK_FAILED', stack.state.name)
        self.assert_only_replaced('web')
        self.world.change(self.stack, {'web': res(value='x'), 'proxy': res()})
        self.assertEqual('UPDATE_FAILED', self.resource().state.name)
        self.assert_only_replaced('web')

    def test_a_rollback_restores_the_marked_resource(self) -> None:
        self.world.mark(self.stack, 'web')
        before = self.world.ids(self.stack)
        self.world.external.fails.add(('create', 'new'))
        resources = {
            'web': res(value='w'),
            'proxy': res(value={'get_resource': 'web'}),
            'new': res(_depends_on='web'),
        }
        stack = self.world.change(self.stack, resources, disable_rollback=False)
        self.assertEqual('ROLLBACK_COMPLETE', stack.state.name)
        self.assertEqual(before, self.world.ids(self.stack))
        self.assertEqual('CHECK_FAILED', self.world.states(self.stack)['web'])


class TestNestedStacks(StackWorldCase):
    """A nested stack is replaced as a whole only if it is marked itself."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        self.stack = self.world.make({'g': res('Group', count=3), 'z': res()})
        self.inner = self.world.nested(self.stack, 'g')

    def test_a_marked_or_check_failed_member_does_not_replace_its_stack(self) -> None:
        self.world.external.fails.add(('check', 'm2'))
        self.world.act(self.stack, states.CHECK)
        self.assertEqual('CHECK_FAILED', self.world.states(self.stack)['g'])
        for name in ('m2', 'm1'):
            before = self.world.ids(self.inner)
            if name == 'm1':
                self.world.mark(self.inner, name)
            self.world.change(self.stack)
            after = self.world.ids(self.inner)
            self.assertEqual(self.inner.id, self.world.nested(self.stack, 'g').id)
            self.assertEqual({name}, {n for n in after if after[n] != before[n]})

    def test_a_marked_nested_stack_is_replaced_with_its_contents(self) -> None:
        before = set(self.world.ids(self.inner).values())
        self.world.mark(self.stack, 'g')
        self.world.change(self.stack)
        new = self.world.nested(self.stack, 'g')
        self.assertNotEqual(self.inner.id, new.id)
        self.assertEqual('DELETE_COMPLETE', self.world.reload(self.inner).state.name)
        self.assertEqual(set(), before & set(self.world.ids(new).values()))
        self.assertEqual(set(), before & self.world.external.samples.keys())
