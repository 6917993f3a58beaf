"""Every question that is put to the store, and every change made in it.

Two protocols. `Store` answers questions and makes the small changes that stand
alone. `Transaction` is what the core composes its group commits of: each method
is one kind of change in bulk, one statement where the database can, and none is
a query per row. What changes is decided in `execution`, `applier` and `engine`;
a store only compares, sets and answers.

Common to all: times are aware and in UTC; uuids are lower-case text; `limit`
is at least 1; an empty sequence is allowed everywhere and costs nothing; lists
are by ascending id unless another order is named; what is kept as JSON comes back
as plain dicts and lists. A uuid that is stored already is refused with Conflict.
Errors: StoreUnavailable when the database is away, StoreConflict when the
transaction lost against another one (deadlock, serialisation) and may be tried
again as a whole.
"""

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from watcherlite.db.audits import AuditStore, AuditTransaction
from watcherlite.db.clusters import ClusterStore, ClusterTransaction
from watcherlite.db.locking import LockTransaction
from watcherlite.db.projects import ProjectTransaction
from watcherlite.db.query import ListStore
from watcherlite.db.request_keys import RequestKeyStore, RequestKeyTransaction
from watcherlite.db.stacks import StackStore, StackTransaction
from watcherlite.domain.action_plans import ActionPlan, NewActionPlan, PlanSurroundings
from watcherlite.domain.actions import Action, ActionChange, Edge, NewAction
from watcherlite.domain.audits import Audit, Goal, Strategy
from watcherlite.domain.events import Event, StoredEvent


@dataclasses.dataclass(frozen=True, slots=True)
class Worker:
    """One running daemon process.

    :param uuid: new with each start: who lost a lease never comes back as owner
    :param host: for operators, and for `publisher_id`
    :param identity: names the machine, pid namespace, pid and start of the
        process, so that a later process there can tell that it is gone
    :param lanes: which it serves
    """

    uuid: str
    host: str
    identity: str
    lanes: tuple[str, ...]
    started_at: datetime.datetime | None = None
    lease_until: datetime.datetime | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Released:
    """A dependent whose last unfinished parent has ended.

    :param ended: it had ended before, skipped or cancelled while it still waited;
        what depends on it has waited for this moment
    """

    id: int
    plan_id: int | None
    lane: str
    handed_over: bool
    ended: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Successor:
    """An action that will be READY as soon as `parent_id` has ended."""

    parent_id: int
    action: Action


@dataclasses.dataclass(frozen=True, slots=True)
class Link:
    """The step from one action of a plan to the next: one ends, one starts.

    :param plan: the plan as it is expected to be, and as it is then
    :param ended: has `started` as its only dependent
    :param started: the dependent as it is expected to be, waiting for nothing
        else and unowned, and as it starts
    :param events: of all this, in their order
    """

    plan: tuple[ActionPlan, ActionPlan]
    ended: ActionChange
    started: ActionChange
    events: Sequence[Event]


class Transaction(
    AuditTransaction,
    StackTransaction,
    ClusterTransaction,
    ProjectTransaction,
    LockTransaction,
    RequestKeyTransaction,
    Protocol,
):
    """All or nothing.

    Plans are locked before stacks, these before clusters, these before nodes and
    these before actions, each in the order of their ids, and the audit that plans
    belong to, where it is needed too, before them.
    """

    # plans

    def lock_plans(
        self, plan_ids: Iterable[int], *, wait: bool = True
    ) -> dict[int, ActionPlan]:
        """Lock the rows until the end and return them as they are, by id.

        Who changes actions of a plan, or writes events of it, locks it first:
        that orders the events of a plan by commit.

        :param wait: False: leave out those that another transaction has locked
        """

    def save_plans(self, plans: Iterable[ActionPlan]) -> None:
        """Write the changing half of plans that this transaction has locked."""

    def insert_plan(self, plan: NewActionPlan) -> ActionPlan:
        """Store a new plan; return it with its id."""

    # actions

    def insert_actions(
        self, actions: Sequence[NewAction], edges: Sequence[Edge]
    ) -> list[int]:
        """Store actions and edges in bulk; return the ids, in the same order.

        `pending` and `dependents` are as the caller counted them. Ids ascend in
        the given order, parents first. Either end of an edge may be stored
        already, and is not changed then; NotFound when it is nowhere.
        """

    def change_actions(self, changes: Sequence[ActionChange]) -> set[int]:
        """Compare and set; return the ids of those that were still as expected.

        Compared: id, status, owner, attempt. Written: the changing half of
        `after`, except `pending` (see `release_dependents`) and `control` (see
        `set_control`). An unowned READY action with no `blocked_on`
        can be claimed again. An action is in `changes` at most once.
        """

    def release_dependents(
        self,
        parent_ids: Sequence[int],
        *,
        started: bool,
        handovers: Mapping[int, Action] | None = None,
        now: datetime.datetime,
    ) -> list[Released]:
        """Count down what depends on finished actions; return those at zero.

        INIT and WAITING dependents at zero become READY (INIT ones only if
        `started`: their plan runs; they are returned in any case), unowned and
        claimable. READY ones at zero are returned as they are, and so are those
        that have ended, with `ended`. RUNNING and SUSPENDED ones are counted down
        and not returned.

        :param handovers: id -> how the dependent is to be stored instead when
            it comes to zero and is still INIT or WAITING and unowned: status,
            owner, attempt, phase, start_time, data, updated_at are taken from
            it, and `handed_over` is True
        """

    def end_dependents(
        self,
        parent_ids: Sequence[int],
        status: str,
        message: str,
        now: datetime.datetime,
    ) -> list[Action]:
        """End the not started dependents that need the success of these.

        Follows edges with needs='success' one level; INIT, WAITING and unowned
        READY ones get `status` and `message`, and `now` as their end. Returned as
        they now are, so that the caller can go on with theirs.
        """

    def claim(
        self,
        *,
        worker: str,
        limit: int,
        now: datetime.datetime,
        plan_id: int | None = None,
        lane: str | None = None,
    ) -> list[Action]:
        """Take actions that can run: of one plan, or of a lane without plan.

        INIT (of a plan) or READY, nothing pending, unowned, not blocked,
        `not_before` past; the oldest first; rows that another transaction holds
        are passed over. They become READY, owned by `worker`, attempt + 1,
        changed `now`. Returned whole, as they now are. Whether the plan lets its
        actions be taken is for the caller to know. ValueError unless it is
        exactly one of `plan_id` and `lane`.
        """

    def successors(self, action_ids: Sequence[int], depth: int) -> list[Successor]:
        """Look ahead: actions that wait for nothing but one of these.

        Follows single-parent edges (`pending` == 1, INIT or WAITING, no `not_before`,
        and no target to be locked: that of a derived action is) down to `depth`
        levels; where an action has several such dependents only the one with the
        lowest id. Takes no locks.
        """

    def end_not_started(
        self,
        plan_id: int,
        status: str,
        message: str | None,
        limit: int,
        now: datetime.datetime,
    ) -> list[Action]:
        """End actions of a plan that have not started, owned or not.

        The lowest ids first, INIT, WAITING or READY, but not those that wait for
        derived actions (phase 'complete', WAITING): these end after them.
        They end `now`. Returned as they were before. Dependents are not counted
        down.
        """

    def set_control(
        self,
        signal: str,
        now: datetime.datetime,
        *,
        action_ids: Sequence[int] | None = None,
        plan_id: int | None = None,
    ) -> list[Action]:
        """Write a signal to actions that have started; return them whole.

        Those are RUNNING, SUSPENDED, and WAITING ones that wait for derived actions
        (phase 'complete'). Of these ids, or of this plan; with both, of what is in
        both. ValueError with neither. By ids alone, also READY ones that a worker has
        taken or that wait for a further try. A CANCEL that was written stays: no other
        signal is written over it, and such actions are not returned.
        """

    def lock_actions(self, action_ids: Sequence[int]) -> dict[int, Action]:
        """Lock rows until the end of the transaction and return them."""

    def add_pending(self, action_id: int, count: int) -> None:
        """Raise `pending` of an action that has just derived `count` others."""

    # events

    def add_events(self, events: Sequence[Event]) -> None:
        """Store events, in this order, as not yet published."""

    # what a plan belongs to

    def ensure_goal(self, goal: Goal) -> Goal:
        """Return the goal of that name as it is stored, now if there was none."""

    def ensure_strategy(self, strategy: Strategy) -> Strategy:
        """Return the strategy of that name as stored, now if there was none."""

    def insert_audit(self, audit: Audit) -> Audit:
        """Store a new audit; return it with its id.

        Conflict when another one that is not deleted has its name.
        """


class Store(ListStore, AuditStore, StackStore, ClusterStore, RequestKeyStore, Protocol):
    """The store as a whole."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin; commit when the block ends, roll back when it raises."""

    @property
    def writes_links(self) -> bool:
        """Say whether `write_link` is there, and worth it.

        It is where statements cost more than what they do.
        """

    def write_link(self, link: Link) -> bool:
        """Compare and set all of a link at once, without a transaction around it.

        The same in a transaction is `lock_plans`, `change_actions`,
        `release_dependents` with a handover, `save_plans`, `add_events`.

        :returns: False if anything is not as expected; then nothing has changed
        :raises StoreUnavailable: also when nobody knows whether it took effect
        """

    def check(self) -> None:
        """Raise StoreUnavailable or SchemaMismatch, saying what to do."""

    def close(self) -> None:
        """Give back all connections."""

    # workers and their leases, by the clock of the database

    def now(self) -> datetime.datetime:
        """Return the time, aware, in UTC; it may be rounded to milliseconds."""

    def register_worker(self, worker: Worker, lease: float) -> Worker:
        """Store a worker with a lease of `lease` seconds from now.

        Returned with `lease_until`, and with `started_at` if it had none.
        """

    def renew_lease(self, worker: str, lease: float) -> bool:
        """Let a lease end `lease` seconds from now.

        False if it has run out (`lease_until` has come), or the worker is gone.
        """

    def end_lease(self, worker: str) -> None:
        """Let a lease run out now, so that others take over at once."""

    def expired_workers(self) -> list[Worker]:
        """Return the workers whose lease has run out."""

    def next_lease_end(self, worker: str) -> float | None:
        """Return the seconds until the lease of another live worker ends.

        By the store's clock, of the lease that ends first; None: there is no other.
        """

    def forgotten_owners(self) -> list[str]:
        """Return who owns unfinished actions and is no worker (any more).

        One that was stopped in the middle of a claim, lost its lease, was
        forgotten because it owned nothing, and then came back to commit, is such.
        """

    def live_workers(self, lane: str | None = None) -> list[Worker]:
        """Return the workers with a lease, all or of one lane."""

    def remove_worker(self, worker: str) -> bool:
        """Forget a worker whose lease has run out and that owns nothing.

        Actions that have ended do not count. False if it is still known, and if
        it was not known.
        """

    def take_role(self, role: str, worker: str, lease: float) -> bool:
        """Become, or stay, the one worker in a role for `lease` seconds."""

    def drop_role(self, role: str, worker: str) -> None:
        """Give a role up, if it is this worker's."""

    # what there is to do

    def active_plans(self, limit: int) -> list[ActionPlan]:
        """Return PENDING, ONGOING and CANCELLING plans, the oldest first."""

    def next_not_before(
        self, lane: str, after: datetime.datetime
    ) -> datetime.datetime | None:
        """Return when the next scheduled action of a lane is due, later than that.

        Counted are those of plans and those without that nothing but their
        `not_before` keeps from being claimed.
        """

    def deadlines(
        self, lane: str, until: datetime.datetime, limit: int
    ) -> list[tuple[str, datetime.datetime]]:
        """Return (uuid, deadline) of what waits for what it derived, the first first.

        Of a lane, WAITING, and with a deadline that is not EPOCH and not later than
        that.
        """

    def has_claimable(self, lane: str, now: datetime.datetime) -> bool:
        """Say whether a lane has actions without a plan that can be taken."""

    def controls(self, worker: str) -> dict[int, str]:
        """Return the signals written to what a worker owns: id -> signal."""

    def owned_ids(self, worker: str) -> list[tuple[int, int]]:
        """Return (id, attempt) of all that a worker owns and has not ended."""

    def unblock_stale(self) -> int:
        """Unblock all actions that wait for a lock that nobody holds; how many.

        WAITING ones with nothing pending are READY then, and the quickest takes the
        lock. Who is blocked on an action, by its uuid, waits until that is SUSPENDED
        no more.
        """

    # the outbox

    def pending_events(self, limit: int) -> list[StoredEvent]:
        """Return the oldest events that are not published, by sequence."""

    def mark_published(self, sequences: Sequence[int], now: datetime.datetime) -> None:
        """Note that these events have been published."""

    def published_events(
        self, after: int, since: datetime.datetime, limit: int
    ) -> list[StoredEvent]:
        """Return published events of higher sequences than `after`, by sequence.

        :param since: when they were published, or later
        """

    def event_exists(self, uuid: str) -> bool:
        """Say whether an event is stored.

        Tells whether a transaction took effect whose commit got no answer.
        """

    def oldest_pending_event(self) -> datetime.datetime | None:
        """Return when the oldest event that is not published happened."""

    # reading

    def plan_surroundings(self, plan_id: int) -> PlanSurroundings | None:
        """Return a plan with its audit, goal and strategy; None if it is gone."""

    def surroundings_of_plans(
        self, plan_ids: Sequence[int]
    ) -> dict[int, PlanSurroundings]:
        """Return the same of many plans, by id; those that are gone are left out."""

    def get_plan(self, uuid: str) -> ActionPlan:
        """Return a plan; NotFound."""

    def get_action(self, uuid: str) -> Action:
        """Return an action; NotFound."""

    def actions_by_id(self, action_ids: Sequence[int]) -> dict[int, Action]:
        """Return actions by their ids."""

    def derived_actions(
        self, action_id: int, since: datetime.datetime | None = None
    ) -> list[Action]:
        """Return the actions that one action asked for, by id.

        :param since: those that were made before are left out; with it the answer costs
            the same however often the action was repeated
        """

    def unfinished_derived(self, action_ids: Sequence[int]) -> list[Action]:
        """Return the unfinished actions that any of these asked for, by id."""

    def list_actions(
        self,
        *,
        plan_id: int | None = None,
        statuses: Iterable[str] | None = None,
        after_id: int | None = None,
        limit: int = 1000,
        descending: bool = False,
    ) -> list[Action]:
        """Return a page of actions by id, after (or, descending, before) one."""

    def count_actions(self, plan_id: int) -> dict[str, int]:
        """Return how many actions of a plan are in each status."""

    def list_events(
        self,
        *,
        plan_id: int | None = None,
        subject: str | None = None,
        subject_id: int | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> list[StoredEvent]:
        """Return a page of the history, by sequence.

        That of everything, of a plan, or of what both `subject` and `subject_id`
        name; ValueError for any other choice.
        """

    def depended_by(self, action_id: int) -> list[str]:
        """Return the uuids of unfinished actions that depend on one."""

    def depends_on(self, action_id: int) -> list[str]:
        """Return the uuids of unfinished actions that one depends on."""

    # housekeeping

    def purge(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Delete what ended before a time, and all that is its own.

        What ended is as old as its last change. That are plans, at most `limit` of
        them, the lowest ids first, with their actions and events; audits without
        plans, and others with the last of their plans; actions that belong to no
        plan; published events that belong to no plan; softly deleted templates; and
        softly deleted goals and strategies that nothing refers to. What refers to
        them in this purge goes in this one, and they in the next. Then what
        `purge_stacks` and `purge_clusters` delete. As long as there are `limit`
        plans, of what has no plan only actions and events go.

        What an event is about that is not published is kept, because the relay
        still reads it; and so is what an unfinished action derived in a run that is
        not over. An EVENT audit that has succeeded has not ended: its webhook may run
        it again.

        :param dry_run: delete nothing, and count what would be
        :returns: how many rows: `action_plans`, `audits`, `actions`, `events`; and
            `audit_templates`, `strategies`, `goals`, `stacks`, `resources`,
            `definitions`, `clusters`, `nodes` where there are any
        """

    def statistics(self) -> Mapping[str, Any]:
        """Return figures for operators, one statement each.

        :returns: `action_plans`: state -> how many of the active ones;
            `actions`: status -> how many of the unfinished ones;
            `pending_events`: how many; `workers`: how many have a lease;
            `stacks`: status -> how many are not deleted; `resources_in_progress`:
            how many
        """
