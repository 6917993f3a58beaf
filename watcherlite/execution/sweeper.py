"""The sweep of a worker: what a lost message or a lost worker left is found here."""

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
    """Reads the signals for what a worker owns and delivers them.

    The column is the truth; a message only says when to look. One that got lost
    is found by the next sweep.
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
        """Read all signals of this worker with one statement, and deliver them."""
        found = self._store.controls(self._worker)
        if found:
            LOG.debug('Signals for %d actions are delivered', len(found))
            self._dispatcher.deliver(found.items())

    def request(self) -> None:
        """Deliver soon; from any thread."""
        if not self._requested:
            self._requested = True
            self._timers.after(0, self._deliver_requested)

    def announce(self) -> None:
        """Deliver soon, here and at all other workers."""
        self.request()
        self._hints.broadcast(commands.ActionsSignalled())

    def _deliver_requested(self) -> None:
        # Before the look, so that what is written during it is looked for again.
        self._requested = False
        self.deliver()
        # The time of what was resumed goes on.
        self._wait_timeouts.check()


LOG = logging.getLogger(__name__)

#: Seconds from the end of a lease until its worker is looked for: with less, a
#: clock that counts in coarser steps finds it alive.
LEASE_MARGIN = 0.1
#: Seconds until the actions of a plan are taken over that was locked.
LOCKED = 0.5


class RecoveredActions:
    """Implements `recovery.RecoveryObserver`: goes on with what was taken over."""

    def __init__(
        self, dispatcher: Dispatcher, queues: ClaimQueues, signals: SignalDelivery
    ) -> None:
        self._dispatcher = dispatcher
        self._queues = queues
        self._signals = signals

    def on_adopted(self, action: Action) -> None:
        """Go on with an action that is InProgress."""
        self._dispatcher.adopt(action)
        # It may have been signalled while it changed hands.
        self._signals.request()

    def on_ready(self, action: Action) -> None:
        """Claim an action again."""
        self._queues.hint_action(action)

    def on_signalled(self) -> None:
        """Have the signals of a recovery delivered."""
        self._signals.announce()


class Sweeper:
    """Looks at everything from time to time, and at lost workers in time."""

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
        """Sweep now, and from now on as often as the settings say now."""
        self._round += 1
        self._timers.after(0, functools.partial(self._sweep_again, self._round))

    def _sweep_again(self, number: int) -> None:
        # Else a reload that changed the interval would have begun a second round.
        if number == self._round:
            self.sweep()
            self._timers.after(
                self._settings.sweep_interval,
                functools.partial(self._sweep_again, number),
            )

    def sweep(self) -> None:
        """Look at everything once."""
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
                LOG.warning('%s; the next sweep looks again', error)
                return
            except Exception:
                # One that always fails must not keep the others from looking.
                LOG.exception('A part of the sweep failed; the next one tries again')

    def on_worker_left(self) -> None:
        """Look for what a worker gave back, and what it still owned."""
        self._timers.after(0, self._discovery.check_all)
        self._timers.after(0, self.recover_lost)

    def recover_lost(self) -> None:
        """Take over from lost workers; try soon again what another one has locked."""
        if not self._recovery.sweep():
            self._timers.after(LOCKED, self.recover_lost)

    def _watch_leases(self) -> None:
        """Recover from a lost worker when its lease ends, not at the next sweep.

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
        """Recover what this worker owns in the store and has not in flight.

        A claim whose answer got lost is such. Seen twice, because one that is
        on its way right now looks the same.
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
