"""The store's contract: stacks, resources, and what they are to be."""

import dataclasses

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
from watcherlite.domain.stacks import Definition, Resource, Stack
from watcherlite.states.stack import State

LOCKED = State('UPDATE', 'FAILED', 'bylo – příliš')


class StoreStacksContract(StackCase):
    """Stacks and resources are stored whole, changed in bulk, and locked."""

    # definitions

    def test_a_definition_comes_back_as_it_was_stored(self) -> None:
        definition = make_definition(
            template=EVERYTHING,
            environment={'parameters': {'a': None}},
            files={'a.sh': '#!/bin/sh\n', 'ž': '🚀' * 40000},
            parameters={'b': [1, 2.5]},
        )
        stored = self.commit(lambda tx: tx.insert_definition(definition))
        self.assertEqual(dataclasses.replace(definition, id=stored.id), stored)
        self.assertEqual(stored, self.store.get_definition(stored.id or 0))
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

    def test_equal_definitions_of_several_at_the_same_time_are_one(self) -> None:
        for _ in range(3):
            definition = make_definition()

            def call(definition: Definition = definition) -> int | None:
                return self.commit(lambda tx: tx.insert_definition(definition)).id

            self.assertEqual(1, len(set(self.together(*[call] * 6))))

    # stacks

    def test_a_stack_comes_back_as_it_was_stored(self) -> None:
        key = self.a_definition().id or 0
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
        self.assertEqual(stack.evolve(id=stored.id), stored)
        self.assertEqual(stored, self.stored_stack(stored))

    def test_a_stack_that_is_in_no_other_is_its_own_root(self) -> None:
        stack = self.a_stack()
        self.assertIsNotNone(stack.id)
        self.assertEqual(stack.id, stack.root_id)
        self.assertEqual(stack, self.stored_stack(stack))
        inner = self.nested_stack(self.nested_stack(stack))
        self.assertEqual(stack.id, inner.root_id)

    def test_saving_writes_all_of_a_stack_but_what_never_changes(self) -> None:
        first, second, other = self.a_stack(), self.a_stack(), self.a_stack()
        definition = self.a_definition()
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
            tx.lock_stacks([first.id or 0, second.id or 0])
            same = changed.evolve(uuid=new_uuid(), root_id=7, owner_id=7, depth=7)
            tx.save_stacks([gone, same])

        self.commit(block)
        found = self.store.stacks_by_id([s.id or 0 for s in (first, second, other)])
        self.assertEqual(
            [changed.evolve(status_reason='nun?ja'), gone, other], list(found.values())
        )

    def test_what_is_asked_for_by_id_comes_in_the_order_of_ids_if_it_is_there(
        self,
    ) -> None:
        first, second = self.a_stack(), self.a_stack()
        ids = [second.id or 0, 10**9, first.id or 0, second.id or 0]
        expected = {first.id: first, second.id: second}
        found = [
            self.store.stacks_by_id(ids),
            self.commit(lambda tx: tx.lock_stacks(ids)),
        ]
        self.assertEqual([list(expected.items())] * 2, [list(f.items()) for f in found])
        self.assertEqual({}, self.store.stacks_by_id([]))
        self.assertEqual({}, self.commit(lambda tx: tx.lock_stacks(())))

    # names

    def test_names_are_unique_among_the_stacks_of_a_tenant_that_are_there(self) -> None:
        stack = self.a_stack(name='web')
        for name, tenant in (('Web', TENANT), ('web', 'project-b')):
            self.a_stack(name=name, tenant=tenant)
        self.nested_stack(stack, name='web')
        self.nested_stack(stack, name='web')
        with self.assertRaisesRegex(exceptions.StackExists, 'web'):
            self.a_stack(name='web')
        self.delete_stack(stack)
        again = self.a_stack(name='web')
        self.assertEqual(again, self.store.find_stack('web', TENANT))
        self.delete_stack(again)
        self.a_stack(name='web')

    def test_one_of_several_that_want_a_name_at_the_same_time_gets_it(self) -> None:
        key = self.a_definition().id or 0

        def call() -> bool:
            stack = make_stack(key, name='wanted')
            try:
                self.commit(lambda tx: tx.insert_stack(stack))
            except exceptions.StackExists:
                return False
            return True

        self.assertEqual(1, sum(self.together(*[call] * 6)))

    def test_a_uuid_that_is_there_already_is_refused(self) -> None:
        stack = self.a_stack()
        with self.assertRaises(exceptions.Conflict):
            self.a_stack(uuid=stack.uuid)
        with self.assertRaises(exceptions.Conflict):
            self.nested_stack(stack, uuid=stack.uuid)

    def test_a_stack_is_found_by_uuid_and_by_name(self) -> None:
        stack = self.a_stack(name='a')
        inner = self.nested_stack(stack, name='inner')
        for name, tenant in (
            ('a', TENANT),
            (stack.uuid, TENANT),
            ('a', None),
            (stack.uuid, None),
        ):
            self.assertEqual(stack, self.store.find_stack(name, tenant))
        self.assertEqual(inner, self.store.find_stack(inner.uuid, TENANT))
        for name, tenant in (
            ('A', TENANT),
            ('a', 'project-b'),
            (stack.uuid, 'project-b'),
            ('inner', TENANT),
        ):
            with self.assertRaisesRegex(exceptions.StackNotFound, name):
                self.store.find_stack(name, tenant)

    def test_a_uuid_is_stronger_than_a_name_and_new_ones_than_old_ones(self) -> None:
        stack = self.a_stack()
        named = self.a_stack(name=stack.uuid)
        self.assertEqual(stack, self.store.find_stack(stack.uuid, TENANT))
        self.assertEqual(named, self.store.find_stack(named.uuid, TENANT))
        of_others = [self.a_stack(name='n', tenant=tenant) for tenant in ('x', 'y')]
        self.assertEqual(of_others[1], self.store.find_stack('n', None))

    def test_a_deleted_stack_is_found_by_uuid_alone_and_only_when_it_may_be(
        self,
    ) -> None:
        stack = self.delete_stack(self.a_stack(name='a'))
        self.assertEqual(stack, self.store.find_stack(stack.uuid, TENANT, deleted=True))
        for name, deleted in ((stack.uuid, False), ('a', True), ('a', False)):
            with self.assertRaises(exceptions.StackNotFound):
                self.store.find_stack(name, TENANT, deleted=deleted)
        self.assertEqual(stack, self.stored_stack(stack))

    # trees

    def test_a_tree_is_all_stacks_below_a_root_that_are_not_deleted(self) -> None:
        root = self.a_stack()
        first, second = self.nested_stack(root), self.nested_stack(root)
        inner = self.nested_stack(first)
        self.delete_stack(second)
        self.a_stack()
        expected = [root, first, inner]
        self.assertEqual(expected, self.store.stack_tree(root.id or 0))
        locked = self.commit(lambda tx: tx.lock_tree(root.id or 0))
        self.assertEqual(expected, locked)
        self.assertEqual([], self.store.stack_tree(inner.id or 0))

    def test_who_locks_a_tree_sees_the_stacks_that_came_while_it_waited(self) -> None:
        root = self.a_stack()
        for _ in range(10):
            seen: list[list[Stack]] = []

            def lock(seen: list[list[Stack]] = seen) -> None:
                with self.store.transaction() as tx:
                    seen.append(tx.lock_tree(root.id or 0))
                    # Nobody stores another one before this ends.
                    seen.append(self.store.stack_tree(root.id or 0))

            self.together(
                lock, lambda: [self.nested_stack(root) for _ in range(3)] and None
            )
            self.assertEqual(seen[0], seen[1])

    def test_the_surroundings_of_a_stack_name_what_it_is_in(self) -> None:
        root = self.a_stack()
        middle = self.nested_stack(root)
        inner = self.delete_stack(self.nested_stack(middle))
        self.delete_stack(root)
        ids = [s.id or 0 for s in (inner, root, middle)]
        around = self.store.surroundings_of_stacks([*ids, 10**9])
        names = [(root.name, root.uuid), (middle.name, middle.uuid)]
        self.assertEqual(
            {inner.id: tuple(names), root.id: (), middle.id: (names[0],)},
            {key: each.ancestry for key, each in around.items()},
        )
        self.assertEqual(inner, around[inner.id or 0].stack)
        self.assertEqual({}, self.store.surroundings_of_stacks([]))

    # resources

    def whole_resource(self, stack: Stack) -> Resource:
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
            created_at=at(0.25),
            updated_at=at(1),
        )

    def test_resources_come_back_as_they_were_stored_with_their_ids_in_order(
        self,
    ) -> None:
        stack, other = self.a_stack(), self.a_stack()
        whole, plain = self.whole_resource(stack), make_resource(stack)
        gone = make_resource(stack, deleted_at=NOW)
        theirs = make_resource(other)

        def block(tx: Transaction) -> list[int]:
            tx.lock_stacks([stack.id or 0, other.id or 0])
            return tx.insert_resources([whole, theirs, gone, plain])

        ids = self.commit(block)
        self.assertEqual(sorted(set(ids)), ids)
        resources = [
            resource.evolve(id=key)
            for resource, key in zip((whole, theirs, gone, plain), ids, strict=True)
        ]
        found = self.commit(lambda tx: tx.resources_by_id([*reversed(ids), 10**9]))
        self.assertEqual(list(zip(ids, resources, strict=True)), list(found.items()))
        self.assertEqual([], self.commit(lambda tx: tx.insert_resources([])))
        self.assertEqual({}, self.commit(lambda tx: tx.resources_by_id([])))

    def test_saving_writes_all_of_resources(self) -> None:
        stack, other = self.a_stack(), self.a_stack()
        first, second, third = self.some_resources(stack, {}, {}, {})
        changed = self.whole_resource(stack).evolve(id=second.id, uuid=second.uuid)
        gone = first.evolve(deleted_at=at(9))
        moved = changed.evolve(uuid=new_uuid(), stack_id=other.id)

        def block(tx: Transaction) -> None:
            tx.lock_stacks([stack.id or 0, other.id or 0])
            tx.save_resources([moved, gone])
            tx.save_resources([])

        self.commit(block)
        ids = [r.id or 0 for r in (first, second, third)]
        found = self.commit(lambda tx: tx.resources_by_id(ids))
        self.assertEqual([gone, changed, third], list(found.values()))

    def test_a_thousand_resources_are_stored_and_saved_at_once(self) -> None:
        stack = self.a_stack()
        resources = self.some_resources(
            stack, *({'name': f'r{n}'} for n in range(1000))
        )
        changed = [
            r.evolve(physical_id=f'p-{r.id}', action='CREATE') for r in resources
        ]
        self.save_stack(stack, *reversed(changed))
        self.assertEqual(changed, self.store.list_resources([stack.id or 0]))

    def test_the_resources_of_stacks_are_those_that_are_there(self) -> None:
        stack, other, third = self.a_stack(), self.a_stack(), self.a_stack()
        plain, old, _ = self.some_resources(
            stack, {'name': 'a'}, {'superseded_by': 1}, {'deleted_at': NOW}
        )
        (theirs,) = self.some_resources(other, {'name': 'b'})
        self.some_resources(third, {'name': 'a'})
        ids = [other.id or 0, stack.id or 0]
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

    def test_what_stacks_left_is_what_no_stack_deleted_replaced_or_adopted(
        self,
    ) -> None:
        stack, other = self.a_stack(), self.a_stack()
        gone = {'deleted_at': NOW, 'physical_id': 'p', 'action': 'CHECK'}
        left, *_ = self.some_resources(
            stack,
            {**gone, 'name': 'left', 'data': {'pid': 7}},
            {**gone, 'name': 'adopted', 'action': 'DELETE'},
            {**gone, 'name': 'replaced', 'superseded_by': 1},
            {**gone, 'name': 'never made', 'physical_id': None},
            {**gone, 'name': 'there', 'deleted_at': None},
        )
        (theirs,) = self.some_resources(other, {**gone, 'name': 'left'})
        ids = [other.id or 0, stack.id or 0]
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

    def test_the_resources_of_a_tree_are_counted(self) -> None:
        root = self.a_stack()
        inner, gone = self.nested_stack(root), self.nested_stack(root)
        self.some_resources(root, {}, {'superseded_by': 1}, {'deleted_at': NOW})
        self.some_resources(inner, {}, {})
        self.some_resources(gone, {})
        self.delete_stack(gone)
        self.some_resources(self.a_stack(), {})
        self.assertEqual(3, self.store.count_resources(root.id or 0))
        self.assertEqual(0, self.store.count_resources(10**9))

    # all or nothing

    def test_nothing_is_left_of_a_transaction_that_failed(self) -> None:
        stack = self.a_stack()
        (resource,) = self.some_resources(stack, {})
        with self.assertRaises(ZeroDivisionError), self.store.transaction() as tx:
            tx.lock_stacks([stack.id or 0])
            tx.insert_stack(make_stack(stack.definition_id, name='never'))
            tx.save_stacks([stack.evolve(status='FAILED')])
            tx.insert_resources([make_resource(stack)])
            tx.save_resources([resource.evolve(name='never')])
            raise ZeroDivisionError
        self.assertEqual(stack, self.stored_stack(stack))
        self.assertEqual([resource], self.store.list_resources([stack.id or 0]))
        self.a_stack(name='never')

    def test_changes_of_one_stack_that_lock_it_are_made_one_after_the_other(
        self,
    ) -> None:
        stack = self.a_stack(timeout=0)

        def count() -> None:
            def block(tx: Transaction) -> None:
                (found,) = tx.lock_stacks([stack.id or 0]).values()
                tx.save_stacks([found.evolve(timeout=found.timeout + 1)])

            for _ in range(5):
                self.commit(block)

        self.together(*[count] * 4)
        found = self.stored_stack(stack)
        self.assertEqual(20, found.timeout if found else None)
