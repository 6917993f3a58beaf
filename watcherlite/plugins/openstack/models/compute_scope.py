"""The scope of the compute model."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite.plugins.openstack.models import scopes
from watcherlite.plugins.openstack.models.compute import (
    Aggregate,
    ComputeModel,
    ComputeSnapshot,
    Server,
)


def restrict(snapshot: ComputeSnapshot, scope: Sequence[Any]) -> ComputeModel:
    """Return the model of the compute nodes in a scope.

    Excluded compute nodes are absent. Excluded servers remain, because they take
    resources, and are marked.
    """
    part = scopes.rules(scope, 'compute')
    hosts = _hosts(snapshot, part)
    nodes = [node for node in snapshot.nodes if node.hostname in hosts]
    return ComputeModel(nodes, _mark(snapshot.servers, part))


def _hosts(snapshot: ComputeSnapshot, part: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the hosts of the compute nodes in the scope."""
    everything = {node.hostname for node in snapshot.nodes}
    including = [rule for rule in part if 'exclude' not in rule]
    allowed = set() if including else set(everything)
    for rule in including:
        allowed |= _of_aggregates(snapshot.aggregates, rule.get('host_aggregates', ()))
        zones = scopes.named(rule.get('availability_zones', ()))
        allowed |= {
            node.hostname
            for node in snapshot.nodes
            if zones and scopes.is_among(node.zone, zones)
        }
    allowed -= scopes.named(scopes.excluded(part, 'compute_nodes'))
    allowed -= _of_aggregates(
        snapshot.aggregates, scopes.excluded(part, 'host_aggregates')
    )
    return allowed & everything


def _of_aggregates(
    aggregates: Iterable[Aggregate], objects: Sequence[Mapping[str, Any]]
) -> set[str]:
    ids, names = scopes.named(objects, 'id'), scopes.named(objects)
    return {
        host
        for aggregate in aggregates
        if (ids and scopes.is_among(aggregate.id, ids))
        or (names and scopes.is_among(aggregate.name, names))
        for host in aggregate.hosts
    }


def _mark(
    servers: Iterable[Server], part: Sequence[Mapping[str, Any]]
) -> Iterable[Server]:
    """Yield the servers, the excluded ones marked."""
    uuids = scopes.named(scopes.excluded(part, 'instances'), 'uuid')
    projects = scopes.named(scopes.excluded(part, 'projects'), 'uuid')
    metadata = {
        str(key): str(value).lower()
        for one in scopes.excluded(part, 'instance_metadata')
        for key, value in one.items()
    }
    for server in servers:
        if (
            server.uuid in uuids
            or server.project_id in projects
            or (metadata and _has(server.metadata, metadata))
        ):
            yield dataclasses.replace(server, excluded=True)
        else:
            yield server


def _has(given: Mapping[str, str], desired: Mapping[str, str]) -> bool:
    """Return whether a server has all of the metadata, in any case."""
    return all(
        str(given[key]).lower() == value if key in given else False
        for key, value in desired.items()
    )
