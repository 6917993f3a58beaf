"""The events of clusters and nodes: one for each phase of an action on one.

The same rows are what `/v1/events` of clustering answers and what notifications are
made of.
"""

import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.domain import events
from watcherlite.domain.actions import Action, cut
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.events import Event

# The phases of an action
START = 'start'
END = 'end'
ERROR = 'error'
PHASES = (START, END, ERROR)


def cluster_event(
    before: Cluster,
    after: Cluster,
    action: Action,
    phase: str,
    now: datetime.datetime,
    fault: Mapping[str, Any] | None = None,
) -> Event:
    """Return the event of a phase of an action on a cluster.

    :param fault: how it failed: the fields of `outcomes.Fault`
    """
    return _event(events.CLUSTER, before, after, action, phase, now, {}, fault)


def node_event(
    before: Node,
    after: Node,
    action: Action,
    phase: str,
    now: datetime.datetime,
    cluster: str | None = None,
    fault: Mapping[str, Any] | None = None,
) -> Event:
    """Return the event of a phase of an action on a node.

    :param cluster: uuid of the cluster that it is in; None: it is in none
    """
    more: dict[str, Any] = {'physical_id': after.physical_id}
    if cluster is not None:
        more['cluster'] = cluster
    return _event(events.NODE, before, after, action, phase, now, more, fault)


def _event(
    subject: str,
    before: Cluster | Node,
    after: Cluster | Node,
    action: Action,
    phase: str,
    now: datetime.datetime,
    more: Mapping[str, Any],
    fault: Mapping[str, Any] | None,
) -> Event:
    detail = {
        'action': {
            'uuid': action.uuid,
            'name': action.name,
            'type': action.action_type,
        },
        'phase': phase,
        'uuid': after.uuid,
        'name': after.name,
        **more,
        **({'fault': fault} if fault is not None else {}),
    }
    return Event(
        subject,
        events.STATE_CHANGED,
        None,
        None,
        before.status,
        after.status,
        cut(after.status_reason if phase != ERROR else told(after, action)),
        None,
        None,
        now,
        detail,
        subject_id=after.id,
    )


def told(after: Cluster | Node, action: Action) -> str:
    """Return why an action failed, or what became of its subject then."""
    return action.status_message or after.status_reason
