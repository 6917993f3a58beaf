"""Who is who, and how a rule is written.

Each role may do what the one before it may. That `admin` implies `manager` and so on
is said here once more, because an identity service need not be set up so.
"""

from oslo_policy import policy

ADMIN = 'rule:admin_api'
MANAGER = 'rule:manager_api'
READER = 'rule:reader_api'
#: Of stacks and clusters: whoever works in a project makes and changes what is in it.
MEMBER = 'rule:member_api'
NOBODY = '!'
#: Another service that calls on behalf of nobody.
SERVICE = 'rule:service_api'

SCOPES = ['system', 'domain', 'project']


def rule(
    name: str, check: str, description: str, *operations: tuple[str, str]
) -> policy.DocumentedRuleDefault:
    """Return a rule with its default.

    :param operations: (method, path) of what it decides
    """
    return policy.DocumentedRuleDefault(
        name=name,
        check_str=check,
        description=description,
        operations=[{'method': method, 'path': path} for method, path in operations],
        scope_types=SCOPES,
    )


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules that the others are made of."""
    return [
        policy.RuleDefault(
            'admin_api',
            'role:admin or role:administrator',
            'Who may do everything.',
        ),
        policy.RuleDefault(
            'manager_api',
            'rule:admin_api or role:manager',
            'Who may also create, start, cancel, skip and change.',
        ),
        policy.RuleDefault(
            'member_api',
            'rule:manager_api or role:member',
            'Who may create and change stacks and clusters.',
        ),
        policy.RuleDefault(
            'reader_api',
            'rule:manager_api or role:member or role:reader',
            'Who may look at everything.',
        ),
        policy.RuleDefault(
            'service_api',
            'role:service',
            'Other services that trigger audits.',
        ),
    ]
