"""The rules for what is done with clusters, and what happened to them."""

from oslo_policy import policy

from watcherlite.api.policies import base

_ACTIONS = '/clustering/v1/actions'
_ONE = f'{_ACTIONS}/{{action}}'
_EVENTS = '/clustering/v1/events'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'actions:index',
            base.READER,
            'List what is done with clusters and nodes.',
            ('GET', _ACTIONS),
        ),
        base.rule('actions:get', base.READER, 'Show an action.', ('GET', _ONE)),
        base.rule(
            'actions:create',
            base.MANAGER,
            'Have an action of any type that is installed done on a cluster or node.',
            ('POST', _ACTIONS),
        ),
        base.rule(
            'actions:update',
            base.MEMBER,
            'Cancel an action, suspend it, or let it go on.',
            ('PATCH', _ONE),
        ),
        base.rule(
            'actions:force',
            base.ADMIN,
            'End an action at once, whoever works on it.',
            ('PATCH', _ONE),
        ),
        base.rule(
            'cluster_events:index',
            base.READER,
            'List what happened to clusters and nodes.',
            ('GET', _EVENTS),
        ),
        base.rule(
            'cluster_events:get',
            base.READER,
            'Show what happened once to a cluster or node.',
            ('GET', f'{_EVENTS}/{{event}}'),
        ),
    ]
