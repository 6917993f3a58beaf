"""The engine that has the role revokes credentials."""

from tests import base
from tests.contract.store_case import make_bare_event
from tests.factories import NOW, make_worker
from watcherlite import exceptions
from watcherlite.domain import events
from watcherlite.engine.credential_reconciler import (
    INTERVAL,
    ROLE,
    CredentialReconciler,
)
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore

CLUSTER_END = {'phase': 'end', 'action': {'type': 'CLUSTER_DELETE'}}


class TestReconciler(base.TestCase):
    def setUp(self):
        super().setUp()
        self.store = MemoryStore()
        self.addCleanup(self.store.close)
        for name in ('w1', 'w2'):
            self.store.register_worker(make_worker(uuid=name), 3600)
        self.calls = 0
        self.failure = None
        self.clock = ManualClock(NOW)
        self.reconciler = self.make('w1')

    def make(self, worker):
        return CredentialReconciler(self.store, self.revoke, self.clock, worker)

    def revoke(self):
        self.calls += 1
        if self.failure is not None:
            raise self.failure
        return 0

    def test_one_engine_has_the_role(self):
        self.reconciler.reconcile()
        self.make('w2').reconcile()

        self.assertEqual(1, self.calls)
        self.store.release_role(ROLE, 'w1')
        self.make('w2').reconcile()
        self.assertEqual(2, self.calls)

    def test_an_unavailable_keystone_is_a_warning(self):
        self.failure = exceptions.ServiceUnavailable('keystone is not available')

        self.reconciler.reconcile()

        self.assertIn('Credentials are revoked later', self.log.output)

    def test_ends_of_deletions_start_one_search(self):
        timers = self.reconciler._timers
        ends = [
            make_bare_event(subject=events.STACK, new_status='DELETE_COMPLETE'),
            make_bare_event(subject=events.CLUSTER, detail=CLUSTER_END),
        ]
        others = [
            make_bare_event(subject=events.STACK, new_status='DELETE_IN_PROGRESS'),
            make_bare_event(
                subject=events.CLUSTER, detail={**CLUSTER_END, 'phase': 'start'}
            ),
            make_bare_event(subject=events.ACTION),
        ]

        self.reconciler.on_stored(others)
        timers.run_due()
        self.assertEqual(0, self.calls)
        for _ in range(3):
            self.reconciler.on_stored(ends)
        timers.run_due()
        self.assertEqual(1, self.calls)
        self.reconciler.on_stored(ends)
        timers.run_due()
        self.assertEqual(2, self.calls)

    def test_the_search_is_periodic_even_after_a_failure(self):
        self.failure = exceptions.ConfigurationError('no cloud')
        self.reconciler._tick()

        self.clock.advance(INTERVAL)
        self.reconciler._timers.run_due()

        self.assertEqual(2, self.calls)
