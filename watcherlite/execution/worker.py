"""The worker, which assembles the parts of the core, and starts and stops them."""

import logging
import threading
import uuid
from collections.abc import Callable, Sequence

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db import api
from watcherlite.domain import commands
from watcherlite.domain.commands import Receipt
from watcherlite.domain.events import Event
from watcherlite.execution import lease
from watcherlite.execution.action_logs import ActionLogs
from watcherlite.execution.checkpoints import CheckpointWriter
from watcherlite.execution.claim_queues import ClaimQueues
from watcherlite.execution.committer import CommitQueue, Committer, EventListeners
from watcherlite.execution.coroutines.event_loop import EventLoop
from watcherlite.execution.deadlines import WaitTimeouts
from watcherlite.execution.discovery import WorkDiscovery, WorkHints
from watcherlite.execution.dispatcher import Dispatcher
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
from watcherlite.execution.recovery import (
    RecoveredActions,
    Recovery,
    SignalDelivery,
    Sweeper,
)
from watcherlite.execution.runner import Runner
from watcherlite.execution.services import CoreServices, ExecutionSettings

LOG = logging.getLogger(__name__)

#: Seconds until a command without a claim is passed on to other workers.
PASS_ON = 1.0
#: Seconds until a command is acknowledged in any case: this worker is alive, and its
#: sweep finds the work.
LONGEST = 10.0


class Worker:
    """A worker with a lease.

    :param lanes: the lanes that it serves
    :param only_plan: uuid of the only plan to execute, or None for all
    :param projection: derives the states of objects from those of actions
    :param admission: actions that it blocks are skipped
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
            str(uuid.uuid4()), host, lease.process_identity(), tuple(lanes)
        )
        self._services = CoreServices(store, clock, settings, self.record.uuid)
        self._process = process
        self._stopping = threading.Lock()
        self.lease = Lease(self._services, self)
        self._listeners = EventListeners()
        self._commit_queue = CommitQueue(self._services)
        self._logs = ActionLogs(self._services, self._commit_queue.wake)
        self._queues = ClaimQueues(self._services, lanes, self._commit_queue)
        self._hints = WorkHints(self._services, process)
        self._wait_timeouts = WaitTimeouts(self._services, lanes, process)
        self.discovery = WorkDiscovery(
            self._services,
            rules,
            lanes,
            only_plan,
            self._queues,
            self._hints,
            self._wait_timeouts,
            self._listeners,
        )
        self.dispatcher = self._make_dispatcher(
            types, policies or PolicyChain(), admission
        )
        self.committer = Committer(
            self._services,
            self._commit_queue,
            rules,
            self.dispatcher,
            self.lease,
            self._listeners,
            self._logs,
            projection,
        )
        self._signals = SignalDelivery(
            self._services, self.dispatcher, self._wait_timeouts, self._hints
        )
        recovery = Recovery(
            self._services,
            types,
            rules,
            self._commit_queue,
            RecoveredActions(self.dispatcher, self._queues, self._signals),
        )
        self.sweeper = Sweeper(
            self._services,
            recovery,
            self.dispatcher,
            self.discovery,
            self._signals,
            self._wait_timeouts,
        )

    def _make_dispatcher(
        self,
        types: ActionTypes,
        policies: PolicyChain,
        admission: AdmissionCheck | None,
    ) -> Dispatcher:
        in_flight = InFlight(self._services.clock)
        pools = Pools(
            self._services.settings,
            self._commit_queue,
            EventLoop(self._services.settings),
        )
        checkpoints = CheckpointWriter(
            self._services, self._commit_queue, in_flight, pools
        )
        runner = Runner(
            self._services,
            types,
            policies,
            checkpoints,
            self.lease,
            admission,
            self._logs,
        )
        return Dispatcher(
            self._services,
            self._queues,
            in_flight,
            self._commit_queue,
            pools,
            runner,
            self.discovery,
        )

    def start(self) -> None:
        """Register the worker, and start its threads."""
        self._services.store.register_worker(self.record, self._services.settings.lease)
        self.lease.renew()
        LOG.info(
            'Worker %s on %s serves %s',
            self.record.uuid,
            self.record.host,
            ', '.join(self.record.lanes),
        )
        self.lease.start()
        self.committer.start()
        self._services.timers.start()
        self._services.chores.start()
        self.dispatcher.watch_deadlines()
        self.sweeper.start()
        self._logs.start()

    def stop(self, drain: float) -> bool:
        """Stop claiming, wait for running actions, and end the lease.

        :param drain: seconds to wait for running actions
        :returns: whether all of them ended in time; the others are recovered by
            another worker, or by the next start
        """
        with self._stopping:
            ended = self.dispatcher.drain(drain)
            if not ended:
                LOG.warning(
                    'Worker %s stops while actions run; they are recovered as '
                    'their types allow',
                    self.record.uuid,
                )
            self._services.timers.stop()
            self._services.chores.stop()
            self.committer.stop(max(1.0, min(drain, self._services.settings.lease)))
            self.dispatcher.stop()
            self.lease.stop()
            self._deregister()
            return ended

    def _deregister(self) -> None:
        try:
            self._services.store.end_lease(self.record.uuid)
            self._services.store.remove_worker(self.record.uuid)
        except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
            LOG.warning(
                'The lease of worker %s ends when it expires: %s',
                self.record.uuid,
                error,
            )
            return
        self._hints.broadcast(commands.WorkerLeft(self.record.uuid))

    def on_lease_lost(self) -> None:
        """Abandon all attempts: other workers take the actions over."""
        self.dispatcher.abandon()
        self._process.on_lease_lost(self.record.uuid)

    def add_listener(self, listener: Callable[[list[Event]], None]) -> None:
        """Call `listener` with the events of each transaction, once durable."""
        self._listeners.add(listener)

    def on_message(
        self, message: commands.Command | commands.Broadcast
    ) -> Receipt | None:
        """Handle a message, in the thread of the bus; return the receipt of a command.

        Nothing blocks.
        """
        receipt: Receipt | None = None
        match message:
            case commands.LaunchActionPlan(plan=plan):
                receipt = self._receipt((plan,), ())
                self.discovery.check_plan(plan, receipt)
            case commands.WorkAvailable(plans=plans, lanes=lanes):
                for plan in plans:
                    self.discovery.check_plan(plan)
                for lane in lanes:
                    self._queues.hint_lane(lane)
            case commands.ActionsSignalled(plans=plans):
                self._signals.request()
                for plan in plans:
                    self.discovery.check_plan(plan)
            case commands.RunActions():
                receipt = self._receipt((), self.record.lanes)
                for lane in self.record.lanes:
                    self._queues.hint_lane(lane, receipt)
            case commands.WorkerLeft():
                self.sweeper.on_worker_left()
            case commands.EventsStored():
                return None
        return receipt

    def _receipt(self, plans: Sequence[str], lanes: Sequence[str]) -> Receipt:
        """Return the receipt of a command, settled after LONGEST at the latest."""
        receipt = Receipt(len(plans) + len(lanes))

        def pass_on() -> None:
            if not receipt.settled and not receipt.claiming:
                self._hints.add(plans, lanes)
                receipt.settle()

        self._services.timers.after(PASS_ON, pass_on)
        self._services.timers.after(LONGEST, receipt.settle)
        return receipt
