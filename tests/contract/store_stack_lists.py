"""Contract of the store: lists, events and the purge of stacks."""

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

from tests.contract.stack_case import (
    TENANT,
    StackCase,
    make_definition,
    resource_event,
    stack_event,
)
from tests.contract.store_case import in_order
from tests.factories import NOW, at, make_action, new_uuid
from watcherlite import exceptions
from watcherlite.db.query import EventQuery, Query
from watcherlite.db.stacks import STACK_SORT_KEYS, ListedStack
from watcherlite.domain.events import StoredEvent
from watcherlite.domain.stacks import Resource, Stack

LATER = at(10**9)


def names(listed: Iterable[ListedStack]) -> list[str]:
    """Return the names of stacks, in order."""
    return [one.stack.name for one in listed]


class StoreStackListsContract(StackCase):
    """Lists are complete, in order, in pages, and filtered."""

    def insert_stacks(self) -> dict[str, Stack]:
        """Store different stacks, some hidden by default; return them by name."""
        given: dict[str, dict[str, Any]] = {
            'a': {'status': 'COMPLETE', 'tags': ('red', 'big'), 'updated_at': at(3)},
            'b': {'status': 'FAILED', 'action': 'UPDATE', 'tags': ('red',)},
            'c': {'user': 'eve', 'updated_at': at(1), 'created_at': at(-5)},
            'd': {'tags': ('redder', 'RED'), 'updated_at': at(3)},
            'e': {'created_at': at(5), 'tags': ('big', 'old "x"', 'y\\"x', 'z\\')},
        }
        found = {n: self.insert_stack(name=n, **values) for n, values in given.items()}
        found['gone'] = self.delete_stack(
            self.insert_stack(name='gone', updated_at=at(2))
        )
        found['inner'] = self.nested_stack(found['a'], name='inner')
        found['other'] = self.insert_stack(name='other', tenant='project-b')
        return found

    def listed_stacks(self, **values: Any) -> str:
        """Return the sorted names that a query finds; check their count."""
        given: dict[str, Any] = {'tenant': TENANT, 'sort': (('name', False),), **values}
        query = Query(**given)
        found = names(self.store.list_stacks(query))
        self.assertEqual(len(found), self.store.count_stacks(query))
        return ' '.join(found)

    def test_a_list_has_the_root_stacks_of_a_project(self) -> None:
        world = self.insert_stacks()
        self.assertEqual('a b c d e', self.listed_stacks())
        self.assertEqual('a b c d e inner', self.listed_stacks(nested=True))
        self.assertEqual('a b c d e gone', self.listed_stacks(deleted=True))
        self.assertEqual('a b c d e other', self.listed_stacks(tenant=None))
        self.assertEqual(
            'a b c d e gone inner other',
            self.listed_stacks(tenant=None, nested=True, deleted=True),
        )
        query = Query(
            {'name': ['inner', 'a']}, (('name', False),), nested=True, tenant=TENANT
        )
        self.assertEqual(
            [
                ListedStack(world['a'], None),
                ListedStack(world['inner'], world['a'].uuid),
            ],
            self.store.list_stacks(query),
        )

    def test_stacks_are_filtered(self) -> None:
        world = self.insert_stacks()
        for expected, filters in (
            ('a c', {'name': ['a', 'c', 'other', 'A']}),
            ('b', {'uuid': [world['b'].uuid, world['other'].uuid]}),
            ('b', {'action': ['UPDATE']}),
            ('a b', {'status': ['FAILED', 'COMPLETE']}),
            ('c', {'user': ['eve']}),
            ('a', {'status': ['COMPLETE'], 'action': ['CREATE', 'UPDATE']}),
            ('', {'status': ['COMPLETE'], 'action': ['UPDATE']}),
            ('', {'name': []}),
            ('', {'owner_uuid': [world['a'].uuid]}),
            ('a b', {'tags': ('red',)}),
            ('a', {'tags': ('red', 'big')}),
            ('a b e', {'tags_any': ('red', 'big')}),
            ('b c d e', {'not_tags': ('red', 'big')}),
            ('c d', {'not_tags_any': ('red', 'big')}),
            ('e', {'tags': ('old "x"', 'y\\"x', 'z\\')}),
            ('b', {'tags': ('red',), 'not_tags_any': ('big',)}),
            ('a b', {'tags_any': (*map(str, range(99)), 'red')}),
            # Neither the separators nor parts of tags match.
            ('', {'tags': (',',)}),
            ('', {'tags_any': ('re', '"', '', 'x', 'x"', '\\', 'big","old')}),
        ):
            self.assertEqual(expected, self.listed_stacks(filters=filters), filters)
        of_owner = {'owner_uuid': [world['a'].uuid, new_uuid()]}
        self.assertEqual('inner', self.listed_stacks(filters=of_owner, nested=True))

    def test_pages_by_every_key_in_both_directions_have_every_stack_once(self) -> None:
        self.insert_stacks()
        whole = self.store.list_stacks(Query(nested=True, deleted=True))
        limits = itertools.cycle((1, 3, None))
        for sort in (
            *(((key, down),) for key in STACK_SORT_KEYS for down in (False, True)),
            (('status', True), ('updated_at', False)),
            (('updated_at', True), ('name', True)),
        ):
            self.assert_pages(
                in_order(
                    whole,
                    [*sort, ('id', False)],
                    lambda one, key: getattr(one.stack, key),
                ),
                self.store.list_stacks,
                Query(nested=True, deleted=True, sort=sort, limit=next(limits)),
                lambda one: one.stack.uuid,
            )

    def test_stacks_are_limited_to_a_range_of_times_of_creation(self) -> None:
        self.insert_stacks()
        for expected, since, until in (
            ('a b d e', at(0), None),
            ('c', None, at(-1)),
            ('a b d', at(-4), at(4)),
            ('e', at(5), at(5)),
            ('', at(6), None),
        ):
            limits = {'since': since, 'until': until}
            self.assertEqual(expected, self.listed_stacks(**limits), limits)
            self.assert_pages(
                self.store.list_stacks(Query(tenant=TENANT, **limits)),
                self.store.list_stacks,
                Query(tenant=TENANT, limit=2, **limits),
                lambda one: one.stack.uuid,
            )

    def test_a_page_continues_after_a_stack_that_is_no_longer_listed(self) -> None:
        world = self.insert_stacks()
        query = {'tenant': TENANT, 'sort': (('name', False),)}
        after = world['b']
        self.delete_stack(after)
        rest = self.store.list_stacks(Query(**query, after=after.uuid))
        self.assertEqual(['c', 'd', 'e'], names(rest))
        last = Query(**query, after=world['e'].uuid)
        self.assertEqual([], self.store.list_stacks(last))
        self.assertEqual(4, self.store.count_stacks(last))
        for missing in (new_uuid(), world['other'].uuid):
            with self.assertRaisesRegex(exceptions.StackNotFound, missing):
                self.store.list_stacks(Query(**query, after=missing))

    # events

    def history_of(self, *stacks: Stack, **values: Any) -> list[str | None]:
        """Return the messages of the events of stacks, oldest first."""
        given: dict[str, Any] = {'descending': False, **values}
        ids = [stack.id for stack in stacks]
        given['filters'] = {'stack_id': ids, **values.get('filters', {})}
        found = self.store.list_stack_events(EventQuery(**given))
        return [each.event.message for each in found]

    def insert_stack_events(self) -> tuple[Stack, Stack, Resource]:
        """Store alternating events of two stacks; return the stacks and a resource."""
        stack, other = self.insert_stack(), self.insert_stack()
        web, db = self.insert_resources(
            stack, {'name': 'web', 'type': 'T::Web'}, {'name': 'db', 'type': 'T::Db'}
        )
        (theirs,) = self.insert_resources(other, {'name': 'web', 'type': 'T::Web'})
        begun = {'new_status': 'CREATE_IN_PROGRESS'}
        self.add_stack_events(
            stack,
            stack_event(stack, message='1', **begun),
            resource_event(stack, web, message='2', **begun),
            resource_event(stack, db, message='3', new_status='DELETE_FAILED'),
        )
        self.add_stack_events(other, resource_event(other, theirs, message='4'))
        self.add_stack_events(
            stack,
            resource_event(stack, web, message='5', new_status='SIGNAL_COMPLETE'),
            stack_event(stack, message='6'),
        )
        return stack, other, web

    def test_events_of_stacks_include_those_of_their_resources(self) -> None:
        stack, other, web = self.insert_stack_events()
        self.assertEqual(['1', '2', '3', '5', '6'], self.history_of(stack))
        self.assertEqual(
            ['6', '5', '4', '3', '2', '1'],
            self.history_of(other, stack, stack, descending=True),
        )
        self.assertEqual([], self.history_of())
        self.assertEqual([], self.history_of(self.insert_stack()))
        query = EventQuery({'stack_id': [stack.id], 'resource': [web.name]}, limit=1)
        (found,) = self.store.list_stack_events(query)
        self.assertEqual(
            (events_of(found), 'SIGNAL_COMPLETE'),
            (
                {'uuid': web.uuid, 'name': 'web', 'type': 'T::Web'},
                found.event.new_status,
            ),
        )

    def test_events_of_actions_and_audits_with_the_same_ids_are_omitted(self) -> None:
        stack = self.insert_stack()
        self.add_stack_events(stack, stack_event(stack, subject='audit', message='no'))
        self.add_stack_events(
            stack,
            stack_event(stack, subject='audit', message='no'),
            stack_event(stack, message='yes'),
        )
        self.assertEqual(['yes'], self.history_of(stack))

    def test_events_of_stacks_are_filtered(self) -> None:
        stack, other, _ = self.insert_stack_events()
        for expected, values in (
            ('2 5', {'filters': {'resource': ['web']}}),
            ('1 6', {'filters': {'resource': ['']}}),
            ('', {'filters': {'resource': ['Web']}}),
            ('2 3 5', {'filters': {'name': ['web', 'db']}}),
            ('3', {'filters': {'type': ['T::Db', 'T::X']}}),
            ('1 2 6', {'filters': {'action': ['CREATE']}}),
            ('5 6', {'filters': {'status': ['COMPLETE']}}),
            ('1 2', {'filters': {'status': ['IN_PROGRESS'], 'action': ['CREATE']}}),
            ('', {'filters': {'status': ['PROGRESS'], 'action': ['CREATE_IN']}}),
            ('', {'filters': {'status': []}}),
            ('5', {'filters': {'action': ['SIGNAL'], 'type': ['T::Web']}}),
        ):
            found = self.history_of(stack, **values)
            self.assertEqual(expected.split(), found, values)
        both = self.history_of(stack, other, filters={'type': ['T::Web']})
        self.assertEqual(['2', '4', '5'], both)

    def test_pages_of_events_of_stacks_have_every_event_once(self) -> None:
        stack, other, _ = self.insert_stack_events()
        for stacks in ([stack], [stack, other]):
            ids = [each.id for each in stacks]
            for descending in (False, True):
                query = EventQuery({'stack_id': ids}, descending)
                events = self.store.list_stack_events
                whole = events(query)
                for limit in (1, 4):
                    asked = dataclasses.replace(query, limit=limit)
                    self.assert_pages(whole, events, asked, lambda one: one.event.uuid)

    def test_a_marker_need_not_match_the_filters_of_events(self) -> None:
        stack, other, _ = self.insert_stack_events()
        (first, *_) = self.store.list_stack_events(
            EventQuery({'stack_id': [stack.id]}, descending=False)
        )
        after = first.event.uuid
        self.assertEqual(
            ['2', '5'],
            self.history_of(stack, filters={'resource': ['web']}, after=after),
        )
        for stacks, marker in (([other], after), ([stack], new_uuid()), ([], after)):
            with self.assertRaisesRegex(exceptions.NotFound, marker):
                self.history_of(*stacks, after=marker)

    # purge

    def assert_stacks_purged(self, *counts: int) -> None:
        """Check the numbers of purged stacks, resources, events and definitions."""
        names = ('stacks', 'resources', 'events', 'definitions')
        expected = dict(zip(names, counts, strict=True))
        self.assert_rows_purged(self.store.purge_stacks, **expected)

    def test_deleted_stacks_are_purged_with_their_rows(self) -> None:
        stack, kept, _ = self.insert_stack_events()
        inner = self.nested_stack(stack)
        self.insert_resources(inner, {'definition_id': inner.definition_id})
        young = self.delete_stack(self.insert_stack(), LATER)
        self.delete_stack(inner)
        self.delete_stack(stack)
        self.publish()
        self.assert_stacks_purged(2, 3, 5, 1)
        self.assertEqual(
            (None, None), (self.stored_stack(stack), self.stored_stack(inner))
        )
        self.assertEqual(
            (kept, young), (self.stored_stack(kept), self.stored_stack(young))
        )
        self.assertEqual(['4'], self.history_of(kept))
        self.assertEqual([], self.history_of(stack))
        self.assertEqual(1, len(self.store.list_resources([kept.id])))
        with self.assertRaises(exceptions.NotFound):
            self.store.get_definition(stack.definition_id)
        self.store.get_definition(kept.definition_id)

    def test_a_tree_is_kept_until_all_is_deleted_and_its_events_are_published(
        self,
    ) -> None:
        stack = self.insert_stack()
        inner = self.nested_stack(stack)
        self.delete_stack(stack)
        self.assert_stacks_purged(0, 0, 0, 0)
        self.add_stack_events(inner, stack_event(inner))
        self.delete_stack(inner)
        self.assert_stacks_purged(0, 0, 0, 0)
        self.publish()
        self.assert_stacks_purged(2, 0, 1, 1)

    def test_a_purge_of_stacks_has_a_limit_and_starts_with_the_oldest(self) -> None:
        stacks = [self.delete_stack(self.insert_stack()) for _ in range(3)]
        counts = self.store.purge_stacks(LATER, 2, dry_run=True)
        self.assertEqual((2, 2), (counts['stacks'], counts['definitions']))
        self.store.purge_stacks(LATER, 2)
        self.assertEqual(
            [None, None, stacks[2]], [self.stored_stack(stack) for stack in stacks]
        )

    def test_deleted_resources_of_an_existing_stack_are_purged(self) -> None:
        stack = self.insert_stack()
        definition = self.insert_definition()
        _, kept, young = self.insert_resources(
            stack,
            {'deleted_at': NOW, 'definition_id': definition.id},
            {},
            {'deleted_at': LATER},
        )
        self.assert_stacks_purged(0, 1, 0, 1)
        found = self.commit(lambda tx: tx.resources_by_id([kept.id, young.id]))
        self.assertEqual([kept, young], list(found.values()))

    def test_a_definition_with_references_is_kept(self) -> None:
        used = [self.insert_definition() for _ in range(3)]
        stack = self.insert_stack(definition_id=used[0].id, previous_id=used[1].id)
        self.insert_resources(stack, {'definition_id': used[2].id})
        self.assert_stacks_purged(0, 0, 0, 0)
        for definition in used:
            self.store.get_definition(definition.id)

    def test_a_recently_used_definition_is_kept(self) -> None:
        definition = make_definition()
        stored = self.commit(lambda tx: tx.insert_definition(definition))
        self.assertEqual(
            0, self.store.purge_stacks(NOW, 9)['definitions'], 'it is too young'
        )
        # A running operation may use it before any row refers to it.
        (action,) = self.commit(
            lambda tx: tx.lock_actions(
                tx.insert_actions([make_action(action_type='stack')], [])
            ).values()
        )
        self.assert_stacks_purged(0, 0, 0, 0)
        self.changed(action, status='SUCCEEDED')
        self.assert_stacks_purged(0, 0, 0, 1)
        again = self.commit(lambda tx: tx.insert_definition(definition))
        self.assertNotEqual(stored.id, again.id)

    def test_a_purge_counts_rows_of_stacks_once(self) -> None:
        stack, _, _ = self.insert_stack_events()
        self.delete_stack(stack)
        self.publish()
        young = stack_event(stack, occurred_at=at(10**9 + 1))
        self.add_stack_events(stack, young)
        self.publish()
        expected = {
            'action_plans': 0,
            'audits': 0,
            'actions': 0,
            'events': 7,
            'stacks': 1,
            'resources': 2,
            'definitions': 1,
        }
        nothing = {'action_plans': 0, 'audits': 0, 'actions': 0, 'events': 0}
        self.assertEqual(
            [expected, expected, nothing],
            [
                dict(self.store.purge(LATER, 10, dry_run=True)),
                *(dict(self.store.purge(LATER, 10)) for _ in range(2)),
            ],
        )

    def test_statistics_count_stacks_and_resources(self) -> None:
        world = self.insert_stacks()
        busy = {'status': 'IN_PROGRESS'}
        self.insert_resources(world['a'], busy, busy, {}, {**busy, 'deleted_at': NOW})
        figures = self.store.statistics()
        self.assertEqual(
            ({'COMPLETE': 1, 'FAILED': 1, 'IN_PROGRESS': 5}, 2),
            (figures['stacks'], figures['resources_in_progress']),
        )


def events_of(stored: StoredEvent) -> Any:
    """Return the resource fields of an event."""
    return stored.event.detail
