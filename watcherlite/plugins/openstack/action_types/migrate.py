"""The action type that moves a server to another host."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Failed, Outcome, Skipped
from watcherlite.plugins import base
from watcherlite.plugins.openstack import delays, errors
from watcherlite.plugins.openstack.action_types import compute_service
from watcherlite.plugins.openstack.action_types.cloud_action import (
    GOAL,
    NAME,
    OPTIONAL_NAME,
    UUID,
    Goal,
)
from watcherlite.plugins.openstack.action_types.servers import (
    ACTIVE,
    COMPUTE,
    SERVER,
    ResizedAction,
    abort_live_migration,
    is_settled,
)

if TYPE_CHECKING:
    from openstack.compute.v2.server import Server

LIVE, COLD = 'live', 'cold'
#: The keys of the goal.
TYPE, SOURCE, DESTINATION = 'type', 'source', 'destination'
#: Seconds before each retry to abort a live migration.
ABORT_PAUSES = (0.2, 0.4, 0.8, 1.6)
MIGRATING = 'migrating'
#: Statuses in which nova migrates a server live.
LIVE_STATUSES = (ACTIVE, 'PAUSED')


class Migrate(ResizedAction):
    """Move a server away from a host, to a given one or as nova chooses."""

    description = 'Moves a server from one compute host to another.'
    is_cloud_wide = True
    nova_actions = ('live-migration', 'migrate')
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'migration_type': {'type': 'string', 'enum': [LIVE, COLD]},
            'resource_id': {**UUID, 'description': 'the server'},
            'resource_name': {**NAME, 'description': 'its name, for readers'},
            'source_node': {**NAME, 'description': 'the host that it must leave'},
            'destination_node': {
                **OPTIONAL_NAME,
                'description': 'the host that it moves to; by default nova chooses',
            },
        },
        'required': ['migration_type', 'resource_id', 'source_node'],
        'additionalProperties': False,
    }

    def goal(self, context: base.ActionContext) -> Goal:
        inputs = context.inputs
        return {
            SERVER: inputs['resource_id'],
            TYPE: inputs['migration_type'],
            SOURCE: inputs['source_node'],
            DESTINATION: inputs.get('destination_node'),
        }

    def check_server(
        self, context: base.ActionContext, server: 'Server', goal: Goal
    ) -> Outcome | None:
        uuid, host, destination = goal[SERVER], _host(server), goal[DESTINATION]
        if host != goal[SOURCE]:
            return Skipped(
                f'Instance {uuid} is not running on source node {goal[SOURCE]} '
                f'(currently on {host})'
            )
        if host == destination:
            return Skipped(f'Instance {uuid} is already on node {destination}')
        if destination is not None:
            service = compute_service.find(self, context, host=destination)
            if service is None:
                return Failed(f'Destination node {destination} not found')
            if service.status != compute_service.ENABLED:
                return Failed(f'Destination node {destination} is not in enabled state')
        if goal[TYPE] == LIVE and server.status not in LIVE_STATUSES:
            return Failed(
                f'Live migration requires instance {uuid} to be in status '
                f'{" or ".join(LIVE_STATUSES)} (current status: {server.status})'
            )
        return None

    def has_effect(self, server: 'Server', goal: Goal) -> bool:
        return is_settled(server) and _has_moved(server, goal)

    def is_running(self, server: 'Server', goal: Goal) -> bool:
        if goal[TYPE] == LIVE:
            return bool(server.task_state == MIGRATING)
        return super().is_running(server, goal)

    def is_resized(self, server: 'Server', goal: Goal) -> bool:
        return goal[TYPE] == COLD and _has_moved(server, goal)

    def former(self, server: 'Server', goal: Goal) -> dict[str, Any]:
        return {'source_node': _host(server)}

    def outputs(self, server: 'Server', goal: Goal) -> dict[str, Any]:
        return {'destination_node': _host(server), 'status': server.status}

    def send(self, context: base.ActionContext, server: 'Server', goal: Goal) -> None:
        compute = self.connect(context).compute
        with errors.translated(COMPUTE, f'Instance {server.id}'):
            if goal[TYPE] == LIVE:
                compute.live_migrate_server(
                    server.id, host=goal[DESTINATION], block_migration='auto'
                )
            else:
                compute.migrate_server(server.id, host=goal[DESTINATION])

    def describe_failure(self, server: 'Server', goal: Goal) -> str:
        kind = 'Live' if goal[TYPE] == LIVE else 'Cold'
        return (
            f'{kind} migration of instance {server.id} failed: it is on node '
            f'{_host(server)} in status {server.status}'
        )

    def sleep(self, seconds: float) -> None:
        """Wait between two tries to abort a migration."""
        time.sleep(seconds)

    def cancel(self, context: base.ActionContext, token: Any) -> None:
        goal = delays.inner_token(token)[GOAL]
        if goal[TYPE] == LIVE:
            abort_live_migration(self, context, goal[SERVER], ABORT_PAUSES, self.sleep)
        else:
            super().cancel(context, token)

    def revert(self, context: base.ActionContext) -> Outcome:
        """Move the server back to the source node."""
        outputs = context.outputs or {}
        goal = self.goal(context)
        back = {
            **goal,
            SOURCE: outputs.get('destination_node', goal[DESTINATION]),
            DESTINATION: goal[SOURCE],
        }
        return self.change(context, back)


def _host(server: 'Server') -> str | None:
    """Return the host of a server.

    :raises Forbidden: nova does not show it to the user of the service
    """
    if server.compute_host is None and server.instance_name is None:
        raise exceptions.Forbidden(
            f'The host of instance {server.id} is hidden: give the user of [openstack] '
            'a role that permits os_compute_api:os-extended-server-attributes'
        )
    host: str | None = server.compute_host
    return host


def _has_moved(server: 'Server', goal: Goal) -> bool:
    host = _host(server)
    if goal[DESTINATION] is not None:
        return host == goal[DESTINATION]
    return host is not None and host != goal[SOURCE]
