"""All commands, and where each is found.

A table and no entry points: looking for those, and importing every command for its
sentence, would triple the time that `--help` takes.
"""

from collections.abc import Iterator, Mapping

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


#: name -> (module:class, one sentence), by name.
COMMANDS: Mapping[str, tuple[str, str]] = dict(sorted([*_remote(), *_OTHERS.items()]))
