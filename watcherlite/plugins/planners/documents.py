"""The conversion of proposed actions to a plan document."""

from collections.abc import Iterable

from watcherlite.domain.documents.plan_document import ActionDocument, PlanDocument
from watcherlite.domain.solutions import ProposedAction
from watcherlite.states import action_plan as states


def document(name: str | None, actions: Iterable[ActionDocument]) -> PlanDocument:
    """Return a plan that continues after failed actions, like Watcher's."""
    return PlanDocument(
        name=name, on_failure=states.CONTINUE, max_parallel=None, actions=tuple(actions)
    )


def action(proposed: ProposedAction, parents: Iterable[str]) -> ActionDocument:
    """Return a proposed action with these parents."""
    return ActionDocument(
        name=proposed.name,
        action_type=proposed.action_type,
        input_parameters=proposed.input_parameters,
        parents=tuple(parents),
        timeout=proposed.timeout,
        target=proposed.target,
    )
