"""The storage model: the pools of cinder, and the volumes in them."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.plugins.openstack.models import scopes

# statuses of volumes
AVAILABLE = 'available'
IN_USE = 'in-use'


@dataclasses.dataclass(frozen=True, slots=True)
class Pool:
    """A pool of a backend.

    :param name: host@backend#pool
    :param total_capacity_gb: None: unknown; so is `free_capacity_gb`. `math.inf` is
        unlimited
    :param is_enabled: its service is up and enabled
    """

    name: str
    total_capacity_gb: float | None = None
    free_capacity_gb: float | None = None
    allocated_capacity_gb: float = 0
    provisioned_capacity_gb: float = 0
    max_over_subscription_ratio: float = 1.0
    volume_backend_name: str | None = None
    zone: str | None = None
    is_enabled: bool = True

    @property
    def short_name(self) -> str:
        """Return the name of the pool in its backend."""
        return self.name.partition('#')[2]


@dataclasses.dataclass(frozen=True, slots=True)
class Volume:
    """A volume of cinder.

    :param pool: the name of its pool in the snapshot
    :param attached_to: the uuids of servers
    :param created: ISO 8601
    :param excluded: by the scope of the audit: strategies leave it where it is
    """

    uuid: str
    name: str
    pool: str
    size: int = 0
    status: str = AVAILABLE
    volume_type: str | None = None
    bootable: bool = False
    has_snapshots: bool = False
    migration_status: str | None = None
    attached_to: tuple[str, ...] = ()
    project_id: str = ''
    zone: str | None = None
    created: str = ''
    excluded: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class VolumeType:
    """A volume type."""

    name: str
    extra_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    id: str = ''

    @property
    def backend(self) -> str | None:
        """Return the backend that it requires, if any."""
        return self.extra_specs.get('volume_backend_name')


@dataclasses.dataclass(frozen=True, slots=True)
class StorageSnapshot:
    """The pools, volumes and volume types at one time; nothing changes it.

    :param snapshots: the id of each snapshot -> that of its volume
    :param unaccounted: the name of each pool -> the provisioned capacity in GiB that
        its volumes did not account for when they were collected
    """

    pools: Sequence[Pool] = ()
    volumes: Sequence[Volume] = ()
    types: Sequence[VolumeType] = ()
    snapshots: Mapping[str, str] = dataclasses.field(default_factory=dict)
    unaccounted: Mapping[str, float] = dataclasses.field(default_factory=dict)


def unaccounted(pools: Iterable[Pool], volumes: Iterable[Volume]) -> dict[str, float]:
    """Return the provisioned capacity of each pool that its volumes do not account for.

    Snapshots have some of it, for example.
    """
    found = {pool.name: pool.provisioned_capacity_gb for pool in pools}
    for volume in volumes:
        if volume.pool in found:
            found[volume.pool] -= volume.size
    return found


def parse_capacity(value: Any) -> float | None:
    """Return a capacity; None for `unknown`."""
    if value in ('infinite', 'inf'):
        return math.inf
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


class StorageModel:
    """The pools of a scope with their volumes."""

    def __init__(
        self,
        pools: Iterable[Pool],
        volumes: Iterable[Volume],
        types: Iterable[VolumeType] = (),
    ) -> None:
        self._pools = {pool.name: pool for pool in pools}
        self._types = {one.name: one for one in types}
        self._volumes = sorted(
            (volume for volume in volumes if volume.pool in self._pools),
            key=lambda volume: volume.uuid,
        )

    @property
    def pools(self) -> Sequence[Pool]:
        """Return the pools, by name."""
        return sorted(self._pools.values(), key=lambda pool: pool.name)

    @property
    def volumes(self) -> Sequence[Volume]:
        """Return the volumes in the pools, by uuid."""
        return self._volumes

    @property
    def types(self) -> Sequence[VolumeType]:
        """Return the volume types, by name."""
        return sorted(self._types.values(), key=lambda one: one.name)

    def find_pool(self, name: str) -> Pool:
        """Return a pool; raise NotFound."""
        pool = self._pools.get(name)
        if pool is None:
            raise exceptions.NotFound(
                f'There is no pool {name} in the storage model; check the name '
                '(host@backend#pool), and the scope of the audit'
            )
        return pool

    def find_type(self, name: str | None) -> VolumeType | None:
        """Return a volume type, or None."""
        return self._types.get(name or '')

    def volumes_of(self, pool: Pool) -> Sequence[Volume]:
        """Return the volumes in a pool, by uuid."""
        return [volume for volume in self._volumes if volume.pool == pool.name]


def restrict(snapshot: StorageSnapshot, scope: Sequence[Any]) -> StorageModel:
    """Return the model of the pools and volumes in a scope.

    Volumes of other types and zones, and excluded ones, remain and are marked.
    """
    part = scopes.rules(scope, 'storage')
    left_out = scopes.named(scopes.excluded(part, 'storage_pools'))
    pools = [pool for pool in snapshot.pools if pool.name not in left_out]
    uuids = scopes.named(scopes.excluded(part, 'volumes'), 'uuid')
    projects = scopes.named(scopes.excluded(part, 'projects'), 'uuid')
    zones: set[str] = set()
    types: set[str] = set()
    for rule in part:
        zones |= scopes.named(rule.get('availability_zones', ()))
        types |= scopes.named(rule.get('volume_types', ()))

    def is_excluded(volume: Volume) -> bool:
        return bool(
            volume.uuid in uuids
            or volume.project_id in projects
            or (types and not scopes.is_among(volume.volume_type, types))
        )

    if zones:
        pools = [pool for pool in pools if scopes.is_among(pool.zone, zones)]
    return StorageModel(
        pools,
        [
            dataclasses.replace(volume, excluded=True)
            if is_excluded(volume)
            else volume
            for volume in snapshot.volumes
        ],
        snapshot.types,
    )


def represent(model: StorageModel) -> list[dict[str, Any]]:
    """Return one object for each volume with its pool, and each pool without one."""
    rows = []
    for pool in model.pools:
        shown: dict[str, Any] = {
            'pool_name': pool.name,
            'pool_total_capacity_gb': _finite(pool.total_capacity_gb),
            'pool_free_capacity_gb': _finite(pool.free_capacity_gb),
            'pool_allocated_capacity_gb': pool.allocated_capacity_gb,
            'pool_provisioned_capacity_gb': pool.provisioned_capacity_gb,
        }
        volumes = model.volumes_of(pool)
        if not volumes:
            rows.append(shown)
        for volume in volumes:
            fields = {
                'volume_uuid': volume.uuid,
                'volume_watcher_exclude': volume.excluded,
                'volume_name': volume.name,
                'volume_size': volume.size,
                'volume_status': volume.status,
                'volume_volume_type': volume.volume_type,
                'volume_bootable': volume.bootable,
                'volume_project_id': volume.project_id,
                'volume_attached_to': list(volume.attached_to),
            }
            rows.append({**shown, **fields})
    return rows


def _finite(amount: float | None) -> float | str | None:
    """Return an amount as JSON has it."""
    return 'infinite' if amount == math.inf else amount
