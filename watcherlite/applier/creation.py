"""From a plan document to a stored plan with everything that it belongs to."""

import dataclasses
import datetime
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
from watcherlite.domain.audits import ONESHOT, Audit, Goal, Strategy
from watcherlite.domain.creators import CREATOR, NOBODY, Creator
from watcherlite.domain.documents import (
    ActionDocument,
    PlanDocument,
    Validate,
    check_inputs,
)
from watcherlite.execution.events import created_event
from watcherlite.execution.ports import ActionTypes
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as states
from watcherlite.states import audit as audit_states

# A document proposes a plan as Watcher's actuator strategy does: as it is given.
GOAL = 'unclassified'
GOAL_DISPLAY_NAME = 'Unclassified'
STRATEGY = 'actuator'
STRATEGY_DISPLAY_NAME = 'Actuator'

#: Events of an action's creation that are written at one time.
CHUNK = 5000


def check(document: PlanDocument, types: ActionTypes) -> None:
    """Raise InvalidDocument with all that the action types object to."""
    check_inputs(document, validator(types))


def validator(types: ActionTypes) -> Validate:
    """Return what `Draft.check_inputs` asks."""

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
    """What a plan was proposed by, and what its figures are.

    :param efficacy_indicators: as `domain.solutions.Indicator.to_mapping`, and so
        `global_efficacy`
    :param creator: whose authority the actions of the plan have
    """

    audit_id: int | None
    strategy_id: int | None
    efficacy_indicators: Sequence[Mapping[str, Any]] = ()
    global_efficacy: Sequence[Mapping[str, Any]] = ()
    creator: Creator = NOBODY


def propose(
    tx: Transaction,
    document: PlanDocument,
    origin: Origin,
    now: datetime.datetime,
    context: Mapping[str, Any],
    on_worker_loss: str,
) -> ActionPlan:
    """Store a plan and its actions for an audit that is there; return the plan.

    It is RECOMMENDED, or SUCCEEDED at once when there is nothing to do.
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
    tx.add_events([plan_event(None, plan, now, events.CREATED)])
    for begin in range(0, len(actions), CHUNK):
        tx.add_events(
            [
                created_event(action.stored(action_id), plan, now)
                for action, action_id in zip(
                    actions[begin : begin + CHUNK],
                    ids[begin : begin + CHUNK],
                    strict=True,
                )
            ]
        )
    if actions:
        return plan
    over = plan.evolve(state=states.SUCCEEDED, updated_at=now)
    tx.lock_plans([plan.id])
    tx.save_plans([over])
    tx.add_events([plan_event(plan, over, now)])
    return over


def _audit(
    tx: Transaction, document: PlanDocument, now: datetime.datetime, creator: Creator
) -> Audit:
    goal = tx.ensure_goal(
        Goal(str(uuid.uuid4()), GOAL, GOAL_DISPLAY_NAME, created_at=now)
    )
    strategy = tx.ensure_strategy(
        Strategy(
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
        Audit(
            uuid=audit_uuid,
            name=f'{label}-{audit_uuid}',
            audit_type=ONESHOT,
            state=audit_states.SUCCEEDED,
            goal_id=goal.id or 0,
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

    Ids follow this order, and claims follow ids.
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
        # Earlier than that nothing is looked for.
        not_before=max(document.not_before or EPOCH, EPOCH),
    )
