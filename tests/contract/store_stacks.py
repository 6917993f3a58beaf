"""Contract of the store: stacks, resources and definitions."""

from tests.contract.stack_case import (
    TENANT,
    StackCase,
    make_definition,
    make_resource,
    make_stack,
)
from tests.contract.store_actions import EVERYTHING
from tests.factories import NOW, at, new_uuid
from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.stacks import Definition, Resource, Stack, StoredDefinition
from watcherlite.states.stack import State

LOCKED = State('UPDATE', 'FAILED', 'bylo – příliš')


class StoreStacksContract(StackCase):
    """Stacks and resources are stored, changed in bulk, and locked."""

    # definitions

    def test_a_definition_is_returned_as_it_was_stored(self) -> None:
        definition = make_definition(
            template=EVERYTHING,
            environment={'parameters': {'a': None}},
            files={'a.sh': '#!/bin/sh\n', 'ž': '🚀' * 40000},
            parameters={'b': [1, 2.5]},
        )
        stored = self.commit(lambda tx: tx.insert_definition(definition))
        self.assertEqual(
            StoredDefinition(
                definition.template,
                definition.environment,
                definition.files,
                definition.parameters,
                id=stored.id,
            ),
            stored,
        )
        self.assertEqual(stored, self.store.get_definition(stored.id))
        with self.assertRaises(exceptions.NotFound):
            self.store.get_definition(10**9)

    def test_equal_definitions_are_stored_once(self) -> None:
        one = Definition({'a': 1, 'b': 2}, files={'x': 'y'})
        other = Definition({'b': 2, 'a': 1}, files={'x': 'y'})
        unlike = Definition({'b': 2, 'a': 1}, files={'x': 'z'})

        def block(tx: Transaction) -> list[int | None]:
            return [tx.insert_definition(d).id for d in (one, other, unlike)]

        first, second = self.commit(block), self.commit(block)
        self.assertEqual(first, second)
        self.assertEqual((first[0], 2), (first[1], len(set(first))))

    def test_concurrent_equal_definitions_are_stored_once(self) -> None:
        for _ in range(3):
            definition = make_definition()

            def call(definition: Definition = definition) -> int | None:
                return self.commit(lambda tx: tx.insert_definition(definition)).id

            self.assertEqual(1, len(set(self.run_concurrently(*[call] * 6))))

    # stacks

    def test_a_stack_is_returned_as_it_was_stored(self) -> None:
        key = self.insert_definition().id
        stack = make_stack(
            key,
            action='LOCK',
            status='FAILED',
            status_reason='proč? ' * 20000,
            previous_id=key,
            owner_id=1,
            owner_resource='web',
            root_id=1,
            depth=3,
            operation=new_uuid(),
            under_lock=LOCKED,
            lock_level='all',
            inherited_level='stacks',
            disable_rollback=False,
            timeout=77,
            deadline=at(0.5),
            tags=('a', 'b "c"', 'č'),
            description='dlouhý ' * 100,
            user='someone',
            context=EVERYTHING,
            created_at=at(1),
            updated_at=at(2),
            deleted_at=at(3),
        )
        stored = self.commit(lambda tx: tx.insert_stack(stack))
        self.assertEqual(stack.stored(stored.id), stored)
        self.assertEqual(stored, self.stored_stack(stored))

    def test_saving_writes_the_variable_fields_of_a_stack(self) -> None:
        first, second, other = (self.insert_stack() for _ in range(3))
        definition = self.insert_definition()
        changed = first.evolve(
            definition_id=definition.id,
            previous_id=first.definition_id,
            action='UPDATE',
            status='COMPLETE',
            status_reason='nun\x00ja',
            operation=new_uuid(),
            under_lock=LOCKED,
            lock_level='stacks',
            inherited_level='all',
            disable_rollback=False,
            timeout=5,
            deadline=at(9),
            tags=('x',),
            description='now',
            user='else',
            context={'a': {}},
            updated_at=at(4),
        )
        gone = second.evolve(deleted_at=at(5))

        def block(tx: Transaction) -> None:
            tx.lock_stacks([first.id, second.id])
            same = changed.evolve(uuid=new_uuid(), root_id=7, owner_id=7, depth=7)
            tx.save_stacks([gone, same])

        self.commit(block)
        found = self.store.stacks_by_id([s.id for s in (first, second, other)])
        self.assertEqual(
            [changed.evolve(status_reason='nun?ja'), gone, other], list(found.values())
        )

    def test_rows_by_id_are_in_the_order_of_ids_without_missing_ones(self) -> None:
        first, second = self.insert_stack(), self.insert_stack()
        ids = [second.id, 10**9, first.id, second.id]
        expected = {first.id: first, second.id: second}
        found = [
            self.store.stacks_by_id(ids),
            self.commit(lambda tx: tx.lock_stacks(ids)),
        ]
        self.assertEqual([list(expected.items())] * 2, [list(f.items()) for f in found])
        self.assertEqual({}, self.store.stacks_by_id([]))
        self.assertEqual({}, self.commit(lambda tx: tx.lock_stacks(())))

    # names

    def test_names_are_unique_among_existing_stacks_of_a_project(self) -> None:
        stack = self.insert_stack(name='web')
        for name, tenant in (('Web', TENANT), ('web', 'project-b')):
            self.insert_stack(name=name, tenant=tenant)
        self.nested_stack(stack, name='web')
        self.nested_stack(stack, name='web')
        with self.assertRaisesRegex(exceptions.StackExists, 'web'):
            self.insert_stack(name='web')
        self.delete_stack(stack)
        again = self.insert_stack(name='web')
        self.assertEqual(again, self.store.find_stack('web', TENANT))
        self.delete_stack(again)
        self.insert_stack(name='web')

    def test_one_of_several_concurrent_stacks_gets_a_name(self) -> None:
        key = self.insert_definition().id

        def call() -> bool:
            stack = make_stack(key, name='desired')
            return self.is_committed(lambda tx: tx.insert_stack(stack))

        self.assertEqual(1, sum(self.run_concurrently(*[call] * 6)))

    def test_a_stored_uuid_is_refused(self) -> None:
        stack = self.insert_stack()
        with self.assertRaises(exceptions.Conflict):
            self.insert_stack(uuid=stack.uuid)
        with self.assertRaises(exceptions.Conflict):
            self.nested_stack(stack, uuid=stack.uuid)

    def test_a_stack_is_found_by_uuid_and_by_name(self) -> None:
        stack = self.insert_stack(name='a')
        inner = self.nested_stack(stack, name='inner')
        gone = self.delete_stack(self.insert_stack(name='gone'))
        for tenant in (TENANT, None):
            for name in ('a', stack.uuid):
                self.assertEqual(stack, self.store.find_stack(name, tenant))
        self.assertEqual(inner, self.store.find_stack(inner.uuid, TENANT))
        for name, tenant in (
            ('A', TENANT),
            ('a', 'project-b'),
            (stack.uuid, 'project-b'),
            ('inner', TENANT),
            (gone.uuid, TENANT),
            ('gone', TENANT),
        ):
            with self.assertRaisesRegex(exceptions.StackNotFound, name):
                self.store.find_stack(name, tenant)
        # A deleted stack is found only by its uuid, and only on request.
        self.assertEqual(gone, self.store.find_stack(gone.uuid, TENANT, deleted=True))
        with self.assertRaises(exceptions.StackNotFound):
            self.store.find_stack('gone', TENANT, deleted=True)
        self.assertEqual(gone, self.stored_stack(gone))

    def test_a_uuid_precedes_a_name_and_new_stacks_precede_old_ones(self) -> None:
        stack = self.insert_stack()
        named = self.insert_stack(name=stack.uuid)
        self.assertEqual(stack, self.store.find_stack(stack.uuid, TENANT))
        self.assertEqual(named, self.store.find_stack(named.uuid, TENANT))
        of_others = [
            self.insert_stack(name='n', tenant=tenant) for tenant in ('x', 'y')
        ]
        self.assertEqual(of_others[1], self.store.find_stack('n', None))

    # trees

    def test_a_tree_has_all_existing_stacks_below_a_root(self) -> None:
        root = self.insert_stack()
        first, second = self.nested_stack(root), self.nested_stack(root)
        inner = self.nested_stack(first)
        self.assertEqual([root.id] * 2, [root.root_id, inner.root_id])
        self.delete_stack(second)
        self.insert_stack()
        expected = [root, first, inner]
        self.assertEqual(expected, self.store.stack_tree(root.id))
        locked = self.commit(lambda tx: tx.lock_tree(root.id))
        self.assertEqual(expected, locked)
        self.assertEqual([], self.store.stack_tree(inner.id))

    def test_a_locked_tree_has_stacks_that_were_added_during_the_wait(self) -> None:
        root = self.insert_stack()
        for _ in range(10):
            seen: list[list[Stack]] = []

            def lock(seen: list[list[Stack]] = seen) -> None:
                with self.store.transaction() as tx:
                    seen.append(tx.lock_tree(root.id))
                    # No other transaction stores a stack before this one ends.
                    seen.append(self.store.stack_tree(root.id))

            self.run_concurrently(
                lock, lambda: [self.nested_stack(root) for _ in range(3)] and None
            )
            self.assertEqual(seen[0], seen[1])

    def test_the_ancestry_of_a_stack_starts_at_the_root(self) -> None:
        root = self.insert_stack()
        middle = self.nested_stack(root)
        inner = self.delete_stack(self.nested_stack(middle))
        self.delete_stack(root)
        ids = [s.id for s in (inner, root, middle)]
        ancestry = self.store.ancestry_of_stacks([*ids, 10**9])
        names = [(root.name, root.uuid), (middle.name, middle.uuid)]
        self.assertEqual(
            {inner.id: tuple(names), root.id: (), middle.id: (names[0],)},
            {key: each.ancestors for key, each in ancestry.items()},
        )
        self.assertEqual(inner, ancestry[inner.id].stack)
        self.assertEqual({}, self.store.ancestry_of_stacks([]))

    # resources

    def complete_resource(self, stack: Stack) -> Resource:
        return make_resource(
            stack,
            name='web',
            type='file:///x/' + 'y' * 300,
            handler='z' * 300,
            action='LOCK',
            status='IN_PROGRESS',
            status_reason='důvod ' * 20000,
            physical_id='p' * 300,
            nested_id=5,
            definition_id=stack.definition_id,
            properties=EVERYTHING,
            attributes={'a': [1]},
            metadata={'b': {'c': None}},
            data={'d': 'ž'},
            requires=('x', 'y'),
            deletion_policy='Retain',
            superseded_by=8,
            under_lock=LOCKED,
            under_mark=State('CREATE', 'COMPLETE', ''),
            protected=True,
            reference='r' * 300,
            hook='pre-update',
            hook_action=new_uuid(),
            created_at=at(0.25),
            updated_at=at(1),
        )

    def test_resources_are_returned_as_they_were_stored_with_ids_in_order(self) -> None:
        stack, other = self.insert_stack(), self.insert_stack()
        whole, plain = self.complete_resource(stack), make_resource(stack)
        gone = make_resource(stack, deleted_at=NOW)
        theirs = make_resource(other)

        def block(tx: Transaction) -> list[int]:
            tx.lock_stacks([stack.id, other.id])
            return tx.insert_resources([whole, theirs, gone, plain])

        ids = self.commit(block)
        self.assertEqual(sorted(set(ids)), ids)
        resources = [
            resource.stored(key)
            for resource, key in zip((whole, theirs, gone, plain), ids, strict=True)
        ]
        found = self.commit(lambda tx: tx.resources_by_id([*reversed(ids), 10**9]))
        self.assertEqual(list(zip(ids, resources, strict=True)), list(found.items()))
        self.assertEqual([], self.commit(lambda tx: tx.insert_resources([])))
        self.assertEqual({}, self.commit(lambda tx: tx.resources_by_id([])))

    def test_saving_writes_the_variable_fields_of_resources(self) -> None:
        stack, other = self.insert_stack(), self.insert_stack()
        first, second, third = self.insert_resources(stack, {}, {}, {})
        changed = (
            self.complete_resource(stack).evolve(uuid=second.uuid).stored(second.id)
        )
        gone = first.evolve(deleted_at=at(9))
        moved = changed.evolve(uuid=new_uuid(), stack_id=other.id)

        def block(tx: Transaction) -> None:
            tx.lock_stacks([stack.id, other.id])
            tx.save_resources([moved, gone])
            tx.save_resources([])

        self.commit(block)
        ids = [r.id for r in (first, second, third)]
        found = self.commit(lambda tx: tx.resources_by_id(ids))
        self.assertEqual([gone, changed, third], list(found.values()))

    def test_many_resources_are_inserted_and_saved_in_bulk(self) -> None:
        stack = self.insert_stack()
        resources = self.insert_resources(
            stack, *({'name': f'r{n}'} for n in range(1000))
        )
        changed = [
            r.evolve(physical_id=f'p-{r.id}', action='CREATE') for r in resources
        ]
        self.save_stack(stack, *reversed(changed))
        self.assertEqual(changed, self.store.list_resources([stack.id]))

    def test_a_resource_is_found_in_its_project_while_it_exists(self) -> None:
        stack = self.insert_stack()
        row, gone = self.insert_resources(stack, {'name': 'a'}, {'deleted_at': NOW})
        find = self.store.resource_of_project

        self.assertEqual(
            [row, None, None, None],
            [
                find(row.uuid, stack.tenant),
                find(row.uuid, 'another project'),
                find(gone.uuid, stack.tenant),
                find('no uuid', stack.tenant),
            ],
        )

    def test_the_resources_of_stacks_are_the_existing_ones(self) -> None:
        stack, other, third = (self.insert_stack() for _ in range(3))
        plain, old, _ = self.insert_resources(
            stack, {'name': 'a'}, {'superseded_by': 1}, {'deleted_at': NOW}
        )
        (theirs,) = self.insert_resources(other, {'name': 'b'})
        self.insert_resources(third, {'name': 'a'})
        ids = [other.id, stack.id]
        self.assertEqual([plain, theirs], self.store.list_resources(ids))
        self.assertEqual(
            [plain, old, theirs], self.store.list_resources(ids, superseded=True)
        )
        self.assertEqual(
            [theirs], self.store.list_resources(ids, names=('b', 'c'), superseded=True)
        )
        self.assertEqual([], self.store.list_resources(ids, names=()))
        self.assertEqual([], self.store.list_resources([]))
        self.assertEqual(
            ([plain, old, theirs], [plain, theirs], []),
            self.commit(
                lambda tx: (
                    tx.resources_of(ids),
                    tx.resources_of(ids, superseded=False),
                    tx.resources_of(()),
                )
            ),
        )

    def test_abandoned_resources_were_not_deleted_superseded_or_adopted(self) -> None:
        stack, other = self.insert_stack(), self.insert_stack()
        gone = {'deleted_at': NOW, 'physical_id': 'p', 'action': 'CHECK'}
        left, *_ = self.insert_resources(
            stack,
            {**gone, 'name': 'left', 'data': {'pid': 7}},
            {**gone, 'name': 'adopted', 'action': 'DELETE'},
            {**gone, 'name': 'replaced', 'superseded_by': 1},
            {**gone, 'name': 'never made', 'physical_id': None},
            {**gone, 'name': 'there', 'deleted_at': None},
        )
        (theirs,) = self.insert_resources(other, {**gone, 'name': 'left'})
        ids = [other.id, stack.id]
        self.assertEqual(
            ([left, theirs], [left], []),
            self.commit(
                lambda tx: (
                    tx.abandoned_resources(ids),
                    tx.abandoned_resources(ids[1:]),
                    tx.abandoned_resources(()),
                )
            ),
        )

    def test_the_resources_that_wait_at_a_hook_include_deleted_ones(self) -> None:
        stack, other = self.insert_stack(), self.insert_stack()
        hooked = {'hook': 'post-delete', 'hook_action': new_uuid()}
        _, kept, gone = self.insert_resources(
            stack, {}, hooked, {**hooked, 'deleted_at': NOW}
        )
        (theirs,) = self.insert_resources(other, hooked)

        every = [stack.id, other.id]
        self.assertEqual(
            [[kept, gone, theirs], [kept, gone], []],
            [self.store.waiting_resources(ids) for ids in (every, every[:1], ())],
        )
        self.assertEqual(
            [kept, gone, theirs], self.commit(lambda tx: tx.waiting_resources(every))
        )

    def test_the_resources_of_a_tree_are_counted(self) -> None:
        root = self.insert_stack()
        inner, gone = self.nested_stack(root), self.nested_stack(root)
        self.insert_resources(root, {}, {'superseded_by': 1}, {'deleted_at': NOW})
        self.insert_resources(inner, {}, {})
        self.insert_resources(gone, {})
        self.delete_stack(gone)
        self.insert_resources(self.insert_stack(), {})
        self.assertEqual(3, self.store.count_resources(root.id))
        self.assertEqual(0, self.store.count_resources(10**9))

    # Atomicity

    def test_a_failed_transaction_has_no_effect(self) -> None:
        stack = self.insert_stack()
        (resource,) = self.insert_resources(stack, {})
        with self.assertRaises(ZeroDivisionError), self.store.transaction() as tx:
            tx.lock_stacks([stack.id])
            tx.insert_stack(make_stack(stack.definition_id, name='never'))
            tx.save_stacks([stack.evolve(status='FAILED')])
            tx.insert_resources([make_resource(stack)])
            tx.save_resources([resource.evolve(name='never')])
            raise ZeroDivisionError
        self.assertEqual(stack, self.stored_stack(stack))
        self.assertEqual([resource], self.store.list_resources([stack.id]))
        self.insert_stack(name='never')

    def test_changes_of_a_locked_stack_are_serialized(self) -> None:
        stack = self.insert_stack(timeout=0)

        def block(tx: Transaction) -> None:
            (found,) = tx.lock_stacks([stack.id]).values()
            tx.save_stacks([found.evolve(timeout=found.timeout + 1)])

        self.commit_often(block)
        found = self.stored_stack(stack)
        self.assertEqual(20, found.timeout if found else None)
