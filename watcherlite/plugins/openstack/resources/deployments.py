"""Deployments: configurations applied to servers.

A server reads its deployments in its metadata, see `domain.stacks`, and signals
their results to a URL with a token, as heat-config does.
"""

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain import bearer_tokens, resource_results
from watcherlite.domain.resource_results import (
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.domain.software import (
    HTTP_SIGNAL,
    MAX_SIZE,
    NO_SIGNAL,
    RECEIVED,
    STATUS_CODE,
    TRANSPORT,
    UNGROUPED,
    derive_inputs,
    read_signal,
)
from watcherlite.domain.stacks import DEPLOYMENT, SERVER
from watcherlite.plugins.base import ResourceContext, ResourceHandler
from watcherlite.plugins.openstack.resources import fields, software
from watcherlite.plugins.resource_handlers import scaling_policy
from watcherlite.plugins.resource_handlers.errors import ResourceFault

TRANSPORTS = (HTTP_SIGNAL, 'TEMP_URL_SIGNAL', 'HEAT_SIGNAL', NO_SIGNAL, 'ZAQAR_SIGNAL')
COMPONENT = 'component'
#: In the attributes: the id of the deployment that they are the results of, and why it
#: failed.
_SIGNALLED, _FAILURE = 'deployment_id', 'failure'
#: The pauses between two looks for the signal, in seconds.
_SHORTEST, _LONGEST = 1.0, 5.0
#: The error for a config that does not exist.
NO_CONFIG = (
    '{} is neither the value of get_resource of a software config of this template nor '
    'the id of one of this project'
)

CONFIG = Property(
    fields.TEXT,
    'The config: its value of get_resource, or its id, also one of the API or of '
    'another stack of the project. Without one, only the inputs are passed.',
    updatable=True,
)
COMMON: Mapping[str, Property] = {
    'input_values': Property(
        fields.MAP, 'The values of the inputs, and further inputs.', updatable=True
    ),
    'actions': Property(
        {
            **fields.items(fields.one_of(*software.ACTIONS)),
            'default': list(software.DEFAULT_ACTIONS),
        },
        'The operations that deploy it.',
        updatable=True,
    ),
    'name': Property(
        fields.TEXT,
        'The name, by which the deployments of a server are sorted.',
        updatable=True,
    ),
    'signal_transport': Property(
        {**fields.one_of(*TRANSPORTS), 'default': HTTP_SIGNAL},
        'With NO_SIGNAL it is complete at once. All others are for templates of other '
        'services: the results are always signalled by HTTP to a URL with a token.',
    ),
}
STRUCTURED: Mapping[str, Property] = {
    'input_key': Property(
        {**fields.TEXT, 'default': 'get_input'},
        'The key of the mappings in the config that are replaced by an input.',
    ),
    'input_values_validate': Property(
        {**fields.one_of('LAX', 'STRICT'), 'default': 'LAX'},
        'With STRICT, an input without a value is an error.',
    ),
}


class SoftwareDeployment(ResourceHandler):
    """A software config applied to a server."""

    description = 'A software config applied to a server.'
    idempotent = True
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        'config': CONFIG,
        'server': Property(fields.TEXT, 'The id of the server.', required=True),
        **COMMON,
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'deploy_stdout': 'The standard output.',
        'deploy_stderr': 'The standard error.',
        STATUS_CODE: 'The exit status.',
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return scaling_policy.OPTIONS

    def software_configs(self, properties: Mapping[str, Any]) -> Collection[str]:
        """Return the id of the config."""
        return config_ids(properties)

    def attribute_names(self, properties: Mapping[str, Any]) -> None:
        """Return None: the outputs of the config are attributes, too."""
        return

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Deploy it again if it has failed; a new server needs a new deployment."""
        decided = resource_results.decide(self, before, after, failed=False)
        if failed and decided == resource_results.KEEP:
            return resource_results.UPDATE
        return decided

    def create(self, context: ResourceContext) -> Result:
        return self._deploy(context, 'CREATE', _source(context))

    def update(self, context: ResourceContext) -> Result:
        return self._deploy(context, 'UPDATE', _source(context))

    def suspend(self, context: ResourceContext) -> Result:
        """Deploy it if it has the action SUSPEND."""
        return self._deploy(context, 'SUSPEND', context.data.get('source') or {})

    def resume(self, context: ResourceContext) -> Result:
        """Deploy it if it has the action RESUME."""
        return self._deploy(context, 'RESUME', context.data.get('source') or {})

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> Result:
        """Deploy it if it has the action DELETE, and was deployed before."""
        if not context.data.get('source'):
            return None
        return self._deploy(context, 'DELETE', context.data['source'])

    def signal(self, context: ResourceContext, details: Mapping[str, Any]) -> Ready:
        """Store the results of the current deployment."""
        deployment = context.data.get(DEPLOYMENT)
        if deployment is None or _is_signalled(context, deployment['id']):
            return Ready(reason='It waits for no signal')
        if len(json.dumps(details)) > MAX_SIZE:
            raise exceptions.Invalid(
                f'{context.resource_name}: the signal is longer than {MAX_SIZE} '
                'characters'
            )
        outputs = deployment['outputs']
        values, failure = read_signal(outputs, details)
        results: dict[str, Any] = {
            **dict.fromkeys(output['name'] for output in outputs),
            **values,
            _SIGNALLED: deployment['id'],
            _FAILURE: failure,
        }
        return Ready(attributes=results, reason=failure or RECEIVED)

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        """Return Ready once the results have arrived; raise for a failure."""
        if _is_signalled(context, token['deployment']):
            failure = context.attributes.get(_FAILURE)
            if failure:
                raise ResourceFault(f'Deployment to server failed: {failure}')
            return Ready(context.physical_id)
        polls = token.get('polls', 0) + 1
        return ResourceInProgress(
            {**token, 'polls': polls}, min(_LONGEST, _SHORTEST + polls * 0.1)
        )

    def config_for(
        self, context: ResourceContext, source: Mapping[str, Any], action: str
    ) -> Any:
        """Return the config for an action."""
        return source.get('config') or ''

    def _deploy(
        self, context: ResourceContext, action: str, source: Mapping[str, Any]
    ) -> Result:
        """Publish the deployment for an action; wait for its results, if it has any."""
        physical_id = context.physical_id or str(uuid.uuid4())
        if action not in _actions(context, source):
            unchanged = {**context.data, 'source': dict(source)}
            return Ready(physical_id, context.attributes, unchanged)
        token = bearer_tokens.new_token()
        waits = context.properties['signal_transport'] != NO_SIGNAL
        deployment = {
            'id': str(uuid.uuid4()),
            'name': context.properties.get('name')
            or source.get('name')
            or context.physical_name,
            'group': source.get('group') or UNGROUPED,
            'options': source.get('options') or {},
            'outputs': source.get('outputs') or [],
            'inputs': self._inputs(context, action, source, token),
            SERVER: context.properties['server'],
        }
        inputs = {item['name']: item.get('value') for item in deployment['inputs']}
        deployment['config'] = self.config_for(
            context, {**source, 'values': inputs}, action
        )
        data: dict[str, Any] = {DEPLOYMENT: deployment, 'source': dict(source)}
        if not waits:
            return Ready(physical_id, {}, data)
        data[bearer_tokens.SIGNAL_DIGEST] = bearer_tokens.digest_of(token)
        return ResourceInProgress(
            {'deployment': deployment['id']}, _SHORTEST, physical_id, data
        )

    def _inputs(
        self,
        context: ResourceContext,
        action: str,
        source: Mapping[str, Any],
        token: str,
    ) -> list[dict[str, Any]]:
        """Return the inputs of the config, and those of the action, with values."""
        transport = context.properties['signal_transport']
        own = {
            'deploy_server_id': context.properties['server'],
            'deploy_action': action,
            'deploy_stack_id': f'{context.stack_name}/{context.stack_uuid}',
            'deploy_resource_name': context.resource_name,
            TRANSPORT: transport,
        }
        if transport != NO_SIGNAL:
            path = scaling_policy.PATH.format(
                quote(context.stack_uuid, safe=''),
                quote(context.resource_name, safe=''),
                bearer_tokens.ARGUMENT,
                token,
            )
            own |= {
                TRANSPORT: HTTP_SIGNAL,
                'deploy_signal_id': self.options.endpoint.rstrip('/') + path,
                'deploy_signal_verb': 'POST',
            }
        values = context.properties.get('input_values') or {}
        return derive_inputs(source.get('inputs') or (), {**values, **own})


def config_ids(properties: Mapping[str, Any]) -> Collection[str]:
    """Return the ids of the configs in the properties of a deployment or a group."""
    config = properties.get('config')
    return [config] if config else []


def _is_signalled(context: ResourceContext, deployment_id: str) -> bool:
    return context.attributes.get(_SIGNALLED) == deployment_id


def _source(context: ResourceContext) -> dict[str, Any]:
    """Return the config that is deployed, empty without one."""
    desired = context.properties.get('config')
    if not desired:
        return {}
    known = context.dependencies.get(desired) or {}
    if 'config' not in known or 'show' not in known:
        raise ResourceFault(NO_CONFIG.format(desired))
    return dict(known['show'])


def _actions(context: ResourceContext, source: Mapping[str, Any]) -> set[str]:
    """Return the actions for which a config is deployed."""
    if source.get('group') == COMPONENT:
        configs = source['config']['configs']
        return {
            action
            for item in configs
            for action in item.get('actions') or software.DEFAULT_ACTIONS
        }
    return set(context.properties['actions'])


class StructuredDeployment(SoftwareDeployment):
    """A structured config applied to a server, with inputs in the place of mappings."""

    description = 'A structured config with inputs, applied to a server.'
    properties: ClassVar[Mapping[str, Property]] = {
        **SoftwareDeployment.properties,
        **STRUCTURED,
    }

    def config_for(
        self, context: ResourceContext, source: Mapping[str, Any], action: str
    ) -> Any:
        return self._filled(context, source.get('config') or {}, source['values'])

    def _filled(
        self, context: ResourceContext, value: Any, inputs: Mapping[str, Any]
    ) -> Any:
        """Return a part of the config, with inputs in the place of mappings."""
        if isinstance(value, list):
            return [self._filled(context, item, inputs) for item in value]
        if not isinstance(value, dict):
            return value
        name = value.get(context.properties['input_key'])
        if len(value) != 1 or not isinstance(name, str):
            return {k: self._filled(context, v, inputs) for k, v in value.items()}
        strict = context.properties['input_values_validate'] == 'STRICT'
        if strict and name not in inputs:
            raise ResourceFault(
                f'{context.resource_name}: the input {name} of the config has no '
                'value; set it in input_values'
            )
        return inputs.get(name)
