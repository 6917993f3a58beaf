"""The notifications of clusters and nodes: one for each phase of each action.

The event of a phase names its action, so the notification does not depend on the states
before and after: a check that leaves a node ACTIVE has notifications as well.
"""

from collections.abc import Mapping

from watcherlite.domain.events import Event
from watcherlite.notifications.rules.notification import Notification

#: The service in `publisher_id`, instead of infra-optim.
PUBLISHER = 'clustering'

# name -> description of the action; a notification is NAME.PHASE. The action type is
# the name in capitals, after CLUSTER_ or NODE_.
CLUSTER_ACTIONS = {
    'create': 'its first nodes are made',
    'delete': 'its nodes are deleted, and then the cluster is',
    'update': 'it, or its nodes, become what a request says',
    'add_nodes': 'nodes that were in no cluster become members',
    'del_nodes': 'nodes leave, and are deleted if that was asked for',
    'replace_nodes': 'nodes take the place of others',
    'resize': 'it gets more or fewer nodes, or other limits',
    'scale_in': 'it gets fewer nodes',
    'scale_out': 'it gets more nodes',
    'attach_policy': 'a policy is attached',
    'detach_policy': 'a policy is detached',
    'update_policy': 'a policy is enabled or disabled',
    'check': 'its nodes are looked at',
    'recover': 'its nodes that are not well are repaired',
    'operation': 'its nodes do an operation of their profile',
}
NODE_ACTIONS = {
    'create': 'what it stands for is made',
    'delete': 'it is deleted, and what it stands for',
    'update': 'it, or what it stands for, becomes what a request says',
    'join': 'it becomes a member of a cluster',
    'leave': 'it leaves its cluster',
    'check': 'it is looked at',
    'recover': 'what it stands for is repaired, or made anew',
    'operation': 'it does an operation of its profile',
}

#: phase -> priority, when
_PHASES = {
    'start': ('INFO', '{} began: {}'),
    'end': ('INFO', '{} ended well'),
    'error': (
        'ERROR',
        '{} failed, and `fault` says how; or it was cancelled, and that is null',
    ),
}


def _of_actions(
    prefix: str, actions: Mapping[str, str], payload: str
) -> dict[str, Notification]:
    """Return the notifications of the phases of actions, by name."""
    found = {}
    for action, what in actions.items():
        for phase, (priority, when) in _PHASES.items():
            name = f'{action}.{phase}'
            text = when.format(f'{prefix}_{action}'.upper(), what)
            found[name] = Notification(name, priority, payload, text)
    return found


#: name -> the notification
CLUSTER = _of_actions('cluster', CLUSTER_ACTIONS, 'ClusterActionPayload')
NODE = _of_actions('node', NODE_ACTIONS, 'NodeActionPayload')


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
