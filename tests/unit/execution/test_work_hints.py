"""Work hints to other workers."""

from typing import Any

from tests import base
from tests.factories import make_worker
from tests.unit.execution.recorded_process import RecordedProcess
from watcherlite import exceptions
from watcherlite.domain.commands import WorkAvailable
from watcherlite.execution.discovery import ALONE_TTL, HINT_INTERVAL, WorkHints
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class CountingStore(MemoryStore):
    """A store that counts its reads of the live workers, and may be unavailable."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.asked = 0
        self.away = False

    def live_workers(self, lane: str | None = None) -> list[Any]:
        self.asked += 1
        if self.away:
            raise exceptions.StoreUnavailable('no route')
        return super().live_workers(lane)


class WorkHintsTest(base.TestCase):
    """The hints of worker 'me'."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.store = CountingStore(self.clock)
        self.addCleanup(self.store.close)
        self.store.register_worker(make_worker(uuid='me'), 3600)
        process = RecordedProcess()
        self.broadcasts = process.broadcasts
        services = CoreServices(self.store, self.clock, ExecutionSettings(), 'me')
        self.timers = services.chores
        self.offers = WorkHints(services, process)

    def register_other_worker(self) -> None:
        self.store.register_worker(make_worker(uuid='other'), 3600)

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.timers.run_due()

    def test_hints_of_one_interval_are_sent_once(self) -> None:
        self.register_other_worker()
        self.offers.add(['q'], ['engine'])
        self.offers.add(['p', 'q'])
        self.offers.add(lanes=['applier'])
        self.assertEqual([], self.broadcasts)
        self.pass_time(HINT_INTERVAL)
        self.offers.add(['r'])
        self.pass_time(HINT_INTERVAL)
        self.assertEqual(
            [
                WorkAvailable(('p', 'q'), ('applier', 'engine')),
                WorkAvailable(('r',), ()),
            ],
            self.broadcasts,
        )

    def test_no_hint_is_sent_without_work(self) -> None:
        self.register_other_worker()
        self.offers.add([], [])
        self.pass_time(HINT_INTERVAL)
        self.assertEqual(([], 0), (self.broadcasts, self.store.asked))

    def test_a_single_worker_sends_no_hints_and_rarely_reads_the_store(self) -> None:
        for _ in range(10):
            self.offers.add(['p'])
            self.pass_time(HINT_INTERVAL)
        self.assertEqual(([], 1), (self.broadcasts, self.store.asked))

    def test_a_new_worker_receives_hints_after_a_while(self) -> None:
        self.offers.add(['p'])
        self.pass_time(HINT_INTERVAL)
        self.register_other_worker()
        self.offers.add([], ['engine'])
        self.pass_time(HINT_INTERVAL)
        self.assertEqual([], self.broadcasts)
        self.pass_time(ALONE_TTL)
        self.assertEqual([WorkAvailable((), ('engine',))], self.broadcasts)

    def test_an_unavailable_store_does_not_prevent_later_hints(self) -> None:
        self.register_other_worker()
        self.store.away = True
        self.offers.add(['p'])
        self.pass_time(HINT_INTERVAL)
        self.store.away = False
        self.pass_time(ALONE_TTL)
        self.offers.add(['q'])
        self.pass_time(HINT_INTERVAL)
        self.assertEqual([WorkAvailable(('q',), ())], self.broadcasts)
