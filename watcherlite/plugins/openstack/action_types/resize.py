"""The action type that changes the flavor of a server."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Failed, Outcome, Skipped
from watcherlite.plugins import base
from watcherlite.plugins.openstack import errors
from watcherlite.plugins.openstack.action_types.cloud_action import NAME, UUID, Goal
from watcherlite.plugins.openstack.action_types.servers import (
    COMPUTE,
    SERVER,
    ResizedAction,
    is_settled,
)

if TYPE_CHECKING:
    from openstack.compute.v2.server import Server

#: The keys of the goal: what was requested, and the flavor with its size.
FLAVOR, SIZE = 'flavor', 'size'
_MEASURES = ('name', 'vcpus', 'ram', 'disk')


class Resize(ResizedAction):
    """Change the flavor of a server, and confirm it."""

    description = 'Changes the flavor of a server.'
    nova_actions = ('resize',)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'resource_id': {**UUID, 'description': 'the server'},
            'flavor': {**NAME, 'description': 'id or name of the new flavor'},
        },
        'required': ['resource_id', 'flavor'],
        'additionalProperties': False,
    }

    def goal(self, context: base.ActionContext) -> Goal:
        inputs = context.inputs
        return {SERVER: inputs['resource_id'], FLAVOR: inputs['flavor']}

    def resolve(self, context: base.ActionContext, goal: Goal) -> Goal:
        """Return the goal with the size of its flavor; None: it does not exist.

        The authority of the service includes private flavors. A creator limited to a
        project may use the public ones only.
        """
        public = 'None' if context.creator.everywhere else 'True'
        compute, desired = self.connect(context).compute, goal[FLAVOR]
        with errors.translated(COMPUTE, f'Flavor {desired}'):
            flavors = list(compute.flavors(is_public=public))
        found = next(
            (f for f in flavors if f.id == desired),
            next((f for f in flavors if f.name == desired), None),
        )
        if found is None:
            return {**goal, SIZE: None}
        measures = {name: getattr(found, name) for name in _MEASURES}
        return {**goal, SIZE: {'id': found.id, **measures}}

    def check_server(
        self, context: base.ActionContext, server: 'Server', goal: Goal
    ) -> Outcome | None:
        if goal[SIZE] is None:
            return Failed(f'Flavor {goal[FLAVOR]} not found')
        if _has_size(server, goal):
            return Skipped(
                f'Instance {goal[SERVER]} already has flavor {goal[SIZE]["name"]}'
            )
        return None

    def has_effect(self, server: 'Server', goal: Goal) -> bool:
        return is_settled(server) and _has_size(server, goal)

    def is_resized(self, server: 'Server', goal: Goal) -> bool:
        return _has_size(server, goal)

    def former(self, server: 'Server', goal: Goal) -> dict[str, Any]:
        return {'former_flavor': server.flavor.name}

    def outputs(self, server: 'Server', goal: Goal) -> dict[str, Any]:
        return {'flavor': server.flavor.name, 'status': server.status}

    def send(self, context: base.ActionContext, server: 'Server', goal: Goal) -> None:
        if goal[SIZE] is None:
            raise exceptions.NotFound(f'Flavor {goal[FLAVOR]} not found')
        with errors.translated(COMPUTE, f'Instance {server.id}'):
            self.connect(context).compute.resize_server(server.id, goal[SIZE]['id'])

    def describe_failure(self, server: 'Server', goal: Goal) -> str:
        return (
            f'Resize of instance {server.id} to flavor {goal[SIZE]["name"]} failed: it '
            f'has flavor {server.flavor.name} and status {server.status}'
        )

    def revert(self, context: base.ActionContext) -> Outcome:
        """Resize the server to its former flavor."""
        uuid = context.inputs['resource_id']
        former = (context.outputs or {}).get('former_flavor')
        if former is None:
            return Failed(
                f'The former flavor of instance {uuid} is not known, because a worker '
                'was lost during the resize'
            )
        return self.change(context, {SERVER: uuid, FLAVOR: former})


def _has_size(server: 'Server', goal: Goal) -> bool:
    """Return whether a server has the flavor; nova does not show its id."""
    size = goal[SIZE]
    return size is not None and all(
        getattr(server.flavor, name) == size[name] for name in _MEASURES
    )
