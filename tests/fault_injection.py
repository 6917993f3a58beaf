"""The faults that `tests.worlds` injects."""

import random

from tests.worlds import World
from watcherlite import exceptions
from watcherlite.domain.actions import Action
from watcherlite.states import action as states


class FaultInjection:
    """Lets signals and deaths come to a world as they like.

    :ivar world: that world
    """

    world: World

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

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
