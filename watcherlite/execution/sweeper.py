"""The sweep of a worker, which recovers from lost messages and lost workers."""

import functools
import logging

from watcherlite import exceptions
from watcherlite.domain import commands
from watcherlite.domain.actions import Action
from watcherlite.execution.claim_queues import ClaimQueues
from watcherlite.execution.committer import CommitQueue
from watcherlite.execution.deadlines import WaitTimeouts
from watcherlite.execution.discovery import WorkDiscovery, WorkHints
from watcherlite.execution.dispatcher import Dispatcher
from watcherlite.execution.ports import ActionTypes, PlanRules
from watcherlite.execution.recovery import Recovery
from watcherlite.execution.services import CoreServices
from watcherlite.execution.timers import Timers


class SignalDelivery:
    """Delivers the signals of the actions that a worker owns.

    Signals are read from the store; a message is only a hint to read them. The next
    sweep recovers from a lost message.
    """

    def __init__(
        self,
        services: CoreServices,
        dispatcher: Dispatcher,
        timers: Timers,
        wait_timeouts: WaitTimeouts,
        hints: WorkHints,
    ) -> None:
        self._store = services.store
        self._worker = services.worker_id
        self._dispatcher = dispatcher
        self._timers = timers
        self._wait_timeouts = wait_timeouts
        self._hints = hints
        self._requested = False

    def deliver(self) -> None:
        """Read the signals of this worker with one statement, and deliver them."""
        found = self._store.controls(self._worker)
        if found:
            LOG.debug('Delivering signals to %d actions', len(found))
            self._dispatcher.deliver(found.items())

    def request(self) -> None:
        """Deliver soon; thread-safe."""
        if not self._requested:
            self._requested = True
            self._timers.after(0, self._deliver_requested)

    def announce(self) -> None:
        """Deliver soon, here and at all other workers."""
        self.request()
        self._hints.broadcast(commands.ActionsSignalled())

    def _deliver_requested(self) -> None:
        # First, so that a signal written meanwhile is read again.
        self._requested = False
        self.deliver()
        # The timeouts of resumed actions continue.
        self._wait_timeouts.check()


LOG = logging.getLogger(__name__)

#: Seconds from the end of a lease to the recovery: with less, a clock of coarser
#: resolution finds the worker alive.
LEASE_MARGIN = 0.1
#: Seconds until the recovery is retried for locked plans.
LOCKED_DELAY = 0.5


class RecoveredActions:
    """Implements `recovery.RecoveryObserver`: continues recovered actions."""

    def __init__(
        self, dispatcher: Dispatcher, queues: ClaimQueues, signals: SignalDelivery
    ) -> None:
        self._dispatcher = dispatcher
        self._queues = queues
        self._signals = signals

    def on_adopted(self, action: Action) -> None:
        """Continue an adopted action, which is InProgress."""
        self._dispatcher.adopt(action)
        # It may have been signalled during the recovery.
        self._signals.request()

    def on_ready(self, action: Action) -> None:
        """Request a claim of an action."""
        self._queues.hint_action(action)

    def on_signalled(self) -> None:
        """Deliver the signals of a recovery at all workers."""
        self._signals.announce()


class Sweeper:
    """Sweeps periodically, and recovers from lost workers when their leases end."""

    def __init__(
        self,
        services: CoreServices,
        types: ActionTypes,
        rules: PlanRules,
        timers: Timers,
        commit_queue: CommitQueue,
        queues: ClaimQueues,
        dispatcher: Dispatcher,
        discovery: WorkDiscovery,
        signals: SignalDelivery,
        wait_timeouts: WaitTimeouts,
    ) -> None:
        self._store = services.store
        self._worker = services.worker_id
        self._settings = services.settings
        self._timers = timers
        self._dispatcher = dispatcher
        self._discovery = discovery
        self._signals = signals
        self._wait_timeouts = wait_timeouts
        self._recovery = Recovery(
            services,
            types,
            rules,
            commit_queue,
            RecoveredActions(dispatcher, queues, signals),
        )
        self._round = 0
        self._watching_leases = False
        self._orphans: set[tuple[int, int]] = set()

    def start(self) -> None:
        """Sweep now, and then at the interval of the settings."""
        self._round += 1
        self._timers.after(0, functools.partial(self._sweep_again, self._round))

    def _sweep_again(self, number: int) -> None:
        # A reload that changed the interval has started another round.
        if number == self._round:
            self.sweep()
            self._timers.after(
                self._settings.sweep_interval,
                functools.partial(self._sweep_again, number),
            )

    def sweep(self) -> None:
        """Run all checks once."""
        for check in (
            self._signals.deliver,
            self.recover_lost,
            self._watch_leases,
            self._recover_orphans,
            self._store.unblock_stale,
            self._wait_timeouts.check,
            self._discovery.check_all,
        ):
            try:
                check()
            except exceptions.StoreUnavailable as error:
                LOG.warning('%s; the next sweep tries again', error)
                return
            except Exception:
                # A check that always fails must not prevent the others.
                LOG.exception('A check of the sweep failed; the next sweep tries again')

    def on_worker_left(self) -> None:
        """Find the work that a worker released, and recover what it still owned."""
        self._timers.after(0, self._discovery.check_all)
        self._timers.after(0, self.recover_lost)

    def recover_lost(self) -> None:
        """Recover from lost workers; retry soon if a plan is locked."""
        if not self._recovery.sweep():
            self._timers.after(LOCKED_DELAY, self.recover_lost)

    def _watch_leases(self) -> None:
        """Set a timer to recover from a lost worker when its lease ends.

        A live worker renews its lease long before that.
        """
        if self._watching_leases:
            return
        left = self._store.next_lease_end(self._worker)
        if left is not None and left < self._settings.sweep_interval:
            self._watching_leases = True
            self._timers.after(left + LEASE_MARGIN, self._recover_expired)

    def _recover_expired(self) -> None:
        self._watching_leases = False
        self.recover_lost()
        self._watch_leases()

    def _recover_orphans(self) -> None:
        """Recover actions that this worker owns in the store but has not in flight.

        The answer of their claim was lost, for example. They must be found by two
        sweeps, because a claim in progress looks the same.
        """
        owned = self._dispatcher.owned
        missing = {
            (action_id, attempt)
            for action_id, attempt in self._store.owned_ids(self._worker)
            if owned.get(action_id) != attempt
        }
        again = missing & self._orphans
        self._orphans = missing - again
        if again:
            self._recovery.recover_actions(sorted(i for i, _ in again), self._worker)
