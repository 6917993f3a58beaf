"""The deletion of clusters and nodes, which may come beside everything else."""

from watcherlite import exceptions
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters import actions, guarding
from watcherlite.engine.clusters.asking import Begun
from watcherlite.engine.clusters.requesting import Requests, Wish
from watcherlite.execution.conflicts import again_on


@again_on(exceptions.StoreConflict, exceptions.OutOfDate)
def delete_cluster(
    requests: Requests, name: str, wish: Wish, force: bool
) -> Begun[Cluster]:
    """Ask for the deletion of a cluster, unless that has been asked for.

    :param force: whatever its status is, and what goes on with it is cancelled
    """
    found = requests.store.find_noun(Cluster, name, wish.by.tenant)
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        row = guarding.locked_cluster(tx, found.uuid)
        others = tx.unfinished_actions([row.uuid], [row.uuid])
        known = _deletion(others, actions.CLUSTER_DELETE, row)
        if known is not None and force:
            return Begun(known.uuid, row)
        guarding.check_deletable(row, force)
        if known is not None:
            return Begun(known.uuid, row)
        begun = requests.insert(tx, wish, row, row, {}, now)
    _clear(requests, begun, others, force)
    return Begun(begun.uuid, row)


@again_on(exceptions.StoreConflict, exceptions.OutOfDate)
def delete_node(requests: Requests, name: str, wish: Wish, force: bool) -> Begun[Node]:
    """Likewise of a node."""
    found = requests.store.find_noun(Node, name, wish.by.tenant)
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        cluster, row = guarding.locked_node(tx, found)
        others = tx.unfinished_actions([row.uuid])
        known = _deletion(others, actions.NODE_DELETE, row)
        if known is not None and force:
            return Begun(known.uuid, row)
        guarding.check_deletable(row, force)
        if known is not None:
            return Begun(known.uuid, row)
        begun = requests.insert(tx, wish, row, cluster, {}, now)
    _clear(requests, begun, others, force)
    return Begun(begun.uuid, row)


def _deletion(
    others: list[Action], action_type: str, row: Cluster | Node
) -> Action | None:
    for action in others:
        if (action.action_type, action.target) == (action_type, row.uuid):
            return action
    return None


def _clear(
    requests: Requests, begun: Action, others: list[Action], force: bool
) -> None:
    """Have what would make a deletion wait for ever end, or all of it.

    What is repeated, or due later only, has nothing to do any more.
    """
    later = [a for a in others if a.interval > 0 or a.not_before > requests.clock.now()]
    requests.stop(action.uuid for action in (others if force else later))
    requests.tell(begun)
