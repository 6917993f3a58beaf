"""How events are shown: what happened to clusters and their nodes."""

from typing import Any

from watcherlite.api.clustering.representations import common
from watcherlite.api.clustering.schemas import events as schemas
from watcherlite.db import clustering
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.events import CLUSTER, StoredEvent


def represent(stored: StoredEvent, subject: Cluster | Node | None) -> dict[str, Any]:
    """Return an event.

    :param subject: what it is about, as it is now; None: nobody knows it any more
    """
    event = stored.event
    detail = dict(event.detail or {})
    action = detail.get('action') or {}
    of_cluster = event.subject == CLUSTER
    owner = None if subject is None else subject.owner
    return {
        'id': event.uuid,
        'timestamp': common.time(event.occurred_at),
        'oid': str(detail.get('uuid') or ''),
        'oname': str(detail.get('name') or ''),
        'otype': schemas.CLUSTER if of_cluster else schemas.NODE,
        'cluster_id': clustering.is_within(event),
        'level': schemas.LEVELS[clustering.level_of(event)],
        'user': None if owner is None else owner.user,
        'project': '' if owner is None else owner.tenant,
        'action': action.get('type'),
        'status': str(detail.get('phase') or ''),
        'status_reason': event.message or '',
        'meta_data': {'action': dict(action)} if action else {},
    }
