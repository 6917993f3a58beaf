"""The strategy that powers unused compute nodes off, and on again."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.openstack.models.baremetal import (
    POWER_OFF,
    POWER_ON,
    BaremetalModel,
    BaremetalNode,
)
from watcherlite.plugins.openstack.models.compute import ComputeModel

ON = 'on'
OFF = 'off'


class SavingEnergy(base.Strategy):
    """Keep a number of compute nodes without servers powered on, and no more."""

    goal = 'saving_energy'
    display_name = 'Saving Energy Strategy'
    description = 'Powers unused compute nodes off, and on again.'
    data_models = ('compute', 'baremetal')
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'free_used_percent': {
                'description': 'The number of unused compute nodes that are powered '
                'on, in percent of those with servers.',
                'type': 'number',
                'minimum': 0,
                'default': 10.0,
            },
            'min_free_hosts_num': {
                'description': 'The least number of unused compute nodes that are '
                'powered on.',
                'type': 'number',
                'minimum': 0,
                'default': 1,
            },
        },
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return the changes of power states."""
        given = context.parameters
        return propose(
            context.model('compute'),
            context.model('baremetal'),
            given['free_used_percent'],
            given['min_free_hosts_num'],
        )


def propose(
    compute: ComputeModel,
    baremetal: BaremetalModel,
    free_used_percent: float,
    min_free_hosts: float,
) -> Solution:
    """Return the changes of power states; servers are never affected."""
    nodes = {node.uuid: node for node in compute.nodes}
    known = [one for one in baremetal.nodes if one.compute_node in nodes]
    if not known:
        raise exceptions.NotFound(
            'No node of ironic names a compute node of the scope; set '
            'extra.compute_node_id of nodes to the id of their hypervisor in nova'
        )
    occupied = 0
    free: dict[str | None, list[BaremetalNode]] = {POWER_ON: [], POWER_OFF: []}
    for one in known:
        if compute.servers_of(nodes[one.compute_node or '']):
            occupied += 1
        elif not one.excluded and not one.maintenance:
            free.setdefault(one.power_state, []).append(one)
    needed = math.floor(max(occupied * free_used_percent / 100, min_free_hosts))
    surplus = len(free[POWER_ON]) - needed
    solution = Solution()
    if surplus > 0:
        chosen, state = free[POWER_ON][:surplus], OFF
    else:
        chosen, state = free[POWER_OFF][:-surplus] if surplus else [], ON
    for one in chosen:
        hostname = nodes[one.compute_node or ''].hostname
        solution.add_action(
            'change_node_power_state',
            {'state': state, 'resource_name': hostname},
            one.uuid,
        )
    return solution
