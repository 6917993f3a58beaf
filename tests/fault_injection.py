"""The faults that `tests.worlds` injects."""

import random
from collections.abc import Callable, Sequence

from tests.worlds import World
from watcherlite import exceptions
from watcherlite.domain.actions import Action
from watcherlite.states import action as states

#: Seconds after which something else goes wrong, if nothing happens.
SHORT = 0.05


class FaultInjection:
    """Lets signals and deaths come to a world as they like.

    :ivar world: that world
    :cvar refusals: the answers to what comes too late
    """

    world: World
    refusals: tuple[type[Exception], ...] = (
        exceptions.Conflict,
        exceptions.NotFound,
        exceptions.Invalid,
    )

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

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

        :param pause: as many events, less one, may come between two of them
        """
        for _ in range(times):
            seen = len(self.world.events()) + self._random.randrange(pause)
            # Where everything is suspended nothing more happens by itself.
            self.world.wait_for(
                lambda n=seen: self._is_over() or len(self.world.events()) >= n, SHORT
            )
            try:
                self._random.choice(steps)()
            except self.refusals:
                continue
        self.world.until(self._is_settled, report)

    def _is_over(self) -> bool:
        """Return whether nothing more happens by itself."""
        return False

    def _is_settled(self) -> bool:
        self._let_go()
        actions = self.world.store.list_actions(limit=100_000)
        return all(action.finished for action in actions)

    def stop(self) -> None:
        """Stop everything, those that came back from the dead included."""
        self.world.stop()

    def _chance(self, of: float) -> bool:
        return self._random.random() < of

    def _unfinished(self) -> Action:
        statuses = [*states.NOT_STARTED, *states.STARTED]
        found = self.world.store.list_actions(statuses=statuses, limit=1000)
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

    def _outlive(self) -> None:
        """Let a worker lose its lease without noticing."""
        worker = self._random.choice(self.world.workers)
        self.world.workers.remove(worker)
        self.world.lost.append(worker)
        self.world.store.end_lease(worker.record.uuid)
        self.world.worker()

    def _let_go(self) -> None:
        """Let go of what only a user could let go of."""
        statuses = [*states.NOT_STARTED, *states.STARTED]
        for found in self.world.store.list_actions(statuses=statuses, limit=1000):
            if found.control in (states.SUSPEND, states.RESUME):
                try:
                    self.world.plans.signal_action(found.uuid, states.CANCEL)
                except (exceptions.Conflict, exceptions.NotFound):
                    continue  # it has ended meanwhile
