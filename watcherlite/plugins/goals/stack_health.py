"""The goal of strategies that look after the resources of stacks."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Indicator, IndicatorSpecification
from watcherlite.plugins import base

_COUNT: Mapping[str, Any] = {'type': 'integer', 'minimum': 0}


class StackHealth(base.Goal):
    """Have healthy stacks."""

    display_name = 'Stack Health'
    description = 'Repairs and replaces the resources of stacks that are unhealthy.'
    indicators: ClassVar[Sequence[IndicatorSpecification]] = (
        IndicatorSpecification(
            'resources_count', 'The number of resources looked at.', None, _COUNT
        ),
        IndicatorSpecification(
            'unhealthy_resources_count',
            'The number of resources that are unhealthy.',
            None,
            _COUNT,
        ),
        IndicatorSpecification(
            'repaired_resources_count',
            'The number of unhealthy resources of stacks that are updated.',
            None,
            _COUNT,
        ),
    )

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return how much of what is unhealthy is looked after."""
        unhealthy = indicators['unhealthy_resources_count']
        repaired = indicators['repaired_resources_count']
        return (
            Indicator(
                'repaired_resources_ratio',
                repaired / unhealthy * 100 if unhealthy else 0.0,
                'Ratio of unhealthy resources that the plan repairs to all of them.',
                '%',
            ),
        )
