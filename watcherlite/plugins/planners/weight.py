"""The planner that orders actions by their types."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from oslo_config import cfg, types

from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.solutions import ProposedAction, Solution
from watcherlite.plugins import base
from watcherlite.plugins.planners import documents
from watcherlite.plugins.planners import weights as type_weights

#: Layers with more actions than this would have too many edges.
MOST_PARALLEL = 100

#: Actions on clusters and nodes: the weight of each type. Types that configure others
#: come first, and types that remove nodes last.
CLUSTERING: Mapping[str, int] = {
    'CLUSTER_ATTACH_POLICY': 44,
    'CLUSTER_UPDATE_POLICY': 44,
    'CLUSTER_CHECK': 43,
    'NODE_CHECK': 43,
    'CLUSTER_ADD_NODES': 42,
    'CLUSTER_CREATE': 42,
    'CLUSTER_OPERATION': 42,
    'CLUSTER_RECOVER': 42,
    'CLUSTER_REPLACE_NODES': 42,
    'CLUSTER_RESIZE': 42,
    'CLUSTER_SCALE_OUT': 42,
    'CLUSTER_UPDATE': 42,
    'NODE_CREATE': 42,
    'NODE_JOIN': 42,
    'NODE_OPERATION': 42,
    'NODE_RECOVER': 42,
    'NODE_UPDATE': 42,
    'CLUSTER_DEL_NODES': 33,
    'CLUSTER_DELETE': 33,
    'CLUSTER_DETACH_POLICY': 33,
    'CLUSTER_SCALE_IN': 33,
    'NODE_DELETE': 33,
    'NODE_LEAVE': 33,
}
#: Other types: the weight, and the number that run at the same time.
_OTHERS: Mapping[str, tuple[int, int]] = {
    'nop': (70, 1),
    'stack_lock': (65, 10),
    'volume_migrate': (60, 2),
    'change_nova_service_state': (50, 1),
    'http_request': (45, 2),
    'command': (45, 2),
    'resource_mark_unhealthy': (44, 10),
    'stack_check': (43, 10),
    'stack_update': (42, 10),
    'sleep': (40, 1),
    'shelve': (37, 2),
    'stop': (35, 2),
    'delete': (33, 2),
    'migrate': (30, 2),
    'resize': (20, 2),
    'start': (15, 2),
    'turn_host_to_acpi_s3_state': (10, 2),
    'change_node_power_state': (9, 2),
    'stack_unlock': (5, 10),
}


class Weight(base.Planner):
    """Run the types with the highest weight first, a limited number in parallel.

    The actions of one weight are divided into layers: each layer has as many of a type
    as may run in parallel, in the order of the strategy, and waits for the whole layer
    before it. Types of equal weight share their layers.
    """

    description = 'Orders actions by the weights of their types.'

    weights: ClassVar[Mapping[str, int]] = {
        **{kind: weight for kind, (weight, _) in _OTHERS.items()},
        **CLUSTERING,
    }
    parallelization: ClassVar[Mapping[str, int]] = {
        **{kind: parallel for kind, (_, parallel) in _OTHERS.items()},
        **dict.fromkeys(CLUSTERING, 10),
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return (
            cfg.Opt(
                'weights',
                type=types.Dict(value_type=types.Integer()),
                default=dict(cls.weights),
                help='The weight of each action type. Types with the highest weight '
                'run first; types of equal weight run in parallel. A setting '
                'replaces all defaults, so name every type that strategies '
                'propose.',
            ),
            cfg.Opt(
                'parallelization',
                type=types.Dict(value_type=types.Integer(1, MOST_PARALLEL)),
                default=dict(cls.parallelization),
                help='The number of actions of a type that run at the same time in '
                'one plan. Other types run one at a time.',
            ),
        )

    def plan(self, solution: Solution, name: str | None = None) -> PlanDocument:
        """Return the plan; raises Invalid for a type without a weight."""
        planned = []
        before: tuple[str, ...] = ()
        for layer in self._layers(solution, self.options.weights):
            planned += [documents.action(action, before) for action in layer]
            before = tuple(action.name for action in layer)
        return documents.document(name, planned)

    def _layers(
        self, solution: Solution, weights: Mapping[str, int]
    ) -> Iterator[list[ProposedAction]]:
        """Yield sets of parallel actions, in order."""
        ordered = type_weights.sort(solution, weights, 'weight')
        for _, same in itertools.groupby(ordered, key=lambda a: weights[a.action_type]):
            by_type: dict[str, list[ProposedAction]] = {}
            for action in same:
                by_type.setdefault(action.action_type, []).append(action)
            chunks = [
                list(_chunks(actions, self.options.parallelization.get(kind, 1)))
                for kind, actions in by_type.items()
            ]
            for layer in itertools.zip_longest(*chunks, fillvalue=()):
                yield [action for chunk in layer for action in chunk]


def _chunks(
    actions: Sequence[ProposedAction], size: int
) -> Iterator[Sequence[ProposedAction]]:
    for begin in range(0, len(actions), size):
        yield actions[begin : begin + size]
