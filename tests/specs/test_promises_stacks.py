"""The guarantees for stacks; each test is named after one."""

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self, cast

from tests.specs.cost_case import CostCase, Costs, EndListener
from tests.specs.stack_promises import PLAIN, PromiseCase
from tests.stack_worlds import (
    TENANT,
    ExternalResources,
    StackWorld,
    StackWorldCase,
    res,
    sample,
    template,
)
from tests.worlds import Gate
from watcherlite.db.api import Store
from watcherlite.db.sqlalchemy.store import SqlStore
from watcherlite.domain.actions import Action
from watcherlite.domain.events import STACK, Event
from watcherlite.domain.resource_results import REPLACE, Batch, Property, Ready
from watcherlite.domain.stacks import Stack
from watcherlite.plugins import base
from watcherlite.states import stack as states

#: All kinds of resources: a chain, a type that is not idempotent, one whose creation
#: is polled, and two groups.
BEFORE: dict[str, Any] = {
    **PLAIN,
    'once': res('Once', _depends_on=['a']),
    'gone': res(_depends_on=['b']),
    'end': res(value={'get_resource': 'once'}, _depends_on=['b', 'g']),
}
#: A smaller template, for tests that treat all resources alike.
FEW: dict[str, Any] = {
    'a': res(value='1'),
    'once': res('Once', _depends_on=['a']),
    'g': res('Group', count=1),
    'end': res(_depends_on=['once', 'g']),
}
#: Updates in place, replacements, additions and removals; a group grows.
AFTER: dict[str, Any] = {
    **{name: one for name, one in BEFORE.items() if name != 'gone'},
    'a': res(value='2'),
    'b': res(value={'get_attr': ['a', 'output']}, fixed='f'),
    'once': res('Once', size=2, _depends_on=['a']),
    'slow': res(wait=1, value='slower'),
    'g': res('Group', count=3, value='changed'),
    'new': res('Once', _depends_on=['b']),
}
#: An update of FEW whose last resource cannot be created.
FAILING: dict[str, Any] = {
    'a': res(value='2'),
    'once': res('Once', size=2, _depends_on=['a']),
    'g': res('Group', count=2),
    'end': res(fixed='f', _depends_on=['once', 'g']),
    'breaks': res(_depends_on=['end']),
}
#: Name -> type of all these resources.
TYPES: dict[str, str] = {
    name: one['type'] for name, one in {**BEFORE, **AFTER, **FAILING}.items()
}


class Factory:
    """A registry of physical resources that must not be created twice."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Called after a resource has been created, before the handler returns.
        self.gate: Callable[..., Any] = bool
        self.made: list[str] = []
        self.present: set[str] = set()

    def create_handler(self) -> type[base.ResourceHandler]:
        """Return a handler that finds its resources by uuid."""
        factory = self

        class Once(base.ResourceHandler):
            properties: ClassVar[Mapping[str, Property]] = {
                'size': Property({'type': 'integer'})
            }

            def create(self, context: base.ResourceContext) -> Any:
                factory.make(context.uuid)
                factory.gate()
                return Ready(context.uuid)

            def find(self, context: base.ResourceContext) -> Any:
                return Ready(context.uuid) if context.uuid in factory.present else None

            def delete(self, context: base.ResourceContext) -> Any:
                factory.present.discard(context.physical_id or '')

        return Once

    def make(self, key: str) -> None:
        """Create a physical resource."""
        with self._lock:
            self.made.append(key)
            self.present.add(key)


class Steps(base.NestedHandler):
    """A group that grows and is updated in steps."""

    properties: ClassVar[Mapping[str, Property]] = {
        'count': Property({'type': 'integer'}, updatable=True)
    }

    def expand(self, context: base.NestedContext, members: Any) -> Any:
        count = context.properties['count']
        return [
            Batch(template({f'm{at}': res(value=str(count)) for at in range(size)}))
            for size in range(len(members) + 1, count + 1)
        ]

    def gather(self, context: base.NestedContext, members: Any, outputs: Any) -> Any:
        return {'refs': [member.reference for member in members]}


@dataclasses.dataclass(frozen=True)
class CrashState:
    """The state of the database and of the physical resources when a worker dies."""

    database: bytes
    samples: dict[str, dict[str, Any]]
    locked: set[str]
    made: list[str]
    present: set[str]
    has_failed: bool

    @classmethod
    def capture(cls, world: StackWorld, factory: Factory, database: bytes) -> Self:
        """Return the current state."""
        external = world.external
        return cls(
            database,
            dict(external.samples),
            set(external.locked),
            list(factory.made),
            set(factory.present),
            not external.fails.isdisjoint(external.calls),
        )

    def restore(self, world: StackWorld, factory: Factory) -> None:
        """Apply this state to a new world."""
        with _database(world.store) as database:
            database.deserialize(self.database)
        world.external.samples |= self.samples
        world.external.locked |= self.locked
        factory.made += self.made
        factory.present |= self.present


class Recorder:
    """A worker's store that records the state at each commit.

    :ivar unsaved: the state before each commit, as if it had been rolled back
    :ivar saved: the state after each commit
    :ivar changes: the kinds of the changes of each commit
    """

    def __init__(self, world: StackWorld, factory: Factory) -> None:
        self._world = world
        self._factory = factory
        self.unsaved: list[CrashState] = []
        self.saved: list[CrashState] = []
        self.changes: list[set[tuple[str | None, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.store, name)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        """Begin a transaction, and record the states around its commit."""
        store = self._world.store
        with store.transaction() as tx:
            # No other transaction writes until its end.
            with _database(store) as database:
                before = database.serialize()
            recorded = _RecordedTransaction(tx)
            yield recorded
            self.changes.append(recorded.changes)
            self.unsaved.append(CrashState.capture(self._world, self._factory, before))
        with _database(store) as database:
            after = database.serialize()
            self.saved.append(CrashState.capture(self._world, self._factory, after))


class _RecordedTransaction:
    """A transaction that records the kinds of its changes.

    :ivar changes: an action of the same type that changes in the same way is one kind
    """

    def __init__(self, transaction: Any) -> None:
        self._transaction = transaction
        self.changes: set[tuple[str | None, ...]] = set()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._transaction, name)

        def call(*arguments: Any, **keywords: Any) -> Any:
            result = method(*arguments, **keywords)
            if name == 'claim':
                self.changes |= {(name, *_kind(action)) for action in result}
            elif name == 'change_actions':
                self.changes |= {
                    (*_kind(change.before), change.before.status, change.after.status)
                    for change in arguments[0]
                }
            elif name == 'add_events':
                self.changes |= {
                    (event.subject, event.old_status, event.new_status)
                    for event in arguments[0]
                }
            else:
                self.changes.add((name,))
            return result

        return call


def _kind(action: Action) -> tuple[str | None, ...]:
    return action.action_type, action.inputs.get('do'), TYPES.get(action.name or '')


@contextlib.contextmanager
def _database(store: Store) -> Iterator[Any]:
    with cast(SqlStore, store).engine.connect() as connection:
        yield connection.connection.driver_connection


class StackPromisesTest(PromiseCase, StackWorldCase):
    """On the in-memory store, whose state at each commit is recorded."""

    def run_with_loss_at_each_commit(
        self,
        ends: str,
        begin: Callable[[StackWorld, Stack | None], Stack],
        resources: Mapping[str, Any] | None = None,
        before: str | None = None,
        *,
        least: int,
        is_durable: bool = False,
    ) -> None:
        """Run an operation, then repeat it from the states at commits of its worker.

        A commit is left out if it has only kinds of changes that were tried before. If
        a resource fails, so are the commits before its failure: they are those of an
        operation that succeeds, for which other tests repeat them.

        :param resources: of a stack that exists before
        :param before: the operation on that stack before
        :param least: the worker must make more commits than this
        :param is_durable: the worker dies after the commit; otherwise before it, so
            that no other process knows what it did
        """
        world, factory = self.create_factory_world()
        stack = None
        if resources is not None:
            first = world.worker()
            stack = world.make(resources)
            if before is not None:
                world.act(stack, before)
            world.kill(first)
        begun = begin(world, stack)
        recorder = Recorder(world, factory)
        worker = world.worker(store=recorder)
        self.assert_end_state(ends, world, factory, begun)
        moments = recorder.saved if is_durable else recorder.unsaved
        self.assertGreater(len(moments), least)
        tried: set[Any] = set()
        has_failed = moments[-1].has_failed
        for number, moment in enumerate(moments):
            changes = recorder.changes[number]
            if moment.has_failed == has_failed and not changes <= tried:
                tried |= changes
                with self.subTest(commit=number):
                    other, factory = self.create_factory_world()
                    moment.restore(other, factory)
                    other.external.fails |= world.external.fails
                    other.store.end_lease(worker.record.uuid)
                    other.worker()
                    self.assert_end_state(ends, other, factory, begun)

    def create_factory_world(self) -> tuple[StackWorld, Factory]:
        """Return a world with resources that must not be created twice."""
        factory = Factory()
        handlers = {'Once': factory.create_handler(), 'Steps': Steps}
        return self.create_stack_world(
            handlers, lease=60.0, sweep_interval=30.0
        ), factory

    def assert_end_state(
        self, ends: str, world: StackWorld, factory: Factory, stack: Stack
    ) -> None:
        """Wait for the end, check its state and all invariants; stop the world.

        The physical resources are exactly those of the stacks.
        """
        after = world.wait_until_settled(stack)
        self.assertEqual(ends, after.state.name, world.full_report())
        self.assert_complete(world, after)
        self.assert_external_matches(world, factory, after)
        world.stop()

    def test_a_creation_completes_after_a_loss_before_any_commit(self) -> None:
        self.run_with_loss_at_each_commit(
            'CREATE_COMPLETE', lambda world, _: world.start_creation(BEFORE), least=8
        )

    def test_a_creation_completes_after_a_loss_after_any_commit(self) -> None:
        self.run_with_loss_at_each_commit(
            'CREATE_COMPLETE',
            lambda world, _: world.start_creation(FEW),
            least=8,
            is_durable=True,
        )

    def test_an_update_with_replacement_completes_after_any_loss(self) -> None:
        self.run_with_loss_at_each_commit(
            'UPDATE_COMPLETE',
            lambda world, stack: world.start_update(stack, AFTER),
            resources=BEFORE,
            least=8,
        )

    def test_a_rollback_of_an_update_completes_after_any_loss(self) -> None:
        def begin(world: StackWorld, stack: Any) -> Stack:
            world.external.fails.add(('create', 'breaks'))
            return world.start_update(stack, FAILING, disable_rollback=False)

        self.run_with_loss_at_each_commit(
            'ROLLBACK_COMPLETE', begin, resources=FEW, least=12
        )

    def test_a_rollback_of_a_creation_completes_after_any_loss(self) -> None:
        def begin(world: StackWorld, _: Any) -> Stack:
            world.external.fails.add(('create', 'breaks'))
            return world.start_creation(FAILING, disable_rollback=False)

        self.run_with_loss_at_each_commit('ROLLBACK_COMPLETE', begin, least=12)

    def test_a_deletion_a_lock_and_an_unlock_complete_after_any_loss(self) -> None:
        for operation, before in (
            (states.DELETE, None),
            (states.LOCK, None),
            (states.UNLOCK, states.LOCK),
        ):
            self.run_with_loss_at_each_commit(
                f'{operation}_COMPLETE',
                lambda world, stack, operation=operation: world.stacks.start_operation(
                    stack.uuid, TENANT, operation
                ),
                resources=FEW,
                before=before,
                least=5,
            )

    def test_an_update_of_a_group_in_steps_completes_after_any_loss(self) -> None:
        self.run_with_loss_at_each_commit(
            'UPDATE_COMPLETE',
            lambda world, stack: world.start_update(
                stack, {'g': res('Steps', count=4), 'z': res(_depends_on='g')}
            ),
            resources={'g': res('Steps', count=2), 'z': res(_depends_on='g')},
            least=8,
        )

    def make_at_another(self, world: StackWorld, kind: str, gate: Gate) -> Stack:
        """Let a worker die right after it created resources; another continues."""
        worker = world.worker()
        stack = world.start_creation({f'o{at}': res(kind) for at in range(3)})
        gate.wait_until_entered(3)
        world.kill(worker)
        gate.open()
        world.worker()
        stack = world.wait_until_settled(stack)
        self.assert_complete(world, stack)
        return stack

    def test_resources_of_a_lost_worker_are_not_created_again(self) -> None:
        world, factory = self.create_factory_world()
        gate = factory.gate = self.create_gate()
        stack = self.make_at_another(world, 'Once', gate)
        self.assertEqual('CREATE_COMPLETE', stack.state.name, world.full_report())
        self.assertEqual(3, len(factory.made))
        self.assert_external_matches(world, factory, stack)

    def test_a_started_operation_that_cannot_be_repeated_fails(self) -> None:
        gate = self.create_gate()
        made: list[str] = []

        class Unsafe(base.ResourceHandler):
            def create(self, context: base.ResourceContext) -> Any:
                made.append(context.uuid)
                gate()
                return Ready(context.uuid)

            def delete(self, context: base.ResourceContext) -> Any:
                return None

        world = self.create_stack_world({'Unsafe': Unsafe}, sweep_interval=0.2)
        stack = self.make_at_another(world, 'Unsafe', gate)
        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertEqual(3, len(made))
        for row in world.store.list_resources([stack.id]):
            self.assertEqual('CREATE_FAILED', row.state.name)
            self.assertIn('Outcome unknown', row.status_reason)

    def test_a_worker_whose_lease_expired_unnoticed_replaces_no_resource(self) -> None:
        gate = self.create_gate()
        deciding = iter([gate])

        Sample: Any = sample(ExternalResources())

        class Gated(Sample):
            def decide(self, *arguments: Any) -> str:
                next(deciding, bool)()
                return REPLACE

        world = self.create_stack_world({'Gated': Gated}, sweep_interval=0.2)
        lost = world.worker()
        stack = world.make({'a': res('Gated')})
        world.start_update(stack, {'a': res('Gated', value='new')})
        gate.wait_until_entered()
        world.workers.remove(lost)
        world.lost.append(lost)
        world.store.end_lease(lost.record.uuid)
        world.worker()
        stack = world.wait_until_settled(stack)
        rows = world.store.list_resources([stack.id], superseded=True)

        gate.open()
        world.wait_until(lambda: not lost.dispatcher.owned)

        self.assertEqual('UPDATE_COMPLETE', stack.state.name, world.full_report())
        self.assertEqual(['a'], [row.name for row in rows])
        self.assertEqual(rows, world.store.list_resources([stack.id], superseded=True))

    def test_handlers_that_block_wait_together(self) -> None:
        gate = self.create_gate(Ready('id'))

        class Blocking(base.ResourceHandler):
            blocking = True
            service = 'compute'

            def create(self, context: base.ResourceContext) -> Any:
                return gate()

            def delete(self, context: base.ResourceContext) -> Any:
                return None

        world = self.create_stack_world({'Blocking': Blocking}, max_parallel=1)
        world.worker()
        stack = world.start_creation({f'r{n}': res('Blocking') for n in range(5)})
        gate.wait_until_entered(5)
        gate.open()
        stack = world.wait_until_settled(stack)
        self.assertEqual('CREATE_COMPLETE', stack.state.name)

    def test_two_workers_share_one_stack(self) -> None:
        world = self.create_stack_world(max_parallel=1)
        gates = [self.create_gate_at(world, 'create', name) for name in ('x', 'y')]
        world.worker()
        world.worker()
        stack = world.start_creation(
            {'x': res(), 'y': res(), 'z': res(_depends_on=['x', 'y'])}
        )
        for gate in gates:
            gate.wait_until_entered()
        for gate in gates:
            gate.open()
        stack = world.wait_until_settled(stack)
        self.assertEqual('CREATE_COMPLETE', stack.state.name)
        self.assertEqual(['z'], world.external.of('create')[-1:])
        self.assert_complete(world, stack)

    # An accepted request is durable.

    def test_an_accepted_request_is_durable(self) -> None:
        # The process that accepted it is gone, and its messages are lost.
        world = self.create_stack_world()
        stack = world.start_creation(PLAIN)
        later = StackWorld(world.store)
        self.addCleanup(later.stop)
        later.worker()
        self.assertEqual('CREATE_COMPLETE', later.wait_until_settled(stack).state.name)

    def test_an_operation_cancelled_before_its_claim_ends(self) -> None:
        world = self.create_stack_world()
        stack = world.start_creation(PLAIN)
        world.stacks.cancel(stack.uuid, TENANT, rollback=False)
        self.assertEqual('CREATE_FAILED', world.reload(stack).state.name)
        self.assertEqual('Stack CREATE cancelled', world.reload(stack).status_reason)
        self.assert_complete(world, stack)
        world.worker()
        self.assertEqual('UPDATE_COMPLETE', world.change(stack).state.name)

    def test_an_operation_cancelled_while_it_waits_for_another_ends(self) -> None:
        world = self.create_stack_world()
        gate = self.create_gate_at(world, 'create', 'b')
        world.worker()
        stack = world.start_creation(PLAIN)
        gate.wait_until_entered()
        world.start_update(stack, {'a': res(value='2')})
        world.stacks.cancel(stack.uuid, TENANT, rollback=False)
        gate.open()
        self.assertEqual('UPDATE_FAILED', world.wait_until_settled(stack).state.name)
        self.assert_complete(world, stack)

    def test_an_operation_cancelled_while_it_waits_for_its_retry_ends(self) -> None:
        world = self.create_stack_world(max_parallel=8)
        gates = [self.create_gate_at(world, 'create', name) for name in ('x', 'm0')]
        worker = world.worker()
        stack = world.start_creation({'x': res(), 'g': res('Group', count=1)})
        for gate in gates:
            gate.wait_until_entered()
        world.kill(worker)
        # A worker without the lane of the engine releases the actions of the lost
        # worker.
        idle = world.worker(lanes=('applier',), sweep_interval=0.05)
        world.wait_until(
            lambda: (
                world.action('x').owner is None and world.action('m0').owner is None
            ),
            world.full_report,
        )
        world.stacks.cancel(stack.uuid, TENANT, rollback=False)
        for gate in gates:
            gate.open()
        world.kill(idle)
        world.worker()
        stack = world.wait_until_settled(stack)
        self.assertEqual('CREATE_FAILED', stack.state.name)
        self.assertEqual(
            {'x': 'CREATE_FAILED', 'g': 'CREATE_FAILED'}, world.states(stack)
        )
        self.assert_complete(world, stack)

    def assert_external_matches(
        self, world: StackWorld, factory: Factory, stack: Stack
    ) -> None:
        """Check that the physical resources are exactly those of the stacks."""
        live = [
            one
            for one in self.all_stacks_of_tree(world, stack)
            if one.deleted_at is None
        ]
        rows = world.store.list_resources([s.id for s in live], superseded=True)
        own = {row.physical_id for row in rows if row.nested_id is None and row.exists}
        present = set(world.external.samples) | factory.present
        self.assertEqual(own, present, world.full_report())
        # Each was created for one resource, and only once.
        self.assertEqual(sorted(set(factory.made)), sorted(factory.made))


def ended_stack(event: Event) -> str | None:
    """Return the new state of a stack."""
    return event.new_status if event.subject == STACK else None


def flat(size: int, value: str) -> dict[str, Any]:
    """Return independent resources."""
    return {f'r{at}': res(value=value) for at in range(size)}


def chain(size: int, value: str) -> dict[str, Any]:
    """Return resources each of which depends on the preceding one."""
    found = flat(size, value)
    for at in range(1, size):
        found[f'r{at}']['depends_on'] = [f'r{at - 1}']
    return found


def fan(size: int, value: str) -> dict[str, Any]:
    """Return resources, the last of which depends on and reads all others."""
    found = flat(size, value)
    read = [{'get_attr': [name, 'output']} for name in found]
    found['last'] = res(value={'list_join': [',', read]})
    return found


class CostTest(CostCase, StackWorldCase):
    """The cost per resource does not grow with the number of resources."""

    def costs_of(self, shape: Any, size: int) -> Costs:
        """Return the costs per resource of a stack."""
        world = self.create_stack_world(sweep_interval=3600.0, lease=600.0)
        ends = EndListener(ended_stack)
        world.worker().add_listener(ends.on_events)

        begun: list[Stack] = []

        def create() -> bool:
            begun.append(world.start_creation(shape(size, 'v')))
            return ends.wait_for('CREATE_COMPLETE')

        def update() -> bool:
            world.start_update(begun[0], shape(size, 'w'))
            return ends.wait_for('UPDATE_COMPLETE')

        def delete() -> bool:
            world.stacks.delete(begun[0].uuid, TENANT)
            return ends.wait_for('DELETE_COMPLETE')

        operations = {'create': create, 'update': update, 'delete': delete}
        found = self.costs(operations, size)
        world.stop()
        return found

    def test_the_cost_of_independent_and_dependent_resources(self) -> None:
        for shape in (flat, chain, fan):
            with self.subTest(shape.__name__):
                few = self.costs_of(shape, 10)
                self.assert_steady(few, self.costs_of(shape, 50))
