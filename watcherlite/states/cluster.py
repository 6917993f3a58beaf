"""States of clusters and nodes, and the transitions between them."""

# Both
INIT = 'INIT'
ACTIVE = 'ACTIVE'
ERROR = 'ERROR'
WARNING = 'WARNING'
CREATING = 'CREATING'
UPDATING = 'UPDATING'
DELETING = 'DELETING'
RECOVERING = 'RECOVERING'
OPERATING = 'OPERATING'
# Clusters alone
RESIZING = 'RESIZING'
CHECKING = 'CHECKING'
#: A status that clients know; nothing here gets it.
CRITICAL = 'CRITICAL'

CLUSTER_STATUSES = {
    INIT: 'it is stored, and nothing has been made yet',
    ACTIVE: 'it has as many active nodes as it should',
    CREATING: 'its first nodes are made',
    UPDATING: 'it, or its nodes, become what a request said',
    RESIZING: 'nodes come or go',
    DELETING: 'its nodes go, and then it does',
    CHECKING: 'its nodes are looked at',
    RECOVERING: 'its nodes are repaired',
    OPERATING: 'its nodes do an operation of their profile',
    WARNING: 'it has fewer active nodes than desired, or more than it may have',
    ERROR: 'it has fewer active nodes than it must have, or could not be made',
}
NODE_STATUSES = {
    INIT: 'it is stored, and nothing has been made yet',
    ACTIVE: 'it was made, and nothing bad is known of it',
    CREATING: 'it is made',
    UPDATING: 'it becomes what a request said',
    DELETING: 'it is deleted',
    RECOVERING: 'it is repaired',
    OPERATING: 'it does an operation of its profile',
    WARNING: 'it is there, and something of it is not as it should be',
    ERROR: 'it is not there, or not well; the status reason says why',
}
#: What a cluster or node is only while an action on it runs.
TRANSIENT = frozenset(
    {CREATING, UPDATING, RESIZING, DELETING, CHECKING, RECOVERING, OPERATING}
)


def evaluated(
    active: int, desired: int, min_size: int, max_size: int
) -> tuple[str, str]:
    """Return the status of a cluster with so many active nodes, and the reason.

    :param max_size: below 0: any number
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
