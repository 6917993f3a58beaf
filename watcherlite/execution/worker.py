"""One worker: the parts of the core put together, started and stopped."""

import logging
import threading
from collections.abc import Callable, Sequence

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db import api
from watcherlite.domain import commands
from watcherlite.domain.actions import APPLIER, Action
from watcherlite.domain.events import Event
from watcherlite.execution import identity
from watcherlite.execution.committer import Committer
from watcherlite.execution.dispatcher import Dispatcher
from watcherlite.execution.lease import Lease
from watcherlite.execution.plan_rules import PlanRules
from watcherlite.execution.policy_chain import PolicyChain
from watcherlite.execution.recovery import Recovery
from watcherlite.execution.runner import ActionTypes, Runner
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.signals import Signals
from watcherlite.plugins.base import DerivedResult
from watcherlite.states import action_plan as plan_states

LOG = logging.getLogger(__name__)

#: Most active plans that a sweep looks at.
PLANS = 1000
#: Seconds between two offers of work to other workers.
OFFERS = 0.05

Tell = Callable[[commands.Command | commands.Broadcast], None]


class Worker:
    """A worker with a lease.

    :param lanes: which it serves
    :param tell: broadcasts a hint to the other workers; never blocks
    :param only_plan: uuid of the one plan to work on, or None for all
    :param lost: called when the lease is lost; the process should end then,
        because plugins that still run cannot be stopped in any other way
    """

    def __init__(
        self,
        store: api.Store,
        types: ActionTypes,
        rules: PlanRules,
        clock: Clock,
        settings: ExecutionSettings,
        *,
        host: str,
        lanes: Sequence[str],
        tell: Tell,
        lost: Callable[[], None],
        policies: PolicyChain | None = None,
        only_plan: str | None = None,
    ) -> None:
        self.me = api.Worker(
            identity.new_uuid(), host, identity.of_process(), tuple(lanes)
        )
        self._store = store
        self._rules = rules
        self._clock = clock
        self._settings = settings
        self._tell = tell
        self._on_lost = lost
        self._only_plan = only_plan
        self._alone = True
        self._offered: set[str] = set()
        self._asked: set[str] = set()
        self._stopping = threading.Lock()
        self.lease = Lease(store, self.me.uuid, settings.lease, clock, self._lost)
        self._timers = Scheduler(clock, 'timers')
        self._chores = Scheduler(clock, 'chores')
        self.committer = Committer(
            store,
            self.me.uuid,
            rules,
            clock,
            settings,
            self.lease.left,
            self._lost,
        )
        self.dispatcher = Dispatcher(
            self.me.uuid,
            lanes,
            lambda dispatcher: Runner(
                types,
                policies or PolicyChain(),
                clock,
                settings,
                self._derived_results,
                dispatcher.pause,
            ),
            self.committer,
            self._timers,
            clock,
            settings,
            self._ask_for_step,
            self._offer,
        )
        self.committer.serve(self.dispatcher)
        self._signals = Signals(store, self.me.uuid, self.dispatcher)
        self._recovery = Recovery(
            store,
            self.me.uuid,
            types,
            rules,
            self.committer,
            clock,
            settings,
            self.dispatcher.adopt,
        )
        self._orphans: set[tuple[int, int]] = set()

    # life

    def start(self) -> None:
        """Register, and begin to work."""
        self._store.register_worker(self.me, self._settings.lease)
        self.lease.renew()
        LOG.info(
            'Worker %s on %s serves %s', self.me.uuid, self.me.host, ', '.join(self.me.lanes)
        )
        self.lease.start()
        self.committer.start()
        self._timers.start()
        self._chores.start()
        self.dispatcher.watch_deadlines()
        self._chores.after(0, self.sweep)
        self._chores.every(self._settings.sweep_interval, self.sweep)

    def stop(self, drain: float) -> bool:
        """Take nothing more, let what runs finish, and give the rest back.

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
                    self.me.uuid,
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
            self._store.end_lease(self.me.uuid)
            self._store.remove_worker(self.me.uuid)
        except (exceptions.StoreUnavailable, exceptions.StoreConflict) as error:
            LOG.warning('The lease of worker %s runs out by itself: %s', self.me.uuid, error)
            return
        self._tell(commands.WorkerLeft(self.me.uuid))

    def _lost(self) -> None:
        self.dispatcher.abandon()
        self._on_lost()

    def add_listener(self, listener: Callable[[list[Event]], None]) -> None:
        """See `Committer.add_listener`."""
        self.committer.add_listener(listener)

    # hints from outside; each only says where to look

    def look_at_plan(self, uuid: str) -> None:
        """Look at a plan soon."""
        self._chores.after(0, lambda: self._look_at_plan(uuid))

    def hear(self, message: commands.Command | commands.Broadcast) -> None:
        """Take a hint, from the bus's thread."""
        match message:
            case commands.LaunchActionPlan(plan=plan):
                self.look_at_plan(plan)
            case commands.WorkAvailable(plans=plans):
                for plan in plans:
                    self.look_at_plan(plan)
            case commands.ActionsSignalled(plans=plans):
                self._chores.after(0, self._signals.look)
                for plan in plans:
                    self.look_at_plan(plan)
            case commands.RunActions():
                for lane in self.me.lanes:
                    self.dispatcher.add_lane(lane)
            case commands.WorkerLeft():
                self._chores.after(0, self._recovery.sweep)
            case commands.EventsStored():
                return

    # chores

    def _look_at_plan(self, uuid: str) -> None:
        if APPLIER not in self.me.lanes or self._only_plan not in (None, uuid):
            return
        try:
            plan = self._store.get_plan(uuid)
        except exceptions.NotFound:
            LOG.info('A hint names plan %s, which does not exist', uuid)
            return
        if plan.state not in plan_states.ACTIVE:
            return
        if plan.claimable and plan.unfinished:
            self.dispatcher.add_plan(plan.id or 0, plan.uuid)
        else:
            self._step(plan.uuid)

    def _ask_for_step(self, uuid: str) -> None:
        if uuid not in self._asked:
            self._asked.add(uuid)
            self._chores.after(0, lambda: self._step(uuid))

    def _step(self, uuid: str) -> None:
        """Do the next piece of what a plan needs; come back for more."""
        self._asked.discard(uuid)
        try:
            more = self._rules.step(self._store, uuid, self._clock.now())
        except exceptions.StoreConflict:
            more = True
        except exceptions.StoreUnavailable as error:
            LOG.warning('Plan %s waits for the next sweep: %s', uuid, error)
            return
        if more:
            self._ask_for_step(uuid)
            return
        plan = self._store.get_plan(uuid)
        if plan.state in plan_states.ACTIVE and plan.claimable:
            self.dispatcher.add_plan(plan.id or 0, plan.uuid)
        self.committer.tell_listeners([])

    def sweep(self) -> None:
        """Look at everything: what a lost message left is found here."""
        try:
            self._sweep()
        except exceptions.StoreUnavailable as error:
            LOG.warning('Nothing was looked at: %s; next try with the next sweep', error)

    def _sweep(self) -> None:
        self._signals.look()
        self._recovery.sweep()
        self._look_for_orphans()
        self._store.unblock_stale()
        others = [w for w in self._store.live_workers() if w.uuid != self.me.uuid]
        self._alone = not others
        for lane in self.me.lanes:
            self.dispatcher.add_lane(lane)
            due = self._store.next_not_before(lane, self._clock.now())
            if due is not None:
                self.dispatcher.look_again_at(due, lane)
        if APPLIER in self.me.lanes:
            for plan in self._store.active_plans(PLANS):
                if self._only_plan in (None, plan.uuid):
                    self._look_at_plan(plan.uuid)

    def _look_for_orphans(self) -> None:
        """Recover what is ours in the store and not in hand.

        A claim whose answer got lost is such. Seen twice, because one that is
        on its way right now looks the same.
        """
        in_hand = self.dispatcher.owned
        missing = {
            (action_id, attempt)
            for action_id, attempt in self._store.owned_ids(self.me.uuid)
            if in_hand.get(action_id) != attempt
        }
        again = missing & self._orphans
        self._orphans = missing - again
        if again:
            self._recovery.take_over(sorted(i for i, _ in again), self.me.uuid)

    def _offer(self, plans: Sequence[str]) -> None:
        """Tell other workers of work that this one cannot take at once."""
        if self._alone:
            return
        if not self._offered:
            self._timers.after(OFFERS, self._send_offer)
        self._offered.update(plans)

    def _send_offer(self) -> None:
        offered, self._offered = sorted(self._offered), set()
        self._tell(commands.WorkAvailable(tuple(offered)))

    def _derived_results(self, action: Action) -> Sequence[DerivedResult]:
        return [
            _Result(
                str(child.data.get('key', child.name)),
                child.status,
                child.status_message,
                child.outputs,
            )
            for child in self._store.derived_actions(action.id or 0)
        ]


class _Result:
    """How a derived action ended; see `plugins.base.DerivedResult`."""

    __slots__ = ('key', 'outputs', 'status', 'status_message')

    def __init__(self, key, status, status_message, outputs) -> None:  # noqa: ANN001
        self.key = key
        self.status = status
        self.status_message = status_message
        self.outputs = outputs
