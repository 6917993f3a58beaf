"""The payloads of clusters and nodes.

The name, the state, its reason, the action, the fault and the physical id come from the
event. The other fields may change, and are read once a batch.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain.clusters import Cluster, Node, Profile
from watcherlite.domain.events import CLUSTER, NODE, StoredEvent
from watcherlite.notifications import encoder
from watcherlite.notifications.encoder import Encoded
from watcherlite.notifications.rules.subjects import MatchedNotifications

#: The last notification of a cluster or node.
_LAST = 'delete.end'
#: The notifications of a cluster or node that does not exist yet.
_UNMADE = frozenset({'create.start', 'create.error'})


class ClusterPayloadBuilder:
    """A `base.PayloadBuilder` for clusters and their nodes.

    :param pinned: the version of the payloads, or 'latest'
    """

    subjects = frozenset({CLUSTER, NODE})

    def __init__(self, pinned: str, source: Store) -> None:
        self._source = source
        self._found: dict[tuple[str, int], Cluster | Node] = {}
        self._profiles: Mapping[int, Profile] = {}
        self._lasting: dict[tuple[str, int], dict[str, Any]] = {}
        self._actions: dict[str, Encoded] = {}
        self._pinned = pinned

    def load(self, batch: Sequence[StoredEvent]) -> None:
        self._found = {}
        self._profiles = {}
        self._lasting.clear()
        self._actions.clear()
        clusters, nodes = _ids(batch, CLUSTER), _ids(batch, NODE)
        if clusters:
            for key, cluster in self._source.objects_by_id(Cluster, clusters).items():
                self._found[CLUSTER, key] = cluster
        if nodes:
            for key, node in self._source.objects_by_id(Node, nodes).items():
                self._found[NODE, key] = node
        profiles = {row.profile_id for row in self._found.values()}
        if profiles:
            self._profiles = self._source.objects_by_id(Profile, sorted(profiles))

    def fields(
        self, stored: StoredEvent, matched: MatchedNotifications
    ) -> dict[str, Any] | None:
        event = stored.event
        key = (event.subject, event.key)
        row = self._found.get(key)
        if row is None:
            return None
        lasting = self._lasting.get(key)
        if lasting is None:
            lasting = self._lasting[key] = self._row_fields(row)
        detail = event.detail or {}
        at = encoder.encode_time(event.occurred_at)
        (notification,) = matched.notifications
        made = None if notification.name in _UNMADE else row.created_at
        return {
            **lasting,
            'name': detail.get('name'),
            'state': matched.state,
            'status_reason': _masked(event.message),
            'created_at': encoder.encode_time(made),
            'updated_at': at,
            'deleted_at': at if notification.name == _LAST else None,
            'action': self._action(detail),
            **(_node_fields(detail) if event.subject == NODE else {}),
        }

    def state_update(
        self, stored: StoredEvent, matched: MatchedNotifications
    ) -> dict[str, Any]:
        return {
            'old_state': matched.old_state,
            'state': matched.state,
            'status_reason': _masked(stored.event.message),
        }

    def _action(self, detail: Mapping[str, Any]) -> Encoded:
        """Return the action of an event; a batch has several events of most."""
        action: Mapping[str, Any] = detail.get('action') or {}
        uuid = str(action.get('uuid'))
        found = self._actions.get(uuid)
        if found is None:
            fields = {
                'uuid': uuid,
                'name': action.get('name'),
                'action_type': action.get('type'),
            }
            found = self._actions[uuid] = encoder.encode(
                'ClusteringActionPayload', self._pinned, fields
            )
        return found

    def _row_fields(self, row: Cluster | Node) -> dict[str, Any]:
        """Return the fields that are the same for all events of a batch."""
        profile = self._profiles.get(row.profile_id)
        of_all = {
            'uuid': row.uuid,
            'tenant_id': row.owner.tenant,
            'user_id': row.owner.user,
            'domain_id': row.owner.domain,
            'profile_uuid': None if profile is None else profile.uuid,
            'metadata': encoder.encode_document(masking.mask_data(dict(row.metadata))),
            'init_at': encoder.encode_time(row.init_at),
        }
        if isinstance(row, Cluster):
            return {
                **of_all,
                'desired_capacity': row.desired_capacity,
                'min_size': row.min_size,
                'max_size': row.max_size,
                'timeout': row.timeout,
            }
        return {**of_all, 'index': row.index, 'role': row.role}


def _ids(batch: Sequence[StoredEvent], subject: str) -> list[int]:
    """Return the ids of the clusters, or nodes, with events in a batch."""
    events = (stored.event for stored in batch)
    return sorted({e.key for e in events if e.subject == subject})


def _node_fields(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a node that come from the event."""
    return {
        'cluster_uuid': detail.get('cluster'),
        'physical_id': detail.get('physical_id'),
    }


def _masked(text: str | None) -> str | None:
    """Return a reason with its credentials masked; a handler may quote its input."""
    return None if text is None else masking.mask_text(text)
