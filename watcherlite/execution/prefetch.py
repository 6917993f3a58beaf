"""The prefetch of dependents, which start in the transaction that ends their parent.

They are loaded before they can run, and prepared in the thread of their parent, so
that each action of a chain costs one transaction.
"""

import threading
import time
from collections.abc import Sequence

from watcherlite.db.api import Successor
from watcherlite.domain.actions import COMPLETE, Action
from watcherlite.execution.claim_queues import MovingAverage
from watcherlite.execution.context import LogContext
from watcherlite.execution.in_flight import Attempt
from watcherlite.execution.results import Conclusion
from watcherlite.execution.runner import Runner
from watcherlite.execution.services import CoreServices
from watcherlite.states import action as states

#: Seconds for the preparation of a dependent; afterwards its parent ends alone.
PREPARE_TIMEOUT = 1.0


class DependentPrefetcher:
    """The prefetched dependents of one worker; safe for threads."""

    def __init__(self, services: CoreServices, runner: Runner) -> None:
        self._worker = services.worker_id
        self._settings = services.settings
        self._runner = runner
        self._lock = threading.Lock()
        #: id of an action -> its dependent
        self._loaded: dict[int, Action] = {}
        #: action type -> seconds that its preparation takes
        self._checks: dict[str, MovingAverage] = {}

    def roots(self, started: Sequence[Action]) -> tuple[list[int], int]:
        """Return the ids to prefetch dependents of, and the number of levels."""
        with self._lock:
            ids = [a.id for a in started if a.id not in self._loaded]
        return ids, max(1, self._settings.look_ahead // len(ids)) if ids else 0

    def load(self, successors: Sequence[Successor]) -> None:
        """Store prefetched dependents."""
        with self._lock:
            if len(self._loaded) > 4 * self._settings.claim_batch:
                # These dependents were loaded for actions that others executed.
                self._loaded.clear()
            for found in successors:
                self._loaded[found.parent_id] = found.action

    def discard(self, action: Action) -> None:
        """Drop the dependent of an action that is not in flight any more."""
        with self._lock:
            self._loaded.pop(action.id, None)

    async def prepare(self, attempt: Attempt) -> Conclusion:
        """Prepare an action, and record the duration for its type."""
        started = time.perf_counter()
        conclusion = await self._runner.prepare(attempt)
        took = time.perf_counter() - started
        known = self._checks.setdefault(
            attempt.action.action_type, MovingAverage(took, 1, 4)
        )
        known.add(took)
        return conclusion

    async def prepare_dependent(
        self, attempt: Attempt, ended: Conclusion
    ) -> tuple[Attempt, Conclusion] | None:
        """Prepare the dependent that can start in the transaction of this end.

        Its pre_condition sees the effect of this action, and the end of this action is
        durable before the dependent executes. Only types whose preparation is known to
        be quick qualify: a slow one must not delay the end of another action.
        """
        with self._lock:
            child = self._loaded.pop(attempt.action.id, None)
        if child is None or child.phase == COMPLETE:
            # It has run, and may have been signalled since it was loaded.
            return None
        known = self._checks.get(child.action_type)
        if known is None or known.value >= self._settings.quick:
            return None
        owned = self._runner.make_attempt(
            child.evolve(
                status=states.READY,
                owner=self._worker,
                attempt=child.attempt + 1,
                pending=0,
            ),
            attempt.plan_uuid,
        )
        if self._runner.prepares_elsewhere(owned):
            # The thread of its parent would not wait for it.
            return None
        # A preparation that is quick on average can still hang: see `Watchdog`.
        attempt.ended = ended
        attempt.context.set_deadline(PREPARE_TIMEOUT)
        LogContext(owned.action).enter()
        conclusion = await self.prepare(owned)
        LogContext(attempt.action).enter()
        if conclusion.action.status != states.RUNNING:
            # It is claimed and prepared again instead.
            return None
        return owned, conclusion
