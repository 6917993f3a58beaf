"""The changes of the storage model by notifications of cinder.

They are not versioned. A volume in them has the id of its type, and whether it is
bootable only as metadata of an image. The migration of a volume has none, nor has the
deletion of the copy that remains. But the reports of the capacity of pools show it: one
lost capacity, and no notification about a volume accounts for it.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.plugins.openstack.models import storage
from watcherlite.plugins.openstack.models.storage import Pool, StorageSnapshot, Volume

_CREATED = frozenset({'volume.create.end', 'volume.manage_existing.end'})
_REMOVED = frozenset({'volume.delete.end', 'volume.unmanage.end'})
_RETYPED = 'volume.retype'
_SNAPSHOT_CREATED = 'snapshot.create.end'
_SNAPSHOT_DELETED = 'snapshot.delete.end'
_CAPACITY = 'capacity.pool'
EVENT_TYPES = (
    'volume.*.end',
    _RETYPED,
    _SNAPSHOT_CREATED,
    _SNAPSHOT_DELETED,
    _CAPACITY,
)
#: The status of a volume that is migrated to a backend of its new type.
_RETYPING = 'retyping'
#: The status of a volume whose deletion has begun.
_DELETING = 'deleting'
#: The least loss of capacity in GiB that is a migration: no volume is smaller.
_LEAST = 1
#: The migration statuses of volumes that are not migrated.
_IN_PLACE = (None, '', 'none', 'success', 'error')


def apply(
    snapshot: StorageSnapshot, notifications: Sequence[ServiceNotification]
) -> StorageSnapshot | None:
    """Return the snapshot after notifications; None if one cannot be applied."""
    changes = _Changes(snapshot)
    for notification in notifications:
        if not changes.apply(notification.event_type, notification.payload):
            return None
    return changes.snapshot()


class _Changes:
    """The pools, volumes and snapshots of a snapshot, which notifications change.

    Its methods return False if a notification cannot be applied.
    """

    def __init__(self, snapshot: StorageSnapshot) -> None:
        self._before = snapshot
        self._pools = {pool.name: pool for pool in snapshot.pools}
        self._volumes = {volume.uuid: volume for volume in snapshot.volumes}
        self._snapshots = dict(snapshot.snapshots)

    def snapshot(self) -> StorageSnapshot:
        with_snapshots = set(self._snapshots.values())
        return dataclasses.replace(
            self._before,
            pools=tuple(self._pools.values()),
            volumes=tuple(
                volume
                if volume.has_snapshots == (volume.uuid in with_snapshots)
                else dataclasses.replace(volume, has_snapshots=not volume.has_snapshots)
                for volume in self._volumes.values()
            ),
            snapshots=self._snapshots,
        )

    def apply(self, event_type: str, data: Mapping[str, Any]) -> bool:
        if event_type == _CAPACITY:
            return self._apply_capacity(data)
        uuid = str(data['volume_id'])
        if event_type == _SNAPSHOT_CREATED:
            self._snapshots[str(data['snapshot_id'])] = uuid
            return True
        if event_type == _SNAPSHOT_DELETED:
            self._snapshots.pop(str(data['snapshot_id']), None)
            return True
        if event_type in _REMOVED:
            self._volumes.pop(uuid, None)
            return True
        return self._apply_to_volume(event_type, uuid, data)

    def _apply_capacity(self, data: Mapping[str, Any]) -> bool:
        pool = self._pools.get(str(data['name_to_id']))
        if pool is None:
            return False
        changed = self._pools[pool.name] = _updated(pool, data)
        if changed.provisioned_capacity_gb == pool.provisioned_capacity_gb:
            # Some backends never report it.
            return True
        left = storage.unaccounted([changed], self._volumes.values())[pool.name]
        # The deletion of a snapshot, or of a volume before the model was collected, are
        # other causes; they only cost a collection.
        return left - self._before.unaccounted.get(pool.name, left) > -_LEAST

    def _apply_to_volume(
        self, event_type: str, uuid: str, data: Mapping[str, Any]
    ) -> bool:
        if not data['host'] or data['status'] == _DELETING:
            # It is in no pool, so it is in no model; or it is the copy that remains of
            # a migrated volume, whose deletion has no end.
            self._volumes.pop(uuid, None)
            return True
        known = self._volumes.get(uuid)
        if known is None and event_type not in _CREATED:
            return False
        if data['status'] == _RETYPING or (
            known is not None and known.migration_status not in _IN_PLACE
        ):
            # The end of a migration has no notification.
            return False
        pool, type_id = data['host'], data.get('volume_type')
        types = {one.id: one.name for one in self._before.types}
        if pool not in self._pools or (type_id and type_id not in types):
            return False
        self._volumes[uuid] = _volume(data, types[type_id] if type_id else None, known)
        return True


def _updated(pool: Pool, data: Mapping[str, Any]) -> Pool:
    """Return a pool after a report of its capacity."""
    return dataclasses.replace(
        pool,
        total_capacity_gb=storage.parse_capacity(data['total']),
        free_capacity_gb=storage.parse_capacity(data['free']),
        allocated_capacity_gb=storage.parse_capacity(data['allocated']) or 0,
        provisioned_capacity_gb=storage.parse_capacity(data['provisioned']) or 0,
    )


def _volume(
    data: Mapping[str, Any], type_name: str | None, known: Volume | None
) -> Volume:
    attachments = data.get('volume_attachment')
    if attachments is not None:
        attached_to = tuple(
            str(one['instance_uuid']) for one in attachments if one['instance_uuid']
        )
    else:
        attached_to = known.attached_to if known is not None else ()
    return Volume(
        uuid=str(data['volume_id']),
        name=str(data['display_name'] or ''),
        pool=str(data['host']),
        size=int(data['size']),
        status=str(data['status']),
        volume_type=type_name,
        bootable=bool(data.get('glance_metadata'))
        or (known is not None and known.bootable),
        has_snapshots=known is not None and known.has_snapshots,
        migration_status=known.migration_status if known is not None else None,
        attached_to=attached_to,
        project_id=str(data['tenant_id']),
        zone=data.get('availability_zone'),
        created=known.created if known is not None else str(data['created_at']),
    )
