"""The planner that orders the actions on one object only."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from oslo_config import cfg, types

from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.solutions import RESOURCE_ID, Solution
from watcherlite.plugins import base
from watcherlite.plugins.planners import documents
from watcherlite.plugins.planners import weights as type_weights


class WorkloadStabilization(base.Planner):
    """Run all actions in parallel, except for those on one object.

    These follow each other in descending order of weight: a server is resized after its
    migration. How many run at the same time is limited by the appliers.
    """

    description = 'Orders the actions on each object by the weights of their types.'

    weights: ClassVar[Mapping[str, int]] = {
        'nop': 5,
        'change_nova_service_state': 4,
        'sleep': 3,
        'migrate': 2,
        'resize': 1,
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return (
            cfg.Opt(
                'weights',
                type=types.Dict(value_type=types.Integer()),
                default=dict(cls.weights),
                help='The weight of each action type: of the actions on one object, '
                'the one with the highest weight runs first. A setting replaces '
                'all defaults, so name every type that strategies propose.',
            ),
        )

    def plan(self, solution: Solution, name: str | None = None) -> PlanDocument:
        """Return the plan; raises Invalid for a type without a weight."""
        ordered = type_weights.sort(
            solution, self.options.weights, 'workload_stabilization'
        )
        planned = []
        #: object -> its last action so far
        before: dict[str, str] = {}
        for action in ordered:
            resource = action.input_parameters.get(RESOURCE_ID)
            parents = [before[resource]] if resource in before else []
            planned.append(documents.action(action, parents))
            if resource is not None:
                before[resource] = action.name
        return documents.document(name, planned)
