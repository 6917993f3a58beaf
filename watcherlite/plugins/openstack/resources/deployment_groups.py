"""Groups of deployments: one config applied to several servers."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.resource_results import Batch, Member, Property
from watcherlite.domain.templates.versions import KEY, NEWEST
from watcherlite.plugins.base import NestedContext, NestedHandler
from watcherlite.plugins.openstack.resources import deployments, fields
from watcherlite.plugins.resource_handlers import group_batches

#: The resource with the config, in the stack of a group.
_CONFIG = 'config'
_PLURALS = {
    'deploy_stdouts': 'deploy_stdout',
    'deploy_stderrs': 'deploy_stderr',
    'deploy_status_codes': 'deploy_status_code',
}


class SoftwareDeploymentGroup(NestedHandler):
    """A software config applied to several servers."""

    description = 'A software config applied to several servers.'
    idempotent = True
    member: ClassVar[str] = 'OS::Heat::SoftwareDeployment'
    properties: ClassVar[Mapping[str, Property]] = {
        'servers': Property(
            fields.MAP,
            'The ids of the servers, by the names of the members.',
            required=True,
            updatable=True,
        ),
        'config': deployments.CONFIG,
        **deployments.COMMON,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'deploy_stdouts': 'The standard outputs, by name.',
        'deploy_stderrs': 'The standard errors, by name.',
        'deploy_status_codes': 'The exit statuses, by name.',
    }

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate the names of the members."""
        if _CONFIG in (properties.get('servers') or {}):
            raise exceptions.StackValidationFailed(
                f'properties.servers: {_CONFIG} is the name of the config in the stack '
                'of the group; use another name'
            )

    def software_configs(self, properties: Mapping[str, Any]) -> Collection[str]:
        """Return the id of the config."""
        return deployments.config_ids(properties)

    def expand(
        self, context: NestedContext, members: Sequence[Member]
    ) -> Sequence[Batch]:
        desired = {k: v for k, v in context.properties.items() if v is not None}
        servers = desired.pop('servers', None) or {}
        resources: dict[str, Any] = {}
        if desired.get('config'):
            resources[_CONFIG] = _config(context, desired['config'])
            desired['config'] = {'get_resource': _CONFIG}
        for name, server in servers.items():
            resources[name] = {
                'type': self.member,
                'properties': {**desired, 'server': server},
            }
        return (Batch({KEY: NEWEST, 'resources': resources}),)

    def gather(
        self,
        context: NestedContext,
        members: Sequence[Member],
        outputs: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        known = sorted(
            (member for member in members if member.name != _CONFIG),
            key=lambda member: member.name,
        )
        attributes = group_batches.attributes(known)
        names = {member.name: None for member in known}
        plurals = {
            plural: {**names, **attributes.get(name, {})}
            for plural, name in _PLURALS.items()
        }
        return {**attributes, **plurals}


def _config(context: NestedContext, reference: str) -> dict[str, Any]:
    """Return the definition of a copy of a config for the stack of a group."""
    known = (context.dependencies.get(reference) or {}).get('show')
    if known is None or 'config' not in known:
        raise exceptions.Invalid(
            f'{context.resource_name}: {deployments.NO_CONFIG.format(reference)}'
        )
    values = {name: known[name] for name in ('options', 'inputs', 'outputs')}
    if known['group'] == deployments.COMPONENT:
        return {
            'type': 'OS::Heat::SoftwareComponent',
            'properties': {**values, **known['config']},
        }
    structured = isinstance(known['config'], Mapping)
    kind = 'OS::Heat::StructuredConfig' if structured else 'OS::Heat::SoftwareConfig'
    return {
        'type': kind,
        'properties': {**values, 'group': known['group'], 'config': known['config']},
    }


class StructuredDeploymentGroup(SoftwareDeploymentGroup):
    """A structured config applied to several servers."""

    description = 'A structured config with inputs, applied to several servers.'
    member = 'OS::Heat::StructuredDeployment'
    properties: ClassVar[Mapping[str, Property]] = {
        **SoftwareDeploymentGroup.properties,
        **deployments.STRUCTURED,
    }
