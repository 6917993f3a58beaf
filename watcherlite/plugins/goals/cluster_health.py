"""The goal of strategies for the health of clusters."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from watcherlite.domain.solutions import Indicator, IndicatorSpecification
from watcherlite.plugins import base
from watcherlite.plugins.goals.measured import count, percent


class ClusterHealth(base.Goal):
    """Healthy clusters."""

    display_name = 'Cluster Health'
    description = 'Recovers unhealthy or missing nodes of clusters.'
    indicators: ClassVar[Sequence[IndicatorSpecification]] = (
        count('nodes_count', 'number of checked nodes'),
        count(
            'unhealthy_nodes_count', 'number of nodes that are unhealthy, or missing'
        ),
        count(
            'recovered_nodes_count', 'number of those in clusters that are recovered'
        ),
    )

    def global_efficacy(self, indicators: Mapping[str, float]) -> Sequence[Indicator]:
        """Return the ratio of recovered to unhealthy nodes."""
        unhealthy = indicators['unhealthy_nodes_count']
        recovered = indicators['recovered_nodes_count']
        return (
            Indicator(
                'recovered_nodes_ratio',
                percent(recovered, unhealthy),
                'Ratio of unhealthy nodes that the plan recovers to all of them.',
                '%',
            ),
        )
