"""The deletion of resources after every kind of failed creation."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tests.stack_worlds import TENANT, HandlerError, StackWorld, StackWorldCase, res
from watcherlite.domain.resource_results import Property, Ready, ResourceInProgress
from watcherlite.domain.stacks import Stack
from watcherlite.engine.stacks.services import StackLimits
from watcherlite.plugins import base


class FailingCreation(base.ResourceHandler):
    """A handler that creates an object before the creation can fail.

    The physical id is not reported until then: only the properties identify the object.
    """

    world: ClassVar[StackWorld]
    properties: ClassVar[Mapping[str, Property]] = {
        'key': Property({'type': 'string'}),
        'ends': Property({'type': 'boolean', 'default': True}),
    }

    def create(self, context: base.ResourceContext) -> Any:
        external = self.world.external
        external.samples[context.properties['key']] = {}
        external.record_call('create', context.resource_name)
        return self.poll(context, 'create', None)

    def poll(self, context: base.ResourceContext, operation: str, token: Any) -> Any:
        if not context.properties['ends']:
            return ResourceInProgress({}, 0.01)
        return Ready(f'id-{context.properties["key"]}')

    def check(self, context: base.ResourceContext) -> Any:
        if context.properties['key'] not in self.world.external.samples:
            raise HandlerError(f'{context.properties["key"]} is not there')

    def delete(self, context: base.ResourceContext) -> Any:
        self.world.external.record_call('delete', context.resource_name)
        self.world.external.samples.pop(context.properties['key'], None)


Way = Callable[['TestHalfMade', StackWorld], Stack]


def _error(case: 'TestHalfMade', world: StackWorld) -> Stack:
    world.external.fails.add(('create', 'a'))
    return world.make({'a': half('1')})


def _timeout(case: 'TestHalfMade', world: StackWorld) -> Stack:
    return world.make({'a': half('1', ends=False)})


def _cancel(case: 'TestHalfMade', world: StackWorld) -> Stack:
    stack = world.start_creation({'a': half('1', ends=False)})
    world.worker()
    world.wait_until(lambda: '1' in world.external.samples)
    world.stacks.cancel(stack.uuid, TENANT, rollback=False)
    return world.wait_until_settled(stack)


def _deletion(case: 'TestHalfMade', world: StackWorld) -> Stack:
    gate = case.create_gate_at(world, 'create', 'a')
    stack = world.start_creation({'a': half('1')})
    world.worker()
    gate.wait_until_entered()
    world.stacks.delete(stack.uuid, TENANT)
    world.external.fails.add(('create', 'a'))
    gate.open()
    return world.wait_until_settled(stack)


def _rollback(case: 'TestHalfMade', world: StackWorld) -> Stack:
    world.external.fails.add(('create', 'a'))
    return world.make({'a': half('1')}, disable_rollback=False)


def _replacement(case: 'TestHalfMade', world: StackWorld) -> Stack:
    stack = world.make({'a': half('1')})
    world.external.fails.add(('create', 'a'))
    return world.change(stack, {'a': half('2')})


def _lost_worker(case: 'TestHalfMade', world: StackWorld) -> Stack:
    gate = case.create_gate_at(world, 'create', 'a')
    stack = world.start_creation({'a': half('1')})
    doomed = world.worker()
    gate.wait_until_entered()
    world.kill(doomed)
    world.worker()
    return world.wait_until_settled(stack)


#: kind of failure -> the states of the stack and of the resource, and the objects
WAYS: Mapping[str, tuple[Way, str, str | None, set[str]]] = {
    'an error': (_error, 'CREATE_FAILED', 'CREATE_FAILED', {'1'}),
    'a timeout': (_timeout, 'CREATE_FAILED', 'CREATE_FAILED', {'1'}),
    'a cancel': (_cancel, 'CREATE_FAILED', 'CREATE_FAILED', {'1'}),
    'a deletion': (_deletion, 'DELETE_COMPLETE', None, set()),
    'a rollback': (_rollback, 'ROLLBACK_COMPLETE', None, set()),
    'a replacement': (_replacement, 'UPDATE_FAILED', 'CREATE_FAILED', {'1', '2'}),
    'a lost worker': (_lost_worker, 'CREATE_FAILED', 'CREATE_FAILED', {'1'}),
}


def half(key: str, **properties: Any) -> dict[str, Any]:
    return res('FailingCreation', key=key, **properties)


class TestHalfMade(StackWorldCase):
    def create_world(
        self, members: Mapping[str, Any] | None = None, **settings: Any
    ) -> StackWorld:
        handler: Any = type('FailingCreation', (FailingCreation,), dict(members or {}))
        world = self.create_stack_world({'FailingCreation': handler}, **settings)
        handler.world = world
        return world

    def test_a_resource_is_deleted_with_its_stack_after_any_failed_creation(
        self,
    ) -> None:
        for name, (way, *expected) in WAYS.items():
            with self.subTest(way=name):
                settings = {'limits': StackLimits(timeout=1)} if way is _timeout else {}
                world = self.create_world(**settings)
                stack = way(self, world)
                found = [
                    world.reload(stack).state.name,
                    world.states(stack).get('a'),
                    set(world.external.samples),
                ]
                self.assertEqual(expected, found, world.full_report())
                if stack.deleted_at is None:
                    stack = world.act(stack, 'DELETE')
                self.assertEqual('DELETE_COMPLETE', stack.state.name)
                self.assertEqual({}, world.external.samples)
                world.stop()

    def test_the_definition_is_stored_before_the_creation(self) -> None:
        world = self.create_world()
        world.external.fails.add(('create', 'a'))
        stack = world.make(
            {'b': res(value='x'), 'a': half('1', _depends_on='b', _metadata={'m': 1})}
        )
        row = world.resource(stack, 'a')
        self.assertEqual(
            ({'key': '1', 'ends': True}, {'m': 1}, ('b',), 'Delete', None),
            (
                row.properties,
                row.metadata,
                row.requires,
                row.deletion_policy,
                row.physical_id,
            ),
        )

    def test_a_retained_resource_is_not_deleted(self) -> None:
        world = self.create_world()
        world.external.fails.add(('create', 'a'))
        stack = world.make({'a': half('1', _deletion_policy='Retain')})

        world.act(stack, 'DELETE')

        self.assertEqual({'1'}, set(world.external.samples))

    def test_the_next_update_replaces_the_failed_resource(self) -> None:
        world = self.create_world()
        world.external.fails.add(('create', 'a'))
        stack = world.make({'a': half('1')})
        world.external.fails.clear()

        stack = world.change(stack, {'a': half('2')})

        self.assertEqual('UPDATE_COMPLETE', stack.state.name)
        self.assertEqual({'2'}, set(world.external.samples))

    def test_a_resource_that_is_not_replaced_is_created_again(self) -> None:
        world = self.create_world({'replaces_failed': False})
        world.external.fails.add(('create', 'a'))
        stack = world.make({'a': half('1')})
        before = world.resource(stack, 'a').uuid
        world.external.fails.clear()

        stack = world.change(stack)

        row = world.resource(stack, 'a')
        self.assertEqual(
            (before, 'CREATE_COMPLETE', 'id-1'),
            (row.uuid, row.state.name, row.physical_id),
        )
        self.assertEqual(['a', 'a'], world.external.of('create'))
        self.assertEqual([], world.external.of('delete'))
