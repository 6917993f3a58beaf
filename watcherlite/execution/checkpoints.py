"""The durable writes of attempts while their plugins run.

Each is called in the thread of a plugin, and returns once the transaction is durable.
"""

import threading
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.actions import Action
from watcherlite.execution import deadlines, results
from watcherlite.execution.commit_queue import CommitQueue
from watcherlite.execution.group_commit import PendingCommit
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.execution.pool import Pools
from watcherlite.execution.results import Conclusion, json_problem
from watcherlite.execution.services import CoreServices
from watcherlite.states import action as states


class CheckpointWriter:
    """Writes checkpoints of the attempts of one worker.

    Every method raises Cancelled when another worker owns the action.
    """

    def __init__(
        self,
        services: CoreServices,
        commit_queue: CommitQueue,
        in_flight: InFlight,
        pools: Pools,
    ) -> None:
        self._clock = services.clock
        self._commit_queue = commit_queue
        self._in_flight = in_flight
        self._pools = pools

    def suspend(self, attempt: Attempt) -> None:
        """Store the action as SUSPENDED; its thread is not counted until RESUME."""
        self._write_status(attempt, states.SUSPENDED)
        self._in_flight.set_paused(attempt, True)
        # It may stay for days: others are not to wait for that.
        self._pools.lose_thread(attempt.job)
        self._commit_queue.wake()

    def resume(self, attempt: Attempt) -> None:
        """Store the action as RUNNING again."""
        self._write_status(attempt, states.RUNNING)
        self._in_flight.set_paused(attempt, False)
        self._pools.find_thread(attempt.job)

    def save_data(self, attempt: Attempt) -> None:
        """Store what policies decided."""
        data = attempt.action.data if attempt.data is None else attempt.data
        self._write(attempt, attempt.action.evolve(data=data))

    def save_token(self, attempt: Attempt, token: Any) -> None:
        """Store a token; raises PluginError if it cannot be stored."""
        problem = json_problem(token)
        if problem is not None or token is None:
            raise exceptions.PluginError(
                f'Action type {attempt.action.action_type} has saved a token that is '
                f'not JSON: {problem or "None"}'
            )
        self._write(attempt, attempt.action.evolve(token=results.saved(token)))

    def _write_status(self, attempt: Attempt, status: str) -> None:
        now = self._clock.now()
        self._write(attempt, deadlines.change_status(attempt.action, status, now))

    def _write(self, attempt: Attempt, after: Action) -> None:
        done = threading.Event()
        applied: list[bool] = []

        def on_done(item: PendingCommit, is_applied: bool) -> None:
            applied.append(is_applied)
            if not is_applied:
                self._in_flight.reject(attempt, item.after.status)
            done.set()

        after = after.evolve(updated_at=self._clock.now())
        self._commit_queue.submit(PendingCommit(attempt, Conclusion(after), on_done))
        self._commit_queue.flush()
        while not done.wait(1.0):
            if attempt.abandoned:
                raise exceptions.Cancelled
        if not applied[0]:
            attempt.abandoned = True
            raise exceptions.Cancelled


class AttemptCheckpoints:
    """Implements `context.Checkpoints` for one attempt."""

    __slots__ = ('_attempt', '_writer')

    def __init__(self, writer: CheckpointWriter, attempt: Attempt) -> None:
        self._writer = writer
        self._attempt = attempt

    def suspend(self) -> None:
        """Store the action as SUSPENDED."""
        self._writer.suspend(self._attempt)

    def resume(self) -> None:
        """Store the action as RUNNING again."""
        self._writer.resume(self._attempt)

    def save_token(self, token: Any) -> None:
        """Store a token of the action."""
        self._writer.save_token(self._attempt, token)
