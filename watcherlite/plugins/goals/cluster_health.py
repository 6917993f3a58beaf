"""The goal of strategies that look after the nodes of clusters."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Indicator, IndicatorSpecification
from watcherlite.plugins import base

_COUNT: Mapping[str, Any] = {'type': 'integer', 'minimum': 0}


class ClusterHealth(base.Goal):
    """Have healthy clusters."""

    display_name = 'Cluster Health'
    description = 'Recovers the nodes of clusters that are unhealthy, or missing.'
    indicators: ClassVar[Sequence[IndicatorSpecification]] = (
        IndicatorSpecification(
            'nodes_count', 'The number of nodes looked at.', None, _COUNT
        ),
        IndicatorSpecification(
            'unhealthy_nodes_count',
            'The number of nodes that are unhealthy, or missing.',
            None,
            _COUNT,
        ),
        IndicatorSpecification(
            'recovered_nodes_count',
            'The number of those in clusters that are recovered.',
            None,
            _COUNT,
        ),
    )

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return how much of what is unhealthy is looked after."""
        unhealthy = indicators['unhealthy_nodes_count']
        recovered = indicators['recovered_nodes_count']
        return (
            Indicator(
                'recovered_nodes_ratio',
                recovered / unhealthy * 100 if unhealthy else 0.0,
                'Ratio of unhealthy nodes that the plan recovers to all of them.',
                '%',
            ),
        )
