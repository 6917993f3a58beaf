"""The rules for nodes; their names are those of Senlin."""

from oslo_policy import policy

from watcherlite.api.policies import base

_NODES = '/clustering/v1/nodes'
_ONE = f'{_NODES}/{{node}}'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule('nodes:index', base.READER, 'List nodes.', ('GET', _NODES)),
        base.rule('nodes:get', base.READER, 'Show a node.', ('GET', _ONE)),
        base.rule('nodes:create', base.MEMBER, 'Create a node.', ('POST', _NODES)),
        base.rule(
            'nodes:adopt',
            base.MEMBER,
            'Make a node of something that is there.',
            ('POST', f'{_NODES}/adopt'),
        ),
        base.rule(
            'nodes:adopt-preview',
            base.MEMBER,
            'Show the profile of what would be adopted.',
            ('POST', f'{_NODES}/adopt-preview'),
        ),
        base.rule('nodes:update', base.MEMBER, 'Update a node.', ('PATCH', _ONE)),
        base.rule('nodes:delete', base.MEMBER, 'Delete a node.', ('DELETE', _ONE)),
        base.rule(
            'nodes:action',
            base.MEMBER,
            'Check or recover a node, or say that it is unhealthy.',
            ('POST', f'{_ONE}/actions'),
        ),
        base.rule(
            'nodes:operation',
            base.MEMBER,
            'Do an operation of its profile with a node.',
            ('POST', f'{_ONE}/ops'),
        ),
    ]
