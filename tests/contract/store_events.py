"""Contract of the store: events, the outbox and the history."""

import json

from tests.contract.store_actions import EVERYTHING
from tests.contract.store_case import StoreCase
from tests.factories import at, make_action, make_event, new_uuid, store_plan
from watcherlite.db.api import Transaction
from watcherlite.domain import events
from watcherlite.domain.events import Event, StoredEvent


class StoreEventsContract(StoreCase):
    """Events are stored in order, published once, and kept."""

    def add(self, *added: Event) -> None:
        """Store events in a transaction of its own."""
        self.commit(lambda tx: tx.add_events(added))

    def messages(self, stored: list[StoredEvent]) -> list[str | None]:
        """Return the messages of events; check that their sequences ascend."""
        sequences = [each.sequence for each in stored]
        self.assertEqual(sorted(set(sequences)), sequences)
        return [each.event.message for each in stored]

    def test_an_event_is_returned_as_it_was_stored(self) -> None:
        plan, (action,) = store_plan(self.store, make_action())
        of_plan = make_event(plan, message='ž' * 255, plan_message='🚀' * 255)
        of_action = make_event(
            action,
            kind=events.SIGNALLED,
            old_status=None,
            plan_message='zpráva',
            detail=EVERYTHING,
            occurred_at=at(0.000001),
        )
        self.add(of_plan, of_action)
        self.assertEqual(
            [of_plan, of_action], [s.event for s in self.store.pending_events(9)]
        )

    def test_an_event_of_an_action_has_its_constant_fields(self) -> None:
        parent = make_action(name='rodič')
        child = make_action(
            name=None, inputs=EVERYTHING, parents=(parent.uuid,), created_at=at(0.5)
        )
        plan, (parent, child) = store_plan(self.store, parent, child)
        self.add(make_event(plan), make_event(parent), make_event(child))
        of_plan, of_parent, of_child = self.store.pending_events(9)
        self.assertEqual(StoredEvent(of_plan.sequence, of_plan.event), of_plan)
        self.assertEqual(
            (parent.uuid, 'rodič', 'nop', {}, [], parent.created_at),
            self.describe_event(of_parent),
        )
        self.assertEqual(
            (child.uuid, None, 'nop', EVERYTHING, [parent.uuid], at(0.5)),
            self.describe_event(of_child),
        )
        self.assertEqual(
            [of_plan, of_parent, of_child], self.store.list_events(plan_id=plan.id)
        )

    def describe_event(self, stored: StoredEvent) -> tuple[object, ...]:
        """Return the fields of the action in an event, with parsed JSON."""
        return (
            stored.action_uuid,
            stored.action_name,
            stored.action_type,
            json.loads(stored.action_inputs or ''),
            json.loads(stored.action_parents or ''),
            stored.action_created_at,
        )

    def test_a_published_event_is_history_and_no_longer_pending(self) -> None:
        plan, _ = store_plan(self.store)
        self.add(*(make_event(plan, message=str(n)) for n in range(5)))
        pending = self.store.pending_events(10)
        self.assertEqual(['0', '1', '2', '3', '4'], self.messages(pending))
        self.store.mark_published([pending[0].sequence, pending[2].sequence], at(1))
        self.assertEqual(['1', '3', '4'], self.messages(self.store.pending_events(10)))
        self.assertEqual(['1', '3'], self.messages(self.store.pending_events(2)))
        self.store.mark_published([pending[0].sequence, 10**9], at(2))
        self.assertEqual(['1', '3', '4'], self.messages(self.store.pending_events(10)))
        self.assertEqual([], self.store.published_events(0, at(2), 10))
        self.assertEqual(
            ['0', '1', '2', '3', '4'],
            self.messages(self.store.list_events(plan_id=plan.id)),
        )

    def test_the_history_of_an_action_is_a_part_of_that_of_its_plan(self) -> None:
        plan, (one, two) = store_plan(self.store, make_action(), make_action())
        self.add(make_event(plan))
        self.add(*(make_event(one, message=str(n)) for n in range(3)), make_event(two))

        def list_messages(**bounds: int) -> list[str | None]:
            page = self.store.list_events(plan_id=plan.id, action_id=one.id, **bounds)
            return [stored.event.message for stored in page]

        self.assertEqual(['0', '1', '2'], list_messages())
        self.assertEqual(['0', '1'], list_messages(limit=2))
        self.assertEqual(['2', '1'], list_messages(before=2**53, limit=2))
        self.assertRaises(ValueError, self.store.list_events, action_id=one.id)

    def test_events_published_since_a_time_are_found_by_sequence(self) -> None:
        plan, _ = store_plan(self.store)
        self.add(*(make_event(plan, message=str(n)) for n in range(5)))
        sequences = [one.sequence for one in self.store.pending_events(10)]
        for n in (3, 0, 1, 2):
            self.store.mark_published([sequences[n]], at(n))

        def list_messages(after: int, since: float, limit: int = 9) -> list[str | None]:
            return self.messages(self.store.published_events(after, at(since), limit))

        self.assertEqual(['0', '1', '2', '3'], list_messages(0, 0))
        self.assertEqual(['2', '3'], list_messages(sequences[0], 2))
        self.assertEqual(['1', '2'], list_messages(sequences[0], 0, limit=2))
        self.assertEqual([], list_messages(sequences[3], 0))

    def test_the_time_of_the_oldest_pending_event_is_returned(self) -> None:
        self.assertIsNone(self.store.oldest_pending_event())
        plan, _ = store_plan(self.store)
        self.add(*(make_event(plan, occurred_at=at(n + 0.5)) for n in range(3)))
        sequences = [s.sequence for s in self.store.pending_events(9)]
        for n in range(3):
            self.assertEqual(at(n + 0.5), self.store.oldest_pending_event())
            self.store.mark_published([sequences[n]], at(9))
        self.assertIsNone(self.store.oldest_pending_event())

    def test_events_exist_unless_their_transaction_failed(self) -> None:
        plan, _ = store_plan(self.store)
        event = make_event(plan)

        def block(tx: Transaction) -> None:
            tx.add_events([event])
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            self.commit(block)
        self.assertFalse(self.store.event_exists(event.uuid))
        self.assertEqual([], self.store.pending_events(9))
        self.add(event)
        self.assertTrue(self.store.event_exists(event.uuid))
        self.assertFalse(self.store.event_exists(new_uuid()))

    def test_events_are_read_in_pages(self) -> None:
        plan, _ = store_plan(self.store)
        other, _ = store_plan(self.store)
        lonely = self.stored_action()
        for n in range(7):
            self.add(make_event(plan, message=str(n)), make_event(other))
        self.add(make_event(lonely))

        def pages(plan_id: int | None) -> list[list[str | None]]:
            list_messages, last = [], 0
            while page := self.store.list_events(plan_id=plan_id, after=last, limit=3):
                list_messages.append(self.messages(page))
                last = page[-1].sequence
            return list_messages

        self.assertEqual([['0', '1', '2'], ['3', '4', '5'], ['6']], pages(plan.id))
        self.assertEqual([3, 3, 3, 3, 3], [len(page) for page in pages(None)])
        last = self.store.list_events(plan_id=plan.id)[-1].sequence
        latest = self.store.list_events(plan_id=plan.id, before=last, limit=3)
        self.assertEqual(['5', '4', '3'], [stored.event.message for stored in latest])

    def test_events_of_a_plan_are_in_commit_order(self) -> None:
        plan, _ = store_plan(self.store, total=0)
        plan_id = plan.id

        def block(tx: Transaction) -> None:
            locked = tx.lock_plans([plan_id])[plan_id]
            tx.add_events([make_event(locked, message=str(locked.total))])
            tx.save_plans([locked.evolve(total=locked.total + 1)])

        self.commit_often(block)
        self.assertEqual(20, self.store.get_plan(plan.uuid).total)
        self.assertEqual(
            [str(n) for n in range(20)],
            self.messages(self.store.list_events(plan_id=plan_id)),
        )
