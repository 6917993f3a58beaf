"""Contract of the store: searches by uuid, name and id."""

import dataclasses
from collections.abc import Callable
from typing import Any

from tests.contract.listing_case import ListingCase
from tests.factories import (
    NOW,
    make_action,
    make_audit,
    make_goal,
    make_worker,
    new_uuid,
    store_plan,
)
from watcherlite import exceptions
from watcherlite.db import query as queries


class StoreFindingContract(ListingCase):
    """Searches by uuid, name and id, and the list of services."""

    # Searches

    def test_an_object_is_found_by_uuid_by_name_in_any_case_and_by_id(self) -> None:
        self.insert_rows()
        finds: list[tuple[Callable[..., Any], Any, str]] = [
            (self.store.find_goal, self.goals[1], 'goal'),
            (self.store.find_strategy, self.strategies[1], 'strategy'),
            (self.store.find_scoring_engine, self.engines[1], 'engine'),
            (self.store.find_audit_template, self.templates[2], 'template'),
            (self.store.find_audit, self.audits[3], 'audit'),
        ]
        for find, row, name in finds:
            for words in (
                row.uuid,
                row.uuid.upper(),
                row.name,
                row.name.upper(),
                row.name.title(),
                str(row.id),
            ):
                self.assertEqual(row, getattr(find(words), name), words)
            for words in ('', '0', 'unknown', '-1', '1.0', '9' * 40, '²', new_uuid()):
                with self.assertRaisesRegex(exceptions.NotFound, 'could not be found'):
                    find(words)

    def test_a_name_that_cannot_be_stored_is_not_found(self) -> None:
        self.insert_rows()
        finds: list[Callable[[str], Any]] = [
            self.store.find_goal,
            self.store.find_strategy,
            self.store.find_scoring_engine,
            self.store.find_audit_template,
            self.store.find_audit,
            self.store.find_action_plan,
            self.store.find_action,
        ]
        for text in ('a\x00b', '\ud800', '\x00'):
            for find in finds:
                self.assertRaises(exceptions.NotFound, find, text)
            for noun, names in queries.FILTERS.items():
                self.assertRaises(exceptions.NotFound, self.ids, noun, after=text)
                for name in names:
                    self.assertEqual([], self.ids(noun, filters={name: text}))

    def test_a_name_is_found_in_any_case_but_first_in_the_same_one(self) -> None:
        goals = [
            self.commit(lambda tx, n=name: tx.ensure_goal(make_goal(name=n)))
            for name in ('dummy', 'DUMMY', '1', 'Größe Żółw %s :x')
        ]
        for goal, *names in (
            (goals[0], 'dummy'),
            (goals[1], 'DUMMY'),
            # A name precedes an id.
            (goals[2], '1'),
            (goals[3], 'GRÖßE ŻÓŁW %S :X', 'größe żółw %s :x'),
        ):
            for name in names:
                self.assertEqual(goal, self.store.find_goal(name).goal)

    def test_a_deleted_object_is_found_only_on_request_and_after_others(self) -> None:
        self.insert_rows()
        old = self.audits[5]
        for name in (old.uuid, old.name, str(old.id)):
            with self.assertRaises(exceptions.NotFound):
                self.store.find_audit(name)
            self.assertEqual(old, self.store.find_audit(name, deleted=True).audit)
        new = self.commit(
            lambda tx: tx.insert_audit(make_audit(old.goal_id, name=old.name.upper()))
        )
        self.assertEqual(new, self.store.find_audit(old.name, deleted=True).audit)
        self.assertEqual(old, self.store.find_audit(old.uuid, deleted=True).audit)

    def test_a_plan_is_found_by_its_uuid_with_its_audit_and_strategy(self) -> None:
        self.insert_rows()
        plan, strategy = self.plans[1], self.strategies[0]
        self.assertEqual(
            queries.ListedPlan(plan, self.audits[1].uuid, strategy.uuid, strategy.name),
            self.store.find_action_plan(plan.uuid),
        )
        gone = self.plans[4]
        for uuid in (gone.uuid, new_uuid(), str(plan.id)):
            with self.assertRaises(exceptions.NotFound):
                self.store.find_action_plan(uuid)
        self.assertEqual(gone, self.store.find_action_plan(gone.uuid, True).plan)

    def test_an_action_is_found_with_the_uuid_of_its_plan(self) -> None:
        plan, (action,) = store_plan(self.store, make_action(created_at=NOW))
        self.assertEqual(
            queries.ListedAction(action, plan.uuid), self.store.find_action(action.uuid)
        )
        with self.assertRaisesRegex(exceptions.NotFound, 'Action x could not be found'):
            self.store.find_action('x')

    # services

    def test_workers_are_listed_with_permanent_numbers(self) -> None:
        first, second = make_worker(host='a'), make_worker(lanes=('engine', 'applier'))
        stored = [self.store.register_worker(w, 60) for w in (first, second)]
        self.store.end_lease(first.uuid)
        found = self.store.list_workers()
        self.assertEqual(
            [
                (first.uuid, 'a', ('applier',), stored[0].started_at, False),
                (second.uuid, 'host-1', second.lanes, stored[1].started_at, True),
            ],
            [(w.uuid, w.host, w.lanes, w.started_at, w.live) for w in found],
        )
        self.assertEqual(stored[1].lease_until, found[1].lease_until)
        self.assertLess(found[0].id, found[1].id)
        self.assertTrue(self.store.remove_worker(first.uuid))
        self.store.register_worker(dataclasses.replace(first, uuid=new_uuid()), 60)
        again = [worker.id for worker in self.store.list_workers()]
        self.assertEqual((found[1].id, True), (again[0], again[1] > again[0]))
