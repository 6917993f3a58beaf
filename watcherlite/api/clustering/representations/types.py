"""How types of profiles and policies are shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.api.clustering.schemas.types import SUPPORT
from watcherlite.api.operation import Version
from watcherlite.plugins.base import Policy

Support = Mapping[str, Sequence[Mapping[str, str]]]


def listed(name: str, version: str, support: Support, asked: Version) -> dict[str, Any]:
    """Return a type as it stands in lists: with its version in its name, or apart."""
    if asked < SUPPORT:
        return {'name': f'{name}-{version}'}
    return {'name': name, 'version': version, 'support_status': _support(support)}


def shown(
    full_name: str, schema: Mapping[str, Any], support: Support, asked: Version
) -> dict[str, Any]:
    """Return a type with the schema of its properties, as clients know it."""
    told: dict[str, Any] = {'name': full_name, 'schema': dict(schema)}
    if asked >= SUPPORT:
        told['support_status'] = _support(support)
    return told


def support_of(policy: type[Policy], version: str) -> Support:
    """Return what a type of policy tells of its versions."""
    told: dict[str, list[Mapping[str, str]]] = {}
    for one in policy.support_status:
        rest = {name: text for name, text in one.items() if name != 'version'}
        told.setdefault(one.get('version', version), []).append(rest)
    return told or {version: []}


def _support(support: Support) -> dict[str, Any]:
    return {
        version: [dict(one) for one in statuses]
        for version, statuses in support.items()
    }
