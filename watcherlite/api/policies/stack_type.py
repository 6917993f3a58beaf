"""The rules for what stacks can be made of; names and defaults are Heat's."""

from oslo_policy import policy

from watcherlite.api.policies import base

_PROJECT = '/orchestration/v1/{tenant}'
_TYPES = f'{_PROJECT}/resource_types'
_VERSIONS = f'{_PROJECT}/template_versions'


def list_rules() -> list[policy.RuleDefault]:
    """Return the rules."""
    return [
        base.rule(
            'stacks:list_resource_types',
            base.READER,
            'List the types of resources.',
            ('GET', _TYPES),
        ),
        base.rule(
            'stacks:resource_schema',
            base.READER,
            'Show what a type of resources declares.',
            ('GET', f'{_TYPES}/{{type_name}}'),
        ),
        base.rule(
            'stacks:generate_template',
            base.MEMBER,
            'Show a template of one resource of a type.',
            ('GET', f'{_TYPES}/{{type_name}}/template'),
        ),
        base.rule(
            'stacks:list_template_versions',
            base.READER,
            'List the versions of templates.',
            ('GET', _VERSIONS),
        ),
        base.rule(
            'stacks:list_template_functions',
            base.READER,
            'List the functions of a version of templates.',
            ('GET', f'{_VERSIONS}/{{template_version}}/functions'),
        ),
        base.rule(
            'stacks:validate_template',
            base.MEMBER,
            'Say whether a template is valid.',
            ('POST', f'{_PROJECT}/validate'),
        ),
        base.rule(
            'build_info:build_info',
            base.READER,
            'Show which release this is.',
            ('GET', f'{_PROJECT}/build_info'),
            ('GET', '/clustering/v1/build-info'),
        ),
        base.rule(
            'service:index',
            base.ADMIN,
            'List the engines that work on stacks.',
            ('GET', f'{_PROJECT}/services'),
        ),
    ]
