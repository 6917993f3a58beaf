"""What a worker offers to others: gathered, and told only when somebody is there."""

from typing import Any

from tests import base
from tests.factories import make_worker
from watcherlite import exceptions
from watcherlite.domain.commands import WorkAvailable
from watcherlite.execution.discovery import ALONE, EVERY, WorkHints
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.execution.timers import Timers
from watcherlite.testing.clock import ManualClock
from watcherlite.testing.memory_store import MemoryStore


class Asked(MemoryStore):
    """A store that counts who asks for the live workers, and may be away."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.asked = 0
        self.away = False

    def live_workers(self, lane: str | None = None) -> list[Any]:
        self.asked += 1
        if self.away:
            raise exceptions.StoreUnavailable('no route')
        return super().live_workers(lane)


class OffersTest(base.TestCase):
    """The offers of worker 'me'."""

    def setUp(self) -> None:
        super().setUp()
        self.clock = ManualClock()
        self.timers = Timers(self.clock)
        self.store = Asked(self.clock)
        self.addCleanup(self.store.close)
        self.store.register_worker(make_worker(uuid='me'), 3600)
        self.told: list[WorkAvailable] = []
        services = CoreServices(self.store, self.clock, ExecutionSettings(), 'me')
        self.offers = WorkHints(services, self.timers, self)  # type: ignore[arg-type]

    def broadcast(self, message: WorkAvailable) -> None:
        self.told.append(message)

    def somebody_comes(self) -> None:
        self.store.register_worker(make_worker(uuid='other'), 3600)

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.timers.run_due()

    def test_what_comes_in_a_moment_is_told_at_once_and_once(self) -> None:
        self.somebody_comes()
        self.offers.add(['q'], ['engine'])
        self.offers.add(['p', 'q'])
        self.offers.add(lanes=['applier'])
        self.assertEqual([], self.told)
        self.pass_time(EVERY)
        self.offers.add(['r'])
        self.pass_time(EVERY)
        self.assertEqual(
            [
                WorkAvailable(('p', 'q'), ('applier', 'engine')),
                WorkAvailable(('r',), ()),
            ],
            self.told,
        )

    def test_nothing_is_no_offer(self) -> None:
        self.somebody_comes()
        self.offers.add([], [])
        self.pass_time(EVERY)
        self.assertEqual(([], 0), (self.told, self.store.asked))

    def test_who_is_alone_tells_nobody_and_asks_seldom(self) -> None:
        for _ in range(10):
            self.offers.add(['p'])
            self.pass_time(EVERY)
        self.assertEqual(([], 1), (self.told, self.store.asked))

    def test_who_has_come_since_is_told_in_a_while(self) -> None:
        self.offers.add(['p'])
        self.pass_time(EVERY)
        self.somebody_comes()
        self.offers.add([], ['engine'])
        self.pass_time(EVERY)
        self.assertEqual([], self.told)
        self.pass_time(ALONE)
        self.assertEqual([WorkAvailable((), ('engine',))], self.told)

    def test_a_store_that_is_away_keeps_later_offers_from_nobody(self) -> None:
        self.somebody_comes()
        self.store.away = True
        self.offers.add(['p'])
        self.pass_time(EVERY)
        self.store.away = False
        self.pass_time(ALONE)
        self.offers.add(['q'])
        self.pass_time(EVERY)
        self.assertEqual([WorkAvailable(('q',), ())], self.told)
