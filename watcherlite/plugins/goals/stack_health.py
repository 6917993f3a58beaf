"""The goal of strategies for the health of stacks."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from watcherlite.domain.solutions import Indicator, IndicatorSpecification
from watcherlite.plugins import base
from watcherlite.plugins.goals.measured import count, percent


class StackHealth(base.Goal):
    """Healthy stacks."""

    display_name = 'Stack Health'
    description = 'Repairs and replaces unhealthy resources of stacks.'
    indicators: ClassVar[Sequence[IndicatorSpecification]] = (
        count('resources_count', 'number of checked resources'),
        count('unhealthy_resources_count', 'number of resources that are unhealthy'),
        count(
            'repaired_resources_count',
            'number of unhealthy resources of stacks that are updated',
        ),
    )

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return the ratio of repaired to unhealthy resources."""
        unhealthy = indicators['unhealthy_resources_count']
        repaired = indicators['repaired_resources_count']
        return (
            Indicator(
                'repaired_resources_ratio',
                percent(repaired, unhealthy),
                'Ratio of unhealthy resources that the plan repairs to all of them.',
                '%',
            ),
        )
