"""Operations on actions, and their forced cancellation."""

import contextlib
from collections.abc import Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.db.api import Transaction
from watcherlite.db.clusters import ListedClusterAction, not_found
from watcherlite.domain import commands
from watcherlite.domain.actions import ENGINE, Action, ActionChange
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import lifecycle_hooks
from watcherlite.engine.clusters.projection.cluster_projection import ClusterProjection
from watcherlite.engine.clusters.requests import action_inputs, values
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
    Values,
)
from watcherlite.engine.clusters.requests.values import (
    Accepted,
    NewClusterAction,
    RequestContext,
)
from watcherlite.engine.stacks.actions import plan_actions as of_stacks
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.execution.signals import end_unstarted
from watcherlite.plugins.base import ACTION_TYPES
from watcherlite.states import action as states

REASON = 'Cancelled by force; the work in progress may continue unobserved'


@retry_on_conflict
def force_cancel(requests: ClusterOperationBase, root: Action) -> None:
    """Cancel an action with its derived actions, and release its locks.

    Fencing discards the result of a worker that still executes it.

    :raises Conflict: it has ended
    """
    family = [root, *_derived(requests, root)]
    progress = ClusterProjection()
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        affected = [action for action in family if progress.is_affected_by(action)]
        held = progress.lock(tx, affected) if affected else None
        locked = tx.lock_actions([action.id for action in family])
        if locked[root.id].finished:
            raise exceptions.Conflict(f'Action {root.uuid} has ended')
        unfinished = [action for action in locked.values() if not action.finished]
        # A worker that executes it stops.
        tx.set_control(states.CANCEL, now, action_ids=[a.id for a in unfinished])
        ended, _ = end_unstarted(
            tx, PlanProgress(), None, unfinished, states.CANCELLED, REASON, now
        )
        after = {action.id: action for action in ended}
        changes = [
            (ActionChange(action, after[action.id]), None)
            for action in unfinished
            if progress.is_affected_by(action)
        ]
        if changes:
            tx.add_events(progress.apply(tx, held, changes, now))
    requests.parts.messenger.broadcast(commands.ActionsSignalled())
    requests.parts.messenger.send(ENGINE, commands.RunActions())
    requests.announce()


def _derived(requests: ClusterOperationBase, action: Action) -> Sequence[Action]:
    found: list[Action] = []
    frontier = [action]
    while frontier:
        ids = [one.id for one in frontier]
        frontier = requests.store.unfinished_derived(ids)
        found += frontier
    return found


#: requested status -> the signal that leads to it
SIGNALS = {
    states.CANCELLED: states.CANCEL,
    states.SUSPENDED: states.SUSPEND,
    states.RUNNING: states.RESUME,
}


class ActionOperations(ClusterOperationBase):
    """The operations on actions."""

    def create(
        self, new: NewClusterAction, *contexts: RequestContext, wait: bool = False
    ) -> Accepted[Any]:
        """Request an action that a user defines on a cluster or node.

        It may be of any installed type, and is subject to the same locks and policies
        as all others. The actions of REQUESTABLE can be scheduled and repeated in this
        way.

        :param contexts: the context of the request in each project in which the
            target is looked up, in this order
        :raises BadRequest: the request is invalid
        :raises PluginNotFound: the type is not installed
        """
        target, by = self._resolve_target(new, contexts)
        interval = 0
        if new.interval is not None:
            interval = max(0, values.parse_integer(new.interval, 'interval'))
        timeout = None
        if new.timeout is not None:
            timeout = values.parse_integer(new.timeout, 'timeout', 0)
        request = ActionRequest(
            new.action,
            by,
            name=None if new.name is None else values.parse_name(new.name),
            interval=interval,
            not_before=values.parse_time(new.not_before),
            timeout=timeout,
        )
        given = values.parse_mapping(new.inputs, 'inputs')
        if new.action in action_types.DEFINITIONS:
            return self.request(target, request, given)
        self._check_type(new.action, given)
        kind: Any = type(target)
        return self.request_action(kind, target.uuid, request, lambda tx, row: given)

    def _resolve_target(
        self, new: NewClusterAction, contexts: Sequence[RequestContext]
    ) -> tuple[Cluster | Node, RequestContext]:
        """Return the target and the request context in its project; BadRequest."""
        *first, by = contexts
        for context in first:
            with contextlib.suppress(exceptions.BadRequest):
                target = self._find_target(new, context)
                return target, context.within(target.owner.tenant)
        target = self._find_target(new, by)
        return target, by.within(target.owner.tenant)

    def _find_target(self, new: NewClusterAction, by: RequestContext) -> Cluster | Node:
        """Return the referenced cluster or node; raises BadRequest."""
        kind = action_types.DEFINITIONS.get(new.action)
        if kind is not None and kind.on_cluster:
            return self.resolve_reference(Cluster, new.target, by)
        if kind is not None:
            return self.resolve_reference(Node, new.target, by)
        try:
            return self.store.find_object(Cluster, new.target, by.tenant)
        except exceptions.NotFound:
            pass
        try:
            return self.store.find_object(Node, new.target, by.tenant)
        except exceptions.NotFound:
            raise exceptions.BadRequest(
                f"The specified target '{new.target}' could not be found: there is "
                'neither a cluster nor a node of that name.'
            ) from None

    def _check_type(self, name: str, inputs: Values) -> None:
        """Reject types that users may not request, and invalid inputs."""
        allowed = self.limits.user_actions
        if name in of_stacks.TYPES or (allowed and name not in allowed):
            known = f': {", ".join(sorted(allowed))}' if allowed else ''
            raise exceptions.BadRequest(
                f"The action type '{name}' is not for clusters and nodes; those that "
                f'this installation allows are{known or " all others"}.'
            )
        made = self.parts.plugins.make(ACTION_TYPES, name)
        action_inputs.validate_for_type(self.parts, made, inputs, 'inputs')

    def request(
        self, target: Cluster | Node, request: ActionRequest, given: Values
    ) -> Accepted[Any]:
        """Request an action of REQUESTABLE; raises BadRequest for others."""
        if request.action_type not in action_inputs.REQUESTABLE:
            raise exceptions.BadRequest(
                f"Illegal action '{request.action_type}' specified; it can be one of "
                f'{", ".join(sorted(action_inputs.REQUESTABLE))}.'
            )

        def build_inputs(tx: Transaction, row: Cluster | Node) -> Values:
            profile = self.parts.profile(row.profile_id)
            return action_inputs.build(self.parts, request.action_type, profile, given)

        kind: Any = type(target)
        return self.request_action(kind, target.uuid, request, build_inputs)

    def update(
        self, uuid: str, by: RequestContext, status: Any, *, force: bool = False
    ) -> ListedClusterAction:
        """Cancel, suspend or resume an action.

        :param status: CANCELLED, SUSPENDED or RUNNING
        :param force: end it and its derived actions at once, see `force_cancel`
        :raises ActionImmutable: its status does not allow it
        """
        signal = SIGNALS.get(str(status))
        if signal is None:
            raise exceptions.BadRequest(
                f'Field value {status} is invalid: an action is to become '
                f'{", ".join(SIGNALS)}.'
            )
        found = self._find_action(uuid, by)
        try:
            if force and signal == states.CANCEL:
                force_cancel(self, found)
            else:
                self.signals.signal_action(found.uuid, signal)
        except exceptions.Conflict as error:
            raise self._immutable(found.uuid, signal, error) from None
        return self.store.find_cluster_action(found.uuid, by.tenant)

    @retry_on_conflict
    def complete_lifecycle(
        self, cluster: str, by: RequestContext, token: str
    ) -> Action:
        """Complete a lifecycle hook before its timeout; return its ended action.

        :param cluster: uuid of the cluster of the node
        :param token: uuid of the hook action
        :raises NotFound: the cluster has no such action
        :raises ActionImmutable: the action is not a waiting hook
        """
        found = self._find_action(token, by)
        now = self.clock.now()
        with self.store.transaction() as tx:
            row = tx.lock_actions([found.id]).get(found.id, found)
            lifecycle_hooks.check_waiting(row, cluster)
            status, reason = states.SUCCEEDED, lifecycle_hooks.COMPLETED
            ended, _ = end_unstarted(
                tx, PlanProgress(), None, [row], status, reason, now
            )
        self.parts.messenger.send(ENGINE, commands.RunActions())
        self.announce()
        return ended[0]

    def _find_action(self, uuid: str, by: RequestContext) -> Action:
        """Return an action to change, by its full uuid."""
        found = self.store.find_cluster_action(uuid, by.tenant).action
        if found.uuid != uuid.lower():
            raise not_found(Action, uuid)
        return found

    def _immutable(
        self, uuid: str, signal: str, error: exceptions.Conflict
    ) -> exceptions.ActionImmutable:
        status = self.store.get_action(uuid).status
        allowed = states.SIGNAL_ALLOWED[signal]
        if status in allowed:
            return exceptions.ActionImmutable(str(error))
        expected = ', '.join(s for s in states.STATES if s in allowed)
        return exceptions.ActionImmutable(
            f'Action ({uuid}) is in status ({status}) while expected status must be '
            f'one of ({expected}).'
        )
