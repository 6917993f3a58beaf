"""States of clusters and nodes, and the transitions between them."""

# Statuses of clusters and nodes
INIT = 'INIT'
ACTIVE = 'ACTIVE'
ERROR = 'ERROR'
WARNING = 'WARNING'
CREATING = 'CREATING'
UPDATING = 'UPDATING'
DELETING = 'DELETING'
RECOVERING = 'RECOVERING'
OPERATING = 'OPERATING'
# Statuses of clusters only
RESIZING = 'RESIZING'
CHECKING = 'CHECKING'
#: A status of the API that is never assigned.
CRITICAL = 'CRITICAL'

CLUSTER_STATUSES = {
    INIT: 'it is stored, and no resource has been created yet',
    ACTIVE: 'it has the desired number of active nodes',
    CREATING: 'its first nodes are created',
    UPDATING: 'the cluster, or its nodes, are updated',
    RESIZING: 'nodes are added or removed',
    DELETING: 'its nodes are deleted, and then the cluster',
    CHECKING: 'its nodes are checked',
    RECOVERING: 'its nodes are recovered',
    OPERATING: 'an operation of the profile is performed on its nodes',
    WARNING: 'it has fewer active nodes than desired, or more than the maximum',
    ERROR: 'it has fewer active nodes than the minimum, or its creation failed',
}
NODE_STATUSES = {
    INIT: 'it is stored, and no resource has been created yet',
    ACTIVE: 'its resource exists, and no problem is known',
    CREATING: 'its resource is created',
    UPDATING: 'it is updated',
    DELETING: 'it is deleted',
    RECOVERING: 'it is recovered',
    OPERATING: 'an operation of the profile is performed',
    WARNING: 'its resource exists, but has a problem',
    ERROR: 'its resource is missing or unhealthy; the status reason has the cause',
}
#: The statuses of a cluster or node while an action on it runs.
TRANSIENT = frozenset(
    {CREATING, UPDATING, RESIZING, DELETING, CHECKING, RECOVERING, OPERATING}
)


def evaluated(
    active: int, desired: int, min_size: int, max_size: int
) -> tuple[str, str]:
    """Return the status of a cluster with a number of active nodes, and the reason.

    :param max_size: below 0: unlimited
    """
    if active < min_size:
        return ERROR, f'number of active nodes is below min_size ({min_size}).'
    if active < desired:
        return (
            WARNING,
            f'number of active nodes is below desired_capacity ({desired}).',
        )
    if 0 <= max_size < active:
        return WARNING, f'number of active nodes is above max_size ({max_size}).'
    return (
        ACTIVE,
        f'number of active nodes is equal or above desired_capacity ({desired}).',
    )
