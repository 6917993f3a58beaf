"""The commands: their names, classes and descriptions.

The commands are no entry points: searching these, and importing each command for its
description, would triple the run time of `--help`.
"""

from collections.abc import Mapping

#: module -> its commands: name -> (class, description)
_MODULES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    'commands.audit_templates': {
        'audittemplate create': ('AuditTemplateCreate', 'Create an audit template.'),
        'audittemplate delete': ('AuditTemplateDelete', 'Delete audit templates.'),
        'audittemplate list': ('AuditTemplateList', 'List audit templates.'),
        'audittemplate show': ('AuditTemplateShow', 'Show an audit template.'),
        'audittemplate update': (
            'AuditTemplateUpdate',
            'Change attributes of an audit template.',
        ),
    },
    'commands.audits': {
        'audit create': ('AuditCreate', 'Create an audit.'),
        'audit delete': ('AuditDelete', 'Delete audits that have ended.'),
        'audit list': ('AuditList', 'List audits.'),
        'audit show': ('AuditShow', 'Show an audit.'),
        'audit trigger': ('AuditTrigger', 'Trigger an EVENT audit.'),
        'audit update': ('AuditUpdate', 'Change attributes of an audit.'),
    },
    'commands.catalog': {
        'goal list': ('GoalList', 'List goals.'),
        'goal show': ('GoalShow', 'Show a goal.'),
        'scoringengine list': ('ScoringEngineList', 'List scoring engines.'),
        'scoringengine show': ('ScoringEngineShow', 'Show a scoring engine.'),
        'service list': ('ServiceList', 'List the daemons.'),
        'service show': ('ServiceShow', 'Show a daemon.'),
        'strategy list': ('StrategyList', 'List strategies.'),
        'strategy show': ('StrategyShow', 'Show a strategy.'),
        'strategy state': (
            'StrategyState',
            'Show the requirements of a strategy, and which of them are met.',
        ),
    },
    'commands.clusters.activity': {
        'cluster action create': (
            'ClusterActionCreate',
            'Create an action of any type on a cluster or node.',
        ),
        'cluster action list': (
            'ClusterActionList',
            'List actions on clusters and nodes.',
        ),
        'cluster action show': (
            'ClusterActionShow',
            'Show an action on a cluster or node.',
        ),
        'cluster action signal': (
            'ClusterActionSignal',
            'Send a signal to an action and to its derived actions.',
        ),
        'cluster event list': (
            'ClusterEventList',
            'List the events of clusters and nodes.',
        ),
        'cluster event show': ('ClusterEventShow', 'Show an event.'),
        'cluster service list': ('ClusterServiceList', 'List the engines.'),
    },
    'commands.clusters.clusters': {
        'cluster collect': (
            'ClusterCollect',
            'Show the value of a JSON path for each node of a cluster.',
        ),
        'cluster create': ('ClusterCreate', 'Create a cluster with its nodes.'),
        'cluster delete': ('ClusterDelete', 'Delete clusters with their nodes.'),
        'cluster list': ('ClusterList', 'List clusters.'),
        'cluster show': ('ClusterDisplay', 'Show a cluster.'),
        'cluster update': (
            'ClusterUpdate',
            'Update a cluster; a new profile updates its nodes as well.',
        ),
    },
    'commands.clusters.nodes': {
        'node adopt': ('NodeAdopt', 'Adopt an existing object as a node.'),
        'node check': ('NodeCheck', 'Check the health of a node.'),
        'node create': ('NodeCreate', 'Create a node, optionally in a cluster.'),
        'node delete': ('NodeDelete', 'Delete nodes and their physical objects.'),
        'node list': ('NodeList', 'List nodes.'),
        'node mark-unhealthy': (
            'NodeMarkUnhealthy',
            'Mark a node as unhealthy; the next recovery repairs it.',
        ),
        'node op': ('NodeOperate', 'Run an operation of the profile on a node.'),
        'node recover': ('NodeRecover', 'Recover a node.'),
        'node show': ('NodeDisplay', 'Show a node.'),
        'node update': (
            'NodeUpdate',
            'Update a node; a new profile updates its physical object as well.',
        ),
    },
    'commands.clusters.operations': {
        'cluster check': ('ClusterCheck', "Check the health of a cluster's nodes."),
        'cluster lifecycle complete': (
            'ClusterLifecycleComplete',
            'Complete the lifecycle hook of a node that is being deleted.',
        ),
        'cluster members add': (
            'ClusterMembersAdd',
            'Add existing nodes to a cluster.',
        ),
        'cluster members del': ('ClusterMembersDel', 'Remove nodes from a cluster.'),
        'cluster members list': ('ClusterMembersList', 'List the nodes of a cluster.'),
        'cluster members replace': (
            'ClusterMembersReplace',
            'Replace nodes of a cluster by existing nodes.',
        ),
        'cluster op': (
            'ClusterOperate',
            'Run an operation of the profile on the nodes of a cluster.',
        ),
        'cluster policy attach': (
            'ClusterPolicyAttach',
            'Attach a policy to a cluster.',
        ),
        'cluster policy detach': (
            'ClusterPolicyDetach',
            'Detach a policy from a cluster.',
        ),
        'cluster policy list': ('ClusterPolicyList', 'List the policies of a cluster.'),
        'cluster policy show': (
            'ClusterPolicyShow',
            'Show the binding of a policy to a cluster.',
        ),
        'cluster policy update': (
            'ClusterPolicyUpdate',
            'Enable or disable a policy of a cluster.',
        ),
        'cluster recover': (
            'ClusterRecover',
            'Recover the unhealthy nodes of a cluster.',
        ),
        'cluster resize': (
            'ClusterResize',
            'Change the capacity or the size limits of a cluster.',
        ),
        'cluster scale in': ('ClusterScaleIn', 'Remove nodes from a cluster.'),
        'cluster scale out': ('ClusterScaleOut', 'Add new nodes to a cluster.'),
    },
    'commands.clusters.receivers': {
        'receiver create': (
            'ReceiverCreate',
            'Create a receiver; its URL with the token is shown once.',
        ),
        'receiver delete': ('ReceiverDelete', 'Delete receivers.'),
        'receiver list': ('ReceiverList', 'List receivers.'),
        'receiver show': ('ReceiverShow', 'Show a receiver.'),
        'receiver update': ('ReceiverUpdate', 'Update a receiver.'),
    },
    'commands.clusters.specs': {
        'policy create': ('PolicyCreate', 'Create a policy.'),
        'policy delete': ('PolicyDelete', 'Delete policies that are not in use.'),
        'policy list': ('PolicyList', 'List policies.'),
        'policy show': ('PolicyShow', 'Show a policy.'),
        'policy type list': ('PolicyTypeList', 'List policy types.'),
        'policy type show': ('PolicyTypeShow', 'Show a policy type with its schema.'),
        'policy update': (
            'PolicyUpdate',
            'Change the name of a policy; its spec is immutable.',
        ),
        'policy validate': ('PolicyValidate', 'Validate the spec of a policy.'),
        'profile create': ('ProfileCreate', 'Create a profile.'),
        'profile delete': ('ProfileDelete', 'Delete profiles that are not in use.'),
        'profile list': ('ProfileList', 'List profiles.'),
        'profile show': ('ProfileShow', 'Show a profile.'),
        'profile type list': ('ProfileTypeList', 'List profile types.'),
        'profile type ops': (
            'ProfileTypeOps',
            'List the operations of a profile type.',
        ),
        'profile type show': (
            'ProfileTypeShow',
            'Show a profile type with its schema.',
        ),
        'profile update': (
            'ProfileUpdate',
            'Change the name or the metadata of a profile; its spec is immutable.',
        ),
        'profile validate': ('ProfileValidate', 'Validate the spec of a profile.'),
    },
    'commands.events': {
        'event list': ('EventList', 'List the events of an action plan or audit.')
    },
    'commands.action_plans': {
        'actionplan cancel': ('ActionPlanCancel', 'Cancel an action plan.'),
        'actionplan create': (
            'ActionPlanCreate',
            'Create an action plan from a document.',
        ),
        'actionplan delete': (
            'ActionPlanDelete',
            'Delete action plans that have ended.',
        ),
        'actionplan list': ('ActionPlanList', 'List action plans.'),
        'actionplan show': ('ActionPlanShow', 'Show an action plan.'),
        'actionplan start': ('ActionPlanStart', 'Start an action plan.'),
        'actionplan update': (
            'ActionPlanUpdate',
            'Change attributes of an action plan.',
        ),
    },
    'commands.actions': {
        'action cancel': ('ActionCancel', 'Cancel an action.'),
        'action list': ('ActionList', 'List actions.'),
        'action resume': ('ActionResume', 'Resume a suspended action.'),
        'action show': ('ActionShow', 'Show an action.'),
        'action suspend': ('ActionSuspend', 'Suspend a running action.'),
        'action update': (
            'ActionUpdate',
            'Skip an action, or change the message of a skipped action.',
        ),
    },
    'commands.plan_watch': {
        'actionplan watch': (
            'ActionPlanWatch',
            'Follow an action plan until it has ended.',
        )
    },
    'commands.stacks.actions': {
        'stack cancel': (
            'StackCancel',
            'Cancel the update or the creation of a stack.',
        ),
        'stack check': ('StackCheck', "Check the health of a stack's resources."),
        'stack lock': ('StackLock', 'Lock a stack against changes.'),
        'stack resume': ('StackResume', 'Resume a suspended stack.'),
        'stack suspend': ('StackSuspend', 'Suspend the resources of a stack.'),
        'stack unlock': ('StackUnlock', 'Unlock a stack.'),
    },
    'commands.stacks.changes': {
        'stack adopt': (
            'StackAdopt',
            'Create a stack from the resources of an abandoned stack.',
        ),
        'stack create': ('StackCreate', 'Create a stack.'),
        'stack update': ('StackUpdate', 'Update a stack.'),
    },
    'commands.stacks.contents': {
        'stack environment show': (
            'StackEnvironmentShow',
            'Show the environment and the parameters of a stack.',
        ),
        'stack event list': (
            'StackEventList',
            'List the events of a stack and its resources.',
        ),
        'stack failures list': (
            'StackFailuresList',
            'List the failed resources of a stack and of its nested stacks.',
        ),
        'stack output list': ('StackOutputList', 'List the outputs of a stack.'),
        'stack output show': ('StackOutputShow', 'Show an output of a stack.'),
        'stack template show': ('StackTemplateShow', 'Show the template of a stack.'),
        'stack template validate': (
            'StackTemplateValidate',
            'Validate a template and show its parameters.',
        ),
    },
    'commands.stacks.resources': {
        'stack resource list': ('StackResourceList', 'List the resources of a stack.'),
        'stack resource mark-unhealthy': (
            'StackResourceMarkUnhealthy',
            'Mark a resource as unhealthy; the next update replaces it.',
        ),
        'stack resource metadata': (
            'StackResourceMetadata',
            'Show the metadata of a resource.',
        ),
        'stack resource show': ('StackResourceShow', 'Show a resource.'),
        'stack resource signal': (
            'StackResourceSignal',
            'Send a signal to a resource.',
        ),
        'stack resource type list': ('StackResourceTypeList', 'List resource types.'),
        'stack resource type show': (
            'StackResourceTypeShow',
            'Show a resource type with its properties and attributes.',
        ),
    },
    'commands.stacks.stacks': {
        'stack abandon': (
            'StackAbandon',
            'Abandon a stack: delete its record, keep its resources.',
        ),
        'stack delete': ('StackDelete', 'Delete stacks and their resources.'),
        'stack export': ('StackExport', 'Export a stack and its resources as JSON.'),
        'stack list': ('StackList', 'List stacks.'),
        'stack show': ('StackDisplay', 'Show a stack.'),
    },
    'completion': {'complete': ('Complete', 'Print the shell completion script.')},
    'local.plugin_list': {
        'plugin list': ('PluginList', 'List the installed plugins and their errors.')
    },
    'local.run': {'run': ('Run', 'Execute an action plan.')},
    'local.standalone': {
        'standalone': (
            'Standalone',
            'Run all daemons in one process until SIGTERM or Ctrl-C.',
        )
    },
}

#: name -> (module:class, description), by name.
COMMANDS: Mapping[str, tuple[str, str]] = dict(
    sorted(
        (name, (f'watcherlite.cli.{module}:{class_name}', sentence))
        for module, commands in _MODULES.items()
        for name, (class_name, sentence) in commands.items()
    )
)
