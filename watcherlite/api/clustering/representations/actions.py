"""How actions are shown."""

from collections.abc import Container, Iterable
from typing import Any

from watcherlite.api.clustering.representations import common
from watcherlite.api.clustering.schemas.actions import CLUSTER, OURS
from watcherlite.api.operation import Version
from watcherlite.clock import EPOCH
from watcherlite.conf import masking
from watcherlite.db.clustering import ListedAction
from watcherlite.domain.actions import Action
from watcherlite.states import action as states

#: What actions on clusters themselves are called like.
_OF_CLUSTERS = 'CLUSTER_'
#: And those on nodes.
_OF_NODES = 'NODE_'
#: What an action only tells the rows that follow it begins like this.
_INNER = '_'


def represent(
    listed: ListedAction, version: Version, clusters: Container[str | None] = ()
) -> dict[str, Any]:
    """Return an action as a version shows it; credentials are masked.

    :param clusters: which of the targets that `unclear` returns are clusters
    """
    action = listed.action
    outputs = {
        name: value
        for name, value in (action.outputs or {}).items()
        if not name.startswith(_INNER)
    }
    if action.status == states.FAILED and action.status_message:
        # Types of others say why it failed in their message alone.
        outputs.setdefault('reason', action.status_message)
    shown: dict[str, Any] = {
        'id': action.uuid,
        'name': action.name,
        'action': action.action_type,
        'target': action.target,
        'cause': action.cause,
        'owner': action.owner,
        'interval': action.interval,
        'start_time': common.epoch(action.start_time),
        'end_time': common.epoch(action.end_time),
        'timeout': action.timeout,
        'status': action.status,
        'status_reason': action.status_message or '',
        'inputs': masking.mask_data(dict(action.inputs)),
        'outputs': masking.mask_data(outputs),
        'depends_on': list(listed.depends_on),
        'depended_by': list(listed.depended_by),
        'created_at': common.time(action.created_at),
        'updated_at': common.time(action.updated_at),
        'data': masking.mask_data(dict(action.data)),
        'user': action.context.get('user_id'),
        'project': action.tenant or '',
    }
    if version >= CLUSTER:
        shown['cluster_id'] = cluster_of(action, clusters)
    if version >= OURS:
        at_once = action.not_before == EPOCH
        # What has ended heeds no signal any more.
        shown['control'] = None if action.finished else action.control
        shown['not_before'] = None if at_once else common.time(action.not_before)
    return shown


def cluster_of(action: Action, clusters: Container[str | None] = ()) -> str:
    """Return the uuid of the cluster that an action is about; '': of none."""
    if action.within is not None:
        return action.within
    is_of_cluster = action.action_type.startswith(_OF_CLUSTERS)
    is_of_cluster = is_of_cluster or action.target in clusters
    return (action.target or '') if is_of_cluster else ''


def unclear(rows: Iterable[ListedAction]) -> set[str]:
    """Return the targets that may be clusters, or nodes that are in none.

    Action types of others are done on both.
    """
    return {
        row.action.target
        for row in rows
        if row.action.target is not None
        and row.action.within is None
        and not row.action.action_type.startswith((_OF_CLUSTERS, _OF_NODES))
    }
