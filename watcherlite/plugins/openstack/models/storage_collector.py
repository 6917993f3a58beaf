"""The collector of the storage model, from cinder."""

from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite.domain.service_notifications import ServiceNotification
from watcherlite.plugins import base
from watcherlite.plugins.openstack.models import storage, storage_notifications
from watcherlite.plugins.openstack.models.lists import ServiceLists, read_all
from watcherlite.plugins.openstack.models.storage import (
    Pool,
    StorageModel,
    StorageSnapshot,
    Volume,
    VolumeType,
    parse_capacity,
)


class Storage(base.CloudClient, base.DataModel):
    """The pools of cinder's backends, and the volumes of all projects."""

    description = 'Collects pools, volumes and volume types from cinder.'
    event_types = storage_notifications.EVENT_TYPES

    def collect(self) -> StorageSnapshot:
        """Return the snapshot."""
        connection = self.clouds.service_connection()
        cinder = ServiceLists(connection, 'block_storage')
        services, pools, types, volumes, snapshots = read_all(
            lambda: cinder.get('/os-services', {'binary': 'cinder-volume'}),
            lambda: cinder.get('/scheduler-stats/get_pools', {'detail': 'true'}),
            lambda: cinder.pages('/types', 'volume_types', {'is_public': 'None'}),
            lambda: cinder.pages('/volumes/detail', 'volumes', {'all_tenants': 1}),
            lambda: cinder.pages('/snapshots', 'snapshots', {'all_tenants': 1}),
        )
        by_host = {one['host']: one for one in services['services']}
        by_snapshot = {one['id']: one['volume_id'] for one in snapshots}
        with_snapshots = set(by_snapshot.values())
        all_pools = tuple(_pool(one, by_host) for one in pools['pools'])
        all_volumes = tuple(
            _volume(one, one['id'] in with_snapshots)
            for one in volumes
            if one.get('os-vol-host-attr:host')
        )
        return StorageSnapshot(
            all_pools,
            all_volumes,
            tuple(
                VolumeType(one['name'], one.get('extra_specs') or {}, one['id'])
                for one in types
            ),
            by_snapshot,
            storage.unaccounted(all_pools, all_volumes),
        )

    def apply(
        self, snapshot: StorageSnapshot, notifications: Sequence[ServiceNotification]
    ) -> StorageSnapshot | None:
        """Return the snapshot after notifications of cinder."""
        return storage_notifications.apply(snapshot, notifications)

    def restrict(self, snapshot: StorageSnapshot, scope: Sequence[Any]) -> StorageModel:
        """Return the model of the scope."""
        return storage.restrict(snapshot, scope)

    def represent(self, model: StorageModel) -> Sequence[Mapping[str, Any]]:
        """Return a row for each volume with its pool."""
        return storage.represent(model)


def _pool(given: Mapping[str, Any], services: Mapping[str, Mapping[str, Any]]) -> Pool:
    has = given['capabilities']
    service = services.get(given['name'].partition('#')[0], {})
    return Pool(
        name=given['name'],
        total_capacity_gb=parse_capacity(has.get('total_capacity_gb')),
        free_capacity_gb=parse_capacity(has.get('free_capacity_gb')),
        allocated_capacity_gb=parse_capacity(has.get('allocated_capacity_gb')) or 0,
        provisioned_capacity_gb=parse_capacity(has.get('provisioned_capacity_gb')) or 0,
        max_over_subscription_ratio=_ratio(has.get('max_over_subscription_ratio')),
        volume_backend_name=has.get('volume_backend_name'),
        zone=service.get('zone'),
        is_enabled=(service.get('status'), service.get('state')) == ('enabled', 'up'),
    )


def _volume(given: Mapping[str, Any], has_snapshots: bool) -> Volume:
    return Volume(
        uuid=given['id'],
        name=given.get('name') or '',
        pool=given['os-vol-host-attr:host'],
        size=given['size'],
        status=given['status'],
        volume_type=given.get('volume_type'),
        bootable=str(given.get('bootable')).lower() == 'true',
        has_snapshots=has_snapshots,
        # The attributes of administrators have prefixes of their extensions.
        migration_status=given.get('migration_status')
        or given.get('os-vol-mig-status-attr:migstat'),
        attached_to=tuple(
            one['server_id'] for one in given.get('attachments', ()) if one['server_id']
        ),
        project_id=given.get('os-vol-tenant-attr:tenant_id') or '',
        zone=given.get('availability_zone'),
        created=given.get('created_at') or '',
    )


def _ratio(value: Any) -> float:
    """Return the ratio of overcommitment; backends may have `auto`, or none."""
    return parse_capacity(value) or 1.0
