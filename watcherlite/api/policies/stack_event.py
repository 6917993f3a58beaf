"""The rules for events of stacks; names and defaults are Heat's."""

from oslo_policy import policy

from watcherlite.api.policies import base

_STACK = '/orchestration/v1/{tenant}/stacks/{stack_name}/{stack_id}'
_RESOURCE = f'{_STACK}/resources/{{resource_name}}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'events:index',
            base.READER,
            'List the events of a stack or of a resource.',
            ('GET', f'{_STACK}/events'),
            ('GET', f'{_RESOURCE}/events'),
        ),
        base.rule(
            'events:show',
            base.READER,
            'Show an event of a resource.',
            ('GET', f'{_RESOURCE}/events/{{event_id}}'),
        ),
    ]
