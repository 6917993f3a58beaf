"""Roles, and the form of a rule.

Each role includes the one before it. The rules repeat that `admin` implies `manager`
and so on, because an identity service need not be configured so.
"""

from collections.abc import Sequence

from oslo_policy import policy

ADMIN = 'rule:admin_api'
MANAGER = 'rule:manager_api'
READER = 'rule:reader_api'
#: Of stacks and clusters: whoever works in a project makes and changes what is in it.
MEMBER = 'rule:member_api'
#: Of plans and audits, which concern the whole cloud.
SYSTEM_MANAGER = 'rule:system_manager_api'
SYSTEM_READER = 'rule:system_reader_api'
#: Spelled out: who opens plans to the managers of projects, by another
#: `system_manager_api`, does not give them the objects of all other projects.
EVERYWHERE = 'rule:admin_api or (role:manager and system_scope:all)'
NOBODY = '!'
#: Another service that calls on behalf of nobody.
SERVICE = 'rule:service_api'

#: Two spellings of the same addresses.
ALIAS = ('/v1/action_plans', '/v1/actionplans')

SCOPES = ['system', 'domain', 'project']


def rule(
    name: str, check: str, description: str, *operations: tuple[str, str]
) -> policy.DocumentedRuleDefault:
    """Return a rule with its default.

    :param operations: (method, path) of what it decides
    """
    spelled = [
        (method, alike)
        for method, path in operations
        for alike in (path, path.replace(*ALIAS, 1))
    ]
    return policy.DocumentedRuleDefault(
        name=name,
        check_str=check,
        description=description,
        operations=[
            {'method': method, 'path': path} for method, path in dict.fromkeys(spelled)
        ],
        scope_types=SCOPES,
    )


#: The rules that the others are made of.
ROLES: Sequence[policy.RuleDefault] = (
    policy.RuleDefault(
        'admin_api', 'role:admin or role:administrator', 'Who may do everything.'
    ),
    policy.RuleDefault(
        'manager_api',
        'rule:admin_api or role:manager',
        'Who may also have any installed action done on a cluster of the project.',
    ),
    policy.RuleDefault(
        'member_api',
        'rule:manager_api or role:member',
        'Who may create and change stacks and clusters.',
    ),
    policy.RuleDefault(
        'reader_api',
        'rule:manager_api or role:member or role:reader',
        'Who may look at stacks and clusters.',
    ),
    policy.RuleDefault(
        'system_manager_api',
        'rule:admin_api or (role:manager and system_scope:all)',
        'Who may also create, start, cancel, skip and change plans and audits.',
    ),
    policy.RuleDefault(
        'system_reader_api',
        'rule:system_manager_api or '
        '((role:member or role:reader) and system_scope:all)',
        'Who may look at plans, audits and what they are made of.',
    ),
    policy.RuleDefault(
        'service_api', 'role:service', 'Other services that trigger audits.'
    ),
)
