"""The rules for what is done with whole stacks; names and defaults are Heat's."""

from oslo_policy import policy

from watcherlite.api.policies import base

_ACTIONS = (
    'POST',
    '/orchestration/v1/{tenant}/stacks/{stack_name}/{stack_id}/actions',
)


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules; `actions:action` has to hold besides that of the action."""
    return [
        base.rule(
            'actions:action', base.READER, 'Do anything with a whole stack.', _ACTIONS
        ),
        base.rule('actions:suspend', base.MEMBER, 'Suspend a stack.', _ACTIONS),
        base.rule('actions:resume', base.MEMBER, 'Resume a stack.', _ACTIONS),
        base.rule(
            'actions:check', base.READER, 'Look at the resources of a stack.', _ACTIONS
        ),
        base.rule('actions:lock', base.MEMBER, 'Lock a stack.', _ACTIONS),
        base.rule('actions:unlock', base.MEMBER, 'Unlock a stack.', _ACTIONS),
        base.rule(
            'actions:cancel_update',
            base.MEMBER,
            'Cancel an update and go back.',
            _ACTIONS,
        ),
        base.rule(
            'actions:cancel_without_rollback',
            base.MEMBER,
            'Cancel what is done with a stack.',
            _ACTIONS,
        ),
    ]
