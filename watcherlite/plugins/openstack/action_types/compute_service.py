"""The action type that enables and disables a nova-compute service."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Failed, Outcome, Skipped
from watcherlite.plugins import base
from watcherlite.plugins.openstack import errors
from watcherlite.plugins.openstack.action_types.cloud_action import (
    NAME,
    CloudAction,
    Goal,
)

if TYPE_CHECKING:
    from openstack.compute.v2.service import Service

COMPUTE = 'compute'
BINARY = 'nova-compute'
ENABLED, DISABLED = 'enabled', 'disabled'
_OPPOSITE = {ENABLED: DISABLED, DISABLED: ENABLED}
#: The keys of the goal.
ID, HOST, STATE, REASON = 'id', 'host', 'state', 'disabled_reason'


def find(
    action: CloudAction,
    context: base.ActionContext,
    host: str | None = None,
    service_id: str | None = None,
) -> Any:
    """Return the nova-compute service of a host; None: it does not exist.

    :param service_id: the id of the service, or its host, if `host` is None
    """
    cloud = action.connect(context)
    query = {'binary': BINARY} if host is None else {'binary': BINARY, 'host': host}
    with errors.translated(COMPUTE, f'{BINARY} service {host or service_id}'):
        for service in cloud.compute.services(**query):
            if host is not None and service.host == host:
                return service
            if host is None and service_id in (service.id, service.host):
                return service
    return None


class ChangeNovaServiceState(CloudAction['Service']):
    """Enable or disable the nova-compute service of a host."""

    description = (
        'Enables or disables a nova-compute service; nova places no new servers on the '
        'host of a disabled one.'
    )
    service = COMPUTE
    is_cloud_wide = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'resource_id': {**NAME, 'description': 'the service: its id or host'},
            'resource_name': {**NAME, 'description': 'the host of the service'},
            'state': {'type': 'string', 'enum': ['up', 'down', ENABLED, DISABLED]},
            'disabled_reason': {**NAME, 'description': 'for operators'},
        },
        'required': ['resource_id', 'state'],
        'additionalProperties': False,
    }

    def validate(self, inputs: Mapping[str, Any]) -> None:
        """Refuse the states that nova reports, but that cannot be requested."""
        if inputs['state'] not in _OPPOSITE:
            raise exceptions.InvalidInput(
                f'input_parameters.state: {inputs["state"]} cannot be requested; use '
                f'{ENABLED} or {DISABLED}'
            )

    def goal(self, context: base.ActionContext) -> Goal:
        inputs = context.inputs
        return {
            ID: inputs['resource_id'],
            HOST: inputs.get('resource_name'),
            STATE: inputs['state'],
            REASON: inputs.get('disabled_reason'),
        }

    def read(self, context: base.ActionContext, goal: Goal) -> 'Service | None':
        service: Service | None = find(self, context, goal[HOST], goal[ID])
        return service

    def check(self, context: base.ActionContext, goal: Goal) -> Outcome | None:
        service = self.read(context, goal)
        name = goal[HOST] or goal[ID]
        if service is None:
            return Skipped(f'{BINARY} service {name} not found')
        if self.has_effect(service, goal) and not self.was_started:
            return Skipped(f'{BINARY} service {name} is already in state {goal[STATE]}')
        return None

    def has_effect(self, service: 'Service', goal: Goal) -> bool:
        return bool(service.status == goal[STATE])

    def former(self, service: 'Service', goal: Goal) -> dict[str, Any]:
        reason = service.disabled_reason
        return {} if reason is None else {'former_disabled_reason': reason}

    def outputs(self, service: 'Service', goal: Goal) -> dict[str, Any]:
        return {'host': service.host, 'state': service.status}

    def send(
        self, context: base.ActionContext, service: 'Service', goal: Goal
    ) -> dict[str, Any]:
        compute = self.connect(context).compute
        with errors.translated(COMPUTE, f'{BINARY} service {service.host}'):
            if goal[STATE] == ENABLED:
                compute.enable_service(service.id)
            else:
                compute.disable_service(service.id, disabled_reason=goal[REASON])
        return {'host': service.host, 'state': goal[STATE]}

    def on_missing(self, goal: Goal) -> Outcome:
        return Failed(f'{BINARY} service {goal[HOST] or goal[ID]} not found')

    def revert(self, context: base.ActionContext) -> Outcome:
        """Return the service to its former state, with the former reason."""
        goal = self.goal(context)
        reason = (context.outputs or {}).get('former_disabled_reason')
        return self.change(
            context, {**goal, STATE: _OPPOSITE[goal[STATE]], REASON: reason}
        )
