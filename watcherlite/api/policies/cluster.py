"""The rules for clusters; their names are those of Senlin."""

from oslo_policy import policy

from watcherlite.api.policies import base

_ROOT = '/clustering/v1'
_CLUSTERS = f'{_ROOT}/clusters'
_ONE = f'{_CLUSTERS}/{{cluster}}'
_LISTED = (
    *('actions', 'clusters', 'events', 'nodes', 'policies', 'profiles'),
    'receivers',
)


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule('clusters:index', base.READER, 'List clusters.', ('GET', _CLUSTERS)),
        base.rule('clusters:get', base.READER, 'Show a cluster.', ('GET', _ONE)),
        base.rule(
            'clusters:create', base.MEMBER, 'Create a cluster.', ('POST', _CLUSTERS)
        ),
        base.rule('clusters:update', base.MEMBER, 'Update a cluster.', ('PATCH', _ONE)),
        base.rule(
            'clusters:delete', base.MEMBER, 'Delete a cluster.', ('DELETE', _ONE)
        ),
        base.rule(
            'clusters:action',
            base.MEMBER,
            'Scale, resize, check or recover a cluster; let nodes or policies come or '
            'go.',
            ('POST', f'{_ONE}/actions'),
        ),
        base.rule(
            'clusters:operation',
            base.MEMBER,
            'Do an operation of the profile with the nodes of a cluster.',
            ('POST', f'{_ONE}/ops'),
        ),
        base.rule(
            'clusters:collect',
            base.READER,
            'Collect values from the nodes of a cluster.',
            ('GET', f'{_ONE}/attrs/{{path}}'),
        ),
        base.rule(
            'cluster_policies:index',
            base.READER,
            'List what a cluster is bound to.',
            ('GET', f'{_ONE}/policies'),
        ),
        base.rule(
            'cluster_policies:get',
            base.READER,
            'Show what binds a cluster to a policy.',
            ('GET', f'{_ONE}/policies/{{policy}}'),
        ),
        base.rule(
            'clustering:all_projects',
            base.ADMIN,
            'List what there is in all projects.',
            *(('GET', f'{_ROOT}/{noun}') for noun in _LISTED),
        ),
        base.rule(
            'services:index',
            base.ADMIN,
            'List the engines that work on clusters.',
            ('GET', f'{_ROOT}/services'),
        ),
    ]
