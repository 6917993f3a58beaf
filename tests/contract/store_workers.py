"""Contract of the store: workers, leases and roles.

The clock is that of the store, which a test cannot set: an expired lease has a duration
of zero or less, a live one is long.
"""

import datetime

from tests.contract.store_case import StoreCase
from tests.factories import NOW, make_action, make_worker, new_uuid, store_actions
from watcherlite.db.api import Worker
from watcherlite.states import action as states

LIVE = 3600
EXPIRED = -3600


class StoreWorkersContract(StoreCase):
    """Workers and their roles."""

    def register_worker(self, lease: float = LIVE, **values: object) -> Worker:
        """Register a worker; return it as it is stored."""
        return self.store.register_worker(make_worker(**values), lease)

    def uuids(self, workers: list[Worker]) -> set[str]:
        """Return the uuids of workers, which must be unique."""
        found = [worker.uuid for worker in workers]
        self.assertEqual(sorted(set(found)), sorted(found))
        return set(found)

    # leases

    def test_a_worker_is_returned_as_it_was_registered(self) -> None:
        given = make_worker(host='hôte', lanes=('applier', 'engine'), started_at=NOW)
        stored = self.store.register_worker(given, LIVE)
        (read,) = self.store.live_workers()
        self.assertEqual(stored, read)
        self.assertEqual(
            (given.uuid, given.host, given.identity, given.lanes, NOW),
            (read.uuid, read.host, read.identity, read.lanes, read.started_at),
        )

    def test_a_lease_ends_after_its_seconds_by_the_clock_of_the_store(self) -> None:
        before = self.store.now()
        stored = self.register_worker(LIVE)
        after, now = self.store.now(), datetime.datetime.now(datetime.UTC)
        assert stored.lease_until is not None and stored.started_at is not None
        # Some databases round to milliseconds.
        rounded = datetime.timedelta(milliseconds=2)
        self.assertLessEqual(before - rounded, stored.started_at)
        self.assertLessEqual(stored.started_at, after + rounded)
        for time in (before, stored.lease_until):
            self.assertEqual(datetime.timedelta(0), time.utcoffset())
        tolerance = datetime.timedelta(seconds=600)
        self.assertLess(abs(stored.started_at - now), tolerance)
        lease = datetime.timedelta(seconds=LIVE)
        self.assertLess(abs(stored.lease_until - now - lease), tolerance)

    def test_fractions_of_a_second_count_in_a_lease(self) -> None:
        stored = self.register_worker(0.25, started_at=NOW)
        assert stored.lease_until is not None
        other = self.register_worker(1000.75)
        assert other.lease_until is not None
        self.assertGreater(
            other.lease_until - stored.lease_until, datetime.timedelta(seconds=1000.4)
        )

    def test_a_lease_that_reached_its_end_or_was_ended_has_expired(self) -> None:
        live, ended = self.register_worker(LIVE), self.register_worker(LIVE)
        expired, just_now = self.register_worker(EXPIRED), self.register_worker(0)
        self.store.end_lease(ended.uuid)
        self.store.end_lease(new_uuid())
        self.assertEqual({live.uuid}, self.uuids(self.store.live_workers()))
        self.assertEqual(
            {expired.uuid, just_now.uuid, ended.uuid},
            self.uuids(self.store.expired_workers()),
        )
        self.assertFalse(self.store.renew_lease(ended.uuid, LIVE))

    def test_the_next_end_of_a_lease_is_that_of_another_live_worker(self) -> None:
        me = self.register_worker(60)
        self.register_worker(EXPIRED)
        self.assertIsNone(self.store.next_lease_end(me.uuid))

        self.register_worker(LIVE)
        self.register_worker(2 * LIVE)

        left = self.store.next_lease_end(me.uuid)
        assert left is not None
        self.assertTrue(LIVE - 600 < left <= LIVE, left)

    def test_live_workers_are_listed_by_lane(self) -> None:
        both = self.register_worker(lanes=('applier', 'engine'))
        applier, engine = (
            self.register_worker(lanes=(n,)) for n in ('applier', 'engine')
        )
        self.register_worker(EXPIRED, lanes=('engine',))
        self.assertEqual(
            {both.uuid, applier.uuid}, self.uuids(self.store.live_workers('applier'))
        )
        self.assertEqual(
            {both.uuid, engine.uuid}, self.uuids(self.store.live_workers('engine'))
        )
        self.assertEqual(set(), self.uuids(self.store.live_workers('engin')))

    def test_only_a_live_lease_can_be_renewed(self) -> None:
        worker, other = self.register_worker(60), self.register_worker(60)
        expired = self.register_worker(EXPIRED)
        renewed = [
            self.store.renew_lease(uuid, LIVE)
            for uuid in (worker.uuid, expired.uuid, new_uuid())
        ]
        self.assertEqual([True, False, False], renewed)
        live = {read.uuid: read for read in self.store.live_workers()}
        until = live[worker.uuid].lease_until
        assert until is not None and worker.lease_until is not None
        self.assertGreater(
            until - worker.lease_until, datetime.timedelta(seconds=LIVE - 61)
        )
        self.assertEqual(other, live[other.uuid])
        self.assertEqual({expired.uuid}, self.uuids(self.store.expired_workers()))

    def test_owners_that_are_not_workers_are_returned(self) -> None:
        worker, foreign = self.register_worker(EXPIRED), new_uuid()
        store_actions(
            self.store,
            make_action(status=states.RUNNING, owner=worker.uuid),
            make_action(status=states.READY, owner=foreign),
            make_action(status=states.RUNNING, owner=foreign),
            make_action(status=states.SUCCEEDED, owner=new_uuid()),
            make_action(status=states.READY),
        )
        self.assertEqual([foreign], self.store.unregistered_owners())

    def test_an_expired_worker_without_actions_is_removed(self) -> None:
        worker = self.register_worker()
        self.assertFalse(self.store.remove_worker(worker.uuid), 'it is alive')
        owned = self.stored_action(status=states.RUNNING, owner=worker.uuid)
        self.store.end_lease(worker.uuid)
        self.assertFalse(self.store.remove_worker(worker.uuid), 'it owns an action')
        self.changed(owned, status=states.FAILED)
        self.assertTrue(self.store.remove_worker(worker.uuid))
        self.assertFalse(self.store.remove_worker(worker.uuid), 'it was removed')
        self.assertEqual([], self.store.expired_workers())

    # roles

    def test_a_role_has_one_worker_until_its_release(self) -> None:
        first, second = self.register_worker().uuid, self.register_worker().uuid
        self.assertTrue(self.store.acquire_role('relay', first, LIVE))
        self.assertFalse(self.store.acquire_role('relay', second, LIVE))
        self.assertTrue(self.store.acquire_role('relay', first, LIVE))
        self.assertTrue(self.store.acquire_role('other', second, LIVE))
        self.store.release_role('relay', second)
        self.assertFalse(self.store.acquire_role('relay', second, LIVE))
        self.store.release_role('relay', first)
        self.assertTrue(self.store.acquire_role('relay', second, LIVE))
        self.assertFalse(self.store.acquire_role('relay', first, LIVE))

    def test_an_expired_role_is_taken_by_its_worker_or_another(self) -> None:
        first, second = self.register_worker().uuid, self.register_worker().uuid
        for lease, taker, other in ((EXPIRED, second, first), (0, first, second)):
            role = f'lease of {lease}'
            self.assertTrue(self.store.acquire_role(role, first, lease))
            self.assertTrue(self.store.acquire_role(role, taker, LIVE))
            self.assertFalse(self.store.acquire_role(role, other, LIVE))

    def test_one_of_several_concurrent_workers_gets_a_role(self) -> None:
        workers = [self.register_worker().uuid for _ in range(4)]
        for role, before in (('new', None), ('old', EXPIRED)):
            if before is not None:
                self.store.acquire_role(role, self.register_worker().uuid, before)
            got = self.run_concurrently(
                *(
                    lambda w=worker, role=role: self.store.acquire_role(role, w, LIVE)
                    for worker in workers
                )
            )
            self.assertEqual(1, sum(got), role)
            holder = workers[got.index(True)]
            self.assertEqual(
                got, [self.store.acquire_role(role, w, LIVE) for w in workers], holder
            )
