"""The interface of the store: all queries and all changes.

`Store` has the queries, and the small changes that need no transaction. `Transaction`
has the methods from which the core composes its group commits: each is a bulk change,
one statement where the database allows it, and none executes a statement per row. The
packages `execution`, `applier` and `engine` decide what changes; a store only compares,
writes and returns rows.

Common to all methods: times are aware and in UTC; uuids are lower-case text; `limit`
is at least 1; an empty sequence is allowed everywhere and costs no statement; lists are
ordered by ascending id unless stated otherwise; JSON values are returned as plain dicts
and lists. A uuid that is already stored raises Conflict. Errors: StoreUnavailable if
the database cannot be reached, StoreConflict if the transaction lost against another
one (deadlock, serialization failure) and can be retried as a whole.
"""

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from watcherlite.db.action_logs import ActionLogStore
from watcherlite.db.audits import AuditStore, AuditTransaction
from watcherlite.db.clusters import ClusterStore, ClusterTransaction
from watcherlite.db.credentials import CredentialStore, CredentialTransaction
from watcherlite.db.locking import LockTransaction
from watcherlite.db.projects import ProjectTransaction
from watcherlite.db.query import ListStore
from watcherlite.db.request_keys import RequestKeyStore, RequestKeyTransaction
from watcherlite.db.requests import RequestStore, RequestTransaction
from watcherlite.db.sessions import SessionStore
from watcherlite.db.software import SoftwareStore, SoftwareTransaction
from watcherlite.db.stacks import StackStore, StackTransaction
from watcherlite.domain.action_plans import ActionPlan, NewActionPlan, PlanRelations
from watcherlite.domain.actions import Action, ActionChange, Edge, NewAction
from watcherlite.domain.audits import (
    Audit,
    Goal,
    NewAudit,
    NewGoal,
    NewStrategy,
    Strategy,
)
from watcherlite.domain.events import Event, StoredEvent


@dataclasses.dataclass(frozen=True, slots=True)
class Worker:
    """A running daemon process.

    :param uuid: new at each start: a worker that lost its lease never owns actions
        again
    :param host: for operators, and for `publisher_id`
    :param identity: the machine, pid namespace, pid and start time of the process, by
        which a later process on the same machine recognizes that it has exited
    :param lanes: the lanes that it serves
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

    :param ended: the dependent has ended itself: it was skipped or cancelled while it
        waited, so that its own dependents are now to be released
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
class ChainStep:
    """The step from one action of a plan to the next: one ends, the next one starts.

    :param plan: the expected plan, and the plan as it is written
    :param ended: the change of the action that ends; `started` is its only dependent
    :param started: the change of the dependent, which has no other unfinished parent
        and no owner
    :param events: the events of all these changes, in order
    """

    plan: tuple[ActionPlan, ActionPlan]
    ended: ActionChange
    started: ActionChange
    events: Sequence[Event]


class Transaction(
    AuditTransaction,
    StackTransaction,
    SoftwareTransaction,
    ClusterTransaction,
    ProjectTransaction,
    LockTransaction,
    RequestKeyTransaction,
    RequestTransaction,
    CredentialTransaction,
    Protocol,
):
    """A transaction; all its changes are committed together.

    Lock order: audits, plans, stacks, clusters, nodes, actions; rows of one table in
    the order of their ids.
    """

    # plans

    def lock_plans(
        self, plan_ids: Iterable[int], *, wait: bool = True
    ) -> dict[int, ActionPlan]:
        """Lock plans until the end of the transaction; return them by id.

        Lock a plan before you change its actions or add events for it: that puts the
        events of a plan in commit order.

        :param wait: False: omit plans that another transaction has locked
        """

    def save_plans(self, plans: Iterable[ActionPlan]) -> None:
        """Write the variable fields of plans that this transaction has locked."""

    def insert_plan(self, plan: NewActionPlan) -> ActionPlan:
        """Insert a plan; return it with its id."""

    # actions

    def insert_actions(
        self, actions: Sequence[NewAction], edges: Sequence[Edge]
    ) -> list[int]:
        """Insert actions and their dependencies in bulk; return the ids in order.

        The caller has counted `pending` and `dependents`, and passes parents first; ids
        ascend in the given order. Either end of an edge may be an action that is
        already stored, which is not changed; NotFound if there is none.
        """

    def change_actions(self, changes: Sequence[ActionChange]) -> set[int]:
        """Compare and set actions; return the ids of those that were as expected.

        Compared are id, status, owner and attempt. Written are the variable fields of
        `after`, except `pending` (see `release_dependents`) and `control` (see
        `set_control`). A READY action without owner and `blocked_on` can be claimed
        again. An action occurs in `changes` at most once.
        """

    def release_dependents(
        self,
        parent_ids: Sequence[int],
        *,
        started: bool,
        handovers: Mapping[int, Action] | None = None,
        now: datetime.datetime,
    ) -> list[Released]:
        """Decrement `pending` of the dependents of finished actions.

        Return the dependents that reach zero. INIT and WAITING dependents become READY,
        without owner, and claimable; INIT ones only if their plan runs (`started`), but
        they are returned in any case. READY dependents are returned unchanged, and so
        are ended ones, with `ended`. RUNNING and SUSPENDED dependents are decremented
        but not returned.

        :param handovers: id -> the action to store instead, if the dependent reaches
            zero while it is INIT or WAITING and has no owner: status, owner, attempt,
            phase, start_time, data and updated_at are taken from it, and `handed_over`
            is True
        """

    def end_dependents(
        self,
        parent_ids: Sequence[int],
        status: str,
        message: str,
        now: datetime.datetime,
    ) -> list[Action]:
        """End the dependents that require the success of ended actions.

        Follows edges with needs='success' by one level. INIT and WAITING dependents,
        and READY ones without owner, get `status`, `message`, and `now` as their end
        time. Return the changed actions, so that the caller can continue with their
        dependents.
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
        """Claim up to `limit` actions of one plan, or of a lane without plan.

        Claimable are INIT (of a plan) and READY actions without unfinished parents,
        owner and `blocked_on`, whose `not_before` has passed; the oldest come first,
        and rows that another transaction has locked are skipped. They become READY,
        owned by `worker`, with attempt + 1. Return the changed actions. The caller
        checks whether the plan runs. ValueError unless exactly one of `plan_id` and
        `lane` is given.
        """

    def successors(self, action_ids: Sequence[int], depth: int) -> list[Successor]:
        """Return the actions whose only unfinished parent is one of these.

        Follows such edges down to `depth` levels. A successor is INIT or WAITING, has
        `pending` 1 and no `not_before`, and needs no lock: it has no target, or is a
        derived action, whose parent holds the lock. Of several successors of an action,
        the one with the lowest id is returned. Locks no rows.
        """

    def end_not_started(
        self,
        plan_id: int,
        status: str,
        message: str | None,
        limit: int,
        now: datetime.datetime,
    ) -> list[Action]:
        """End actions of a plan that have not started, with or without owner.

        These are INIT, WAITING and READY actions, the lowest ids first. WAITING actions
        in phase 'complete' wait for derived actions and end after them. Ended actions
        have no owner. Return the actions as they were before. Dependents are not
        decremented.
        """

    def set_control(
        self,
        signal: str,
        now: datetime.datetime,
        *,
        action_ids: Sequence[int] | None = None,
        plan_id: int | None = None,
    ) -> list[Action]:
        """Write a signal to actions that have started; return the changed actions.

        These are RUNNING and SUSPENDED actions, and WAITING ones that wait for derived
        actions (phase 'complete'), with these ids, of this plan, or both; ValueError
        with neither. By ids alone, also READY actions that a worker has claimed or that
        wait for a retry. No signal replaces a CANCEL: actions with one are neither
        changed nor returned.
        """

    def lock_actions(self, action_ids: Sequence[int]) -> dict[int, Action]:
        """Lock actions until the end of the transaction; return them by id."""

    def add_pending(self, action_id: int, count: int) -> None:
        """Increase `pending` of an action that has derived `count` actions."""

    # events

    def add_events(self, events: Sequence[Event]) -> None:
        """Insert events, in this order, as unpublished."""

    # audits, goals and strategies of plans

    def ensure_goal(self, goal: NewGoal) -> Goal:
        """Return the stored goal of that name; insert it if there is none."""

    def ensure_strategy(self, strategy: NewStrategy) -> Strategy:
        """Return the stored strategy of that name; insert it if there is none."""

    def insert_audit(self, audit: NewAudit) -> Audit:
        """Insert an audit; return it with its id.

        Conflict if an audit of that name exists that is not deleted.
        """


class Store(
    ListStore,
    AuditStore,
    StackStore,
    SoftwareStore,
    ClusterStore,
    RequestKeyStore,
    RequestStore,
    SessionStore,
    CredentialStore,
    ActionLogStore,
    Protocol,
):
    """The store."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction; commit at the end of the block, roll back on errors."""

    @property
    def has_chain_commit(self) -> bool:
        """Return whether `commit_chain_step` is supported.

        It is on databases where round trips cost more than the statements.
        """

    def commit_chain_step(self, step: ChainStep) -> bool:
        """Compare and set all rows of a chain step in one statement.

        Equivalent, in a transaction, to `lock_plans`, `change_actions`,
        `release_dependents` with a handover, `save_plans` and `add_events`.

        :returns: False if any row is not as expected; then nothing has changed
        :raises StoreUnavailable: also if the outcome is unknown
        """

    def check(self) -> None:
        """Raise StoreUnavailable or SchemaMismatch if the store cannot be used."""

    def close(self) -> None:
        """Close all connections."""

    # workers and their leases, by the clock of the database

    def now(self) -> datetime.datetime:
        """Return the time of the database; it may be rounded to milliseconds."""

    def register_worker(self, worker: Worker, lease: float) -> Worker:
        """Insert a worker with a lease of `lease` seconds.

        Return it with `lease_until`, and with `started_at` if it had none.
        """

    def renew_lease(self, worker: str, lease: float) -> bool:
        """Renew a lease for `lease` seconds from now.

        Return False if the lease has expired or the worker has been removed.
        """

    def end_lease(self, worker: str) -> None:
        """End a lease now, so that other workers take over at once."""

    def expired_workers(self) -> list[Worker]:
        """Return the workers whose lease has expired."""

    def next_lease_end(self, worker: str) -> float | None:
        """Return the seconds until the first lease of another live worker ends.

        None if there is no other live worker.
        """

    def unregistered_owners(self) -> list[str]:
        """Return the uuids of owners of unfinished actions that are not workers.

        A worker is one if it stopped in the middle of a claim, lost its lease, was
        removed because it owned no action, and then committed the claim.
        """

    def live_workers(self, lane: str | None = None) -> list[Worker]:
        """Return the workers with a lease, of all lanes or of one."""

    def remove_worker(self, worker: str) -> bool:
        """Remove a worker whose lease has expired and that owns no unfinished action.

        Return whether it was removed.
        """

    def acquire_role(self, role: str, worker: str, lease: float) -> bool:
        """Take or keep a role, which one worker has, for `lease` seconds."""

    def release_role(self, role: str, worker: str) -> None:
        """Release a role if this worker has it."""

    # work

    def active_plans(self, limit: int) -> list[ActionPlan]:
        """Return PENDING, ONGOING and CANCELLING plans, the oldest first."""

    def next_not_before(
        self, lane: str, after: datetime.datetime
    ) -> datetime.datetime | None:
        """Return the earliest `not_before` after a time in a lane.

        Only of actions, with or without plan, that are otherwise claimable.
        """

    def deadlines(
        self, lane: str, until: datetime.datetime, limit: int
    ) -> list[tuple[str, datetime.datetime]]:
        """Return (uuid, deadline) of actions that wait for derived actions.

        These are the WAITING actions of a lane with a deadline, other than EPOCH, that
        is not after `until`; the earliest deadline first.
        """

    def has_claimable(self, lane: str, now: datetime.datetime) -> bool:
        """Return whether a lane has claimable actions without a plan."""

    def controls(self, worker: str) -> dict[int, str]:
        """Return the signals to the actions of a worker: id -> signal."""

    def owned_ids(self, worker: str) -> list[tuple[int, int]]:
        """Return (id, attempt) of the unfinished actions of a worker."""

    def unblock_stale(self) -> int:
        """Unblock the actions that wait for a free lock; return their number.

        WAITING ones without unfinished parents become READY; the first that is claimed
        takes the lock. An action that is blocked on another one, by its uuid, waits
        while that is SUSPENDED.
        """

    # the outbox

    def pending_events(self, limit: int) -> list[StoredEvent]:
        """Return the oldest unpublished events, by sequence."""

    def mark_published(self, sequences: Sequence[int], now: datetime.datetime) -> None:
        """Mark events as published."""

    def published_events(
        self, after: int, since: datetime.datetime, limit: int
    ) -> list[StoredEvent]:
        """Return published events with a sequence above `after`, by sequence.

        :param since: the earliest time of publication
        """

    def event_exists(self, uuid: str) -> bool:
        """Return whether an event is stored.

        Resolves the outcome of a transaction whose COMMIT was not acknowledged.
        """

    def oldest_pending_event(self) -> datetime.datetime | None:
        """Return the time of the oldest unpublished event."""

    # plans and actions

    def plan_relations(self, plan_id: int) -> PlanRelations | None:
        """Return a plan with its audit, goal and strategy; None if there is none."""

    def relations_of_plans(self, plan_ids: Sequence[int]) -> dict[int, PlanRelations]:
        """Return plans with their audits, goals and strategies, by id."""

    def get_plan(self, uuid: str) -> ActionPlan:
        """Return a plan; raise NotFound if there is none."""

    def get_action(self, uuid: str) -> Action:
        """Return an action; raise NotFound if there is none."""

    def actions_by_id(self, action_ids: Sequence[int]) -> dict[int, Action]:
        """Return actions by their ids."""

    def derived_actions(
        self, action_id: int, since: datetime.datetime | None = None
    ) -> list[Action]:
        """Return the actions derived from one action, by id.

        :param since: omit actions created before. The cost of the query then does not
            grow with the number of runs of a repeated action
        """

    def unfinished_derived(self, action_ids: Sequence[int]) -> list[Action]:
        """Return the unfinished actions derived from any of these, by id."""

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
        """Return the number of actions of a plan by status."""

    def list_events(
        self,
        *,
        plan_id: int | None = None,
        action_id: int | None = None,
        subject: str | None = None,
        subject_id: int | None = None,
        after: int = 0,
        before: int | None = None,
        limit: int = 1000,
    ) -> list[StoredEvent]:
        """Return a page of events by sequence.

        Of all subjects, of one plan, or of the object with `subject` and `subject_id`;
        ValueError for any other combination.

        :param action_id: only those of this action of the plan
        :param before: return earlier events than this one, the latest first
        """

    def depended_by(self, action_id: int) -> list[str]:
        """Return the uuids of unfinished actions that depend on one."""

    def depends_on(self, action_id: int) -> list[str]:
        """Return the uuids of unfinished actions that one depends on."""

    # housekeeping

    def purge(
        self, before: datetime.datetime, limit: int, dry_run: bool = False
    ) -> Mapping[str, int]:
        """Delete objects whose last change after their end was before a time.

        These are up to `limit` plans, the lowest ids first, with their actions and
        events; audits, with the last of their plans or if they have none; actions and
        published events without a plan; softly deleted templates; and softly deleted
        goals and strategies without references. A goal or strategy whose last reference
        this purge deletes is deleted by the next one. Then the rows of `purge_stacks`
        and `purge_clusters`. While there are `limit` plans, only actions and events of
        the other rows are deleted.

        Objects of unpublished events are kept, because the relay reads them, and so are
        the actions that an unfinished action derived in its current run. An EVENT audit
        does not end by its success: its webhook may run it again.

        :param dry_run: count the rows, but delete none
        :returns: the numbers of deleted rows: `action_plans`, `audits`, `actions`,
            `events`; and, unless zero, `audit_templates`, `strategies`, `goals`,
            `stacks`, `resources`, `definitions`, `clusters`, `nodes`
        """

    def statistics(self) -> Mapping[str, Any]:
        """Return the numbers of rows that operators monitor, by one statement each.

        :returns: `action_plans`: state -> number of active plans; `actions`: status ->
            number of unfinished actions; `stacks`: status -> number of stacks that are
            not deleted; and the numbers of `pending_events`, of `workers` with a lease
            and of `resources_in_progress`
        """
