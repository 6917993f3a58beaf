"""The promises of the design, for stacks; each a test named after it.

`StackPromises` is a suite for any store: mix it into a StackWorldCase with a
`make_store`.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from tests.specs.stack_promises import (
    AFTER,
    BEFORE,
    FAILING,
    FEW,
    PLAIN,
    Factory,
    PromiseCase,
)
from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res, template
from watcherlite.domain.resource_results import Batch, Property, Ready
from watcherlite.domain.stacks import Stack
from watcherlite.plugins import base
from watcherlite.states import stack as states

#: The interval between the commits at which a worker dies before a resource fails
EARLY = 5


class StackPromises(PromiseCase):
    """The suite; `make_store` says for which store."""

    #: At which commits of a worker it dies: every so manieth.
    every = 1
    #: Whether a resource had failed when the worker of the last story died.
    has_failed = False

    def survives(
        self,
        ends: str,
        begin: Callable[[StackWorld, Stack | None], Stack],
        resources: Mapping[str, Any] | None = None,
        prepare: Callable[[StackWorld, Stack], Any] | None = None,
        **dies: int,
    ) -> bool:
        """Let a worker die at one of its commits, and another do the rest.

        :param resources: of a stack that is there before
        :param prepare: what is done with it before
        :returns: whether it came to this commit
        """
        stack: Stack | None = None
        if resources is None:
            world, factory = self.a_factory_world()
        else:
            world, factory, stack = self.a_prepared_world(resources, prepare)
        worker = world.worker(**dies)
        begun = begin(world, stack)
        world.until(
            lambda: world.is_dead(worker) or not world.unfinished(), world.happened
        )
        died = world.is_dead(worker)
        self.has_failed = not world.outside.fails.isdisjoint(world.outside.calls)
        world.kill(worker)
        world.worker()
        after = world.settled(begun)
        self.assertEqual(ends, after.state.name, world.happened())
        self.assert_whole(world, after)
        self.assert_world_outside(world, factory, after)
        world.stop()
        return died

    def a_prepared_world(
        self,
        resources: Mapping[str, Any],
        prepare: Callable[[StackWorld, Stack], Any] | None,
    ) -> tuple[StackWorld, Factory, Stack]:
        """Return a world with a stack and without a worker."""
        world, factory = self.a_factory_world()
        worker = world.worker()
        stack = world.make(resources)
        if prepare is not None:
            prepare(world, stack)
        world.kill(worker)
        return world, factory, stack

    def whatever_it_dies_at(
        self,
        *arguments: Any,
        least: int,
        moment: str = 'dies_before',
        step: int | None = None,
        **keys: Any,
    ) -> None:
        """Try every commit.

        :param step: the interval between these commits until a resource has failed; up
            to there another test tries every commit
        :param moment: before it is durable, so that what it did is not known to
            anybody, or `dies_after`, so that nothing follows
        """
        commit, step = 1, max(step or 0, self.every)
        while self.survives(*arguments, **keys, **{moment: commit}):
            if step > self.every and self.has_failed:
                # Back to the first commit that was not tried.
                commit, step = commit - step, self.every
            commit += step
        self.assertGreater(commit, least)

    def test_a_creation_is_complete_whatever_commit_a_worker_dies_at(self) -> None:
        self.whatever_it_dies_at(
            'CREATE_COMPLETE', lambda world, _: world.begin(BEFORE), least=8
        )

    def test_nor_does_it_matter_when_it_dies_after_one(self) -> None:
        self.whatever_it_dies_at(
            'CREATE_COMPLETE',
            lambda world, _: world.begin(FEW),
            least=8,
            moment='dies_after',
        )

    def test_an_update_with_replacement_is_too(self) -> None:
        self.whatever_it_dies_at(
            'UPDATE_COMPLETE',
            lambda world, stack: world.begin_change(stack, AFTER),
            resources=BEFORE,
            least=8,
        )

    def test_a_rollback_of_an_update_is_too(self) -> None:
        def begin(world: StackWorld, stack: Any) -> Stack:
            world.outside.fails.add(('create', 'breaks'))
            return world.begin_change(stack, FAILING, disable_rollback=False)

        self.whatever_it_dies_at(
            'ROLLBACK_COMPLETE', begin, resources=FEW, least=12, step=EARLY
        )

    def test_a_rollback_of_a_creation_is_too(self) -> None:
        def begin(world: StackWorld, _: Any) -> Stack:
            world.outside.fails.add(('create', 'breaks'))
            return world.begin(FAILING, disable_rollback=False)

        self.whatever_it_dies_at('ROLLBACK_COMPLETE', begin, least=12, step=EARLY)

    def test_a_deletion_is_too(self) -> None:
        self.whatever_it_dies_at(
            'DELETE_COMPLETE',
            lambda world, stack: world.stacks.act(stack.uuid, TENANT, states.DELETE),
            resources=FEW,
            least=5,
        )

    def test_a_lock_is_too(self) -> None:
        self.whatever_it_dies_at(
            'LOCK_COMPLETE',
            lambda world, stack: world.stacks.act(stack.uuid, TENANT, states.LOCK),
            resources=FEW,
            least=5,
        )

    def test_an_unlock_is_too(self) -> None:
        self.whatever_it_dies_at(
            'UNLOCK_COMPLETE',
            lambda world, stack: world.stacks.act(stack.uuid, TENANT, states.UNLOCK),
            resources=FEW,
            prepare=lambda world, stack: world.act(stack, states.LOCK),
            least=5,
        )

    def test_an_update_of_a_group_in_steps_is_too(self) -> None:
        steps = _steps()
        own = self.a_stack_world

        def with_steps(handlers: Any = None, *args: Any, **keys: Any) -> StackWorld:
            return own({**(handlers or {}), 'Steps': steps}, *args, **keys)

        self.patch(self, 'a_stack_world', with_steps)
        self.whatever_it_dies_at(
            'UPDATE_COMPLETE',
            lambda world, stack: world.begin_change(
                stack, {'g': res('Steps', count=4), 'z': res(_depends_on='g')}
            ),
            resources={'g': res('Steps', count=2), 'z': res(_depends_on='g')},
            least=8,
        )

    def test_what_a_lost_worker_has_made_is_found_and_not_made_again(self) -> None:
        world, factory = self.a_factory_world()
        gate = factory.gate = self.a_gate()
        worker = world.worker()
        stack = world.begin({f'o{at}': res('Once') for at in range(3)})
        gate.until_entered(3)
        world.kill(worker)
        gate.open()
        world.worker()
        stack = world.settled(stack)
        self.assertEqual('CREATE_COMPLETE', stack.state.name, world.happened())
        self.assertEqual(3, len(factory.made))
        self.assert_whole(world, stack)
        self.assert_world_outside(world, factory, stack)

    def test_what_is_begun_and_may_not_be_begun_again_is_failed_not_made_twice(
        self,
    ) -> None:
        gate = self.a_gate()
        made: list[str] = []

        class Unsafe(base.ResourceHandler):
            def create(self, context: base.ResourceContext) -> Any:
                made.append(context.uuid)
                gate()
                return Ready(context.uuid)

            def delete(self, context: base.ResourceContext) -> Any:
                return None

        world = self.a_stack_world({'Unsafe': Unsafe}, sweep_interval=0.2)
        worker = world.worker()
        stack = world.begin({f'u{at}': res('Unsafe') for at in range(3)})
        gate.until_entered(3)
        world.kill(worker)
        gate.open()
        world.worker()
        stack = world.settled(stack)
        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertEqual(3, len(made))
        rows = world.store.list_resources([stack.id])
        self.assertEqual({'CREATE_FAILED'}, {row.state.name for row in rows})
        for row in rows:
            self.assertIn('Outcome unknown', row.status_reason)
        self.assert_whole(world, stack)

    def test_two_workers_share_one_stack(self) -> None:
        world = self.a_stack_world(max_parallel=1)
        gates = [self.a_gate_at(world, 'create', name) for name in ('x', 'y')]
        world.worker()
        world.worker()
        stack = world.begin({'x': res(), 'y': res(), 'z': res(_depends_on=['x', 'y'])})
        for gate in gates:
            gate.until_entered()
        for gate in gates:
            gate.open()
        stack = world.settled(stack)
        self.assertEqual('CREATE_COMPLETE', stack.state.name)
        self.assertEqual(['z'], world.outside.of('create')[-1:])
        self.assert_whole(world, stack)

    # an accepted request is durable

    def test_an_accepted_request_is_durable(self) -> None:
        # Whoever accepted it is gone, and whom it told has heard nothing.
        world = self.a_stack_world()
        stack = world.begin(PLAIN)
        later = StackWorld(world.store)
        self.addCleanup(later.stop)
        later.worker()
        self.assertEqual('CREATE_COMPLETE', later.settled(stack).state.name)

    def test_an_operation_that_is_cancelled_before_a_worker_has_it_has_ended(
        self,
    ) -> None:
        world = self.a_stack_world()
        stack = world.begin(PLAIN)
        world.stacks.cancel(stack.uuid, TENANT, rollback=False)
        self.assertEqual('CREATE_FAILED', world.now(stack).state.name)
        self.assertEqual('Stack CREATE cancelled', world.now(stack).status_reason)
        self.assert_whole(world, stack)
        self.assertEqual('UPDATE_COMPLETE', self.healed(world, stack).state.name)

    def test_nor_does_one_stay_that_is_cancelled_while_it_waits_for_another(
        self,
    ) -> None:
        world = self.a_stack_world()
        gate = self.a_gate_at(world, 'create', 'b')
        world.worker()
        stack = world.begin(PLAIN)
        gate.until_entered()
        world.begin_change(stack, {'a': res(value='2')})
        world.stacks.cancel(stack.uuid, TENANT, rollback=False)
        gate.open()
        self.assertEqual('UPDATE_FAILED', world.settled(stack).state.name)
        self.assert_whole(world, stack)

    def test_nor_what_waits_to_be_done_again_after_its_worker_was_lost(self) -> None:
        world = self.a_stack_world(max_parallel=8)
        gates = [self.a_gate_at(world, 'create', name) for name in ('x', 'm0')]
        worker = world.worker()
        stack = world.begin({'x': res(), 'g': res('Group', count=1)})
        for gate in gates:
            gate.until_entered()
        world.kill(worker)
        # One that takes nothing puts all back to where any other may take it.
        idle = world.worker(lanes=('applier',), sweep_interval=0.05)
        world.until(
            lambda: (
                world.action('x').owner is None and world.action('m0').owner is None
            ),
            world.happened,
        )
        world.stacks.cancel(stack.uuid, TENANT, rollback=False)
        for gate in gates:
            gate.open()
        world.kill(idle)
        world.worker()
        stack = world.settled(stack)
        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertEqual(
            {'x': 'CREATE_FAILED', 'g': 'CREATE_FAILED'}, world.states(stack)
        )
        self.assert_whole(world, stack)

    def healed(self, world: StackWorld, stack: Stack) -> Stack:
        """Return a stack after an update that changes nothing of its definition."""
        world.worker()
        return world.change(stack)


def _steps() -> type[base.NestedHandler]:
    """Return a handler of groups that grow and are changed in steps."""

    class Steps(base.NestedHandler):
        properties: ClassVar[Mapping[str, Property]] = {
            'count': Property({'type': 'integer'}, updatable=True)
        }

        def expand(self, context: base.NestedContext, members: Any) -> Any:
            count = context.properties['count']
            return [
                Batch(template({f'm{at}': res(value=str(count)) for at in range(size)}))
                for size in range(len(members) + 1, count + 1)
            ]

        def gather(
            self, context: base.NestedContext, members: Any, outputs: Any
        ) -> Any:
            return {'refs': [member.reference for member in members]}

    return Steps


class MemoryStackPromisesTest(StackPromises, StackWorldCase):
    """On the in-memory store; each test makes its stack once, and copies it."""

    _prepared: tuple[bytes, StackWorld, Factory, Stack] | None = None

    def a_prepared_world(
        self,
        resources: Mapping[str, Any],
        prepare: Callable[[StackWorld, Stack], Any] | None,
    ) -> tuple[StackWorld, Factory, Stack]:
        if self._prepared is None:
            first, its, stack = super().a_prepared_world(resources, prepare)
            with _database(first.store) as database:
                self._prepared = database.serialize(), first, its, stack
        data, first, its, stack = self._prepared
        world, factory = self.a_factory_world()
        with _database(world.store) as database:
            database.deserialize(data)
        world.outside.things.update(first.outside.things)
        world.outside.locked.update(first.outside.locked)
        factory.made += its.made
        factory.present |= its.present
        return world, factory, stack


@contextlib.contextmanager
def _database(store: Any) -> Iterator[Any]:
    with store.engine.connect() as connection:
        yield connection.connection.driver_connection
