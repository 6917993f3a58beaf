"""The worker: the parts of the core put together, started, stopped and told."""

import logging
import threading
from collections.abc import Callable, Sequence

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db import api
from watcherlite.domain import commands
from watcherlite.domain.commands import Receipt
from watcherlite.domain.events import Event
from watcherlite.execution import lease
from watcherlite.execution.checkpoints import CheckpointWriter
from watcherlite.execution.claim_queues import ClaimQueues
from watcherlite.execution.committer import CommitQueue, Committer
from watcherlite.execution.deadlines import WaitTimeouts
from watcherlite.execution.discovery import WorkDiscovery, WorkHints
from watcherlite.execution.dispatcher import Dispatcher
from watcherlite.execution.events import EventListeners
from watcherlite.execution.in_flight import InFlight
from watcherlite.execution.lease import Lease
from watcherlite.execution.policy_chain import PolicyChain
from watcherlite.execution.pool import Pools
from watcherlite.execution.ports import (
    ActionTypes,
    AdmissionCheck,
    PlanRules,
    Projection,
    WorkerProcess,
)
from watcherlite.execution.runner import Runner
from watcherlite.execution.services import CoreServices, ExecutionSettings
from watcherlite.execution.sweeper import SignalDelivery, Sweeper
from watcherlite.execution.timers import Timers

LOG = logging.getLogger(__name__)

#: Seconds until a command that this worker finds no room for is passed on to others.
PASS_ON = 1.0
#: Seconds until the broker is told to forget a command whatever comes of it: this
#: worker lives, and what it did not see to is found by its sweep.
LONGEST = 10.0


class MessageHandler:
    """Handles commands and broadcasts, in the thread of the bus; nothing blocks.

    :param lanes: which the worker serves
    """

    def __init__(
        self,
        lanes: Sequence[str],
        timers: Timers,
        queues: ClaimQueues,
        hints: WorkHints,
        discovery: WorkDiscovery,
        signals: SignalDelivery,
        sweeper: Sweeper,
    ) -> None:
        self._lanes = lanes
        self._timers = timers
        self._queues = queues
        self._hints = hints
        self._discovery = discovery
        self._signals = signals
        self._sweeper = sweeper

    def handle(self, message: commands.Command | commands.Broadcast) -> Receipt | None:
        """Handle a message; return the receipt of a command."""
        receipt: Receipt | None = None
        match message:
            case commands.LaunchActionPlan(plan=plan):
                receipt = self._receipt((plan,), ())
                self._discovery.check_plan(plan, receipt)
            case commands.WorkAvailable(plans=plans, lanes=lanes):
                for plan in plans:
                    self._discovery.check_plan(plan)
                for lane in lanes:
                    self._queues.hint_lane(lane)
            case commands.ActionsSignalled(plans=plans):
                self._signals.request()
                for plan in plans:
                    self._discovery.check_plan(plan)
            case commands.RunActions():
                receipt = self._receipt((), self._lanes)
                for lane in self._lanes:
                    self._queues.hint_lane(lane, receipt)
            case commands.WorkerLeft():
                self._sweeper.on_worker_left()
            case commands.EventsStored():
                return None
        return receipt

    def _receipt(self, plans: Sequence[str], lanes: Sequence[str]) -> Receipt:
        """Return the receipt of a command, which is settled in the end in any case."""
        receipt = Receipt(len(plans) + len(lanes))

        def pass_on() -> None:
            if not receipt.settled and not receipt.claiming:
                self._hints.add(plans, lanes)
                receipt.settle()

        self._timers.after(PASS_ON, pass_on)
        self._timers.after(LONGEST, receipt.settle)
        return receipt


class Worker:
    """A worker with a lease.

    :param lanes: which it serves
    :param only_plan: uuid of the one plan to work on, or None for all
    :param projection: of actions on what they are about
    :param admission: an action that it blocks is skipped
    """

    def __init__(
        self,
        store: api.Store,
        types: ActionTypes,
        rules: PlanRules,
        clock: Clock,
        settings: ExecutionSettings,
        process: WorkerProcess,
        *,
        host: str,
        lanes: Sequence[str],
        policies: PolicyChain | None = None,
        only_plan: str | None = None,
        projection: Projection | None = None,
        admission: AdmissionCheck | None = None,
    ) -> None:
        self.record = api.Worker(
            lease.new_uuid(), host, lease.of_process(), tuple(lanes)
        )
        self._store = store
        self._settings = settings
        self._process = process
        self._stopping = threading.Lock()
        services = CoreServices(store, clock, settings, self.record.uuid)
        self.lease = Lease(services, self)
        self._timers = Timers(clock, 'timers')
        self._chores = Timers(clock, 'chores')
        self._listeners = EventListeners()
        self._hints = WorkHints(services, self._chores, process)
        wait_timeouts = WaitTimeouts(services, lanes, self._chores, process)
        commit_queue = CommitQueue(services)
        queues = ClaimQueues(services, lanes, commit_queue)
        self.discovery = WorkDiscovery(
            services,
            rules,
            lanes,
            only_plan,
            self._chores,
            queues,
            self._hints,
            wait_timeouts,
            self._listeners,
        )
        in_flight = InFlight(clock)
        pools = Pools(settings, commit_queue)
        runner = Runner(
            services,
            types,
            policies or PolicyChain(),
            CheckpointWriter(services, commit_queue, in_flight, pools),
            self.lease,
            admission,
        )
        self.dispatcher = Dispatcher(
            services,
            queues,
            in_flight,
            commit_queue,
            pools,
            runner,
            self._timers,
            self.discovery,
        )
        self.committer = Committer(
            services,
            commit_queue,
            rules,
            self.dispatcher,
            self.lease,
            self._listeners,
            projection,
        )
        signals = SignalDelivery(
            services, self.dispatcher, self._chores, wait_timeouts, self._hints
        )
        self._sweeper = Sweeper(
            services,
            types,
            rules,
            self._chores,
            commit_queue,
            queues,
            self.dispatcher,
            self.discovery,
            signals,
            wait_timeouts,
        )
        self._messages = MessageHandler(
            self.record.lanes,
            self._timers,
            queues,
            self._hints,
            self.discovery,
            signals,
            self._sweeper,
        )

    def start(self) -> None:
        """Register, and begin to work."""
        self._store.register_worker(self.record, self._settings.lease)
        self.lease.renew()
        LOG.info(
            'Worker %s on %s serves %s',
            self.record.uuid,
            self.record.host,
            ', '.join(self.record.lanes),
        )
        self.lease.start()
        self.committer.start()
        self._timers.start()
        self._chores.start()
        self.dispatcher.watch_deadlines()
        self.start_sweeping()

    def start_sweeping(self) -> None:
        """Sweep now, and from now on as often as the settings say now."""
        self._sweeper.start()

    def sweep(self) -> None:
        """Look at everything once."""
        self._sweeper.sweep()

    def stop(self, drain: float) -> bool:
        """Claim nothing more, let what runs finish, and give the rest back.

        :param drain: seconds to wait for running actions
        :returns: whether all of them ended in time; what did not is recovered
            by another worker, or by the next start
        """
        with self._stopping:
            ended = self.dispatcher.drain(drain)
            if not ended:
                LOG.warning(
                    'Worker %s stops while actions run; they are recovered as '
                    'their types allow',
                    self.record.uuid,
                )
            self._timers.stop()
            self._chores.stop()
            self.committer.stop(max(1.0, min(drain, self._settings.lease)))
            self.dispatcher.stop()
            self.lease.stop()
            self._leave()
            return ended

    def _leave(self) -> None:
        try:
            self._store.end_lease(self.record.uuid)
            self._store.remove_worker(self.record.uuid)
        except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
            LOG.warning(
                'The lease of worker %s runs out by itself: %s', self.record.uuid, error
            )
            return
        self._hints.broadcast(commands.WorkerLeft(self.record.uuid))

    def on_lease_lost(self) -> None:
        """Stop: other workers take the actions over."""
        self.dispatcher.abandon()
        self._process.on_lease_lost(self.record.uuid)

    def add_listener(self, listener: Callable[[list[Event]], None]) -> None:
        """Call `listener` with the events of each transaction, once durable."""
        self._listeners.add(listener)

    def check_plan(self, uuid: str) -> None:
        """Check soon whether a plan has work."""
        self.discovery.check_plan(uuid)

    def on_message(
        self, message: commands.Command | commands.Broadcast
    ) -> Receipt | None:
        """Handle a message of the bus; return the receipt of a command."""
        return self._messages.handle(message)
