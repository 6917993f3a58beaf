"""The strategy that checks and recovers unhealthy clusters."""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base
from watcherlite.plugins.strategies import health


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
            'clusters': {
                **health.NAMES,
                'description': 'names or uuids; none: all clusters',
            },
            'tenant': health.TENANT,
            'check': health.check_parameter('clusters', 'recovery'),
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
        desired = context.parameters
        found = context.model('clusters').clusters(
            names=desired['clusters'], tenant=desired['tenant']
        )
        solution = Solution()
        recovered = 0
        for cluster in health.without_blockers(context, 'cluster', found):
            recovered += _missing_count(cluster)
            self._propose(solution, cluster, desired['check'], desired['operation'])
        solution.indicators = {
            'nodes_count': sum(cluster.nodes for cluster in found),
            'unhealthy_nodes_count': sum(_missing_count(cluster) for cluster in found),
            'recovered_nodes_count': recovered,
        }
        return solution

    def _propose(
        self, solution: Solution, cluster: Any, check: str, operation: str | None
    ) -> None:
        """Add the actions for one cluster."""
        target = f'cluster:{cluster.uuid}'
        parents = health.add_check(
            solution, check, cluster, 'CLUSTER_CHECK', {}, target
        )
        if not cluster.healthy:
            inputs: dict[str, Any] = {'check_capacity': True}
            if operation is not None:
                inputs['operation'] = operation
            solution.add_action(
                'CLUSTER_RECOVER',
                inputs,
                name=f'recover-{cluster.name}-{cluster.uuid}',
                parents=parents,
                target=target,
            )


def _missing_count(cluster: Any) -> int:
    """Return the number of unhealthy and missing nodes of a cluster."""
    return len(cluster.unhealthy) + int(cluster.missing)
