"""What all that users do with clusters has in common.

A request locks what it is about, looks whether it may be, and stores an action, in
one transaction.
"""

import dataclasses
import datetime
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.clock import Clock
from watcherlite.db.api import Store, Transaction
from watcherlite.db.clustering import Plain, not_found
from watcherlite.domain import commands, events
from watcherlite.domain.actions import ENGINE, EPOCH, Action
from watcherlite.domain.clusters import (
    Cluster,
    Node,
    PolicyObject,
    Profile,
    Receiver,
)
from watcherlite.engine.clusters import actions, guarding, naming
from watcherlite.engine.clusters.asking import Asker, Begun
from watcherlite.engine.clusters.parts import Limits, Parts
from watcherlite.execution.conflicts import again_on, again_on_conflict
from watcherlite.execution.facts import created_event
from watcherlite.states import action as action_states

LOG = logging.getLogger(__name__)

Noun = TypeVar('Noun', Profile, PolicyObject, Cluster, Node, Receiver)
Values = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """An action that is asked for.

    :param name: None: made of the type and the target
    :param wait: it is queued where others are under way; else that is refused
    :param timeout: None: that of the cluster
    """

    action_type: str
    by: Asker
    wait: bool = False
    name: str | None = None
    interval: int = 0
    not_before: datetime.datetime = EPOCH
    timeout: int | None = None
    operation: str | None = None


#: (transaction, cluster as it is): checks, may change the cluster; the inputs
OnCluster = Callable[[Transaction, Cluster], Values]
#: (transaction, cluster that it is in or None, node as it is): likewise
OnNode = Callable[[Transaction, Cluster | None, Node], Values]


class Requests:
    """Stores what is asked for.

    :param signal: (uuid of an action, signal): sends a signal to it and to all that
        it derived
    """

    def __init__(
        self, parts: Parts, clock: Clock, signal: Callable[[str, str], Any]
    ) -> None:
        self.parts = parts
        self.store: Store = parts.store
        self.clock = clock
        self.signal = signal

    @property
    def limits(self) -> Limits:
        return self.parts.limits

    # what is meant

    def meant(self, kind: type[Noun], name: str, by: Asker) -> Noun:
        """Return what the body of a request names; BadRequest if there is none."""
        try:
            return self.store.find_noun(kind, name, by.tenant)
        except exceptions.NotFound:
            text = str(not_found(kind, name)).removeprefix('The ')
            raise exceptions.BadRequest(f'The specified {text}') from None

    def members(self, names: Any, by: Asker) -> list[Node]:
        """Return the nodes that the body of a request names, each once.

        :raises BadRequest: it names none, or some that are not there
        """
        if isinstance(names, str) or not isinstance(names, Collection) or not names:
            raise exceptions.BadRequest('No nodes specified: a list of them is needed.')
        wanted = list(dict.fromkeys(str(name) for name in names))
        found = self.store.nodes_by_uuid(name.lower() for name in wanted)
        nodes: dict[str, Node] = {}
        missing: list[str] = []
        for name in wanted:
            row = found.get(name.lower())
            if row is None or not _is_seen(row, by):
                try:
                    row = self.store.find_noun(Node, name, by.tenant)
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
        """Raise BadRequest where names are unique and this one is taken.

        Until the transaction ends nobody else names anything in the project.

        :param uuid: what gets the name, if that is there already
        """
        if self.limits.unique_names:
            naming.check_free(tx, kind, name, tenant, uuid)

    @again_on_conflict
    def store_noun(self, row: Plain) -> Plain:
        """Store what no action makes; BadRequest where its name is taken."""
        with self.store.transaction() as tx:
            self.check_unique(tx, type(row), row.name, row.owner.tenant)
            return tx.insert_noun(row)

    @again_on_conflict
    def change_noun(
        self,
        kind: type[Plain],
        name: str,
        by: Asker,
        wanted: Values,
        more: Callable[[Plain], Values] | None = None,
    ) -> Plain:
        """Change what no action changes; nothing of what others change is lost.

        :param wanted: how it is to be
        :param more: tells of the row, as it is to be, what changes with it
        :raises BadRequest: it is like that already, or its name is taken
        """
        found = self.store.find_noun(kind, name, by.tenant)
        with self.store.transaction() as tx:
            if 'name' in wanted and self.limits.unique_names:
                # Before the row, which who makes something of a profile holds as well
                tx.lock_tenant(found.owner.tenant)
            row = tx.lock_noun(found)
            if row is None:
                raise not_found(kind, name)
            changes = {k: v for k, v in wanted.items() if v != getattr(row, k)}
            if not changes:
                raise exceptions.BadRequest('No property needs an update.')
            if 'name' in changes:
                named = row.owner.tenant, row.uuid
                self.check_unique(tx, kind, changes['name'], *named)
            after = row.evolve(**changes, updated_at=self.clock.now())
            if more is not None:
                after = after.evolve(**more(after))
            tx.save_noun(after)
        return after

    # actions

    @again_on(exceptions.StoreConflict, exceptions.OutOfDate)
    def on_cluster(self, name: str, wish: Wish, ask: OnCluster) -> Begun[Cluster]:
        """Ask for an action on a cluster; see `guarding` for what is refused."""
        found = self.store.find_noun(Cluster, name, wish.by.tenant)
        now = self.clock.now()
        with self.store.transaction() as tx:
            row = guarding.locked_cluster(tx, found.uuid)
            inputs = ask(tx, row)
            if not wish.wait:
                guarding.check_idle(tx, wish.action_type, row, None, now)
            if wish.action_type in actions.SCALING:
                bound = tx.bindings_of(row.id or 0)
                guarding.check_cooldown(bound, wish.action_type, row, now)
            begun = self.insert(tx, wish, row, row, inputs, now)
        self.tell(begun)
        return Begun(begun.uuid, row)

    @again_on(exceptions.StoreConflict, exceptions.OutOfDate)
    def on_node(self, name: str, wish: Wish, ask: OnNode) -> Begun[Node]:
        """Likewise on a node."""
        found = self.store.find_noun(Node, name, wish.by.tenant)
        now = self.clock.now()
        with self.store.transaction() as tx:
            cluster, row = guarding.locked_node(tx, found)
            inputs = ask(tx, cluster, row)
            if not wish.wait:
                guarding.check_idle(tx, wish.action_type, row, cluster, now)
            begun = self.insert(tx, wish, row, cluster, inputs, now)
        self.tell(begun)
        return Begun(begun.uuid, row)

    def insert(
        self,
        tx: Transaction,
        wish: Wish,
        target: Cluster | Node,
        cluster: Cluster | None,
        inputs: Values,
        now: datetime.datetime,
        done: bool = False,
    ) -> Action:
        """Store an action with its event.

        :param cluster: the target, or what it is in
        :param done: it has done what it should already, in this transaction
        """
        timeout = wish.timeout
        if timeout is None:
            timeout = cluster.timeout if cluster is not None else 0
        within = cluster if isinstance(target, Node) else None
        action = Action(
            uuid=events.new_uuid(),
            action_type=wish.action_type,
            lane=ENGINE,
            name=wish.name
            or actions.action_name(wish.action_type, target.uuid, wish.operation),
            target=target.uuid,
            within=within.uuid if within is not None else None,
            tenant=target.owner.tenant,
            inputs=dict(inputs),
            context=dict(wish.by.context),
            timeout=timeout,
            interval=wish.interval,
            not_before=wish.not_before,
            status=action_states.SUCCEEDED if done else action_states.READY,
            start_time=now if done else None,
            end_time=now if done else None,
            created_at=now,
        )
        (action_id,) = tx.insert_actions([action], [])
        stored = action.evolve(id=action_id)
        tx.add_events([created_event(stored, None, now)])
        return stored

    def tell(self, begun: Action | None = None) -> None:
        """Say that there is something to be done."""
        if begun is not None:
            LOG.info(
                '%s (%s) is asked for on %s',
                *(begun.action_type, begun.uuid, begun.target),
            )
            self.parts.tell(ENGINE, commands.RunActions())
        self.parts.tell(None, commands.EventsStored())

    def stop(self, uuids: Iterable[str]) -> None:
        """Have actions end that are in the way of a deletion."""
        for uuid in uuids:
            try:
                self.signal(uuid, action_states.CANCEL)
            except (exceptions.NotFound, exceptions.Conflict) as error:
                # It has ended by itself.
                LOG.debug('%s is not cancelled: %s', uuid, error)


def _is_seen(row: Node, by: Asker) -> bool:
    return row.deleted_at is None and by.tenant in (None, row.owner.tenant)
