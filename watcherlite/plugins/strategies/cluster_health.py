"""The strategy that checks and recovers unhealthy clusters."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base

LOG = logging.getLogger(__name__)

# The values of the parameter `check`
UNHEALTHY = 'unhealthy'
ALL = 'all'
NONE = 'none'

_NAMES: Mapping[str, Any] = {
    'type': 'array',
    'items': {'type': 'string', 'minLength': 1},
    'uniqueItems': True,
    'default': [],
}


class ClusterHealth(base.Strategy):
    """Propose to check and then recover each unhealthy cluster.

    The check updates the statuses of all nodes; the recovery repairs unhealthy nodes
    and creates missing ones. Clusters that are being changed, or have locked nodes, are
    left alone.
    """

    goal = 'cluster_health'
    display_name = 'Cluster health'
    description = 'Checks and recovers unhealthy clusters.'
    planner = 'graph'
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'clusters': {**_NAMES, 'description': 'names or uuids; none: all clusters'},
            'tenant': {
                'type': ['string', 'null'],
                'default': None,
                'description': 'the project; null: all of them',
            },
            'check': {
                'type': 'string',
                'enum': [UNHEALTHY, ALL, NONE],
                'default': UNHEALTHY,
                'description': 'the clusters to check: only unhealthy ones, before '
                'their recovery; all; or none',
            },
            'operation': {
                'type': ['string', 'null'],
                'enum': ['REBOOT', 'REBUILD', 'RECREATE', None],
                'default': None,
                'description': 'the recovery action; null: from the policy of the '
                'cluster',
            },
        },
        'additionalProperties': False,
    }

    def execute(self, context: base.StrategyContext) -> Solution:
        """Return a check and a recovery of each cluster that needs them."""
        wanted = context.parameters
        found = context.model('clusters').clusters(
            names=wanted['clusters'], tenant=wanted['tenant']
        )
        solution = Solution()
        unhealthy = recovered = 0
        for cluster in found:
            context.checkpoint()
            lacking = len(cluster.unhealthy) + cluster.missing
            unhealthy += lacking
            if cluster.hindrance is not None:
                LOG.info(
                    'Audit %s leaves cluster %s alone: %s',
                    context.audit_uuid,
                    cluster.uuid,
                    cluster.hindrance,
                )
                continue
            recovered += lacking
            self._propose(solution, cluster, wanted['check'], wanted['operation'])
        solution.indicators = {
            'nodes_count': sum(cluster.nodes for cluster in found),
            'unhealthy_nodes_count': unhealthy,
            'recovered_nodes_count': recovered,
        }
        return solution

    def _propose(
        self, solution: Solution, cluster: Any, check: str, operation: str | None
    ) -> None:
        """Add the actions for one cluster."""
        parents = []
        label = f'{cluster.name}-{cluster.uuid}'
        target = f'cluster:{cluster.uuid}'
        if check == ALL or (check == UNHEALTHY and not cluster.healthy):
            checked = solution.add_action(
                'CLUSTER_CHECK', {}, name=f'check-{label}', target=target
            )
            parents = [checked]
        if not cluster.healthy:
            inputs: dict[str, Any] = {'check_capacity': True}
            if operation is not None:
                inputs['operation'] = operation
            solution.add_action(
                'CLUSTER_RECOVER',
                inputs,
                name=f'recover-{label}',
                parents=parents,
                target=target,
            )
