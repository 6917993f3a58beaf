"""The actions on nodes.

The classes are entry points, so that plans are checked against them; only a worker
makes instances that can execute, see `engine.types`.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain import capacity
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.domain.handling import KEEP, UPDATE
from watcherlite.domain.outcomes import Derived, Done, Outcome
from watcherlite.engine.clusters import actions, lifecycle_hooks, node_working
from watcherlite.engine.clusters.cluster_actions import recovery
from watcherlite.engine.clusters.node_checking import Checking
from watcherlite.engine.clusters.node_working import NodeWork, Steps, failed, refused
from watcherlite.engine.clusters.parts import Parts, not_here
from watcherlite.engine.clusters.profile_types import operation_parameters
from watcherlite.engine.clusters.progress import AS_BEFORE, COUNTED
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as action_states
from watcherlite.states import cluster as states

GONE = 'The node is not there any more'


@dataclasses.dataclass(frozen=True, slots=True)
class Recovery:
    """How a node is recovered.

    :param delete_timeout: seconds that the deletion of the old one may take
    :param force: make it anew even if the old one cannot be deleted
    """

    operation: str
    parameters: Mapping[str, Any]
    delete_timeout: float | None
    force: bool


class NodeAction(ActionType):
    """What all of them have in common.

    :cvar kind: which one
    :cvar obeys_locks: whether it leaves a node alone that is under the lock of a stack
    :param parts: None for one that only says what it takes
    """

    kind: ClassVar[actions.Kind]
    obeys_locks: ClassVar[bool] = False

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.schema = cls.kind.schema
        cls.description = cls.kind.description

    def __init__(self, options: Any = None, parts: Parts | None = None) -> None:
        super().__init__(options)
        self._of_worker = parts
        self._lost = False

    @property
    def parts(self) -> Parts:
        """Return what it works with."""
        if self._of_worker is None:
            raise not_here()
        return self._of_worker

    def is_applied(self, context: ActionContext) -> bool:
        """Say no, if it may be begun again; raise if nobody can tell.

        What it did so far is found again then, or done twice without harm.
        """
        self._lost = True
        work = NodeWork.of(self.parts, context)
        if work is not None and self.is_unsafe(work):
            raise exceptions.Invalid(node_working.UNKNOWN)
        return False

    def is_unsafe(self, work: NodeWork) -> bool:
        """Say whether it does harm to begin it again with a node."""
        return False

    def execute(self, context: ActionContext) -> Outcome:
        """Begin."""
        work = NodeWork.of(self.parts, context, self._lost)
        if work is None:
            return self.gone()
        lock = work.lock() if self.obeys_locks else None
        return self.begin(work) if lock is None else self.kept_out(work, lock)

    def poll(self, context: ActionContext, token: Any) -> Outcome:
        """Go on."""
        work = NodeWork.of(self.parts, context)
        if work is None:
            return self.gone()
        return self.go_on(work, token)

    def cancel(self, context: ActionContext, token: Any) -> None:
        """Tell the handler to stop."""
        work = NodeWork.of(self.parts, context)
        if work is not None:
            self.steps(work).cancel(token)

    def gone(self) -> Outcome:
        """Say how it goes with a node that is not there."""
        return failed(GONE)

    def kept_out(self, work: NodeWork, lock: str) -> Outcome:
        """Say how it goes with a node that is under a lock."""
        return refused(f'{lock}.')

    def begin(self, work: NodeWork) -> Outcome:
        """Begin with a node."""
        raise NotImplementedError

    def go_on(self, work: NodeWork, token: Any) -> Outcome:
        """Go on with a node."""
        return self.steps(work).go_on(token)

    def steps(self, work: NodeWork) -> Steps:
        """Return what takes a node through the steps."""
        return Steps(work)


class NodeCreate(NodeAction):
    """Makes what a node stands for."""

    kind = actions.KINDS[actions.NODE_CREATE]

    def is_unsafe(self, work: NodeWork) -> bool:
        """Say whether what was made cannot be found again."""
        handler = work.handler
        return not handler.idempotent and not handler.supports('find')

    def begin(self, work: NodeWork) -> Outcome:
        """Count it in its cluster, and make it."""
        refusal = _count(work, +1)
        if refusal is not None:
            return failed(refusal)
        return self.steps(work).run(node_working.CREATE)


class NodeDelete(NodeAction):
    """Deletes a node, and what it stands for."""

    kind = actions.KINDS[actions.NODE_DELETE]
    obeys_locks = True
    idempotent = True

    def gone(self) -> Outcome:
        """Say that a node that is not there is deleted."""
        return Done({})

    def begin(self, work: NodeWork) -> Outcome:
        """Count it no more in its cluster, leave it its grace, and delete it.

        Whoever a policy wants told before that is told after the grace.
        """
        refusal = _count(work, -1)
        if refusal is not None:
            return refused(refusal)
        if not work.has_begun:
            return Done({})
        steps, data = self.steps(work), work.action.data
        grace = (data.get('deletion') or {}).get('grace_period') or 0
        if work.is_request:
            within = work.action.within or ''
            hook = lifecycle_hooks.before(data, work.node, within, grace)
            if hook is not None:
                return Derived((hook,))
            if grace > 0:
                return steps.pause(float(grace), node_working.DELETE)
        return _without_trace(steps.run(node_working.DELETE))

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Delete it, now that those know who wanted to."""
        work = NodeWork.of(self.parts, context)
        if work is None:
            return self.gone()
        for result in results:
            if result.status != action_states.SUCCEEDED:
                why = result.status_message or result.status
                return refused(f'The node stays, because of its hook: {why}')
        return _without_trace(self.steps(work).run(node_working.DELETE))

    def overdue(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Leave it as it is: those who wanted to know were not ready in time."""
        return refused('The node stays: its timeout was over before its hook was')

    def go_on(self, work: NodeWork, token: Any) -> Outcome:
        """Go on with the deletion."""
        return _without_trace(super().go_on(work, token))


def _without_trace(outcome: Outcome) -> Outcome:
    """Return the end of a deletion, after which the row says what there was."""
    return Done({}) if isinstance(outcome, Done) else outcome


class NodeUpdate(NodeAction):
    """Changes a node; with another profile also what it stands for."""

    kind = actions.KINDS[actions.NODE_UPDATE]

    def is_unsafe(self, work: NodeWork) -> bool:
        """Say whether an update in place may have been made."""
        return bool(work.action.inputs.get('new_profile_id')) and (
            not work.handler.idempotent
        )

    def begin(self, work: NodeWork) -> Outcome:
        """Change the row, and what it stands for if it has to be changed."""
        profile = _new_profile(work)
        if profile is None:
            return Done({actions.NODE: _own_values(work)})
        lock = work.lock()
        if lock is not None:
            return self.kept_out(work, lock)
        if profile.handler != work.node.handler:
            return refused(
                f'Node {work.node.name} is of another type than profile {profile.name}'
            )
        if not work.is_made:
            return refused(
                f'Node {work.node.name} has nothing that could be updated: it was '
                'never made, or is gone; recover it first'
            )
        try:
            wanted = work.wanted(profile)
            decided = work.handler.decide(work.had(), wanted, False)
        except exceptions.Invalid as error:
            return refused(str(error))
        if decided == KEEP:
            became = {'profile_id': profile.id, 'properties': wanted}
            told = {**became, **_own_values(work), AS_BEFORE: True}
            return Done({actions.NODE: told})
        if decided == UPDATE:
            return self.steps(work).run(node_working.UPDATE)
        return self.steps(work).run(node_working.DELETE, node_working.CREATE)

    def steps(self, work: NodeWork) -> Steps:
        """Return what takes a node to its new profile."""
        return Steps(work, profile=_new_profile(work), ended=_own_values(work))


class NodeJoin(NodeAction):
    """Makes a node a member of a cluster; its row follows that."""

    kind = actions.KINDS[actions.NODE_JOIN]
    idempotent = True

    def begin(self, work: NodeWork) -> Outcome:
        """Look whether it may."""
        uuid = work.action.inputs['cluster_id']
        cluster = work.ask(lambda: self.parts.cluster(uuid))
        if work.node.cluster_id not in (None, cluster.id):
            return failed(f'Node {work.node.name} is in another cluster')
        return Done({})


class NodeLeave(NodeAction):
    """Has a node leave its cluster; its row follows that."""

    kind = actions.KINDS[actions.NODE_LEAVE]
    idempotent = True

    def gone(self) -> Outcome:
        """Say that a node that is not there has left."""
        return Done({})

    def begin(self, work: NodeWork) -> Outcome:
        """Do nothing."""
        return Done({})


class NodeCheck(NodeAction):
    """Looks whether what a node stands for is well; that it is not is no failure."""

    kind = actions.KINDS[actions.NODE_CHECK]
    obeys_locks = True
    idempotent = True

    def kept_out(self, work: NodeWork, lock: str) -> Outcome:
        """Leave it as well, or unwell, as it is."""
        return Done({'status': work.node.status, actions.REASON: f'{lock}.'})

    def begin(self, work: NodeWork) -> Outcome:
        """Look."""
        return self._checking(work).execute()

    def go_on(self, work: NodeWork, token: Any) -> Outcome:
        """Look on."""
        return self._checking(work).go_on(token)

    def cancel(self, context: ActionContext, token: Any) -> None:
        """Tell the handler to stop."""
        work = NodeWork.of(self.parts, context)
        if work is not None:
            self._checking(work).cancel(token)

    def _checking(self, work: NodeWork) -> Checking:
        return Checking(work, work.action.inputs.get('detection'))


class NodeRecover(NodeAction):
    """Repairs what a node stands for, or makes it anew."""

    kind = actions.KINDS[actions.NODE_RECOVER]
    obeys_locks = True

    def is_unsafe(self, work: NodeWork) -> bool:
        """Say whether a reboot or rebuild may have been begun."""
        recreates = _recovery(work).operation == actions.RECREATE
        return not recreates and not work.handler.idempotent

    def begin(self, work: NodeWork) -> Outcome:
        """Look first if that is wanted, and recover it."""
        operation = _recovery(work).operation
        looks = [node_working.LOOK] if work.action.inputs.get('check') else []
        if not work.is_made:
            looks = []
        try:
            steps = self.steps(work)
        except exceptions.Invalid as error:
            return refused(str(error))
        if operation == actions.RECREATE:
            old = [node_working.DELETE] if work.has_begun else []
            return steps.run(*looks, *old, node_working.CREATE)
        if operation.lower() not in work.handler.operations:
            return refused(
                f'{operation} is not supported by the profile type '
                f'{work.profile.type}; {actions.RECREATE} is, by all of them'
            )
        return steps.run(*looks, node_working.OPERATE)

    def steps(self, work: NodeWork) -> Steps:
        """Return what takes a node through its recovery."""
        wanted = _recovery(work)
        asked: tuple[str, Mapping[str, Any]] | None = None
        name = wanted.operation.lower()
        if name in work.handler.operations:
            asked = name, operation_parameters(work.handler, name, wanted.parameters)
        return Steps(
            work,
            operation=asked,
            ended={'data': {'recovery': wanted.operation}},
            outputs={'operation': wanted.operation},
            delete_timeout=wanted.delete_timeout,
            force=wanted.force,
        )


class NodeOperation(NodeAction):
    """Has a node do an operation of its profile."""

    kind = actions.KINDS[actions.NODE_OPERATION]
    obeys_locks = True

    def is_unsafe(self, work: NodeWork) -> bool:
        """Say whether the operation may have been begun."""
        return not work.handler.idempotent

    def begin(self, work: NodeWork) -> Outcome:
        """Begin with the operation."""
        if not work.is_made:
            return refused(
                f'Node {work.node.name} has nothing that could do an operation: it '
                'was never made, or is gone; recover it first'
            )
        try:
            steps = self.steps(work)
        except exceptions.Invalid as error:
            return refused(str(error))
        return steps.run(node_working.OPERATE)

    def steps(self, work: NodeWork) -> Steps:
        """Return what has the node do the operation."""
        inputs = work.action.inputs
        name, given = inputs['operation'], inputs.get('params')
        asked = name, operation_parameters(work.handler, name, given)
        return Steps(work, operation=asked, outputs={'operation': name})


#: Name of the entry point -> class.
TYPES: Mapping[str, type[NodeAction]] = {
    kind.kind.name: kind
    for kind in (
        *(NodeCreate, NodeDelete, NodeUpdate, NodeJoin, NodeLeave),
        *(NodeCheck, NodeRecover, NodeOperation),
    )
}


def _own_values(work: NodeWork) -> dict[str, Any]:
    """Return what an update says of the row alone."""
    names = ('name', 'role', 'metadata', 'tainted')
    inputs = work.action.inputs
    return {name: inputs[name] for name in names if name in inputs}


def _new_profile(work: NodeWork) -> Profile | None:
    uuid = work.action.inputs.get('new_profile_id')
    if not uuid:
        return None
    tenant = work.node.owner.tenant
    return work.ask(lambda: work.parts.store.find_noun(Profile, uuid, tenant))


def _recovery(work: NodeWork) -> Recovery:
    """Return how a node is to be recovered: as a policy says, or as was asked for.

    What was never made, or is gone, can only be made.
    """
    wanted = recovery(work.action.inputs, work.action.data)
    operation: str = actions.RECREATE
    given: Mapping[str, Any] = {}
    if work.is_made:
        operation = wanted.get('operation', operation)
        given = wanted.get('operation_params', given)
    timeout = wanted.get('delete_timeout')
    return Recovery(operation, given, timeout, bool(wanted.get('force_recreate')))


# sizes


def _count(work: NodeWork, by: int) -> str | None:
    """Count a node, or count it no more, in the size of its cluster.

    Only for requests: actions on clusters say themselves how large these are to be.
    Actions on several nodes of a cluster run side by side; the lock on the row of
    the cluster makes them count each other.

    :returns: why the cluster is not to have this size; None: it may
    """
    uuid = work.action.within
    if uuid is None or not work.is_request:
        return None
    return work.ask(lambda: _counted(work, uuid, by))


def _counted(work: NodeWork, uuid: str, by: int) -> str | None:
    with work.parts.store.transaction() as tx:
        cluster = tx.lock_clusters([uuid]).get(uuid)
        if cluster is None or cluster.deleted_at is not None:
            return None
        nodes = {node.uuid: node for node in tx.lock_nodes_of(cluster.id or 0)}
        node = nodes.get(work.node.uuid)
        if node is None or node.data.get(COUNTED) == work.action.uuid:
            return None
        refusal = _refusal(work, cluster, list(nodes.values()), by)
        if refusal is not None:
            return refusal
        _note(tx, work, cluster, node, by)
    return None


def _refusal(
    work: NodeWork, cluster: Cluster, nodes: list[Node], by: int
) -> str | None:
    if by > 0:
        wanted = cluster.desired_capacity + 1
    else:
        # One that has too many nodes may well lose one.
        cluster = cluster.evolve(max_size=-1)
        wanted = len(nodes) - sum(_is_leaving(node) for node in nodes) - 1
    most = work.parts.limits.nodes
    try:
        capacity.check_sizes(cluster, wanted, strict=True, most=most)
    except exceptions.Invalid as error:
        return str(error)
    return None


def _is_leaving(node: Node) -> bool:
    return node.status == states.DELETING and node.data.get(COUNTED) is not None


def _note(
    tx: Transaction, work: NodeWork, cluster: Cluster, node: Node, by: int
) -> None:
    data = {**node.data, COUNTED: work.action.uuid}
    tx.save_nodes([node.evolve(data=data)])
    if by > 0:
        grown = cluster.desired_capacity + 1
        tx.save_clusters([cluster.evolve(desired_capacity=grown)])
