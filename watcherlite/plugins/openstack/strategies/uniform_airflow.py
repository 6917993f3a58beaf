"""The strategy that moves servers from the compute node with the highest airflow."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack import metrics
from watcherlite.plugins.openstack.models.compute import (
    ACTIVE,
    ComputeModel,
    ComputeNode,
    Server,
)
from watcherlite.plugins.openstack.strategies import measurements, proposals
from watcherlite.plugins.openstack.strategies.measurements import Measurements


class UniformAirflow(base.Strategy):
    """Migrate servers from a compute node whose airflow is above the threshold.

    A high airflow with a cool inlet and a low power is a problem of the hardware: then
    all servers leave the compute node, otherwise one. Run it as a CONTINUOUS audit.
    """

    goal = 'airflow_optimization'
    display_name = 'Uniform airflow migration strategy'
    description = 'Moves servers from the compute node with the highest airflow.'
    data_models = ('compute',)
    metrics = (metrics.HOST_AIRFLOW, metrics.HOST_INLET_TEMP, metrics.HOST_POWER)
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'threshold_airflow': {
                'description': 'The airflow in 0.1 CFM from which servers are moved.',
                'type': 'number',
                'default': 400.0,
            },
            'threshold_inlet_t': {
                'description': 'The inlet temperature in degrees Celsius below which a '
                'high airflow is a problem of the hardware.',
                'type': 'number',
                'default': 28.0,
            },
            'threshold_power': {
                'description': 'The power in W below which a high airflow is a problem '
                'of the hardware.',
                'type': 'number',
                'default': 350.0,
            },
            'period': measurements.period(300),
            'granularity': measurements.GRANULARITY,
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return the migrations from one compute node, or none."""
        given = context.parameters
        model: ComputeModel = context.model('compute')
        source = Measurements(context, self.metrics)
        nodes = [node for node in model.nodes if node.is_enabled]
        airflow, inlet, power = (
            source.of_nodes(metric, nodes, given['period']) for metric in self.metrics
        )
        return propose(
            model,
            airflow,
            {
                uuid
                for uuid in inlet.keys() & power.keys()
                if inlet[uuid] < given['threshold_inlet_t']
                and power[uuid] < given['threshold_power']
            },
            given['threshold_airflow'],
        )


def propose(
    model: ComputeModel, airflow: Mapping[str, float], cool: set[str], threshold: float
) -> Solution:
    """Return the migrations from the first compute node with servers to be moved.

    :param airflow: uuid of a compute node -> 0.1 CFM
    :param cool: the uuids of compute nodes with a cool inlet and a low power
    """
    above, below = measurements.split_nodes(model.nodes, airflow, threshold)
    solution = Solution()
    for node in above:
        servers = _leaving(model, node, node.uuid in cool)
        if servers:
            if proposals.move_all(model, node, servers, below):
                proposals.migrate_moved(solution, model)
            break
    return solution


def _leaving(
    model: ComputeModel, node: ComputeNode, is_faulty: bool
) -> Sequence[Server]:
    """Return the servers to be moved from a compute node, the largest first.

    :param is_faulty: move all servers that can be migrated, not only the first one
    """
    servers = model.servers_of(node)
    if not is_faulty:
        active = (one for one in servers if one.state == ACTIVE and not one.excluded)
        return list(active)[:1]
    return sorted(
        filter(proposals.may_migrate, servers), key=lambda server: -server.vcpus
    )
