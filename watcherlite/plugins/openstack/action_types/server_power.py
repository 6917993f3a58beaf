"""The action types that stop and start servers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite.domain.outcomes import Done, Outcome, Skipped
from watcherlite.plugins import base
from watcherlite.plugins.openstack import errors
from watcherlite.plugins.openstack.action_types.cloud_action import UUID, Goal
from watcherlite.plugins.openstack.action_types.servers import (
    ACTIVE,
    COMPUTE,
    SERVER,
    SHUTOFF,
    ServerAction,
    is_settled,
)

if TYPE_CHECKING:
    from openstack.compute.v2.server import Server

#: The key of the goal: the status to reach.
STATUS = 'status'
_OPPOSITE = {ACTIVE: SHUTOFF, SHUTOFF: ACTIVE}
_IN_WORDS = {ACTIVE: 'started', SHUTOFF: 'stopped'}


class ServerPowerAction(ServerAction):
    """Stops or starts a server.

    :cvar status: the status to reach
    """

    status: ClassVar[str]
    nova_actions = ('stop', 'start')
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {'resource_id': {**UUID, 'description': 'the server'}},
        'required': ['resource_id'],
        'additionalProperties': False,
    }

    def goal(self, context: base.ActionContext) -> Goal:
        return {SERVER: context.inputs['resource_id'], STATUS: self.status}

    def check_server(
        self, context: base.ActionContext, server: 'Server', goal: Goal
    ) -> Outcome | None:
        if self.has_effect(server, goal):
            return Skipped(
                f'Instance {goal[SERVER]} is already {_IN_WORDS[goal[STATUS]]}'
            )
        return None

    def has_effect(self, server: 'Server', goal: Goal) -> bool:
        return is_settled(server) and server.status == goal[STATUS]

    def is_running(self, server: 'Server', goal: Goal) -> bool:
        task = 'powering-off' if goal[STATUS] == SHUTOFF else 'powering-on'
        return bool(server.task_state == task)

    def outputs(self, server: 'Server', goal: Goal) -> dict[str, Any]:
        return {'status': server.status}

    def send(self, context: base.ActionContext, server: 'Server', goal: Goal) -> None:
        compute = self.connect(context).compute
        with errors.translated(COMPUTE, f'Instance {server.id}'):
            if goal[STATUS] == SHUTOFF:
                compute.stop_server(server.id)
            else:
                compute.start_server(server.id)

    def describe_failure(self, server: 'Server', goal: Goal) -> str:
        return (
            f'Instance {server.id} is not {_IN_WORDS[goal[STATUS]]}: it is in status '
            f'{server.status}'
        )

    def revert(self, context: base.ActionContext) -> Outcome:
        """Return the server to the opposite status."""
        goal = self.goal(context)
        return self.change(context, {**goal, STATUS: _OPPOSITE[goal[STATUS]]})


class Stop(ServerPowerAction):
    """Stop a server."""

    description = 'Stops a server.'
    status = SHUTOFF

    def on_missing(self, goal: Goal) -> Outcome:
        """Return success of a stop: a deleted server does not run."""
        if goal[STATUS] == SHUTOFF:
            return Done({STATUS: 'DELETED'})
        return super().on_missing(goal)


class Start(ServerPowerAction):
    """Start a stopped server."""

    description = 'Starts a stopped server.'
    status = ACTIVE
