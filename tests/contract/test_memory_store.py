"""The in-memory store keeps the store's contract, and what it adds to it."""

from tests import base
from tests.contract.store_contract import StoreContract
from tests.contract.store_links import StoreLinksContract
from tests.factories import NOW, at, make_action, make_worker, store_actions, store_plan
from watcherlite.db.api import Store
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class MemoryStoreTest(StoreContract, StoreLinksContract, base.TestCase):
    def make_store(self) -> Store:
        return MemoryStore()

    def test_what_json_cannot_hold_is_refused(self) -> None:
        with self.assertRaises(TypeError):
            store_actions(self.store, make_action(inputs={'x': object()}))
        self.assertEqual([], self.store.list_actions())

    def test_a_plan_that_was_not_locked_cannot_be_saved(self) -> None:
        plan, _ = store_plan(self.store)
        with (
            self.assertRaisesRegex(ValueError, plan.uuid),
            self.store.transaction() as tx,
        ):
            tx.save_plans([plan.evolve(total=5)])
        self.assertEqual(plan, self.store.get_plan(plan.uuid))

    def test_a_rollback_leaves_nothing_in_any_index(self) -> None:
        store = MemoryStore()
        plan, actions = store_plan(store, make_action(), make_action())
        with (
            self.assertRaises(ZeroDivisionError),
            store.transaction() as tx,
        ):
            more = make_action(plan_id=plan.id, not_before=at(5), parents=('x',))
            tx.insert_actions([more], [])
            tx.claim(worker='w', limit=9, now=at(9), plan_id=plan.id)
            tx.take_locks({'node-1': actions[0].id or 0})
            tx.end_not_started(plan.id or 0, 'CANCELLED', None, 1, at(9))
            tx.save_plans([tx.lock_plans([1])[1].evolve(state='SUCCEEDED')])
            raise ZeroDivisionError
        self.assertEqual([plan], store.active_plans(9))
        self.assertEqual({'INIT': 2}, store.count_actions(plan.id or 0))
        self.assertEqual([], store.owned_ids('w'))
        self.assertIsNone(store.next_not_before('applier', at(0)))
        with store.transaction() as tx:
            claimed = tx.claim(worker='v', limit=9, now=at(9), plan_id=plan.id)
            self.assertEqual([a.id for a in actions], [a.id for a in claimed])
            self.assertEqual({'node-1'}, tx.take_locks({'node-1': 2}))


class MemoryStoreLeaseTest(base.TestCase):
    """Leases by a clock that is turned: what real stores can only be trusted in."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock(NOW)
        self.store = MemoryStore(self.clock)

    def live_and_expired(self) -> tuple[int, int]:
        """Return how many workers have a lease, and how many had one."""
        return len(self.store.live_workers()), len(self.store.expired_workers())

    def test_a_lease_ends_at_its_end_unless_it_is_renewed_before(self) -> None:
        worker = self.store.register_worker(make_worker(), 30)
        self.assertEqual((at(0), at(30)), (worker.started_at, worker.lease_until))
        self.clock.advance(29.999999)
        self.assertEqual((1, 0), self.live_and_expired())
        self.assertTrue(self.store.renew_lease(worker.uuid, 30))
        self.clock.advance(29.999999)
        self.assertEqual((1, 0), self.live_and_expired())
        self.clock.advance(0.000001)
        self.assertEqual((0, 1), self.live_and_expired())
        self.assertFalse(self.store.renew_lease(worker.uuid, 30))
        self.assertTrue(self.store.remove_worker(worker.uuid))
        self.assertEqual((0, 0), self.live_and_expired())

    def test_a_role_is_free_again_at_the_end_of_its_time(self) -> None:
        self.assertTrue(self.store.take_role('relay', 'first', 30))
        self.clock.advance(29)
        self.assertFalse(self.store.take_role('relay', 'second', 30))
        self.clock.advance(1)
        self.assertTrue(self.store.take_role('relay', 'second', 30))
        self.assertFalse(self.store.take_role('relay', 'first', 30))
