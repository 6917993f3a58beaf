"""The planner that closes compute nodes while their servers leave."""

from watcherlite import exceptions
from watcherlite.domain.documents.plan_document import PlanDocument
from watcherlite.domain.solutions import ProposedAction, Solution
from watcherlite.plugins import base
from watcherlite.plugins.planners import documents

_SERVICE = 'change_nova_service_state'
_MIGRATE = 'migrate'
_DISABLED = 'disabled'


class NodeResourceConsolidation(base.Planner):
    """Disable services, then migrate, then enable services.

    The migrations from one compute node follow each other; those of several run in
    parallel. It plans the types `migrate` and `change_nova_service_state` only.
    """

    description = 'Migrates servers between two changes of services.'

    def plan(self, solution: Solution, name: str | None = None) -> PlanDocument:
        """Return the plan; raises Invalid for an action of another type."""
        disabling: list[ProposedAction] = []
        migrations: dict[str, list[ProposedAction]] = {}
        enabling: list[ProposedAction] = []
        for action in solution.actions:
            inputs = action.input_parameters
            if action.action_type == _MIGRATE:
                source = str(inputs.get('source_node'))
                migrations.setdefault(source, []).append(action)
            elif action.action_type == _SERVICE:
                is_first = inputs.get('state') == _DISABLED
                (disabling if is_first else enabling).append(action)
            else:
                raise exceptions.Invalid(
                    'The planner node_resource_consolidation plans no '
                    f'{action.action_type}, but only {_SERVICE} and {_MIGRATE}'
                )
        planned = [documents.action(action, ()) for action in disabling]
        first = [action.name for action in disabling]
        for chain in migrations.values():
            parents = first
            for action in chain:
                planned.append(documents.action(action, parents))
                parents = [action.name]
        last = [chain[-1].name for chain in migrations.values()] or first
        planned += [documents.action(action, last) for action in enabling]
        return documents.document(name, planned)
