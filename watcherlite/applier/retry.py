"""The retry of an ended plan from where it stopped, as a new plan.

States of ended actions are final, and their notifications were published. So a retry
does not revive a plan: it proposes another one with the actions that did not succeed,
which is reviewed, started and cancelled like any other.
"""

import collections
from collections.abc import Mapping, Sequence

from watcherlite import exceptions
from watcherlite.clock import EPOCH
from watcherlite.domain.action_plans import REVERTING, ActionPlan
from watcherlite.domain.actions import Action
from watcherlite.domain.documents.plan_document import ActionDocument, PlanDocument
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states

#: The statuses of its actions that the retry has.
REMAINING = frozenset({action_states.FAILED, action_states.CANCELLED})
#: The states of plans that end by themselves.
_STARTED = frozenset({states.PENDING, states.ONGOING, states.CANCELLING})
#: The largest number of dependencies of a retry: an action that succeeded between many
#: others makes each of these depend on each.
MAX_DEPENDENCIES = 200_000


def remaining_document(
    plan: ActionPlan, actions: Sequence[Action], only: str | None = None
) -> PlanDocument:
    """Return the document of the actions that did not succeed, in their order.

    An action waits for those that it waited for before, also through actions that
    succeeded or were skipped.

    :param actions: all actions of the plan, by id
    :param only: uuid of an action: the document has it and what depends on it
    :raises Conflict: the state of the plan or the action does not allow a retry
    """
    if plan.state not in states.RETRIABLE:
        raise exceptions.Conflict(_state_problem('action plan', plan.state))
    if plan.stage == REVERTING:
        raise exceptions.Conflict(
            'The action plan was rolled back; create a new one from its document.'
        )
    # Derived actions are derived again by theirs.
    found = {a.uuid: a for a in actions if a.derived_from is None}
    desired = {uuid for uuid, a in found.items() if a.status in REMAINING}
    if only is not None:
        if only not in desired:
            state = found[only].state if only in found else 'derived'
            raise exceptions.Conflict(_state_problem('action', state))
        desired &= _with_descendants(found, only)
    if not desired:
        raise exceptions.Conflict('All actions of the action plan have succeeded.')
    parents = _remaining_parents(found, desired)
    names = {uuid: a.name or uuid for uuid, a in found.items()}
    return PlanDocument(
        name=plan.name,
        on_failure=plan.on_failure,
        max_parallel=plan.max_parallel,
        actions=tuple(
            ActionDocument(
                name=names[uuid],
                action_type=action.action_type,
                input_parameters=action.inputs,
                parents=tuple(names[parent] for parent in parents[uuid]),
                timeout=action.timeout,
                target=action.target,
                not_before=None if action.not_before == EPOCH else action.not_before,
            )
            for uuid, action in found.items()
            if uuid in desired
        ),
    )


def _state_problem(kind: str, state: str) -> str:
    """Return the message of a refusal because of the state of an object."""
    problem = f"Couldn't retry when the state of the {kind} is '{state}'"
    if state in _STARTED:
        return f'{problem}. Wait until it has ended, or cancel it.'
    return f'{problem}; it has to be FAILED or CANCELLED.'


def _with_descendants(found: Mapping[str, Action], uuid: str) -> set[str]:
    """Return an action and all actions that depend on it."""
    children = collections.defaultdict(list)
    for child in found.values():
        for parent in child.parents:
            children[parent].append(child.uuid)
    known, queue = {uuid}, [uuid]
    while queue:
        new = [child for child in children[queue.pop()] if child not in known]
        known.update(new)
        queue += new
    return known


def _remaining_parents(
    found: Mapping[str, Action], desired: set[str]
) -> Mapping[str, Sequence[str]]:
    """Return the dependencies between the retried actions.

    :param found: parents before children
    """
    # Dicts as ordered sets, so that a retry is the same each time.
    parents: dict[str, dict[str, None]] = {}
    count = 0
    for uuid, action in found.items():
        parents[uuid] = {}
        for parent in action.parents:
            if parent in desired:
                parents[uuid][parent] = None
            else:
                parents[uuid].update(parents.get(parent, {}))
        count += len(parents[uuid])
        if count > MAX_DEPENDENCIES:
            raise exceptions.Conflict(
                f'The retry would have more than {MAX_DEPENDENCIES} dependencies; '
                'create a new action plan.'
            )
    return {uuid: tuple(parents[uuid]) for uuid in desired}
