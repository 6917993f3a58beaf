"""How clusters are shown, and what binds them to policies."""

from collections.abc import Sequence
from typing import Any

from watcherlite.api.clustering.representations import common
from watcherlite.conf import masking
from watcherlite.db.api import Store
from watcherlite.domain.clusters import Bound, Cluster, Profile


def represent(store: Store, rows: Sequence[Cluster]) -> list[dict[str, Any]]:
    """Return clusters with their nodes, profiles and policies, of all rows at once."""
    ids = [row.id or 0 for row in rows]
    profiles = store.nouns_by_id(Profile, {row.profile_id for row in rows})
    bound = store.bindings_of_clusters(ids)
    nodes: dict[int | None, list[str]] = {}
    for node in store.nodes_of(ids):
        nodes.setdefault(node.cluster_id, []).append(node.uuid)
    return [
        _shown(
            row,
            profiles.get(row.profile_id),
            nodes.get(row.id, []),
            bound.get(row.id or 0, []),
        )
        for row in rows
    ]


def _shown(
    row: Cluster,
    profile: Profile | None,
    nodes: list[str],
    bound: Sequence[Bound],
) -> dict[str, Any]:
    return {
        'id': row.uuid,
        'name': row.name,
        'profile_id': '' if profile is None else profile.uuid,
        **common.owned(row.owner),
        'init_at': common.time(row.init_at),
        'created_at': common.time(row.created_at),
        'updated_at': common.time(row.updated_at),
        'min_size': row.min_size,
        'max_size': row.max_size,
        'desired_capacity': row.desired_capacity,
        'timeout': row.timeout,
        'status': row.status,
        'status_reason': row.status_reason,
        'metadata': dict(row.metadata),
        'data': masking.mask_data(dict(row.data)),
        'dependents': dict(row.dependents),
        'config': dict(row.config),
        'profile_name': None if profile is None else profile.name,
        'nodes': nodes,
        'policies': [one.binding.uuid for one in bound],
    }


def binding(row: Cluster, bound: Bound) -> dict[str, Any]:
    """Return what binds a cluster to a policy."""
    return {
        'id': bound.binding.uuid,
        'cluster_id': row.uuid,
        'cluster_name': row.name,
        'policy_id': bound.policy.uuid,
        'policy_name': bound.policy.name,
        'policy_type': bound.policy.type,
        'enabled': bound.binding.enabled,
        'priority': bound.binding.priority,
        'data': masking.mask_data(dict(bound.binding.data)),
        'last_op': common.time(bound.binding.last_op),
    }
