"""The notifications of clusters and nodes: one for each phase of each action.

The event of a phase names its action, so the notification does not depend on the states
before and after: a check that leaves a node ACTIVE has notifications as well.
"""

from collections.abc import Mapping

from watcherlite.domain.events import Event
from watcherlite.notifications.rules.notification import Notification, named

#: The service in `publisher_id`, instead of infra-optim.
PUBLISHER = 'clustering'

# name -> description of the action; a notification is NAME.PHASE. The action type is
# the name in capitals, after CLUSTER_ or NODE_.
CLUSTER_ACTIONS = {
    'create': 'its first nodes are created',
    'delete': 'its nodes are deleted, and then the cluster',
    'update': 'the cluster, or its nodes, are updated',
    'add_nodes': 'existing nodes become members',
    'del_nodes': 'nodes are removed, and deleted on request',
    'replace_nodes': 'nodes are replaced by others',
    'resize': 'its size or its limits are changed',
    'scale_in': 'nodes are deleted',
    'scale_out': 'nodes are created',
    'attach_policy': 'a policy is attached',
    'detach_policy': 'a policy is detached',
    'update_policy': 'a policy is enabled or disabled',
    'check': 'its nodes are checked',
    'recover': 'its unhealthy nodes are recovered',
    'operation': 'an operation of the profile is performed on its nodes',
}
NODE_ACTIONS = {
    'create': 'its resource is created',
    'delete': 'the node and its resource are deleted',
    'update': 'the node, or its resource, is updated',
    'join': 'it joins a cluster',
    'leave': 'it leaves its cluster',
    'check': 'it is checked',
    'recover': 'its resource is repaired or recreated',
    'operation': 'an operation of the profile is performed',
}

#: phase -> when
_PHASES = {
    'start': '{} started: {}',
    'end': '{} succeeded',
    'error': (
        '{} failed, and `fault` has the error; or was cancelled, and `fault` is null'
    ),
}


def _action_notifications(
    prefix: str, actions: Mapping[str, str], payload: str
) -> dict[str, Notification]:
    """Return the notifications of the phases of actions, by name."""
    return named(
        *(
            (
                f'{action}.{phase}',
                payload,
                when.format(f'{prefix}_{action}'.upper(), what),
            )
            for action, what in actions.items()
            for phase, when in _PHASES.items()
        )
    )


#: name -> the notification
CLUSTER = _action_notifications('cluster', CLUSTER_ACTIONS, 'ClusterActionPayload')
NODE = _action_notifications('node', NODE_ACTIONS, 'NodeActionPayload')


def notification_of_phase(event: Event) -> str | None:
    """Return the name of the notification of a phase of an action.

    The name may be of no notification. None: the run of a user-defined action, which
    does not change its cluster or node.
    """
    detail = event.detail or {}
    if 'result' in detail:
        return None
    action = str((detail.get('action') or {}).get('type'))
    return f'{action.partition("_")[2].lower()}.{detail.get("phase")}'
