"""The commands on clusters, and where each is found: a part of `commands`."""

from collections.abc import Mapping

#: What clusters are made of, and they themselves: noun -> verb -> (its module, its
#: class, one sentence).
CLUSTERING: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    'cluster': {
        'action create': (
            'cluster_work',
            'ClusterActionCreate',
            'Ask for an action of any type on a cluster or node, now or later.',
        ),
        'action list': (
            'cluster_work',
            'ClusterActionList',
            'List actions on clusters and nodes.',
        ),
        'action show': (
            'cluster_work',
            'ClusterActionShow',
            'Show an action on a cluster or node.',
        ),
        'action signal': (
            'cluster_work',
            'ClusterActionSignal',
            'Send a signal to an action, and to all that it derived.',
        ),
        'check': (
            'cluster_actions',
            'ClusterCheck',
            'Look how the nodes of a cluster are.',
        ),
        'collect': (
            'clusters',
            'ClusterCollect',
            'Show what a path leads to in each node of a cluster.',
        ),
        'create': (
            'clusters',
            'ClusterCreate',
            'Create a cluster, and as many nodes as are desired.',
        ),
        'delete': (
            'clusters',
            'ClusterDelete',
            'Delete clusters with their nodes.',
        ),
        'event list': (
            'cluster_work',
            'ClusterEventList',
            'List what has happened to clusters and nodes.',
        ),
        'event show': (
            'cluster_work',
            'ClusterEventShow',
            'Show what has happened once.',
        ),
        'lifecycle complete': (
            'cluster_actions',
            'ClusterLifecycleComplete',
            'Let a node go that waits for its hook.',
        ),
        'list': (
            'clusters',
            'ClusterList',
            'List clusters.',
        ),
        'members add': (
            'cluster_actions',
            'ClusterMembersAdd',
            'Make nodes that are in no cluster members of one.',
        ),
        'members del': (
            'cluster_actions',
            'ClusterMembersDel',
            'Remove nodes from a cluster.',
        ),
        'members list': (
            'cluster_actions',
            'ClusterMembersList',
            'List the nodes of a cluster.',
        ),
        'members replace': (
            'cluster_actions',
            'ClusterMembersReplace',
            'Replace nodes of a cluster by others that are in none.',
        ),
        'op': (
            'cluster_actions',
            'ClusterOperate',
            'Have the nodes of a cluster do an operation of their profile.',
        ),
        'policy attach': (
            'cluster_actions',
            'ClusterPolicyAttach',
            'Attach a policy to a cluster.',
        ),
        'policy detach': (
            'cluster_actions',
            'ClusterPolicyDetach',
            'Detach a policy from a cluster.',
        ),
        'policy list': (
            'cluster_actions',
            'ClusterPolicyList',
            'List the policies that a cluster is bound to.',
        ),
        'policy show': (
            'cluster_actions',
            'ClusterPolicyShow',
            'Show what binds a cluster to a policy.',
        ),
        'policy update': (
            'cluster_actions',
            'ClusterPolicyUpdate',
            'Enable or disable a policy of a cluster.',
        ),
        'recover': (
            'cluster_actions',
            'ClusterRecover',
            'Repair the nodes of a cluster that are not well.',
        ),
        'resize': (
            'cluster_actions',
            'ClusterResize',
            'Change how many nodes a cluster has, or may have.',
        ),
        'scale in': (
            'cluster_actions',
            'ClusterScaleIn',
            'Remove nodes from a cluster.',
        ),
        'scale out': (
            'cluster_actions',
            'ClusterScaleOut',
            'Make more nodes of a cluster.',
        ),
        'service list': (
            'cluster_work',
            'ClusterServiceList',
            'List the engines that work on clusters.',
        ),
        'show': (
            'clusters',
            'ClusterDisplay',
            'Show a cluster.',
        ),
        'update': (
            'clusters',
            'ClusterUpdate',
            'Update a cluster; with another profile, its nodes as well.',
        ),
    },
    'node': {
        'adopt': (
            'nodes',
            'NodeAdopt',
            'Make a node of something that is there already.',
        ),
        'check': (
            'nodes',
            'NodeCheck',
            'Look how a node is.',
        ),
        'create': (
            'nodes',
            'NodeCreate',
            'Create a node, in a cluster or in none.',
        ),
        'delete': (
            'nodes',
            'NodeDelete',
            'Delete nodes, and what they stand for.',
        ),
        'list': (
            'nodes',
            'NodeList',
            'List nodes.',
        ),
        'mark-unhealthy': (
            'nodes',
            'NodeMarkUnhealthy',
            'Mark a node as unhealthy, so that the next recovery repairs it.',
        ),
        'op': (
            'nodes',
            'NodeOperate',
            'Have a node do an operation of its profile.',
        ),
        'recover': (
            'nodes',
            'NodeRecover',
            'Repair a node.',
        ),
        'show': (
            'nodes',
            'NodeDisplay',
            'Show a node.',
        ),
        'update': (
            'nodes',
            'NodeUpdate',
            'Update a node; with another profile, what it stands for as well.',
        ),
    },
    'policy': {
        'create': (
            'cluster_specs',
            'PolicyCreate',
            'Store a policy, which clusters can be bound to.',
        ),
        'delete': (
            'cluster_specs',
            'PolicyDelete',
            'Delete policies that no cluster is bound to.',
        ),
        'list': (
            'cluster_specs',
            'PolicyList',
            'List policies.',
        ),
        'show': (
            'cluster_specs',
            'PolicyShow',
            'Show a policy.',
        ),
        'type list': (
            'cluster_specs',
            'PolicyTypeList',
            'List what clusters can be looked after by.',
        ),
        'type show': (
            'cluster_specs',
            'PolicyTypeShow',
            'Show a type of policy: what its properties are.',
        ),
        'update': (
            'cluster_specs',
            'PolicyUpdate',
            'Change the name of a policy; its spec never changes.',
        ),
        'validate': (
            'cluster_specs',
            'PolicyValidate',
            'Check the spec of a policy; store nothing.',
        ),
    },
    'profile': {
        'create': (
            'cluster_specs',
            'ProfileCreate',
            'Store a profile: what nodes are made from.',
        ),
        'delete': (
            'cluster_specs',
            'ProfileDelete',
            'Delete profiles that nothing is made from.',
        ),
        'list': (
            'cluster_specs',
            'ProfileList',
            'List profiles.',
        ),
        'show': (
            'cluster_specs',
            'ProfileShow',
            'Show a profile.',
        ),
        'type list': (
            'cluster_specs',
            'ProfileTypeList',
            'List what nodes can be made from.',
        ),
        'type ops': (
            'cluster_specs',
            'ProfileTypeOps',
            'List what can be done with nodes of a type of profile.',
        ),
        'type show': (
            'cluster_specs',
            'ProfileTypeShow',
            'Show a type of profile: what its properties are.',
        ),
        'update': (
            'cluster_specs',
            'ProfileUpdate',
            'Change the name or the metadata of a profile; its spec never changes.',
        ),
        'validate': (
            'cluster_specs',
            'ProfileValidate',
            'Check the spec of a profile; store nothing.',
        ),
    },
    'receiver': {
        'create': (
            'receivers',
            'ReceiverCreate',
            'Create a receiver: who knows its address can have its action be done.',
        ),
        'delete': (
            'receivers',
            'ReceiverDelete',
            'Delete receivers.',
        ),
        'list': (
            'receivers',
            'ReceiverList',
            'List receivers.',
        ),
        'show': (
            'receivers',
            'ReceiverShow',
            'Show a receiver, and how it is triggered.',
        ),
        'update': (
            'receivers',
            'ReceiverUpdate',
            'Change a receiver.',
        ),
    },
}
