"""One worker: the parts of the core put together, started and stopped."""

import datetime
import functools
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db import api
from watcherlite.domain import commands
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import APPLIER, Action
from watcherlite.domain.events import Event
from watcherlite.domain.receipts import Receipt
from watcherlite.execution import identity, locking
from watcherlite.execution.committer import Committer
from watcherlite.execution.dispatcher import Dispatcher
from watcherlite.execution.lease import Lease
from watcherlite.execution.offers import Offers
from watcherlite.execution.overdue import Overdue, TimeOut
from watcherlite.execution.plan_rules import PlanRules, Step
from watcherlite.execution.policy_chain import PolicyChain
from watcherlite.execution.recovery import Recovery
from watcherlite.execution.runner import ActionTypes, KeepOut, Runner
from watcherlite.execution.scheduling import Scheduler
from watcherlite.execution.settings import ExecutionSettings
from watcherlite.execution.signals import Signals
from watcherlite.execution.subjects import Subjects
from watcherlite.plugins.base import DerivedResult
from watcherlite.states import action_plan as plan_states

LOG = logging.getLogger(__name__)

#: Most active plans that a sweep looks at.
PLANS = 1000
#: Seconds from a claim that found too little to the question what else is due.
DUE = 0.25
#: Seconds until a command that this worker finds no room for is passed on to others.
PASS_ON = 1.0
#: Seconds until the broker is told to forget a command whatever comes of it: this
#: worker lives, and what it did not see to is found by its sweep.
LONGEST = 10.0
#: For what came to be due while that claim was written.
MARGIN = datetime.timedelta(seconds=1)

Tell = Callable[[commands.Command | commands.Broadcast], None]


class Worker:
    """A worker with a lease.

    :param lanes: which it serves
    :param tell: broadcasts a hint to the other workers; never blocks
    :param only_plan: uuid of the one plan to work on, or None for all
    :param lost: called when the lease is lost; the process should end then,
        because plugins that still run cannot be stopped in any other way
    :param subjects: what actions are about, where that follows them
    :param keep_out: what it keeps from beginning is skipped
    :param time_out: see `overdue`
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
        subjects: Subjects | None = None,
        keep_out: KeepOut | None = None,
        time_out: TimeOut = lambda uuid: None,
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
        self._sweeps = 0
        self._dry_since: datetime.datetime | None = None
        self._due: dict[str, datetime.datetime] = {}
        self._asked: set[str] = set()
        self._looking = False
        self._stopping = threading.Lock()
        self.lease = Lease(store, self.me.uuid, settings.lease, clock, self._lost)
        self._timers = Scheduler(clock, 'timers')
        self._chores = Scheduler(clock, 'chores')
        self._overdue = Overdue(store, lanes, self._chores, clock, settings, time_out)
        self._offers = Offers(store, self.me.uuid, self._chores, clock, tell)
        self.committer = Committer(
            store,
            self.me.uuid,
            rules,
            clock,
            settings,
            self.lease.left,
            self._lost,
            subjects,
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
                dispatcher.keep_data,
                keep_out,
            ),
            self.committer,
            self._timers,
            clock,
            settings,
            self._ask_for_step,
            self._offers.add,
            self._hear_of_unblocked,
            self._ask_for_due,
            self._ask_to_share,
            self._overdue.note,
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
            self._adopt,
            self.dispatcher.look_for,
            self._let_signals_be_read,
        )
        self._orphans: set[tuple[int, int]] = set()

    # life

    def start(self) -> None:
        """Register, and begin to work."""
        self._store.register_worker(self.me, self._settings.lease)
        self.lease.renew()
        LOG.info(
            'Worker %s on %s serves %s',
            self.me.uuid,
            self.me.host,
            ', '.join(self.me.lanes),
        )
        self.lease.start()
        self.committer.start()
        self._timers.start()
        self._chores.start()
        self.dispatcher.watch_deadlines()
        self.begin_sweeping()

    def begin_sweeping(self) -> None:
        """Sweep now, and from now on as often as the settings say now."""
        self._sweeps += 1
        self._chores.after(0, functools.partial(self._go_on_sweeping, self._sweeps))

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
            LOG.warning(
                'The lease of worker %s runs out by itself: %s', self.me.uuid, error
            )
            return
        self._tell(commands.WorkerLeft(self.me.uuid))

    def _lost(self) -> None:
        self.dispatcher.abandon()
        self._on_lost()

    def add_listener(self, listener: Callable[[list[Event]], None]) -> None:
        """See `Committer.add_listener`."""
        self.committer.add_listener(listener)

    # hints from outside; each only says where to look

    def look_at_plan(self, uuid: str, receipt: Receipt | None = None) -> None:
        """Look at a plan soon."""
        self._chores.after(0, lambda: self._look_at_plan(uuid, receipt))

    def hear(self, message: commands.Command | commands.Broadcast) -> Receipt | None:
        """Take a hint, from the bus's thread; return the receipt of a command."""
        receipt: Receipt | None = None
        match message:
            case commands.LaunchActionPlan(plan=plan):
                receipt = self._receipt((plan,), ())
                self.look_at_plan(plan, receipt)
            case commands.WorkAvailable(plans=plans, lanes=lanes):
                for plan in plans:
                    self.look_at_plan(plan)
                for lane in lanes:
                    self.dispatcher.add_lane(lane)
            case commands.ActionsSignalled(plans=plans):
                self._ask_for_signals()
                for plan in plans:
                    self.look_at_plan(plan)
            case commands.RunActions():
                receipt = self._receipt((), self.me.lanes)
                for lane in self.me.lanes:
                    self.dispatcher.add_lane(lane, receipt)
            case commands.WorkerLeft():
                # What it gave back, and what it still owned.
                self._chores.after(0, self._look_for_work)
                self._chores.after(0, self._recovery.sweep)
            case commands.EventsStored():
                return None
        return receipt

    def _receipt(self, plans: Sequence[str], lanes: Sequence[str]) -> Receipt:
        """Return the receipt of a command, which is settled in the end in any case."""
        receipt = Receipt(len(plans) + len(lanes))

        def pass_on() -> None:
            if not receipt.settled and not receipt.claiming:
                self._offers.add(plans, lanes)
                receipt.settle()

        self._timers.after(PASS_ON, pass_on)
        self._timers.after(LONGEST, receipt.settle)
        return receipt

    # chores

    def _look_at_plan(self, uuid: str, receipt: Receipt | None = None) -> None:
        if APPLIER in self.me.lanes and self._only_plan in (None, uuid):
            plan = self._active_plan(uuid)
            if plan is not None and plan.claimable and plan.unfinished:
                self.dispatcher.add_plan(plan.id or 0, plan.uuid, receipt)
                return
            if plan is not None:
                self._step(plan.uuid)
        if receipt is not None:
            receipt.settle()

    def _active_plan(self, uuid: str) -> ActionPlan | None:
        try:
            plan = self._store.get_plan(uuid)
        except exceptions.NotFound:
            LOG.info('A hint names plan %s, which does not exist', uuid)
            return None
        return plan if plan.state in plan_states.ACTIVE else None

    def _ask_for_step(self, uuid: str) -> None:
        if uuid not in self._asked:
            self._asked.add(uuid)
            self._chores.after(0, lambda: self._step(uuid))

    def _step(self, uuid: str) -> None:
        """Do the next piece of what a plan needs; come back for more."""
        self._asked.discard(uuid)
        try:
            done = self._rules.step(self._store, uuid, self._clock.now())
        except exceptions.StoreConflict:
            done = Step(more=True)
        except exceptions.StoreUnavailable as error:
            LOG.warning('Plan %s waits for the next sweep: %s', uuid, error)
            return
        if done.unblocked:
            self._hear_of_unblocked(done.unblocked)
        if done.more:
            self._ask_for_step(uuid)
            return
        plan = self._store.get_plan(uuid)
        if plan.state in plan_states.ACTIVE and plan.claimable:
            self.dispatcher.add_plan(plan.id or 0, plan.uuid)
        self.committer.tell_listeners([])

    def _hear_of_unblocked(self, actions: Sequence[Action | api.Released]) -> None:
        self._chores.after(0, lambda: self._look_at_unblocked(actions))

    def _look_at_unblocked(self, actions: Sequence[Action | api.Released]) -> None:
        """Look, and let others look, at what can be taken now."""
        lanes = {action.lane for action in actions if action.plan_id is None}
        for lane in lanes:
            self.dispatcher.add_lane(lane)
        plans = locking.plans_of(self._store, actions)
        for uuid in plans:
            self.look_at_plan(uuid)
        self._offers.add(plans, lanes)

    def _go_on_sweeping(self, sweeps: int) -> None:
        # Else a reload that changed the interval would have begun a second round.
        if sweeps == self._sweeps:
            self.sweep()
            self._chores.after(
                self._settings.sweep_interval,
                functools.partial(self._go_on_sweeping, sweeps),
            )

    def sweep(self) -> None:
        """Look at everything: what a lost message left is found here."""
        for look in (
            self._signals.look,
            self._recovery.sweep,
            self._look_for_orphans,
            self._store.unblock_stale,
            self._overdue.look,
            self._look_for_work,
        ):
            try:
                look()
            except exceptions.StoreUnavailable as error:
                LOG.warning('%s; the next sweep looks again', error)
                return
            except Exception:
                # One that always fails must not keep the others from looking.
                LOG.exception('A part of the sweep failed; the next one tries again')

    def _look_for_work(self) -> None:
        # Plans that others have ended are let go of by the claim.
        self.dispatcher.look_everywhere()
        if APPLIER in self.me.lanes:
            for plan in self._store.active_plans(PLANS):
                if self._only_plan in (None, plan.uuid):
                    self._look_at_plan(plan.uuid)

    def _ask_for_due(self) -> None:
        """Ask, but not more often than makes sense, what is due or comes to be."""
        if self._dry_since is None:
            self._dry_since = self._clock.now() - MARGIN
            self._chores.after(DUE, self._look_for_due)

    def _look_for_due(self) -> None:
        since, self._dry_since = self._dry_since, None
        if since is None:
            return
        for lane in self.me.lanes:
            if self._store.has_claimable(lane, self._clock.now()):
                # The claim passed it over, because somebody held it just then.
                self.dispatcher.add_lane(lane)
            self._look_for_due_in(lane, since)

    def _look_for_due_in(self, lane: str, since: datetime.datetime) -> None:
        due = self._store.next_not_before(lane, since)
        if due is None or due == self._due.get(lane):
            return
        self._due[lane] = due
        wait = (due - self._clock.now()).total_seconds()
        self._chores.after(max(0.0, wait), lambda: self._come_due(lane, due))

    def _come_due(self, lane: str, due: datetime.datetime) -> None:
        if self._due.get(lane) == due:
            del self._due[lane]
        self.dispatcher.look_everywhere()
        self._look_for_due_in(lane, due)

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

    def _adopt(self, action: Action) -> None:
        self.dispatcher.adopt(action)
        # It may have been signalled while it changed hands.
        self._ask_for_signals()

    def _let_signals_be_read(self) -> None:
        self._ask_for_signals()
        self._tell(commands.ActionsSignalled())

    def _ask_for_signals(self) -> None:
        if not self._looking:
            self._looking = True
            self._chores.after(0, self._look_for_signals)

    def _look_for_signals(self) -> None:
        # Before the look, so that what is written during it is looked for again.
        self._looking = False
        self._signals.look()
        # The time of what was resumed goes on.
        self._overdue.look()

    def _ask_to_share(self) -> None:
        self._chores.after(0, self._share)

    def _share(self) -> None:
        """Let others have what this worker has taken and finds no thread for."""
        if not self._offers.is_alone():
            self.dispatcher.give_back()

    def _derived_results(self, action: Action) -> Sequence[DerivedResult]:
        return [
            _Result(
                str(child.data.get('key', child.name)),
                child.status,
                child.status_message,
                child.outputs,
            )
            # Not those of the runs before this one.
            for child in self._store.derived_actions(action.id or 0, action.start_time)
        ]


class _Result:
    """How a derived action ended; see `plugins.base.DerivedResult`."""

    __slots__ = ('key', 'outputs', 'status', 'status_message')

    def __init__(
        self,
        key: str,
        status: str,
        status_message: str | None,
        outputs: Mapping[str, Any] | None,
    ) -> None:
        self.key = key
        self.status = status
        self.status_message = status_message
        self.outputs = outputs
