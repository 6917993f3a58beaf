"""The commands: their names, modules and descriptions.

The commands are no entry points: searching these, and importing each command for its
description, would triple the run time of `--help`.
"""

import re
from collections.abc import Mapping

#: module -> its commands: name -> description
_MODULES: Mapping[str, Mapping[str, str]] = {
    'commands.audit_templates': {
        'audittemplate create': 'Create an audit template.',
        'audittemplate delete': 'Delete audit templates.',
        'audittemplate list': 'List audit templates.',
        'audittemplate show': 'Show an audit template.',
        'audittemplate update': 'Change attributes of an audit template.',
    },
    'commands.audits': {
        'audit create': 'Create an audit.',
        'audit delete': 'Delete audits that have ended.',
        'audit list': 'List audits.',
        'audit show': 'Show an audit.',
        'audit trigger': 'Trigger an EVENT audit.',
        'audit update': 'Change attributes of an audit.',
    },
    'commands.catalog': {
        'datamodel list': 'List the objects of a data model.',
        'goal list': 'List goals.',
        'goal show': 'Show a goal.',
        'scoringengine list': 'List scoring engines.',
        'scoringengine show': 'Show a scoring engine.',
        'service list': 'List the daemons.',
        'service show': 'Show a daemon.',
        'strategy list': 'List strategies.',
        'strategy show': 'Show a strategy.',
        'strategy state': (
            'Show the requirements of a strategy, and which of them are met.'
        ),
    },
    'commands.clusters.activity': {
        'cluster action create': 'Create an action of any type on a cluster or node.',
        'cluster action list': 'List actions on clusters and nodes.',
        'cluster action show': 'Show an action on a cluster or node.',
        'cluster action signal': (
            'Send a signal to an action and to its derived actions.'
        ),
        'cluster event list': 'List the events of clusters and nodes.',
        'cluster event show': 'Show an event.',
        'cluster service list': 'List the engines.',
    },
    'commands.clusters.clusters': {
        'cluster collect': 'Show the value of a JSON path for each node of a cluster.',
        'cluster create': 'Create a cluster with its nodes.',
        'cluster delete': 'Delete clusters with their nodes.',
        'cluster list': 'List clusters.',
        'cluster show': 'Show a cluster.',
        'cluster update': 'Update a cluster; a new profile updates its nodes as well.',
    },
    'commands.clusters.nodes': {
        'node adopt': 'Adopt an existing object as a node.',
        'node check': 'Check the health of a node.',
        'node create': 'Create a node, optionally in a cluster.',
        'node delete': 'Delete nodes and their physical objects.',
        'node list': 'List nodes.',
        'node mark-unhealthy': (
            'Mark a node as unhealthy; the next recovery repairs it.'
        ),
        'node op': 'Run an operation of the profile on a node.',
        'node recover': 'Recover a node.',
        'node show': 'Show a node.',
        'node update': (
            'Update a node; a new profile updates its physical object as well.'
        ),
    },
    'commands.clusters.operations': {
        'cluster check': "Check the health of a cluster's nodes.",
        'cluster lifecycle complete': (
            'Complete the lifecycle hook of a node that is being deleted.'
        ),
        'cluster members add': 'Add existing nodes to a cluster.',
        'cluster members del': 'Remove nodes from a cluster.',
        'cluster members list': 'List the nodes of a cluster.',
        'cluster members replace': 'Replace nodes of a cluster by existing nodes.',
        'cluster op': 'Run an operation of the profile on the nodes of a cluster.',
        'cluster policy attach': 'Attach a policy to a cluster.',
        'cluster policy detach': 'Detach a policy from a cluster.',
        'cluster policy list': 'List the policies of a cluster.',
        'cluster policy show': 'Show the binding of a policy to a cluster.',
        'cluster policy update': 'Enable or disable a policy of a cluster.',
        'cluster recover': 'Recover the unhealthy nodes of a cluster.',
        'cluster resize': 'Change the capacity or the size limits of a cluster.',
        'cluster scale in': 'Remove nodes from a cluster.',
        'cluster scale out': 'Add new nodes to a cluster.',
    },
    'commands.clusters.receivers': {
        'receiver create': 'Create a receiver; its URL with the token is shown once.',
        'receiver delete': 'Delete receivers.',
        'receiver list': 'List receivers.',
        'receiver show': 'Show a receiver.',
        'receiver update': 'Update a receiver.',
    },
    'commands.clusters.specs': {
        'policy create': 'Create a policy.',
        'policy delete': 'Delete policies that are not in use.',
        'policy list': 'List policies.',
        'policy show': 'Show a policy.',
        'policy type list': 'List policy types.',
        'policy type show': 'Show a policy type with its schema.',
        'policy update': 'Change the name of a policy; its spec is immutable.',
        'policy validate': 'Validate the spec of a policy.',
        'profile create': 'Create a profile.',
        'profile delete': 'Delete profiles that are not in use.',
        'profile list': 'List profiles.',
        'profile show': 'Show a profile.',
        'profile type list': 'List profile types.',
        'profile type ops': 'List the operations of a profile type.',
        'profile type show': 'Show a profile type with its schema.',
        'profile update': (
            'Change the name or the metadata of a profile; its spec is immutable.'
        ),
        'profile validate': 'Validate the spec of a profile.',
    },
    'commands.events': {
        'event list': 'List the events of an action plan or audit.',
        'request list': 'List the requests that changed something.',
    },
    'commands.action_plans': {
        'actionplan cancel': 'Cancel an action plan.',
        'actionplan create': 'Create an action plan from a document.',
        'actionplan delete': 'Delete action plans that have ended.',
        'actionplan list': 'List action plans.',
        'actionplan retry': (
            'Create an action plan that retries the unsuccessful actions of a plan.'
        ),
        'actionplan show': 'Show an action plan.',
        'actionplan start': 'Start an action plan.',
        'actionplan update': 'Change attributes of an action plan.',
    },
    'commands.actions': {
        'action cancel': 'Cancel an action.',
        'action list': 'List actions.',
        'action resume': 'Resume a suspended action.',
        'action retry': 'Create an action plan that retries an unsuccessful action.',
        'action show': 'Show an action.',
        'action suspend': 'Suspend a running action.',
        'action update': 'Skip an action, or change the message of a skipped action.',
    },
    'commands.action_logs': {'action logs': 'Show the log of an action.'},
    'commands.plan_watch': {
        'actionplan watch': 'Follow an action plan until it has ended.'
    },
    'commands.stacks.actions': {
        'stack cancel': 'Cancel the update or the creation of a stack.',
        'stack check': "Check the health of a stack's resources.",
        'stack lock': 'Lock a stack against changes.',
        'stack resume': 'Resume a suspended stack.',
        'stack suspend': 'Suspend the resources of a stack.',
        'stack unlock': 'Unlock a stack.',
    },
    'commands.stacks.changes': {
        'stack adopt': 'Create a stack from the resources of an abandoned stack.',
        'stack create': 'Create a stack.',
        'stack update': 'Update a stack.',
    },
    'commands.stacks.contents': {
        'stack environment show': 'Show the environment and the parameters of a stack.',
        'stack event list': 'List the events of a stack and its resources.',
        'stack failures list': (
            'List the failed resources of a stack and of its nested stacks.'
        ),
        'stack output list': 'List the outputs of a stack.',
        'stack output show': 'Show an output of a stack.',
        'stack template show': 'Show the template of a stack.',
        'stack template validate': 'Validate a template and show its parameters.',
    },
    'commands.stacks.hooks': {
        'stack hook clear': 'Clear the hooks at which resources wait; list them.',
        'stack hook list': 'List the resources that wait at a hook.',
    },
    'commands.stacks.resources': {
        'stack resource list': 'List the resources of a stack.',
        'stack resource mark-unhealthy': (
            'Mark a resource as unhealthy; the next update replaces it.'
        ),
        'stack resource metadata': 'Show the metadata of a resource.',
        'stack resource show': 'Show a resource.',
        'stack resource signal': 'Send a signal to a resource.',
        'stack resource type list': 'List resource types.',
        'stack resource type show': (
            'Show a resource type with its properties and attributes.'
        ),
    },
    'commands.stacks.stacks': {
        'stack abandon': 'Abandon a stack: delete its record, keep its resources.',
        'stack delete': 'Delete stacks and their resources.',
        'stack export': 'Export a stack and its resources as JSON.',
        'stack list': 'List stacks.',
        'stack show': 'Show a stack.',
    },
    'completion': {'complete': 'Print the shell completion script.'},
    'local.plugin_list': {
        'plugin list': 'List the installed plugins and their errors.'
    },
    'local.run': {'run': 'Execute an action plan.'},
    'local.standalone': {
        'standalone': 'Run all daemons in one process until SIGTERM or Ctrl-C.'
    },
}
#: Words of names that are several words in the name of the class.
_WORDS = {
    'actionplan': 'ActionPlan',
    'audittemplate': 'AuditTemplate',
    'datamodel': 'DataModel',
    'scoringengine': 'ScoringEngine',
}


def _class_name(command: str) -> str:
    """Return the name of the class of a command: NodeShow of `node show`."""
    words = re.split('[ -]', command)
    return ''.join(_WORDS.get(word) or word.capitalize() for word in words)


#: name -> (module:class, description), by name.
COMMANDS: Mapping[str, tuple[str, str]] = {
    name: (f'watcherlite.cli.{module}:{_class_name(name)}', description)
    for name, module, description in sorted(
        (name, module, description)
        for module, commands in _MODULES.items()
        for name, description in commands.items()
    )
}
