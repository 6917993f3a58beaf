"""Stacks: complete operations, and their results after errors."""

import json

from tests.stack_worlds import TENANT, StackWorldCase, res, template
from watcherlite import exceptions
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.states import stack as states

CHAIN = {
    'a': res(value='1'),
    'b': res(value={'get_attr': ['a', 'output']}),
    'c': res(value={'get_resource': 'b'}, _depends_on=['a']),
}


class TestCreate(StackWorldCase):
    """Resources are created in parallel along their dependencies."""

    def test_resources_are_created_after_their_dependencies(self) -> None:
        world = self.create_stack_world()
        stack = world.start_creation(CHAIN)
        # The state when the request returns.
        self.assertEqual('CREATE_IN_PROGRESS', stack.state.name)
        self.assertEqual('CREATE_IN_PROGRESS', world.reload(stack).state.name)
        refused = self.assertRaises(exceptions.StackExists, world.start_creation, CHAIN)
        self.assertIn('s', str(refused))
        world.worker()
        world.wait_until_settled(stack)
        begins, ends = 'CREATE_IN_PROGRESS', 'CREATE_COMPLETE'
        made = [(name, state) for name in 'abc' for state in (begins, ends)]
        self.assertEqual([('s', begins), *made, ('s', ends)], world.transitions(stack))
        self.assertEqual('1', world.resource(stack, 'b').properties['value'])
        self.assertEqual(
            world.ids(stack)['b'], world.resource(stack, 'c').properties['value']
        )

    def test_independent_resources_run_concurrently(self) -> None:
        world = self.create_stack_world()
        gates = [self.create_gate_at(world, 'create', name) for name in ('x', 'y')]
        world.worker()
        stack = world.start_creation({'x': res(), 'y': res()})
        for gate in gates:
            gate.wait_until_entered()
        for gate in gates:
            gate.open()
        self.assertEqual('CREATE_COMPLETE', world.wait_until_settled(stack).state.name)
        self.assertEqual('CREATE_COMPLETE', world.make({}, name='empty').state.name)

    def test_a_resource_in_creation_is_polled_and_has_its_physical_id(self) -> None:
        world = self.create_stack_world()
        gate = self.create_gate_at(world, 'poll', 'x')
        world.worker()
        stack = world.start_creation({'x': res(wait=3)})
        gate.wait_until_entered()
        row = world.resource(stack, 'x')
        self.assertEqual('CREATE_IN_PROGRESS', row.state.name)
        self.assertIsNotNone(row.physical_id)
        gate.open()
        world.wait_until_settled(stack)
        self.assertEqual(
            (1, 3), tuple(map(len, map(world.external.of, ('create', 'poll'))))
        )
        self.assertEqual(row.physical_id, world.ids(stack)['x'])

    def test_after_a_failure_only_independent_resources_are_created(self) -> None:
        world = self.create_stack_world()
        world.external.fails.add(('create', 'b'))
        stack = world.make({**CHAIN, 'free': res()})
        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertEqual(
            'Resource action failed: resources.b: create of b does not work',
            stack.status_reason,
        )
        self.assertEqual(
            {
                **dict.fromkeys(('a', 'free'), 'CREATE_COMPLETE'),
                'b': 'CREATE_FAILED',
                'c': 'INIT_COMPLETE',
            },
            world.states(stack),
        )
        # A rollback deletes everything.
        before = set(world.external.samples)
        stack = world.make(CHAIN, name='back', disable_rollback=False)
        self.assertEqual('ROLLBACK_COMPLETE', stack.state.name)
        self.assertEqual(before, set(world.external.samples))
        self.assertEqual({}, world.states(stack))
        self.assertEqual(
            [
                *('CREATE_IN_PROGRESS', 'CREATE_FAILED'),
                *('ROLLBACK_IN_PROGRESS', 'ROLLBACK_COMPLETE'),
            ],
            [state for name, state in world.transitions(stack) if name == 'back'],
        )


class TestUpdate(StackWorldCase):
    """Resources are updated in place, replaced, added and removed."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        self.stack = self.world.make(CHAIN)
        self.before = self.world.ids(self.stack)
        self.count_before = len(self.world.transitions(self.stack))

    def new_transitions(self) -> list[tuple[str, str]]:
        """Return the changes since the creation of the stack."""
        return self.world.transitions(self.stack)[self.count_before :]

    def test_changed_resources_and_their_dependents_are_updated_in_place(self) -> None:
        del self.world.external.calls[:]
        self.world.change(self.stack, CHAIN)
        self.assertEqual([], self.world.external.calls)
        begins, ends = ('s', 'UPDATE_IN_PROGRESS'), ('s', 'UPDATE_COMPLETE')
        self.assertEqual([begins, ends], self.new_transitions())
        self.world.change(self.stack, {**CHAIN, 'a': res(value='2')})
        self.assertEqual(self.before, self.world.ids(self.stack))
        changes = [
            (name, f'UPDATE_{status}')
            for name in 'ab'
            for status in ('IN_PROGRESS', 'COMPLETE')
        ]
        self.assertEqual([begins, *changes, ends], self.new_transitions()[2:])

    def test_a_replaced_resource_is_deleted_last(self) -> None:
        self.world.change(self.stack, {**CHAIN, 'a': res(value='1', fixed='f')})
        after = self.world.ids(self.stack)
        self.assertEqual({'a'}, {n for n in after if after[n] != self.before[n]})
        self.assertEqual(
            [
                ('s', 'UPDATE_IN_PROGRESS'),
                ('a', 'CREATE_IN_PROGRESS'),
                ('a', 'CREATE_COMPLETE'),
                ('a', 'DELETE_IN_PROGRESS'),
                ('a', 'DELETE_COMPLETE'),
                ('s', 'UPDATE_COMPLETE'),
            ],
            self.new_transitions(),
        )
        self.assertNotIn(self.before['a'], self.world.external.samples)

    def test_resources_are_created_deleted_or_kept_as_the_template_says(self) -> None:
        kept = res(_deletion_policy='Retain')
        resources = {'a': CHAIN['a'], 'new': res()}
        self.world.change(self.stack, {**resources, 'kept': kept})
        physical_id = self.world.ids(self.stack)['kept']
        self.assertEqual({'a', 'new', 'kept'}, self.world.ids(self.stack).keys())
        self.assertEqual(['c', 'b'], self.world.external.of('delete'))
        self.world.change(self.stack, resources)
        self.assertEqual({'a', 'new'}, self.world.states(self.stack).keys())
        self.assertIn(physical_id, self.world.external.samples)

    def test_a_failed_update_with_rollback_restores_the_stack(self) -> None:
        self.world.external.fails.add(('create', 'new'))
        resources = {
            **CHAIN,
            'a': res(value='1', fixed='f'),
            'new': res(_depends_on='c'),
        }
        stack = self.world.change(self.stack, resources, disable_rollback=False)
        self.assertEqual('ROLLBACK_COMPLETE', stack.state.name)
        self.assertEqual(self.before, self.world.ids(self.stack))
        self.assertEqual(set(self.before.values()), self.world.external.samples.keys())
        self.world.external.fails.clear()
        self.assertEqual(
            'UPDATE_COMPLETE', self.world.change(self.stack, resources).state.name
        )

    def test_a_nested_stack_is_rolled_back_with_its_parent(self) -> None:
        stack = self.world.make({'g': res('Group', count=1)}, name='around')
        inner = self.world.nested(stack, 'g')
        self.world.change(inner, disable_rollback=False)
        earlier = len(self.world.transitions(inner))
        self.world.external.fails.add(('update', 'm0'))
        self.world.change(stack, {'g': res('Group', count=1, value='x')})
        self.assertEqual('UPDATE_FAILED', self.world.reload(stack).state.name)
        self.assertEqual(
            [
                (inner.name, 'UPDATE_IN_PROGRESS'),
                ('m0', 'UPDATE_IN_PROGRESS'),
                ('m0', 'UPDATE_FAILED'),
                (inner.name, 'UPDATE_FAILED'),
            ],
            self.world.transitions(inner)[earlier:],
        )

    def test_the_next_update_completes_a_failed_one_without_rollback(self) -> None:
        self.world.external.fails.add(('create', 'new'))
        resources = {**CHAIN, 'new': res(_depends_on='c')}
        self.assertEqual(
            'UPDATE_FAILED', self.world.change(self.stack, resources).state.name
        )
        self.world.external.fails.clear()
        self.assertEqual('UPDATE_COMPLETE', self.world.change(self.stack).state.name)
        self.assertEqual({*CHAIN, 'new'}, self.world.ids(self.stack).keys())
        # A change of a final property fails and names the property.
        final = {**CHAIN, 'a': res(value='1', final='x')}
        stack = self.world.change(self.stack, final)
        self.assertEqual('UPDATE_FAILED', stack.state.name)
        self.assertIn('final', stack.status_reason)


class TestNestedStacks(StackWorldCase):
    """A resource that is a stack."""

    def test_an_unchanged_nested_stack_keeps_its_state(self) -> None:
        world = self.create_stack_world()
        resources = {'g': res('Group', count=1), 'h': res('Group', count=1), 'a': res()}
        stack = world.make(resources)
        inner = [world.nested(stack, name) for name in 'gh']
        earlier = len(world.transitions(*inner))
        world.mark(inner[1], 'm0')

        stack = world.change(stack, {**resources, 'a': res(value='new')})

        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertEqual(
            {'g': 'CREATE_COMPLETE', 'h': 'UPDATE_COMPLETE', 'a': 'UPDATE_COMPLETE'},
            world.states(stack),
        )
        self.assertEqual('CREATE_COMPLETE', world.reload(inner[0]).state.name)
        # Unhealthy resources in a nested stack cause its update.
        self.assertLess(earlier, len(world.transitions(*inner)))
        self.assertEqual('CREATE_COMPLETE', world.states(inner[1])['m0'])

    def test_an_output_can_define_the_physical_id(self) -> None:
        world = self.create_stack_world()
        text = template(
            {'deep': res(value='x')},
            outputs={'OS::stack_id': {'value': {'get_resource': 'deep'}}},
        )
        stack = world.make(
            {'n': res('n.yaml'), 'b': res(value={'get_resource': 'n'})},
            files={'n.yaml': json.dumps(text)},
        )

        deep = world.ids(world.nested(stack, 'n'))['deep']
        self.assertEqual(deep, world.resource(stack, 'b').properties['value'])
        row = world.mark(stack, str(deep))
        self.assertEqual('n', row.name)


class TestWhileAnotherRuns(StackWorldCase):
    """Updates and deletions supersede a running operation; all others are rejected."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        self.gate = self.create_gate_at(self.world, 'create', 'b')
        self.world.worker()
        self.stack = self.world.start_creation(CHAIN)
        self.gate.wait_until_entered()

    def test_an_update_supersedes_an_operation_and_other_operations_cannot(
        self,
    ) -> None:
        for operation in (states.CHECK, states.SUSPEND, states.RESUME, states.LOCK):
            refused = self.assertRaises(
                exceptions.ActionInProgress,
                self.world.stacks.start_operation,
                *(self.stack.uuid, TENANT, operation),
            )
            self.assertEqual(
                'Stack s already has an action (CREATE) in progress.', str(refused)
            )
        after = self.world.start_update(self.stack, {'a': CHAIN['a'], 'new': res()})
        self.assertEqual('UPDATE_IN_PROGRESS', after.state.name)
        self.assertNotIn('new', self.world.external.of('create'))
        self.gate.open()
        stack = self.world.wait_until_settled(self.stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertEqual({'a', 'new'}, self.world.ids(self.stack).keys())
        self.assertEqual(2, len(self.world.external.samples))

    def test_a_delete_supersedes_an_operation_and_is_idempotent(self) -> None:
        first = self.world.stacks.delete(self.stack.uuid, TENANT)
        second = self.world.stacks.delete(self.stack.uuid, TENANT)
        self.gate.open()
        stack = self.world.wait_until_settled(self.stack)
        self.assertEqual('DELETE_COMPLETE', stack.state.name)
        self.assertEqual({}, self.world.external.samples)
        self.assertEqual(first.operation, second.operation)
        self.assertEqual(
            ['CREATE_IN_PROGRESS', 'DELETE_IN_PROGRESS', 'DELETE_COMPLETE'],
            [state for name, state in self.world.transitions(stack) if name == 's'],
        )

    def test_a_creation_can_be_cancelled_without_rollback_and_an_update_with_it(
        self,
    ) -> None:
        cancel = self.world.stacks.cancel
        self.assertRaises(
            exceptions.NotSupported, cancel, self.stack.uuid, TENANT, True
        )
        cancel(self.stack.uuid, TENANT, rollback=False)
        self.gate.open()
        stack = self.world.wait_until_settled(self.stack)
        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertEqual('Stack CREATE cancelled', stack.status_reason)
        self.assertNotIn('c', self.world.external.of('create'))
        # A cancelled update is rolled back.
        self.world.change(self.stack, CHAIN)
        before = self.world.ids(self.stack)
        gate = self.create_gate_at(self.world, 'create', 'new')
        self.world.start_update(self.stack, {**CHAIN, 'new': res()})
        gate.wait_until_entered()
        after = self.world.stacks.cancel(self.stack.uuid, TENANT, rollback=True)
        self.assertEqual('ROLLBACK_IN_PROGRESS', after.state.name)
        gate.open()
        stack = self.world.wait_until_settled(self.stack)
        self.assertEqual('ROLLBACK_COMPLETE', stack.state.name)
        self.assertEqual(before, self.world.ids(self.stack))
        self.assertEqual(set(before.values()), self.world.external.samples.keys())
        # An update without changes keeps the existing resources.
        self.world.change(self.stack)
        self.assertEqual(before, self.world.ids(self.stack))


class TestOtherOperations(StackWorldCase):
    """Check, suspend, resume, delete."""

    def setUp(self) -> None:
        super().setUp()
        self.world = self.create_stack_world()
        self.stack = self.world.make({**CHAIN, 'g': res('Group', count=2)})

    def test_a_check_covers_all_resources_and_names_every_failure(self) -> None:
        self.world.external.fails.update({('check', 'a'), ('check', 'm1')})
        stack = self.world.act(self.stack, states.CHECK)
        self.assertEqual('CHECK_FAILED', stack.state.name)
        self.assertEqual(
            {
                **dict.fromkeys('ag', 'CHECK_FAILED'),
                **dict.fromkeys('bc', 'CHECK_COMPLETE'),
            },
            self.world.states(self.stack),
        )
        for name in ('resources.a: ', 'resources.g: ', 'resources.m1: '):
            self.assertIn(name, stack.status_reason)

    def test_a_suspension_runs_in_reverse_and_prevents_updates(self) -> None:
        self.world.act(self.stack, states.SUSPEND)
        order = [n for n in self.world.external.of('suspend') if n in CHAIN]
        self.assertEqual(['c', 'b', 'a'], order)
        refused = self.assertRaises(
            exceptions.NotSupported, self.world.start_update, self.stack, CHAIN
        )
        self.assertIn('SUSPEND_COMPLETE', str(refused))
        stack = self.world.act(self.stack, states.RESUME)
        order = [n for n in self.world.external.of('resume') if n in CHAIN]
        self.assertEqual(['a', 'b', 'c'], order)
        self.assertEqual('RESUME_COMPLETE', stack.state.name)

    def test_a_check_of_a_suspended_stack_keeps_the_suspension(self) -> None:
        self.world.act(self.stack, states.SUSPEND)
        del self.world.external.samples[self.world.ids(self.stack)['b'] or '']
        stack = self.world.act(self.stack, states.CHECK)
        self.assertEqual(
            ('CHECK_FAILED', 'SUSPEND_COMPLETE'), (stack.state.name, stack.base.name)
        )
        self.assertIn('resources.b: ', stack.status_reason)
        self.assertRaises(
            exceptions.NotSupported, self.world.start_update, self.stack, CHAIN
        )
        stack = self.world.act(self.stack, states.RESUME)
        self.assertEqual('RESUME_COMPLETE', stack.state.name)
        self.assertEqual(
            {**dict.fromkeys('acg', 'RESUME_COMPLETE'), 'b': 'CHECK_FAILED'},
            self.world.states(self.stack),
        )

    def test_a_check_counts_failed_and_uncreated_resources(self) -> None:
        self.world.external.fails |= {('create', 'new'), ('update', 'b')}
        resources = {
            **CHAIN,
            'b': res(value='new', _depends_on='a'),
            'new': res(),
            'last': res(_depends_on='new'),
        }
        before = self.world.change(self.stack, resources)
        self.assertEqual('UPDATE_FAILED', before.state.name)
        failed = self.world.states(self.stack)
        self.world.external.fails.clear()

        stack = self.world.act(self.stack, states.CHECK)

        self.assertEqual('CHECK_FAILED', stack.state.name)
        for text in (
            'resources.b: UPDATE_FAILED: ',
            'resources.new: it was never created (CREATE_FAILED)',
            'resources.last: it was never created (INIT_COMPLETE)',
        ):
            self.assertIn(text, stack.status_reason)
        after = self.world.states(self.stack)
        kept = ('b', 'new', 'last')
        self.assertEqual([failed[n] for n in kept], [after[n] for n in kept])

    def test_a_separately_deleted_nested_stack_is_detected_and_recreated(self) -> None:
        self.world.act(self.world.nested(self.stack, 'g'), states.DELETE)
        stack = self.world.act(self.stack, states.CHECK)
        self.assertEqual('CHECK_FAILED', stack.state.name)
        self.assertEqual('CHECK_FAILED', self.world.states(self.stack)['g'])
        stack = self.world.change(self.stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        inner = self.world.nested(self.stack, 'g')
        self.assertEqual('CREATE_COMPLETE', inner.state.name)
        self.assertEqual({'m0', 'm1'}, self.world.ids(inner).keys())
        self.assertEqual(5, len(self.world.external.samples))

    def test_a_deletion_runs_in_reverse_and_continues_after_a_failure(self) -> None:
        inner = self.world.nested(self.stack, 'g')
        self.world.external.fails.add(('delete', 'b'))
        stack = self.world.act(self.stack, states.DELETE)
        self.assertEqual('DELETE_FAILED', stack.state.name)
        order = [n for n in self.world.external.of('delete') if n in CHAIN]
        self.assertEqual(['c', 'b'], order)
        self.world.external.fails.clear()
        del self.world.external.calls[:]
        stack = self.world.act(self.stack, states.DELETE)
        self.assertEqual('DELETE_COMPLETE', stack.state.name)
        self.assertIsNotNone(stack.deleted_at)
        self.assertIsNotNone(self.world.reload(inner).deleted_at)
        self.assertEqual(['b', 'a'], self.world.external.of('delete'))
        self.assertEqual({}, self.world.external.samples)
        self.assertRaises(exceptions.StackNotFound, self.world.find_stack, 's')

    def test_resources_with_reversed_dependencies_can_be_deleted(self) -> None:
        old = {'x': res(fixed='1', _depends_on='y'), 'y': res(fixed='1')}
        new = {'x': res(fixed='2'), 'y': res(fixed='2', _depends_on='x')}
        stack = self.world.make(old, name='turned')
        self.world.external.fails.update({('delete', 'x'), ('delete', 'y')})
        stack = self.world.change(stack, new)
        self.assertEqual('UPDATE_FAILED', stack.state.name)
        self.world.external.fails.clear()
        stack = self.world.act(stack, states.DELETE)
        self.assertEqual('DELETE_COMPLETE', stack.state.name, stack.status_reason)
        left = self.world.external.samples.values()
        self.assertEqual([], [one for one in left if one.get('fixed')])


class TestTimeouts(StackWorldCase):
    """An operation ends at its deadline, however long its resources take."""

    def test_external_work_that_times_out_fails_with_a_reason(self) -> None:
        world = self.create_stack_world(limits=StackLimits(timeout=1))
        gate = self.create_gate_at(world, 'create', 'x')
        world.worker()
        world.clock.pause()
        stack = world.start_creation({'x': res(wait=10**9)})
        gate.wait_until_entered()
        gate.open()
        world.clock.resume()
        stack = world.wait_until_settled(stack)
        self.assertEqual('CREATE_FAILED', stack.state.name)
        begin = 'Timed out: Resource action failed: resources.x: '
        self.assertEqual(begin, stack.status_reason[: len(begin)])
        self.assertEqual({'x': 'CREATE_FAILED'}, world.states(stack))

    def test_unstarted_resources_do_not_start_after_the_timeout(self) -> None:
        world = self.create_stack_world(limits=StackLimits(timeout=1))
        gate = self.create_gate_at(world, 'create', 'x')
        world.worker(max_parallel=1)
        world.clock.pause()
        stack = world.start_creation({'x': res(), 'y': res()})
        gate.wait_until_entered()
        deadline = world.reload(stack).deadline
        assert deadline is not None
        world.clock.resume()
        world.wait_until(lambda: world.clock.now() >= deadline)
        gate.open()
        stack = world.wait_until_settled(stack)
        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertEqual(['x'], world.external.of('create'))
        row = world.resource(stack, 'y')
        self.assertEqual('CREATE_FAILED', row.state.name)
        self.assertIn('Timed out before it began', row.status_reason)
        self.assertIsNone(row.physical_id)


class TestLostWorkers(StackWorldCase):
    """Nothing stays in progress when a worker dies: another one continues."""

    #: The commits of its worker after which another worker continues a creation.
    commits: tuple[int, ...] = (2, 3, 5, 8, 13, 21)

    def test_a_creation_completes_and_creates_each_resource_once(self) -> None:
        for commit in self.commits:
            world = self.create_stack_world(lease=60.0, sweep_interval=0.2)
            resources = {f'r{at}': res(wait=1) for at in range(12)}
            resources['last'] = res(_depends_on=list(resources))
            doomed = world.worker(dies_after=commit)
            stack = world.start_creation(resources)
            world.wait_until(
                lambda world=world, doomed=doomed, stack=stack: (
                    world.is_dead(doomed) or not world.reload(stack).state.busy
                )
            )
            world.worker()
            if world.is_dead(doomed):
                world.kill(doomed)
            stack = world.wait_until_settled(stack)
            self.assertEqual('CREATE_COMPLETE', stack.state.name, commit)
            self.assertEqual(13, len(world.external.samples), commit)
            world.stop()

    def test_an_update_continues(self) -> None:
        world = self.create_stack_world(lease=60.0, sweep_interval=0.2)
        stack = world.make({**CHAIN, 'g': res('Group', count=2)})
        gate = self.create_gate_at(world, 'update', 'b')
        world.start_update(
            stack, {**CHAIN, 'a': res(value='2'), 'g': res('Group', count=3)}
        )
        gate.wait_until_entered()
        (worker,) = world.workers
        del world.external.gates['update', 'b']
        world.worker()
        world.kill(worker)
        stack = world.wait_until_settled(stack)
        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertEqual('2', world.resource(stack, 'b').attributes['output'])
        self.assertEqual(3, len(world.ids(world.nested(stack, 'g'))))
