"""All commands, and where each is found.

A table and no entry points: looking for those, and importing every command for its
sentence, would triple the time that `--help` takes.
"""

from collections.abc import Iterator, Mapping

from watcherlite.cli.cluster_commands import CLUSTERING

#: noun -> (its module, the classes of its verbs: verb -> (class, one sentence)).
#: These talk to the API and to nothing else.
_REMOTE: Mapping[str, tuple[str, Mapping[str, tuple[str, str]]]] = {
    'action': (
        'actions',
        {
            'cancel': ('ActionCancel', 'Cancel an action.'),
            'list': ('ActionList', 'List actions.'),
            'resume': ('ActionResume', 'Let a suspended action go on.'),
            'show': ('ActionShow', 'Show an action.'),
            'suspend': ('ActionSuspend', 'Suspend a running action.'),
            'update': (
                'ActionUpdate',
                'Skip an action, or edit the message of one that was skipped.',
            ),
        },
    ),
    'actionplan': (
        'action_plans',
        {
            'cancel': ('ActionPlanCancel', 'Cancel an action plan.'),
            'create': ('ActionPlanCreate', 'Store an action plan from its document.'),
            'delete': ('ActionPlanDelete', 'Delete action plans that have ended.'),
            'list': ('ActionPlanList', 'List action plans.'),
            'show': ('ActionPlanShow', 'Show an action plan.'),
            'start': ('ActionPlanStart', 'Start an action plan.'),
            'update': ('ActionPlanUpdate', 'Change attributes of an action plan.'),
        },
    ),
    'audit': (
        'audits',
        {
            'create': ('AuditCreate', 'Create an audit.'),
            'delete': ('AuditDelete', 'Delete audits that have ended.'),
            'list': ('AuditList', 'List audits.'),
            'show': ('AuditShow', 'Show an audit.'),
            'trigger': ('AuditTrigger', 'Let an EVENT audit run now.'),
            'update': ('AuditUpdate', 'Change attributes of an audit.'),
        },
    ),
    'audittemplate': (
        'audit_templates',
        {
            'create': ('AuditTemplateCreate', 'Create an audit template.'),
            'delete': ('AuditTemplateDelete', 'Delete audit templates.'),
            'list': ('AuditTemplateList', 'List audit templates.'),
            'show': ('AuditTemplateShow', 'Show an audit template.'),
            'update': (
                'AuditTemplateUpdate',
                'Change attributes of an audit template.',
            ),
        },
    ),
    'event': ('events', {'list': ('EventList', 'List what has happened.')}),
    'goal': (
        'goals',
        {
            'list': ('GoalList', 'List goals.'),
            'show': ('GoalShow', 'Show a goal.'),
        },
    ),
    'scoringengine': (
        'scoring_engines',
        {
            'list': ('ScoringEngineList', 'List scoring engines.'),
            'show': ('ScoringEngineShow', 'Show a scoring engine.'),
        },
    ),
    'service': (
        'services',
        {
            'list': ('ServiceList', 'List the daemons that are known.'),
            'show': ('ServiceShow', 'Show a daemon.'),
        },
    ),
    'strategy': (
        'strategies',
        {
            'list': ('StrategyList', 'List strategies.'),
            'show': ('StrategyShow', 'Show a strategy.'),
            'state': ('StrategyState', 'Show what a strategy needs and has.'),
        },
    ),
}

#: `watcherlite stack`: verb -> (its module, its class, one sentence).
_STACK: Mapping[str, tuple[str, str, str]] = {
    'abandon': (
        'stacks',
        'StackAbandon',
        'Forget a stack, and leave its resources where they are.',
    ),
    'adopt': (
        'stack_changes',
        'StackAdopt',
        'Create a stack of the resources that an abandoned one has left.',
    ),
    'cancel': (
        'stack_actions',
        'StackCancel',
        'Cancel the update of a stack, or its creation.',
    ),
    'check': ('stack_actions', 'StackCheck', 'Look how the resources of a stack are.'),
    'create': ('stack_changes', 'StackCreate', 'Create a stack.'),
    'delete': (
        'stacks',
        'StackDelete',
        'Delete stacks with all that they are made of.',
    ),
    'event list': (
        'stack_events',
        'StackEventList',
        'List what has happened to a stack and its resources.',
    ),
    'list': ('stacks', 'StackList', 'List stacks.'),
    'lock': (
        'stack_actions',
        'StackLock',
        'Lock a stack, so that nothing changes it until it is unlocked.',
    ),
    'output list': ('stack_outputs', 'StackOutputList', 'List the outputs of a stack.'),
    'output show': ('stack_outputs', 'StackOutputShow', 'Show an output of a stack.'),
    'resource list': (
        'stack_resources',
        'StackResourceList',
        'List the resources of a stack.',
    ),
    'resource mark-unhealthy': (
        'stack_resources',
        'StackResourceMarkUnhealthy',
        'Mark a resource as unhealthy, so that the next update replaces it.',
    ),
    'resource metadata': (
        'stack_resources',
        'StackResourceMetadata',
        'Show the metadata of a resource.',
    ),
    'resource show': ('stack_resources', 'StackResourceShow', 'Show a resource.'),
    'resource signal': (
        'stack_resources',
        'StackResourceSignal',
        'Send a signal to a resource.',
    ),
    'resource type list': (
        'stack_types',
        'StackResourceTypeList',
        'List the types of resources that there are.',
    ),
    'resource type show': (
        'stack_types',
        'StackResourceTypeShow',
        'Show a type of resources: its properties and attributes.',
    ),
    'resume': ('stack_actions', 'StackResume', 'Let a suspended stack go on.'),
    'show': ('stacks', 'StackDisplay', 'Show a stack.'),
    'suspend': (
        'stack_actions',
        'StackSuspend',
        'Put the resources of a stack to rest.',
    ),
    'template validate': (
        'stack_templates',
        'StackTemplateValidate',
        'Check a template; show the parameters that it has.',
    ),
    'unlock': (
        'stack_actions',
        'StackUnlock',
        'Unlock a stack; it is as it was before the lock.',
    ),
    'update': ('stack_changes', 'StackUpdate', 'Update a stack.'),
}

#: In modules of their own.
_OTHERS = {
    'actionplan watch': (
        'watcherlite.cli.watch:ActionPlanWatch',
        'Follow an action plan to its end.',
    ),
    'complete': (
        'watcherlite.cli.complete:Complete',
        'Print what a shell needs to complete commands.',
    ),
    'plugin list': (
        'watcherlite.cli.plugin_list:PluginList',
        'List the plugins that are installed, and why one cannot be used.',
    ),
    'run': (
        'watcherlite.cli.run:Run',
        'Execute an action plan to its end.',
    ),
    'standalone': (
        'watcherlite.cli.standalone:Standalone',
        'Run all daemons in one process, until SIGTERM or Ctrl-C.',
    ),
}


def _remote() -> Iterator[tuple[str, tuple[str, str]]]:
    for noun, (module, verbs) in _REMOTE.items():
        for verb, (name, said) in verbs.items():
            yield f'{noun} {verb}', (f'watcherlite.cli.{module}:{name}', said)
    for verb, (module, name, said) in _STACK.items():
        yield f'stack {verb}', (f'watcherlite.cli.{module}:{name}', said)
    for noun, commands in CLUSTERING.items():
        for verb, (module, name, said) in commands.items():
            yield f'{noun} {verb}', (f'watcherlite.cli.{module}:{name}', said)


#: name -> (module:class, one sentence), by name.
COMMANDS: Mapping[str, tuple[str, str]] = dict(sorted([*_remote(), *_OTHERS.items()]))
