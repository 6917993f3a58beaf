"""The in-memory store, where it differs from a store on an SQLite file.

The contract suite runs on SQLite files: both have the same statements.
"""

from tests import base
from tests.factories import NOW, at, make_action, make_worker, store_actions, store_plan
from watcherlite import exceptions
from watcherlite.testing import MemoryStore
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import LOCKING, SAVING


class MemoryStoreTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)

    def test_the_schema_is_current(self) -> None:
        self.store.check()

    def test_each_store_has_its_own_rows(self) -> None:
        store_plan(self.store)
        other = MemoryStore()
        self.addCleanup(other.close)
        self.assertEqual([], other.active_plans(9))
        self.assertEqual(1, len(self.store.active_plans(9)))

    def test_values_outside_json_are_rejected(self) -> None:
        with self.assertRaises(TypeError):
            store_actions(self.store, make_action(inputs={'x': object()}))
        self.assertEqual([], self.store.list_actions())

    def test_secrets_can_be_stored(self) -> None:
        (action,) = store_actions(self.store, make_action(inputs={'password': 'x'}))
        self.assertEqual({'password': 'x'}, self.store.get_action(action.uuid).inputs)

    def test_a_plan_or_an_audit_that_was_not_locked_cannot_be_saved(self) -> None:
        plan, _ = store_plan(self.store)
        relations = self.store.plan_relations(plan.id)
        assert relations is not None
        audit = relations.audit
        for uuid, save in (
            (plan.uuid, lambda tx: tx.save_plans([plan.evolve(total=5)])),
            (audit.uuid, lambda tx: tx.save_audit(audit)),
        ):
            with (
                self.assertRaisesRegex(ValueError, uuid),
                self.store.transaction() as tx,
            ):
                save(tx)
        self.assertEqual(plan, self.store.get_plan(plan.uuid))

    def test_the_methods_that_are_checked_exist(self) -> None:
        with self.store.transaction() as tx:
            for name in LOCKING | SAVING.keys():
                self.assertTrue(callable(getattr(tx, name)), name)

    def test_a_rollback_undoes_everything(self) -> None:
        plan, actions = store_plan(self.store, make_action(), make_action())
        with self.assertRaises(ZeroDivisionError), self.store.transaction() as tx:
            more = make_action(plan_id=plan.id, not_before=at(5), parents=('x',))
            tx.insert_actions([more], [])
            tx.claim(worker='w', limit=9, now=at(9), plan_id=plan.id)
            tx.acquire_locks({'node-1': actions[0].id})
            tx.end_not_started(plan.id, 'CANCELLED', None, 1, at(9))
            tx.save_plans([tx.lock_plans([1])[1].evolve(state='SUCCEEDED')])
            raise ZeroDivisionError
        self.assertEqual([plan], self.store.active_plans(9))
        self.assertEqual({'INIT': 2}, self.store.count_actions(plan.id))
        self.assertEqual([], self.store.owned_ids('w'))
        self.assertIsNone(self.store.next_not_before('applier', at(0)))
        with self.store.transaction() as tx:
            claimed = tx.claim(worker='v', limit=9, now=at(9), plan_id=plan.id)
            self.assertEqual([a.id for a in actions], [a.id for a in claimed])
            self.assertEqual({'node-1'}, tx.acquire_locks({'node-1': 2}))

    def test_a_thread_can_read_beside_its_transaction(self) -> None:
        with self.store.transaction() as tx:
            tx.insert_actions([make_action()], [])
            self.assertEqual(1, len(self.store.list_actions()))
        self.assertEqual(1, len(self.store.list_actions()))

    def test_closed_store_raises(self) -> None:
        self.store.close()
        with self.assertRaisesRegex(exceptions.StoreUnavailable, 'closed'):
            self.store.list_actions()


class LeaseTest(base.TestCase):
    """Leases with a manual clock."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock(NOW)
        self.store = MemoryStore(self.clock)
        self.addCleanup(self.store.close)

    def live_and_expired(self) -> tuple[int, int]:
        """Return the number of workers with a lease, and with an expired one."""
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

    def test_expired_role_is_free(self) -> None:
        self.assertTrue(self.store.acquire_role('relay', 'first', 30))
        self.clock.advance(29)
        self.assertFalse(self.store.acquire_role('relay', 'second', 30))
        self.clock.advance(1)
        self.assertTrue(self.store.acquire_role('relay', 'second', 30))
        self.assertFalse(self.store.acquire_role('relay', 'first', 30))
