"""The strategy that moves one server from the compute node with the hottest outlet."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.models.compute import ACTIVE, ComputeModel
from watcherlite.plugins.openstack.strategies import measurements, proposals
from watcherlite.plugins.openstack.strategies.measurements import Measurements


class OutletTemperature(base.Strategy):
    """Migrate one server from a compute node above the threshold to the coolest one.

    The effect of more migrations at once cannot be predicted: run it as a CONTINUOUS
    audit.
    """

    goal = 'thermal_optimization'
    display_name = 'Outlet temperature based strategy'
    description = 'Moves one server from the compute node with the hottest outlet.'
    data_models = ('compute',)
    metrics = (metrics.HOST_OUTLET_TEMP,)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'threshold': {
                'description': 'The outlet temperature in degrees Celsius from which a '
                'compute node is too hot.',
                'type': 'number',
                'default': 35.0,
            },
            'period': measurements.period(30),
            'granularity': measurements.GRANULARITY,
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return one migration, or none."""
        given = context.parameters
        model: ComputeModel = context.model('compute')
        temperatures = Measurements(context, self.metrics).of_nodes(
            metrics.HOST_OUTLET_TEMP,
            [node for node in model.nodes if node.is_enabled],
            given['period'],
        )
        return propose(model, temperatures, given['threshold'])


def propose(
    model: ComputeModel, temperatures: Mapping[str, float], threshold: float
) -> Solution:
    """Return the migration of the first active server that a cool node has room for.

    :param temperatures: uuid of a compute node -> degrees Celsius
    """
    hot, cool = measurements.split_nodes(model.nodes, temperatures, threshold)
    solution = Solution()
    for source in hot:
        for server in model.servers_of(source):
            if server.state != ACTIVE or server.excluded:
                continue
            if proposals.move_all(model, source, [server], cool):
                proposals.migrate_moved(solution, model)
                return solution
    return solution
