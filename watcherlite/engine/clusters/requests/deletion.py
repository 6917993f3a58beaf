"""Requests to delete clusters and nodes, which are allowed at any time."""

import datetime
from typing import ClassVar, Generic

from watcherlite import exceptions
from watcherlite.db.api import Transaction
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.requests import admission
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
    Target,
)
from watcherlite.engine.clusters.requests.values import Accepted, RequestContext
from watcherlite.execution.retries import retry_on


class TargetDeletion(ClusterOperationBase, Generic[Target]):
    """The deletion of clusters or nodes.

    :cvar noun: CLUSTER or NODE, the prefix of the action types
    """

    kind: type[Target]
    noun: ClassVar[str]

    @retry_on(exceptions.StoreConflict, exceptions.OutOfDate)
    def delete(
        self, name: str, by: RequestContext, *, force: bool = False
    ) -> Accepted[Target]:
        """Delete the target; return the deletion in progress if there is one.

        The running actions end first.

        :param force: delete it whatever its status is, and cancel these actions; also
            those that an earlier deletion waits for, and those on the cluster of a node
        :raises ActionInProgress: an action changes it, and `force` is not set
        """
        request = ActionRequest(f'{self.noun}_DELETE', by)
        found = self.store.find_object(self.kind, name, by.tenant)
        now = self.clock.now()
        with self.store.transaction() as tx:
            cluster, row = admission.lock(tx, found)
            if self.is_scheduled(request, now):
                # It affects no present action.
                if force:
                    raise exceptions.BadRequest(
                        'A scheduled deletion cannot be forced: force cancels the '
                        'present actions.'
                    )
                admission.check_deletable(row, True)
                action = self.insert_action(tx, request, row, cluster, {}, now)
                return Accepted(action.uuid, row)
            within: list[str] = [row.uuid] if isinstance(row, Cluster) else []
            others = tx.unfinished_actions([row.uuid], within)
            deletion = _find_deletion(others, request.action_type, row, now)
            if deletion is None or not force:
                admission.check_deletable(row, force)
            if deletion is None:
                deletion = self.insert_action(tx, request, row, cluster, {}, now)
            if force and cluster is not None and isinstance(row, Node):
                others += _preceding_actions(tx, cluster, deletion, now)
        others = [action for action in others if action.uuid != deletion.uuid]
        if not force:
            # The deletion would wait forever for a repeated one; a scheduled one would
            # fail.
            others = [a for a in others if a.interval > 0 or a.not_before > now]
        self.cancel_all(action.uuid for action in others)
        self.announce(deletion)
        return Accepted(deletion.uuid, row)


def _find_deletion(
    others: list[Action], action_type: str, row: Cluster | Node, now: datetime.datetime
) -> Action | None:
    """Return the requested deletion, unless it is scheduled for later."""
    for action in others:
        is_deletion = (action.action_type, action.target) == (action_type, row.uuid)
        if is_deletion and not admission.is_scheduled(action, now):
            return action
    return None


def _preceding_actions(
    tx: Transaction, cluster: Cluster, deletion: Action, now: datetime.datetime
) -> list[Action]:
    """Return the actions on a cluster for which the deletion of its node waits.

    The deletion of the cluster is not among them: it deletes the node as well.
    """
    return [
        action
        for action in admission.conflicting_actions(tx, [cluster.uuid], (), now)
        if action.action_type != action_types.CLUSTER_DELETE and action.id < deletion.id
    ]
