"""Goals whose solutions are compared by figures (reference: Watcher's names)."""

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
    """Use fewer servers."""

    display_name = 'Server Consolidation'
    description = 'Reduces the number of servers that are in use.'
    indicators: ClassVar[Sequence[IndicatorSpecification]] = (
        count('compute_nodes_count', 'total number of enabled compute nodes'),
        count('released_compute_nodes_count', 'number of compute nodes to be released'),
        count('instance_migrations_count', 'number of VM migrations to be performed'),
    )

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return how much of the servers becomes free."""
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
    """Spread work evenly over servers."""

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
        """Return how much of the work has to move for it."""
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


#: What hardware maintenance moves: prefix of the names -> what it is, its ratio.
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
    """Empty servers and storage that are to be maintained."""

    display_name = 'Hardware Maintenance'
    description = 'Moves everything away from what is to be maintained.'
    indicators: ClassVar[Sequence[IndicatorSpecification]] = tuple(
        specification
        for name, (what, moved, _) in _MOVED.items()
        for specification in (
            count(name, f'number of {what} actually {moved}'),
            count(f'planned_{name}', f'number of {what} planned to be {moved}'),
        )
    )

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return how much of what was to be moved is moved, kind by kind."""
        return tuple(
            Indicator(
                ratio,
                percent(indicators[name], indicators[f'planned_{name}']),
                f'Ratio of actual {moved} {what} to planned {moved} {what}.',
                '%',
            )
            for name, (what, moved, ratio) in _MOVED.items()
        )
