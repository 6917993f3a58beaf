"""The policy that updates the nodes of a cluster in batches."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import fragments, sizes

_DATA = 'update'


class Batch(Policy):
    """Decide which nodes are updated together, and the pause between batches."""

    description = 'The batches in which the nodes of a cluster are updated.'
    priority = 200
    before = frozenset({sizes.UPDATE})
    schema: ClassVar[Mapping[str, Any]] = fragments.closed(
        {
            'min_in_service': fragments.integer(
                1, 'The number of nodes that are not updated at the same time.'
            ),
            'max_batch_size': fragments.integer(
                -1,
                'Maximum number of nodes updated together; -1: as many as '
                'min_in_service permits.',
                minimum=-1,
            ),
            'pause_time': fragments.seconds(
                60, 'Seconds between the end of a batch and the next one.'
            ),
        }
    )
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'EXPERIMENTAL', 'since': '2017.02'},
    )

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        """Plan the batches: unhealthy nodes are in the first ones."""
        if _DATA in data:
            return
        nodes = sorted(context.nodes, key=lambda node: (node.active, node.index))
        size = self._size(context.properties, len(nodes))
        data[_DATA] = {
            'pause_time': context.properties['pause_time'],
            'plan': [
                [node.uuid for node in nodes[start : start + size]]
                for start in range(0, len(nodes), size)
            ],
        }

    def _size(self, properties: Mapping[str, Any], count: int) -> int:
        """Return the number of nodes updated together; at least one."""
        spare = count - properties['min_in_service']
        if spare <= 0:
            # It cannot be met: two halves are better than no update.
            spare = math.ceil(count / 2)
        most = properties['max_batch_size']
        return max(1, min(spare, most) if most > 0 else spare)
