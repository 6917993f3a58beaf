"""How profiles and policies are shown. Credentials in specs are masked."""

from typing import Any

from watcherlite.api.clustering.representations import common
from watcherlite.conf import masking
from watcherlite.domain.clusters import PolicyObject, Profile


def profile(row: Profile) -> dict[str, Any]:
    """Return a profile."""
    return {**_shown(row), 'metadata': dict(row.metadata)}


def policy(row: PolicyObject) -> dict[str, Any]:
    """Return a policy."""
    return {**_shown(row), 'data': dict(row.data)}


def _shown(row: Profile | PolicyObject) -> dict[str, Any]:
    return {
        # What was only validated has none
        'id': row.uuid or None,
        'name': row.name,
        'type': row.type,
        **common.owned(row.owner),
        'spec': masking.mask_data(dict(row.spec)),
        'created_at': common.time(row.created_at),
        'updated_at': common.time(row.updated_at),
    }
