"""The strategy that moves volumes away from full pools."""

import dataclasses
import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack.models.storage import (
    AVAILABLE,
    IN_USE,
    Pool,
    StorageModel,
    Volume,
)
from watcherlite.plugins.openstack.strategies import proposals


class StorageCapacityBalance(base.Strategy):
    """Migrate or retype volumes of pools above the threshold.

    Detached volumes are moved first, attached ones from which a server boots last.
    Volumes with snapshots, or under migration, stay.
    """

    goal = 'workload_balancing'
    display_name = 'Storage Capacity Balance Strategy'
    description = 'Moves volumes away from full pools.'
    data_models = ('storage',)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'volume_threshold': {
                'description': 'The used percentage from which a pool is full, and '
                'that no destination may reach.',
                'type': 'number',
                'minimum': 0,
                'maximum': 100,
                'default': 80.0,
            }
        },
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return (
            cfg.ListOpt(
                'ex_pools',
                default=['local_vstorage'],
                help='Pools that are neither relieved nor filled, by their names '
                'without host and backend.',
            ),
        )

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return the migrations and retypes."""
        return propose(
            context.model('storage'),
            context.parameters['volume_threshold'] / 100,
            self.options.ex_pools,
        )


def propose(
    model: StorageModel, threshold: float, ex_pools: Collection[str] = ()
) -> Solution:
    """Return the migrations and retypes that relieve full pools.

    :param threshold: 0 to 1
    :param ex_pools: short names of pools that are left alone
    """
    levels = {
        pool.name: _Level(pool, pool.free_capacity_gb, pool.allocated_capacity_gb)
        for pool in model.pools
        if pool.is_enabled
        and pool.short_name not in ex_pools
        and pool.free_capacity_gb is not None
        and pool.total_capacity_gb
        and math.isfinite(pool.total_capacity_gb)
    }
    if not levels:
        raise exceptions.NotFound(
            'There is no pool with a known capacity whose service is up and enabled; '
            'check the services of cinder, ex_pools, and the scope of the audit'
        )
    before = _deviation(levels.values())
    full = [one for one in levels.values() if one.used >= threshold]
    others = [one for one in levels.values() if one.used < threshold]
    solution = Solution()
    for level in full:
        for volume in _movable(model, level.pool):
            if level.used < threshold:
                break
            _move(solution, model, volume, level, others, threshold)
    solution.set_efficacy_indicators(
        instance_migrations_count=0,
        instances_count=0,
        standard_deviation_before_audit=before,
        standard_deviation_after_audit=_deviation(levels.values()),
    )
    return solution


@dataclasses.dataclass(slots=True)
class _Level:
    """The fill level of a pool with the migrations proposed so far."""

    pool: Pool
    free: float
    allocated: float

    @property
    def total(self) -> float:
        return self.pool.total_capacity_gb or 0.0

    @property
    def used(self) -> float:
        """Return the used part of the capacity."""
        return 1 - self.free / self.total

    def has_room(self, size: float, threshold: float) -> bool:
        """Return whether the pool stays below the threshold with a volume more."""
        ratio = self.pool.max_over_subscription_ratio
        return (
            self.allocated + size <= self.total * ratio
            and self.free - size > (1 - threshold) * self.total
        )

    def add(self, size: float) -> None:
        self.free -= size
        self.allocated += size


def _deviation(levels: Collection[_Level]) -> float:
    return statistics.pstdev(level.used for level in levels)


def _movable(model: StorageModel, pool: Pool) -> Sequence[Volume]:
    """Return the volumes that may leave a pool, in the order in which they should."""
    return sorted(
        (
            volume
            for volume in model.volumes_of(pool)
            if volume.status in (AVAILABLE, IN_USE)
            and not volume.excluded
            and not volume.has_snapshots
            and volume.migration_status in (None, '', 'none', 'success')
        ),
        key=lambda one: (one.status == IN_USE, one.bootable, one.size),
    )


def _move(
    solution: Solution,
    model: StorageModel,
    volume: Volume,
    source: _Level,
    destinations: Sequence[_Level],
    threshold: float,
) -> None:
    """Propose to move a volume to the emptiest pool for it, if there is one."""
    fitting = [one for one in destinations if one.has_room(volume.size, threshold)]
    for level in sorted(fitting, key=lambda one: one.used):
        if _keeps_type(model, volume, level.pool):
            proposals.migrate_volume(solution, volume, level.pool.name)
            break
    else:
        for level in sorted(fitting, key=lambda one: one.used):
            found = _other_type(model, volume, level.pool)
            if found is not None:
                proposals.retype_volume(solution, volume, found)
                break
        else:
            return
    source.add(-volume.size)
    level.add(volume.size)


def _keeps_type(model: StorageModel, volume: Volume, pool: Pool) -> bool:
    """Return whether a pool serves the type of a volume."""
    found = model.find_type(volume.volume_type)
    if volume.volume_type and found is None:
        return False
    return found is None or found.backend in (None, pool.volume_backend_name)


def _other_type(model: StorageModel, volume: Volume, pool: Pool) -> str | None:
    """Return a type of the backend of a pool that is otherwise like the volume's."""
    found = model.find_type(volume.volume_type)
    desired = dict(found.extra_specs) if found is not None else {}
    desired.pop('volume_backend_name', None)
    for one in model.types:
        if (
            one.backend == pool.volume_backend_name
            and one.name != volume.volume_type
            and desired.items() <= dict(one.extra_specs).items()
        ):
            return one.name
    return None
