"""Leases use the clock of the database."""

import re

from tests.factories import make_worker
from tests.functional.db import counting
from tests.functional.db.stores import MYSQL, POSTGRESQL, SQLITE, define_tests

TIME = re.compile(r'\d{4}-\d{2}-\d{2}')


class LeaseTests(counting.CountingTests):
    """Leases when the clocks of workers differ."""

    def test_leases_do_not_use_the_clock_of_a_worker(self) -> None:
        worker = make_worker()
        with self.executed() as found:
            self.store.register_worker(worker, 3600)
            renewed = self.store.renew_lease(worker.uuid, 3600)
            taken = self.store.acquire_role('relay', worker.uuid, 3600)
            self.store.live_workers()
            self.store.expired_workers()
            self.store.end_lease(worker.uuid)
            refused = self.store.renew_lease(worker.uuid, 3600)
        bound = [f'{sql} {values!r}' for sql, values in found]

        self.assertEqual((True, True, False), (renewed, taken, refused))
        self.assertGreaterEqual(len(bound), 7)
        self.assertEqual([], [line for line in bound if TIME.search(line)])
        self.assertEqual([], [line for line in bound if 'datetime' in line])


define_tests(__name__, LeaseTests, on=(SQLITE, POSTGRESQL, MYSQL))
