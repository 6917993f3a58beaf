"""The faults that `tests.worlds` injects."""

import random
from collections.abc import Callable, Sequence

from tests.worlds import World
from watcherlite import exceptions
from watcherlite.domain.actions import Action
from watcherlite.domain.events import StoredEvent
from watcherlite.states import action as states

#: Seconds after which the next fault is injected, if no event occurs.
SHORT = 0.05
#: The interval of sweeps in seconds. When up to ten workers swept as often as faults
#: are injected, sweeps took a third of the time of a run.
SWEEP = 0.3


class FaultInjection:
    """Injects signals and losses of workers into a world at random.

    :ivar world: the world
    :cvar refusals: the exceptions of requests that come too late
    """

    world: World
    refusals: tuple[type[Exception], ...] = (
        exceptions.Conflict,
        exceptions.NotFound,
        exceptions.Invalid,
    )

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._seen = 0

    def _start_workers(self) -> None:
        for _ in range(self._random.randrange(1, 4)):
            self.world.worker()

    def _disturb(
        self,
        steps: Sequence[Callable[[], object]],
        times: int,
        pause: int,
        report: Callable[[], object],
    ) -> None:
        """Take random steps, and wait for the end.

        :param pause: at most this number of events, less one, occurs between two steps
        """
        for _ in range(times):
            seen, more = self._last_event(), self._random.randrange(pause)
            # If everything is suspended, no further event occurs.
            self.world.wait_for(
                lambda seen=seen, more=more: (
                    self._is_over() or len(self._events_after(seen, pause)) >= more
                ),
                SHORT,
            )
            try:
                self._random.choice(steps)()
            except self.refusals:
                continue
        self.world.wait_until(self._is_settled, report)

    def _last_event(self) -> int:
        new = self._events_after(self._seen, 100_000)
        self._seen = new[-1].sequence if new else self._seen
        return self._seen

    def _events_after(self, sequence: int, limit: int) -> list[StoredEvent]:
        return self.world.store.list_events(after=sequence, limit=limit)

    def _is_over(self) -> bool:
        """Return whether no further events occur."""
        return False

    def _is_settled(self) -> bool:
        return not self._release_suspended()

    def stop(self) -> None:
        """Stop all workers, including those that have outlived their lease."""
        self.world.stop()

    def _chance(self, of: float) -> bool:
        return self._random.random() < of

    def _list_unfinished(self) -> list[Action]:
        statuses = [*states.NOT_STARTED, *states.STARTED]
        return self.world.store.list_actions(statuses=statuses, limit=1000)

    def _unfinished(self) -> Action:
        found = self._list_unfinished()
        if not found:
            raise exceptions.Conflict('Nothing is left.')
        return self._random.choice(found)

    def _signal(self) -> None:
        signal = self._random.choice(['CANCEL', *['SUSPEND', 'RESUME'] * 2])
        self.world.plans.signal_action(self._unfinished().uuid, signal)

    def _kill(self) -> None:
        self.world.kill(self._random.choice(self.world.workers))
        self.world.worker()

    def _drain(self) -> None:
        worker = self._random.choice(self.world.workers)
        self.world.workers.remove(worker)
        worker.stop(self._random.choice([0.0, 0.01]))
        self.world.worker()

    def _expire_lease(self) -> None:
        """Let a worker lose its lease without noticing."""
        worker = self._random.choice(self.world.workers)
        self.world.workers.remove(worker)
        self.world.lost.append(worker)
        self.world.store.end_lease(worker.record.uuid)
        self.world.worker()

    def _release_suspended(self) -> list[Action]:
        """Release what only a user can release; return all unfinished actions."""
        unfinished = self._list_unfinished()
        for found in unfinished:
            if found.control in (states.SUSPEND, states.RESUME):
                try:
                    self.world.plans.signal_action(found.uuid, states.CANCEL)
                except (exceptions.Conflict, exceptions.NotFound):
                    continue  # It has ended meanwhile
        return unfinished
