"""Server groups of nova, for the placement of the nodes of a cluster."""

from typing import Any

from watcherlite import exceptions
from watcherlite.plugins.openstack import errors

_COMPUTE = 'compute'


def find(connection: Any, identity: str, policy: str) -> str:
    """Return the id of a server group, by its name or id.

    :param policy: that it must have
    :raises Conflict: there is none, or it has another policy
    """
    with errors.translated(_COMPUTE, f'server group {identity}'):
        found = connection.compute.find_server_group(identity, ignore_missing=True)
    if found is None:
        raise exceptions.Conflict(
            f"The specified servergroup '{identity}' could not be found."
        )
    present = found.policy or next(iter(found.policies or ()), None)
    if present != policy:
        raise exceptions.Conflict(
            f"Policies specified ({policy}) doesn't match that of the existing "
            f'servergroup ({present}).'
        )
    return str(found.id)


def ensure(connection: Any, name: str, policy: str) -> str:
    """Return the id of the server group of this unique name; create it if needed."""
    with errors.translated(_COMPUTE, f'server group {name}'):
        compute = connection.compute
        found = compute.find_server_group(name, ignore_missing=True)
        if found is None:
            found = compute.create_server_group(name=name, policy=policy)
    return str(found.id)


def delete(connection: Any, identity: str) -> None:
    """Delete a server group, by its name or id; succeed if it does not exist."""
    with errors.translated(_COMPUTE, f'server group {identity}'):
        compute = connection.compute
        found = compute.find_server_group(identity, ignore_missing=True)
        if found is not None:
            compute.delete_server_group(found.id, ignore_missing=True)
