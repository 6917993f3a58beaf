"""Goals with efficacy indicators (reference: Watcher's names)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Indicator, IndicatorSpecification
from watcherlite.plugins import base

_COUNT: Mapping[str, Any] = {'type': 'integer', 'minimum': 0}
_DEVIATION: Mapping[str, Any] = {'type': 'number', 'minimum': 0}


def count(name: str, what: str) -> IndicatorSpecification:
    """Return the specification of an indicator that is a number of things."""
    return IndicatorSpecification(name, f'The {what}.', None, _COUNT)


def percent(part: float, whole: float) -> float:
    """Return a ratio in percent; nothing of nothing is 0."""
    return part / whole * 100 if whole else 0.0


class ServerConsolidation(base.Goal):
    """Fewer servers."""

    display_name = 'Server Consolidation'
    description = 'Reduces the number of servers that are in use.'
    indicators: ClassVar[Sequence[IndicatorSpecification]] = (
        count('compute_nodes_count', 'total number of enabled compute nodes'),
        count('released_compute_nodes_count', 'number of compute nodes to be released'),
        count('instance_migrations_count', 'number of VM migrations to be performed'),
    )

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return the ratio of released servers."""
        return (
            Indicator(
                'released_nodes_ratio',
                percent(
                    indicators['released_compute_nodes_count'],
                    indicators['compute_nodes_count'],
                ),
                'Ratio of released compute nodes divided by the total number of '
                'enabled compute nodes.',
                '%',
            ),
        )


class WorkloadBalancing(base.Goal):
    """Evenly distributed work."""

    display_name = 'Workload Balancing'
    description = 'Spreads work evenly over servers.'
    indicators: ClassVar[Sequence[IndicatorSpecification]] = (
        count('instance_migrations_count', 'number of VM migrations to be performed'),
        count('instances_count', 'total number of audited instances in strategy'),
        IndicatorSpecification(
            'standard_deviation_after_audit',
            'The value of resulted standard deviation.',
            None,
            _DEVIATION,
        ),
        IndicatorSpecification(
            'standard_deviation_before_audit',
            'The value of original standard deviation.',
            None,
            _DEVIATION,
        ),
    )

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return the ratio of migrated instances."""
        return (
            Indicator(
                'live_migrations_count',
                percent(
                    indicators['instance_migrations_count'],
                    indicators['instances_count'],
                ),
                'Ratio of migrated virtual machines to audited virtual machines',
                '%',
            ),
        )


#: The objects moved by hardware maintenance: prefix of the indicators -> noun, ratio.
_MOVED: Mapping[str, tuple[str, str, str]] = {
    'live_migrate_instance_count': (
        'instances',
        'live migrated',
        'live_instance_migrate_ratio',
    ),
    'cold_migrate_instance_count': (
        'instances',
        'cold migrated',
        'cold_instance_migrate_ratio',
    ),
    'volume_migrate_count': ('detached volumes', 'migrated', 'volume_migrate_ratio'),
    'volume_update_count': ('attached volumes', 'migrated', 'volume_update_ratio'),
}


class HardwareMaintenance(base.Goal):
    """Servers and storage without load, for maintenance."""

    display_name = 'Hardware Maintenance'
    description = 'Moves everything away from servers and storage under maintenance.'
    indicators: ClassVar[Sequence[IndicatorSpecification]] = tuple(
        specification
        for name, (what, moved, _) in _MOVED.items()
        for specification in (
            count(name, f'number of {what} actually {moved}'),
            count(f'planned_{name}', f'number of {what} planned to be {moved}'),
        )
    )

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return the ratio of completed to planned moves, for each kind."""
        return tuple(
            Indicator(
                ratio,
                percent(indicators[name], indicators[f'planned_{name}']),
                f'Ratio of actual {moved} {what} to planned {moved} {what}.',
                '%',
            )
            for name, (what, moved, ratio) in _MOVED.items()
        )
