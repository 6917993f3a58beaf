"""The messages of the bus, as hints where a worker looks."""

from collections.abc import Sequence

from watcherlite.domain import commands
from watcherlite.domain.commands import Receipt
from watcherlite.execution.claim_queues import ClaimQueues
from watcherlite.execution.discovery import WorkDiscovery, WorkHints
from watcherlite.execution.sweeper import SignalDelivery, Sweeper
from watcherlite.execution.timers import Timers

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
