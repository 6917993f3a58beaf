"""The discovery of claimable actions: by hints, by plans, and by their due times."""

import datetime
import logging
import math
import threading
from collections.abc import Collection, Iterable, Sequence

from watcherlite import exceptions
from watcherlite.db.api import Released
from watcherlite.domain import commands
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import APPLIER, Action
from watcherlite.domain.commands import Receipt
from watcherlite.execution import locks
from watcherlite.execution.claim_queues import ClaimQueues
from watcherlite.execution.committer import EventListeners
from watcherlite.execution.deadlines import WaitTimeouts
from watcherlite.execution.ports import Claimant, PlanRules, WorkerProcess
from watcherlite.execution.services import CoreServices
from watcherlite.states import action_plan as plan_states

#: Seconds for which hints are collected.
HINT_INTERVAL = 0.05
#: Seconds for which the answer of `is_alone` is cached.
ALONE_TTL = 1.0


class WorkHints:
    """Broadcasts hints about the work that this worker leaves to others, if any."""

    def __init__(self, services: CoreServices, process: WorkerProcess) -> None:
        self._store = services.store
        self._worker = services.worker_id
        self._clock = services.clock
        self._timers = services.chores
        self._process = process
        self._lock = threading.Lock()
        self._plans: set[str] = set()
        self._lanes: set[str] = set()
        self._sending = False
        self._alone = True
        self._alone_until = -math.inf

    def add(self, plans: Iterable[str] = (), lanes: Iterable[str] = ()) -> None:
        """Add plans (uuids) and lanes with work to the next hint; thread-safe."""
        with self._lock:
            self._plans.update(plans)
            self._lanes.update(lanes)
            if self._sending or not (self._plans or self._lanes):
                return
            self._sending = True
        self._timers.after(HINT_INTERVAL, self._send)

    def broadcast(self, message: commands.Broadcast) -> None:
        """Broadcast a message at once."""
        self._process.broadcast(message)

    def is_alone(self) -> bool:
        """Return whether no other worker was alive a moment ago.

        It reads the store, so it is called in the thread of the timers.
        """
        now = self._clock.monotonic()
        if now >= self._alone_until:
            self._alone_until = now + ALONE_TTL
            self._alone = all(
                worker.uuid == self._worker for worker in self._store.live_workers()
            )
        return self._alone

    def _send(self) -> None:
        left = self._alone_until - self._clock.monotonic()
        if self._alone and left > 0:
            # Another worker may have started since, and needs the hint.
            self._timers.after(left, self._send)
            return
        with self._lock:
            self._sending = False
            plans, self._plans = self._plans, set()
            lanes, self._lanes = self._lanes, set()
        if not self.is_alone():
            self._process.broadcast(
                commands.WorkAvailable(tuple(sorted(plans)), tuple(sorted(lanes)))
            )


LOG = logging.getLogger(__name__)

#: Most active plans that a sweep checks.
MAX_PLANS = 1000
#: Seconds from a claim that found too little to the check for due actions.
DUE_DELAY = 0.25
#: Seconds that other workers get to claim first, while this one yields.
YIELD_DELAY = 0.25
#: Margin for actions that came due while that claim was written.
DUE_MARGIN = datetime.timedelta(seconds=1)


class WorkDiscovery:
    """Implements `ports.WorkerEvents`: finds the work that transactions leave.

    Its checks run in the thread of the timers; any thread may request them.

    :param lanes: which the worker serves
    :param only_plan: uuid of the one plan to work on, or None for all
    """

    def __init__(
        self,
        services: CoreServices,
        rules: PlanRules,
        lanes: Sequence[str],
        only_plan: str | None,
        queues: ClaimQueues,
        hints: WorkHints,
        wait_timeouts: WaitTimeouts,
        listeners: EventListeners,
    ) -> None:
        self._store = services.store
        self._clock = services.clock
        self._rules = rules
        self._lanes = lanes
        self._only_plan = only_plan
        self._timers = services.chores
        self._queues = queues
        self._hints = hints
        self._wait_timeouts = wait_timeouts
        self._listeners = listeners
        self._empty_since: datetime.datetime | None = None
        #: lane -> time at which the next of its actions is due
        self._due: dict[str, datetime.datetime] = {}
        #: uuids of plans with a requested step
        self._requested: set[str] = set()

    # plans

    def check_plan(self, uuid: str, receipt: Receipt | None = None) -> None:
        """Check soon whether a plan has work; thread-safe."""
        self._timers.after(0, lambda: self._check_plan(uuid, receipt))

    def _check_plan(self, uuid: str, receipt: Receipt | None = None) -> None:
        if APPLIER in self._lanes and self._only_plan in (None, uuid):
            plan = self._active_plan(uuid)
            if plan is not None and plan.claimable and plan.unfinished:
                self._queues.hint_plan(plan.id, plan.uuid, receipt)
                return
            if plan is not None:
                self._step(plan.uuid)
        if receipt is not None:
            receipt.settle()

    def _active_plan(self, uuid: str) -> ActionPlan | None:
        try:
            plan = self._store.get_plan(uuid)
        except exceptions.NotFound:
            LOG.info('Ignored a hint about plan %s, which does not exist', uuid)
            return None
        return plan if plan.state in plan_states.ACTIVE else None

    def on_plan_stopped(self, plan_uuid: str) -> None:
        self._request_step(plan_uuid)

    def _request_step(self, uuid: str, delay: float = 0) -> None:
        if uuid not in self._requested:
            self._requested.add(uuid)
            self._timers.after(delay, lambda: self._step(uuid))

    def _step(self, uuid: str) -> None:
        """Perform the next step of a plan, and request the one after it."""
        self._requested.discard(uuid)
        try:
            done = self._rules.step(self._store, uuid, self._clock.now())
        except exceptions.StoreConflict as error:
            LOG.debug('Retrying a step of plan %s: %s', uuid, error)
            self._request_step(uuid, DUE_DELAY)
            return
        except exceptions.StoreUnavailable as error:
            LOG.warning('Plan %s is checked again by the next sweep: %s', uuid, error)
            return
        if done.unblocked:
            self.on_unblocked(done.unblocked)
        if done.more:
            self._request_step(uuid)
            return
        plan = self._store.get_plan(uuid)
        if plan.state in plan_states.ACTIVE and plan.claimable:
            self._queues.hint_plan(plan.id, plan.uuid)
        self._listeners.notify([])

    # actions that can be claimed now

    def on_unblocked(self, actions: Sequence[Action | Released]) -> None:
        """Request a check of claimable actions of other queues."""
        self._timers.after(0, lambda: self._check_unblocked(actions))

    def _check_unblocked(self, actions: Sequence[Action | Released]) -> None:
        """Check the queues of actions here, and hint at them to other workers."""
        lanes = {action.lane for action in actions if action.plan_id is None}
        for lane in lanes:
            self._queues.hint_lane(lane)
        plans = locks.plan_uuids(self._store, actions)
        for uuid in plans:
            self.check_plan(uuid)
        self._hints.add(plans, lanes)

    def check_all(self) -> None:
        """Check all queues and plans, to recover from lost messages."""
        # A claim removes the queue of a plan that has ended.
        self._queues.hint_all()
        if APPLIER in self._lanes:
            for plan in self._store.active_plans(MAX_PLANS):
                if self._only_plan in (None, plan.uuid):
                    self._check_plan(plan.uuid)

    def on_work_left(self, plans: Collection[str], lanes: Collection[str]) -> None:
        self._hints.add(plans, lanes)

    def on_saturated(self, dispatcher: Claimant) -> None:
        """Release the actions without a thread, if there are other workers."""
        self._timers.after(0, lambda: self._share(dispatcher))

    def _share(self, dispatcher: Claimant) -> None:
        if not self._hints.is_alone():
            dispatcher.release_unstarted()

    # actions that come due

    def on_waiting(self, action: Action) -> None:
        self._wait_timeouts.track(action)

    def on_queue_empty(self, claimed_at: datetime.datetime) -> None:
        """Request a check for due actions, unless one is requested."""
        if self._empty_since is None:
            self._empty_since = claimed_at - DUE_MARGIN
            # The claim may have taken long, and actions have come due meanwhile.
            passed = (self._clock.now() - claimed_at).total_seconds()
            self._timers.after(max(0.0, DUE_DELAY - passed), self._check_due)

    def _check_due(self) -> None:
        since, self._empty_since = self._empty_since, None
        if since is None:
            return
        for lane in self._lanes:
            if self._store.has_claimable(lane, self._clock.now()):
                # The claim skipped it, because another transaction had locked it.
                self._queues.hint_lane(lane)
            self._check_due_in(lane, since)

    def _check_due_in(self, lane: str, since: datetime.datetime) -> None:
        due = self._store.next_not_before(lane, since)
        if due is None or due == self._due.get(lane):
            return
        self._due[lane] = due
        wait = (due - self._clock.now()).total_seconds()
        if self._queues.is_yielding:
            wait = max(0.0, wait) + YIELD_DELAY
        self._timers.after(max(0.0, wait), lambda: self._on_due(lane, due))

    def _on_due(self, lane: str, due: datetime.datetime) -> None:
        if self._due.get(lane) == due:
            del self._due[lane]
        self._queues.hint_all()
        self._check_due_in(lane, due)
