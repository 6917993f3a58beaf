"""Checkpoints, the durable writes of attempts while their plugins run."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.actions import Action
from watcherlite.execution import deadlines, results
from watcherlite.execution.committer import CommitQueue
from watcherlite.execution.context import Write
from watcherlite.execution.group_commit import PendingCommit
from watcherlite.execution.in_flight import Attempt, InFlight
from watcherlite.execution.pool import Pools
from watcherlite.execution.results import Conclusion, json_problem
from watcherlite.execution.services import CoreServices
from watcherlite.states import action as states


class CheckpointCommit(PendingCommit):
    """A checkpoint that waits for its transaction, and the plugin for it.

    Implements `context.Write`.
    """

    __slots__ = ('_attempt', '_calls', '_in_flight', '_lock', '_settled', 'applied')

    def __init__(
        self, attempt: Attempt, conclusion: Conclusion, in_flight: InFlight
    ) -> None:
        super().__init__(attempt.action, conclusion)
        self._attempt = attempt
        self._in_flight = in_flight
        self.applied = False
        self._lock = threading.Lock()
        self._settled = threading.Event()
        self._calls: list[Callable[[], None]] = []

    def on_written(self, applied: bool) -> None:
        if applied:
            self._attempt.action = self.after
        else:
            self._in_flight.reject(self._attempt, self.after.status)
        self.applied = applied
        with self._lock:
            self._settled.set()
            calls, self._calls = self._calls, []
        for call in calls:
            call()

    def wait(self) -> None:
        """Wait until it is settled; raise Cancelled if the attempt is abandoned."""
        while not self._settled.wait(1.0):
            if self._attempt.abandoned:
                raise exceptions.Cancelled

    def on_settled(self, call: Callable[[], None]) -> None:
        with self._lock:
            if not self._settled.is_set():
                self._calls.append(call)
                return
        call()


class CheckpointWriter:
    """Implements `in_flight.Checkpoints` for the attempts of one worker.

    Each method yields its writes, and continues when they are settled. It raises
    Cancelled if another worker owns the action.
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

    def suspend(self, attempt: Attempt) -> Iterator[Write]:
        """Store the action as SUSPENDED, and free its place until RESUME."""
        yield from self._write_status(attempt, states.SUSPENDED)
        self._in_flight.set_paused(attempt, True)
        # It may take days, and other actions need the thread.
        self._pools.detach(attempt.job)
        self._commit_queue.wake()

    def resume(self, attempt: Attempt) -> Iterator[Write]:
        yield from self._write_status(attempt, states.RUNNING)
        self._in_flight.set_paused(attempt, False)
        self._pools.reattach(attempt.job)

    def save_data(self, attempt: Attempt) -> Iterator[Write]:
        data = attempt.action.data if attempt.data is None else attempt.data
        yield from self._write(attempt, attempt.action.evolve(data=data))

    def save_token(self, attempt: Attempt, token: Any) -> Iterator[Write]:
        """Store a token; raises PluginError if it cannot be stored."""
        problem = json_problem(token)
        if problem is not None or token is None:
            raise exceptions.PluginError(
                f'Action type {attempt.action.action_type} has saved a token that is '
                f'not JSON: {problem or "None"}'
            )
        token = results.saved_token(token)
        yield from self._write(attempt, attempt.action.evolve(token=token))

    def _write_status(self, attempt: Attempt, status: str) -> Iterator[Write]:
        now = self._clock.now()
        after = deadlines.change_status(attempt.action, status, now)
        yield from self._write(attempt, after)

    def _write(self, attempt: Attempt, after: Action) -> Iterator[Write]:
        after = after.evolve(updated_at=self._clock.now())
        commit = CheckpointCommit(attempt, Conclusion(after), self._in_flight)
        self._commit_queue.submit(commit)
        self._commit_queue.flush()
        yield commit
        if not commit.applied:
            attempt.abandoned = True
            raise exceptions.Cancelled
