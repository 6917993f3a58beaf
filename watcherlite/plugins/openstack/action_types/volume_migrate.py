"""The action type that moves a volume to another pool or type."""

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.outcomes import Failed, Outcome, Skipped
from watcherlite.plugins import base
from watcherlite.plugins.openstack import errors
from watcherlite.plugins.openstack.action_types import servers
from watcherlite.plugins.openstack.action_types.cloud_action import (
    FORMER,
    GOAL,
    NAME,
    OPTIONAL_NAME,
    STEP,
    UUID,
    WAITING,
    CloudAction,
    Goal,
)

if TYPE_CHECKING:
    from openstack.block_storage.v3.volume import Volume

BLOCK_STORAGE = 'block storage'
MIGRATE, RETYPE, SWAP = 'migrate', 'retype', 'swap'
#: The keys of the goal: a pool or a type.
VOLUME, POOL, TYPE = 'volume', 'pool', 'type'
#: Statuses of volumes without a change in progress.
_SETTLED = frozenset({'available', 'in-use'})
_MIGRATING = frozenset({'starting', 'migrating', 'completing'})
#: Statuses of servers that cinder can have nova copy a volume of.
_COPYING = frozenset({'ACTIVE', 'PAUSED'})
BACKEND = 'volume_backend_name'
#: The task of nova that replaces an attached volume.
SWAP_ACTION = 'swap_volume'
#: The key of a token with the time until which the end of this task is awaited.
UNTIL = 'until'
#: Seconds; then the task is assumed to be lost.
COPY_LIMIT = 60


class VolumeMigrate(CloudAction['Volume']):
    """Move a volume to another pool, or change its type."""

    description = 'Moves a volume to another pool, or changes its type.'
    # As the resource types name it.
    service = 'block_storage'
    is_cloud_wide = True
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'resource_id': {**UUID, 'description': 'the volume'},
            'resource_name': {**NAME, 'description': 'its name, for readers'},
            'migration_type': {'type': 'string', 'enum': [SWAP, RETYPE, MIGRATE]},
            'destination_node': {
                **OPTIONAL_NAME,
                'description': 'the pool, host@backend#pool: for migrate and swap',
            },
            'destination_type': {
                **OPTIONAL_NAME,
                'description': 'the volume type: for retype, and for swap without pool',
            },
        },
        'required': ['resource_id', 'migration_type'],
        'additionalProperties': False,
    }

    def validate(self, inputs: Mapping[str, Any]) -> None:
        """Refuse inputs without a destination."""
        kind = inputs['migration_type']
        places = {
            MIGRATE: ('destination_node',),
            RETYPE: ('destination_type',),
            SWAP: ('destination_node', 'destination_type'),
        }[kind]
        if not any(inputs.get(place) for place in places):
            raise exceptions.InvalidInput(
                f'input_parameters: migration_type {kind} requires '
                f'{" or ".join(places)}'
            )

    def goal(self, context: base.ActionContext) -> Goal:
        inputs = context.inputs
        pool, volume_type = inputs.get('destination_node'), None
        if inputs['migration_type'] == RETYPE or not pool:
            pool, volume_type = None, inputs['destination_type']
        return {VOLUME: inputs['resource_id'], POOL: pool, TYPE: volume_type}

    def read(self, context: base.ActionContext, goal: Goal) -> 'Volume | None':
        cloud = self.connect(context)
        try:
            with errors.translated(BLOCK_STORAGE, f'Volume {goal[VOLUME]}'):
                volume: Any = cloud.block_storage.get_volume(goal[VOLUME])
        except exceptions.NotFound:
            return None
        found: Volume = volume
        return found

    def check(self, context: base.ActionContext, goal: Goal) -> Outcome | None:
        volume = self.read(context, goal)
        if volume is None:
            return Skipped(f'Volume {goal[VOLUME]} not found')
        if self.is_continued(volume, goal):
            return None
        if goal[TYPE] is not None and volume.volume_type == goal[TYPE]:
            return Skipped(f'Volume type is already {goal[TYPE]}')
        if goal[POOL] is not None and volume.host == goal[POOL]:
            return Skipped(f'Volume is already on node {goal[POOL]}')
        return self._check_destination(context, volume, goal) or self._check_server(
            context, volume
        )

    def has_effect(self, volume: 'Volume', goal: Goal) -> bool:
        if volume.status not in _SETTLED or volume.migration_status in _MIGRATING:
            return False
        if goal[TYPE] is not None:
            return bool(volume.volume_type == goal[TYPE])
        return bool(volume.host == goal[POOL])

    def is_running(self, volume: 'Volume', goal: Goal) -> bool:
        if goal[TYPE] is not None:
            return bool(volume.status == 'retyping')
        return volume.migration_status in _MIGRATING

    def former(self, volume: 'Volume', goal: Goal) -> dict[str, Any]:
        return {'source_node': volume.host, 'source_type': volume.volume_type}

    def outputs(self, volume: 'Volume', goal: Goal) -> dict[str, Any]:
        return {
            'destination_node': volume.host,
            'destination_type': volume.volume_type,
            'status': volume.status,
        }

    def send(self, context: base.ActionContext, volume: 'Volume', goal: Goal) -> None:
        storage = self.connect(context).block_storage
        with errors.translated(BLOCK_STORAGE, f'Volume {goal[VOLUME]}'):
            if goal[TYPE] is not None:
                storage.retype_volume(
                    volume.id, goal[TYPE], migration_policy='on-demand'
                )
            else:
                storage.migrate_volume(
                    volume.id, host=goal[POOL], force_host_copy=False, lock_volume=True
                )

    def advance(
        self, context: base.ActionContext, volume: 'Volume', token: Mapping[str, Any]
    ) -> Outcome:
        goal = token[GOAL]
        if self.is_running(volume, goal) or volume.migration_status in _MIGRATING:
            return self.wait(token, token[STEP])
        return Failed(
            f'Volume {goal[VOLUME]} is on node {volume.host} with type '
            f'{volume.volume_type}, status {volume.status} and migration status '
            f'{volume.migration_status}; see the logs of cinder-scheduler and '
            'cinder-volume'
        )

    def finish(
        self, context: base.ActionContext, volume: 'Volume', token: Mapping[str, Any]
    ) -> Outcome | None:
        """Wait until nova uses the new copy of an attached volume.

        cinder reports the end a moment before. Until then the volume cannot be
        detached, nor its server changed.
        """
        former = token.get(FORMER, {})
        if not volume.attachments or former.get('source_node') == volume.host:
            return None
        until = token.get(UNTIL)
        if until is None:
            limit = context.now() + datetime.timedelta(seconds=COPY_LIMIT)
            until = limit.isoformat()
        elif context.now() >= datetime.datetime.fromisoformat(until):
            return None
        server = volume.attachments[0]['server_id']
        if not self._is_copying(context, server):
            return None
        return self.wait({**token, UNTIL: until}, WAITING)

    def cancel(self, context: base.ActionContext, token: Any) -> None:
        """Log that the volume is moved nevertheless."""
        context.log('cinder cannot abort this operation, which continues')

    def on_missing(self, goal: Goal) -> Outcome:
        return Failed(f'Volume {goal[VOLUME]} not found')

    def _check_destination(
        self, context: base.ActionContext, volume: 'Volume', goal: Goal
    ) -> Failed | None:
        """Return Failed for a pool or type that does not exist or does not fit."""
        storage = self.connect(context).block_storage
        with errors.translated(BLOCK_STORAGE, f'Volume {goal[VOLUME]}'):
            types = {item.name: item for item in storage.types()}
            if goal[TYPE] is not None:
                known = goal[TYPE] in types
                return None if known else Failed(f'Volume type {goal[TYPE]} not found')
            pools = {pool.name: pool for pool in storage.backend_pools()}
        pool = pools.get(goal[POOL])
        if pool is None:
            return Failed(f'Pool {goal[POOL]} not found')
        current = types.get(volume.volume_type)
        desired = (current.extra_specs or {}).get(BACKEND) if current else None
        offered = (pool.capabilities or {}).get(BACKEND)
        if desired is not None and offered is not None and desired != offered:
            return Failed(
                f"Volume type '{volume.volume_type}' is not compatible with "
                f"destination pool '{goal[POOL]}'"
            )
        return None

    def _check_server(
        self, context: base.ActionContext, volume: 'Volume'
    ) -> Failed | None:
        """Return Failed for a volume whose server cannot copy it."""
        if not volume.attachments:
            return None
        uuid = volume.attachments[0]['server_id']
        server = servers.find_server(self, context, uuid)
        status = 'not found' if server is None else f'in status {server.status}'
        if volume.status == 'in-use' and server and server.status in _COPYING:
            return None
        return Failed(
            f'Invalid state for swapping volume: it is {volume.status}, and its '
            f'instance {uuid} is {status}'
        )

    def _is_copying(self, context: base.ActionContext, server: str) -> bool:
        """Return whether nova is replacing a volume of a server."""
        compute = self.connect(context).compute
        try:
            with errors.translated(servers.COMPUTE, f'Instance {server}'):
                for recent in compute.server_actions(server):
                    if recent.action != SWAP_ACTION:
                        continue
                    found = compute.get_server_action(recent.request_id, server)
                    return any(event.result is None for event in found.events or ())
        except exceptions.NotFound:
            return False
        return False
