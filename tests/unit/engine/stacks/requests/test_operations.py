"""Requests are validated as a whole, and stored completely or not at all."""

from typing import Any, ClassVar

from tests.stack_worlds import TENANT, StackWorld, StackWorldCase, res, template
from watcherlite import exceptions
from watcherlite.domain.stacks import Definition, StackRequest


class TestCreating(StackWorldCase):
    def test_a_rejected_creation_stores_nothing(self) -> None:
        world = self.create_stack_world()

        for name, resources in (('1', {}), ('s', {'a': res('Sampel')})):
            self.assertRaises(
                exceptions.StackValidationFailed,
                world.start_creation,
                resources,
                name=name,
            )

        self.assertRaises(exceptions.StackNotFound, world.find_stack, 's')
        self.assertEqual([], world.store.list_actions(limit=10))

    def test_the_stored_stack_has_the_requested_values_and_a_unique_name(self) -> None:
        world = self.create_stack_world()

        stack = world.start_creation(
            {'a': res()}, sections={'description': 'it'}, tags=('t',), timeout_mins=2
        )

        self.assertEqual(stack, world.find_stack('s'))
        self.assertEqual(
            ('CREATE_IN_PROGRESS', 'it', ('t',), 120, 'a user'),
            (
                stack.state.name,
                stack.description,
                stack.tags,
                stack.timeout,
                stack.user,
            ),
        )
        self.assertRaises(exceptions.StackExists, world.start_creation, {'a': res()})


class ConcurrentUpdateWorld(StackWorld):
    """A world in which another update happens between read and write."""

    def __init__(self, *arguments: Any, **keys: Any) -> None:
        super().__init__(*arguments, **keys)
        self.meddle: Any = None

    def parts(self, store: Any) -> Any:
        found = super().parts(store)
        world, own = self, found.store

        class Store:
            def __getattr__(self, name: str) -> Any:
                return getattr(own, name)

            def get_definition(self, definition_id: int) -> Definition:
                definition = own.get_definition(definition_id)
                if world.meddle is not None:
                    call, world.meddle = world.meddle, None
                    call()
                return definition

        return type(found)(
            Store(), found.handlers, found.blueprints, found.messenger, found.limits
        )


class TestUpdating(StackWorldCase):
    SECTIONS: ClassVar[Any] = {
        'parameters': {
            name: {'type': 'string', 'default': 'old'} for name in ('p', 'q')
        }
    }

    def test_concurrent_merging_updates_are_both_applied(self) -> None:
        world = ConcurrentUpdateWorld(self.make_store())
        self.addCleanup(world.stop)
        stack = world.start_creation({'a': res()}, sections=self.SECTIONS)
        world.meddle = lambda: world.start_update(stack, parameters={'q': 'new'})

        world.start_update(stack, parameters={'p': 'new'})

        definition = world.store.get_definition(world.reload(stack).definition_id)
        self.assertEqual({'p': 'new', 'q': 'new'}, definition.parameters)

    def test_an_update_changes_tags_and_timeout(self) -> None:
        world = self.create_stack_world()
        stack = world.start_creation({'a': res()}, tags=('t',))

        kept = world.start_update(stack, timeout_mins=5)
        gone = world.start_update(
            stack, {'a': res()}, {'description': 'new'}, disable_rollback=False
        )

        self.assertEqual((('t',), 300), (kept.tags, kept.timeout))
        self.assertEqual(
            ((), 300, False, 'new'),
            (gone.tags, gone.timeout, gone.disable_rollback, gone.description),
        )

    def test_a_rejected_update_changes_nothing(self) -> None:
        world = self.create_stack_world()
        stack = world.start_creation({'a': res()})

        new = StackRequest('s', template({'a': res(valeu=1)}))
        self.assertRaises(
            exceptions.StackValidationFailed,
            world.stacks.update,
            stack.uuid,
            TENANT,
            new,
        )

        self.assertEqual(stack, world.reload(stack))
