"""The base of the operations on clusters.

A request locks its target, is admitted or rejected, and stores an action, in one
transaction.
"""

import copy
import dataclasses
import datetime
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Self, TypeVar

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.db.clusters import NewObject, Spec, not_found
from watcherlite.domain import commands, events
from watcherlite.domain.actions import ENGINE, EPOCH, Action, NewAction
from watcherlite.domain.clusters import Cluster, Node, PolicyObject, Profile, Receiver
from watcherlite.domain.events import created_event
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.requests import admission, unique_names
from watcherlite.engine.clusters.requests.values import Accepted, RequestContext
from watcherlite.engine.clusters.services import ClusterLimits, ClusterServices
from watcherlite.execution.ports import SignalSender
from watcherlite.execution.retries import retry_on, retry_on_conflict
from watcherlite.states import action as action_states

LOG = logging.getLogger(__name__)

Noun = TypeVar('Noun', Profile, PolicyObject, Cluster, Node, Receiver)
Values = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class ActionRequest:
    """A request for an action.

    :param name: None: generated from the type and the target
    :param timeout: None: that of the cluster
    """

    action_type: str
    by: RequestContext
    name: str | None = None
    interval: int = 0
    not_before: datetime.datetime = EPOCH
    timeout: int | None = None
    operation: str | None = None


Target = TypeVar('Target', Cluster, Node)
#: Checks a locked cluster or node, which it may change, and returns the inputs.
BuildInputs = Callable[[Transaction, Target], Values]


class ClusterOperationBase:
    """Stores requests as actions.

    :ivar not_before: the earliest start of the requested actions; EPOCH: at once
    """

    def __init__(
        self, parts: ClusterServices, clock: Clock, signals: SignalSender
    ) -> None:
        self.parts = parts
        self.store: Store = parts.store
        self.clock = clock
        self.signals = signals
        self.not_before = EPOCH

    def scheduled_at(self, moment: datetime.datetime) -> Self:
        """Return the same operations, whose actions start at a time.

        The present actions on a target do not conflict with these.
        """
        scheduled = copy.copy(self)
        scheduled.not_before = moment
        return scheduled

    def start_time_of(self, request: ActionRequest) -> datetime.datetime:
        """Return the earliest start of an action; EPOCH: at once."""
        return max(request.not_before, self.not_before)

    def is_scheduled(self, request: ActionRequest, now: datetime.datetime) -> bool:
        """Return whether an action is scheduled for a later time."""
        return self.start_time_of(request) > now

    @property
    def limits(self) -> ClusterLimits:
        return self.parts.limits

    # references

    def resolve_reference(
        self, kind: type[Noun], name: str, by: RequestContext
    ) -> Noun:
        """Return the object that a request names; raises BadRequest."""
        try:
            return self.store.find_object(kind, name, by.tenant)
        except exceptions.NotFound:
            text = str(not_found(kind, name)).removeprefix('The ')
            raise exceptions.BadRequest(f'The specified {text}') from None

    def resolve_nodes(self, names: Any, by: RequestContext) -> list[Node]:
        """Return the nodes that a request names, each once.

        :raises BadRequest: it names none, or some that do not exist
        """
        if isinstance(names, str) or not isinstance(names, Collection) or not names:
            raise exceptions.BadRequest('No nodes specified: a list of them is needed.')
        desired = list(dict.fromkeys(str(name) for name in names))
        found = self.store.nodes_by_uuid(name.lower() for name in desired)
        nodes: dict[str, Node] = {}
        missing: list[str] = []
        for name in desired:
            row = found.get(name.lower())
            if (
                row is None
                or row.deleted_at is not None
                or by.tenant not in (None, row.owner.tenant)
            ):
                try:
                    row = self.store.find_object(Node, name, by.tenant)
                except exceptions.NotFound:
                    missing.append(name)
                    continue
            nodes[row.uuid] = row
        if missing:
            raise exceptions.BadRequest(f'Nodes not found: {missing}.')
        return list(nodes.values())

    def check_unique(
        self, tx: Transaction, kind: type[Noun], name: str, tenant: str, uuid: str = ''
    ) -> None:
        """Raise BadRequest if names must be unique and this one is in use.

        The names of the project stay locked until the transaction ends.

        :param uuid: of the object that gets the name; '': a new one
        """
        if self.limits.unique_names:
            unique_names.check_available(tx, kind, name, tenant, uuid)

    @retry_on_conflict
    def insert_object(
        self, kind: type[Spec], row: NewObject[Spec], credential: str | None = None
    ) -> Spec:
        """Insert an object; raises BadRequest if its name is in use.

        :param credential: uuid of the credential that becomes its own
        """
        with self.store.transaction() as tx:
            self.check_unique(tx, kind, row.name, row.owner.tenant)
            stored = tx.insert_object(row)
            if credential is not None:
                tx.assign_credential(credential, stored.uuid)
            return stored

    @retry_on_conflict
    def update_object(
        self,
        kind: type[Spec],
        name: str,
        by: RequestContext,
        requested: Values,
        derive: Callable[[Spec], Values] | None = None,
    ) -> Spec:
        """Update an object under its row lock.

        :param requested: the new values of fields
        :param derive: returns the fields that change with these
        :raises BadRequest: nothing would change, or the name is in use
        """
        found = self.store.find_object(kind, name, by.tenant)
        with self.store.transaction() as tx:
            if 'name' in requested and self.limits.unique_names:
                # Before the row: requests that use a profile lock it in this order.
                tx.lock_tenant(found.owner.tenant)
            row = tx.lock_object(found)
            if row is None:
                raise not_found(kind, name)
            changes = {k: v for k, v in requested.items() if v != getattr(row, k)}
            if not changes:
                raise exceptions.BadRequest('No property needs an update.')
            if 'name' in changes:
                named = row.owner.tenant, row.uuid
                self.check_unique(tx, kind, changes['name'], *named)
            after = row.evolve(**changes, updated_at=self.clock.now())
            if derive is not None:
                after = after.evolve(**derive(after))
            tx.save_object(after)
        return after

    # actions

    @retry_on(exceptions.StoreConflict, exceptions.OutOfDate)
    def request_action(
        self,
        kind: type[Target],
        name: str,
        request: ActionRequest,
        build_inputs: BuildInputs[Target],
    ) -> Accepted[Target]:
        """Request an action on a cluster or node; see `admission` for rejections."""
        found = self.store.find_object(kind, name, request.by.tenant)
        now = self.clock.now()
        with self.store.transaction() as tx:
            cluster, row = admission.lock(tx, found)
            inputs = build_inputs(tx, row)
            is_later = self.is_scheduled(request, now)
            if not (request.by.wait or is_later):
                admission.check_idle(tx, request.action_type, row, cluster, now)
            if request.action_type in action_types.SCALING and not is_later:
                bound = tx.bindings_of(row.id)
                admission.check_cooldown(bound, request.action_type, row.uuid, now)
            action = self.insert_action(tx, request, row, cluster, inputs, now)
        self.announce(action)
        return Accepted(action.uuid, row)

    def insert_action(
        self,
        tx: Transaction,
        request: ActionRequest,
        target: Cluster | Node,
        cluster: Cluster | None,
        inputs: Values,
        now: datetime.datetime,
        done: bool = False,
    ) -> Action:
        """Store an action with its event.

        :param cluster: the target, or the cluster of the target
        :param done: this transaction has executed it
        """
        timeout = request.timeout
        if timeout is None:
            timeout = cluster.timeout if cluster is not None else 0
        within = cluster if isinstance(target, Node) else None
        uuid, kind = events.new_uuid(), request.action_type
        action = NewAction(
            uuid=uuid,
            action_type=kind,
            lane=ENGINE,
            name=request.name
            or action_types.action_name(kind, target.uuid, request.operation, uuid),
            target=target.uuid,
            within=within.uuid if within is not None else None,
            tenant=target.owner.tenant,
            inputs=dict(inputs),
            context=dict(request.by.context),
            timeout=timeout,
            interval=request.interval,
            not_before=EPOCH if done else self.start_time_of(request),
            status=action_states.SUCCEEDED if done else action_states.READY,
            start_time=now if done else None,
            end_time=now if done else None,
            created_at=now,
        )
        (action_id,) = tx.insert_actions([action], [])
        stored = action.stored(action_id)
        tx.add_events([created_event(stored, None, now)])
        return stored

    def announce(self, action: Action | None = None) -> None:
        """Send the hints for a stored action and its events."""
        if action is not None:
            LOG.info(
                '%s (%s) requested for %s',
                action.action_type,
                action.uuid,
                action.target,
            )
            self.parts.messenger.send(ENGINE, commands.RunActions())
        self.parts.messenger.broadcast(commands.EventsStored())

    def cancel_all(self, uuids: Iterable[str]) -> None:
        """Cancel actions, except those that have ended."""
        for uuid in uuids:
            try:
                self.signals.signal_action(uuid, action_states.CANCEL)
            except (exceptions.NotFound, exceptions.Conflict) as error:
                # It has ended meanwhile.
                LOG.debug('Action %s not cancelled: %s', uuid, error)
