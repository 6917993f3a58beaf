"""The creation of plans from plan documents, with their goal, strategy and audit."""

import dataclasses
import datetime
import itertools
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.applier.progress import plan_event
from watcherlite.clock import EPOCH
from watcherlite.db.api import Transaction
from watcherlite.domain import events, graph
from watcherlite.domain.action_plans import ActionPlan, NewActionPlan
from watcherlite.domain.actions import APPLIER, Edge, NewAction
from watcherlite.domain.audits import ONESHOT, Audit, NewAudit, NewGoal, NewStrategy
from watcherlite.domain.creators import CREATOR, NO_AUTHORITY, Creator
from watcherlite.domain.documents.plan_document import (
    ActionDocument,
    PlanDocument,
    Validate,
    check_inputs,
)
from watcherlite.domain.events import created_event
from watcherlite.execution.ports import ActionTypes
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states
from watcherlite.states import audit as audit_states

# As with the actuator strategy of Watcher, the document is the plan.
GOAL = 'unclassified'
GOAL_DISPLAY_NAME = 'Unclassified'
STRATEGY = 'actuator'
STRATEGY_DISPLAY_NAME = 'Actuator'

#: The number of events that are written at one time.
CHUNK = 5000


def check(document: PlanDocument, types: ActionTypes) -> None:
    """Raise InvalidDocument with all problems that the action types report."""
    check_inputs(document, validator(types))


def validator(types: ActionTypes) -> Validate:
    """Return a function that validates the inputs of an action by its type."""

    def validate(action_type: str, inputs: Mapping[str, Any]) -> None:
        try:
            kind = types.make_action_type(action_type)
        except exceptions.WatcherliteError:
            raise
        except (Exception, SystemExit) as error:
            name = type(error).__name__
            raise exceptions.PluginError(
                f'The action type {action_type} cannot be used: its class raised {name}'
            ) from error
        types.validate_inputs(kind, inputs)

    return validate


def store(
    tx: Transaction,
    document: PlanDocument,
    now: datetime.datetime,
    context: Mapping[str, Any],
    on_worker_loss: str,
    creator: Creator,
) -> ActionPlan:
    """Store goal, strategy, audit, plan and actions; return the plan."""
    audit = _audit(tx, document, now, creator)
    origin = Origin(audit.id, audit.strategy_id, creator=creator)
    return propose(tx, document, origin, now, context, on_worker_loss)


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a plan: its audit, strategy, efficacy and creator.

    :param efficacy_indicators: mappings of `domain.solutions.Indicator.to_mapping`
    :param global_efficacy: likewise
    :param creator: the user whose authority the actions of the plan have
    :param retry_of: the uuid of the plan that it continues, for its event
    """

    audit_id: int | None
    strategy_id: int | None
    efficacy_indicators: Sequence[Mapping[str, Any]] = ()
    global_efficacy: Sequence[Mapping[str, Any]] = ()
    creator: Creator = NO_AUTHORITY
    retry_of: str | None = None


def propose(
    tx: Transaction,
    document: PlanDocument,
    origin: Origin,
    now: datetime.datetime,
    context: Mapping[str, Any],
    on_worker_loss: str,
) -> ActionPlan:
    """Store a plan and its actions for an existing audit; return the plan.

    It is RECOMMENDED, or SUCCEEDED at once if it has no actions.
    """
    plan = tx.insert_plan(
        NewActionPlan(
            uuid=str(uuid.uuid4()),
            name=document.name,
            audit_id=origin.audit_id,
            strategy_id=origin.strategy_id,
            on_failure=document.on_failure,
            on_worker_loss=on_worker_loss,
            max_parallel=document.max_parallel,
            efficacy_indicators=origin.efficacy_indicators,
            global_efficacy=origin.global_efficacy,
            created_at=now,
            creator=origin.creator,
            total=len(document.actions),
            unfinished=len(document.actions),
        )
    )
    context = {**context, CREATOR: origin.creator.as_mapping()}
    actions, edges = _graph(document, plan, now, context)
    ids = tx.insert_actions(actions, edges)
    created = plan_event(None, plan, now, events.CREATED)
    if origin.retry_of is not None:
        created = dataclasses.replace(
            created, detail={events.RETRY_OF: origin.retry_of}
        )
    tx.add_events([created])
    _add_created_events(tx, plan, actions, ids, now)
    if actions:
        return plan
    ended = plan.evolve(state=states.SUCCEEDED, updated_at=now)
    tx.lock_plans([plan.id])
    tx.save_plans([ended])
    tx.add_events([plan_event(plan, ended, now)])
    return ended


def _add_created_events(
    tx: Transaction,
    plan: ActionPlan,
    actions: Sequence[NewAction],
    ids: Sequence[int],
    now: datetime.datetime,
) -> None:
    stored = zip(actions, ids, strict=True)
    while chunk := list(itertools.islice(stored, CHUNK)):
        tx.add_events(
            [
                created_event(action.stored(action_id), plan, now)
                for action, action_id in chunk
            ]
        )


def _audit(
    tx: Transaction, document: PlanDocument, now: datetime.datetime, creator: Creator
) -> Audit:
    goal = tx.ensure_goal(
        NewGoal(str(uuid.uuid4()), GOAL, GOAL_DISPLAY_NAME, created_at=now)
    )
    strategy = tx.ensure_strategy(
        NewStrategy(
            str(uuid.uuid4()),
            STRATEGY,
            STRATEGY_DISPLAY_NAME,
            goal_id=goal.id,
            created_at=now,
        )
    )
    audit_uuid = str(uuid.uuid4())
    label = (document.name or STRATEGY)[:26]
    return tx.insert_audit(
        NewAudit(
            uuid=audit_uuid,
            name=f'{label}-{audit_uuid}',
            audit_type=ONESHOT,
            state=audit_states.SUCCEEDED,
            goal_id=goal.id,
            strategy_id=strategy.id,
            created_at=now,
            creator=creator,
        )
    )


def _graph(
    document: PlanDocument,
    plan: ActionPlan,
    now: datetime.datetime,
    context: Mapping[str, Any],
) -> tuple[list[NewAction], list[Edge]]:
    """Return the actions, parents before children, and the edges.

    Ids follow this order, and claims the order of ids.
    """
    index = {action.name: i for i, action in enumerate(document.actions)}
    parents = [[index[name] for name in a.parents] for a in document.actions]
    order = [document.actions[i] for i in graph.order(parents)]
    uuids = {action.name: events.new_uuid() for action in order}
    dependents = dict.fromkeys(uuids, 0)
    for action in order:
        for parent in action.parents:
            dependents[parent] += 1
    actions = [
        _action(item, plan, uuids, dependents[item.name], now, context)
        for item in order
    ]
    edges = [
        Edge(uuids[parent], uuids[action.name])
        for action in order
        for parent in action.parents
    ]
    return actions, edges


def _action(
    document: ActionDocument,
    plan: ActionPlan,
    uuids: Mapping[str, str],
    dependents: int,
    now: datetime.datetime,
    context: Mapping[str, Any],
) -> NewAction:
    return NewAction(
        uuid=uuids[document.name],
        name=document.name,
        action_type=document.action_type,
        lane=APPLIER,
        plan_id=plan.id,
        target=document.target,
        cause=action_states.RPC_REQUEST,
        inputs=document.input_parameters,
        context=context,
        parents=tuple(uuids[parent] for parent in document.parents),
        dependents=dependents,
        timeout=document.timeout,
        created_at=now,
        pending=len(document.parents),
        # Claims do not find earlier times.
        not_before=max(document.not_before or EPOCH, EPOCH),
    )
