"""How nodes are shown."""

from collections.abc import Sequence
from typing import Any

from watcherlite.api.clustering.representations import common
from watcherlite.api.clustering.schemas.nodes import TAINTED
from watcherlite.api.operation import Request
from watcherlite.conf import masking
from watcherlite.domain.clusters import Cluster, Node, Profile


def represent(
    request: Request, rows: Sequence[Node], details: bool = False
) -> list[dict[str, Any]]:
    """Return nodes with their clusters and profiles, of all rows at once.

    :param details: what the types of the profiles tell of the things, too
    """
    store = request.services.store
    profiles = store.nouns_by_id(Profile, {row.profile_id for row in rows})
    ids = {row.cluster_id for row in rows if row.cluster_id is not None}
    clusters = store.nouns_by_id(Cluster, ids) if ids else {}
    found = []
    for row in rows:
        cluster = clusters.get(row.cluster_id or 0)
        shown = _shown(row, cluster, profiles.get(row.profile_id))
        if request.version >= TAINTED:
            shown['tainted'] = row.tainted
        if details:
            shown['details'] = masking.mask_data(dict(row.attributes))
        found.append(shown)
    return found


def _shown(
    row: Node, cluster: Cluster | None, profile: Profile | None
) -> dict[str, Any]:
    return {
        'id': row.uuid,
        'name': row.name,
        'cluster_id': '' if cluster is None else cluster.uuid,
        'physical_id': row.physical_id,
        'profile_id': '' if profile is None else profile.uuid,
        **common.owned(row.owner),
        'index': row.index,
        'role': row.role,
        'init_at': common.time(row.init_at),
        'created_at': common.time(row.created_at),
        'updated_at': common.time(row.updated_at),
        'status': row.status,
        'status_reason': row.status_reason,
        'data': masking.mask_data(dict(row.data)),
        'metadata': dict(row.metadata),
        'dependents': dict(row.dependents),
        'profile_name': None if profile is None else profile.name,
    }
