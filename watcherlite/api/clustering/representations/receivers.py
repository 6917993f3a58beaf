"""How receivers are shown."""

from collections.abc import Sequence
from typing import Any

from watcherlite.api.clustering.representations import common
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain.clusters import Cluster, Receiver


def represent(store: Store, rows: Sequence[Receiver]) -> list[dict[str, Any]]:
    """Return receivers with their clusters, of all rows at once."""
    ids = {row.cluster_id for row in rows if row.cluster_id is not None}
    clusters = store.nouns_by_id(Cluster, ids) if ids else {}
    return [_shown(row, clusters.get(row.cluster_id or 0)) for row in rows]


def _shown(row: Receiver, cluster: Cluster | None) -> dict[str, Any]:
    return {
        'id': row.uuid,
        'name': row.name,
        'type': row.type,
        **common.owned(row.owner),
        'cluster_id': None if cluster is None else cluster.uuid,
        'action': row.action,
        'actor': masking.mask_data(dict(row.actor)),
        'params': masking.mask_data(dict(row.params)),
        'channel': dict(row.channel),
        'created_at': common.time(row.created_at),
        'updated_at': common.time(row.updated_at),
    }
