"""Representation of software configs, and of deployments in the metadata of servers.

Credentials in the documents are masked for callers who may only read them. Clients need
the unmasked documents to derive a config from another one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.api import timestamps
from watcherlite.conf import masking
from watcherlite.domain import bearer_tokens
from watcherlite.domain.software import SoftwareConfig
from watcherlite.domain.stacks import DEPLOYMENTS


def represent_config(config: SoftwareConfig) -> dict[str, Any]:
    """Return a config with details, unmasked."""
    return {
        'id': config.uuid,
        'name': config.name,
        'group': config.group,
        'config': config.config,
        'inputs': list(config.inputs),
        'outputs': list(config.outputs),
        'options': dict(config.options),
        'creation_time': timestamps.seconds(config.created_at),
    }


def mask_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config, or a deployment of a server, with its credentials masked.

    An input whose name is that of a credential has one as its value.
    """
    inputs = [_mask_input(item) for item in config.get('inputs') or ()]
    found = {**masking.mask_data(dict(config)), 'inputs': inputs}
    return dict(bearer_tokens.masked(found, masking.MASK))


def mask_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a resource with its credentials masked."""
    found = masking.mask_data(dict(metadata))
    deployments = metadata.get(DEPLOYMENTS)
    if isinstance(deployments, Sequence) and not isinstance(deployments, str):
        found[DEPLOYMENTS] = [
            mask_config(one) if isinstance(one, Mapping) else masking.mask_data(one)
            for one in deployments
        ]
    return dict(found)


def _mask_input(item: Any) -> Any:
    if not isinstance(item, Mapping):
        return masking.mask_data(item)
    shown = masking.mask_data(dict(item))
    for field in ('value', 'default'):
        if field in item:
            name = str(item.get('name'))
            shown[field] = masking.mask_data({name: item[field]})[name]
    return shown
