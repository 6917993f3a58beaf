"""Valid objects for tests, with unique uuids; keywords change their fields."""

import collections
import datetime
import uuid
from typing import Any

from watcherlite.db.api import Store, Worker
from watcherlite.db.query import Query
from watcherlite.domain import audits, events
from watcherlite.domain.action_plans import ActionPlan
from watcherlite.domain.actions import COMPLETION, Action, Edge
from watcherlite.domain.audits import (
    Audit,
    AuditTemplate,
    Goal,
    ScoringEngine,
    Strategy,
)
from watcherlite.domain.events import Event
from watcherlite.states import action as action_states
from watcherlite.states import action_plan as plan_states
from watcherlite.states import audit as audit_states

#: The time of all objects created here; the microseconds must survive.
NOW = datetime.datetime(2026, 3, 29, 1, 30, 15, 123456, tzinfo=datetime.UTC)


def new_uuid() -> str:
    """Return a unique uuid."""
    return str(uuid.uuid4())


def at(seconds: float) -> datetime.datetime:
    """Return the time `seconds` after NOW."""
    return NOW + datetime.timedelta(seconds=seconds)


def make_action(**values: Any) -> Action:
    """Return an action as it is stored; an insertion assigns another id."""
    return Action(
        **{
            'id': 0,
            'uuid': new_uuid(),
            'action_type': 'nop',
            'created_at': NOW,
            **values,
        }
    )


def make_plan(**values: Any) -> ActionPlan:
    """Return an ONGOING plan; an insertion assigns another id."""
    return ActionPlan(
        **{
            'id': 0,
            'uuid': new_uuid(),
            'state': plan_states.ONGOING,
            'global_efficacy': [],
            'efficacy_indicators': [],
            'created_at': NOW,
            **values,
        }
    )


def make_event(subject: ActionPlan | Action, **values: Any) -> Event:
    """Return an event of a stored plan or action: the change to its current status."""
    if isinstance(subject, Action):
        default: dict[str, Any] = {
            'subject': events.ACTION,
            'plan_id': subject.plan_id,
            'action_id': subject.id,
            'old_status': action_states.INIT,
            'new_status': subject.status,
            'message': subject.status_message,
            'plan_state': plan_states.ONGOING if subject.plan_id else None,
        }
    else:
        default = {
            'subject': events.ACTION_PLAN,
            'plan_id': subject.id,
            'action_id': None,
            'old_status': plan_states.PENDING,
            'new_status': subject.state,
            'message': subject.status_message,
            'plan_state': None,
        }
    default |= {'kind': events.STATE_CHANGED, 'plan_message': None, 'occurred_at': NOW}
    return Event(**{**default, **values})


def make_goal(**values: Any) -> Goal:
    """Return a goal with a unique name."""
    name = f'goal_{new_uuid()}'
    return Goal(
        **{
            'id': 0,
            'uuid': new_uuid(),
            'name': name,
            'display_name': name,
            'efficacy_specification': [],
            'created_at': NOW,
            **values,
        }
    )


def make_strategy(**values: Any) -> Strategy:
    """Return a strategy with a unique name."""
    name = f'strategy_{new_uuid()}'
    return Strategy(
        **{
            'id': 0,
            'uuid': new_uuid(),
            'name': name,
            'display_name': name,
            'created_at': NOW,
            **values,
        }
    )


def make_scoring_engine(**values: Any) -> ScoringEngine:
    """Return a scoring engine with a unique name."""
    return ScoringEngine(
        **{
            'id': 0,
            'uuid': new_uuid(),
            'name': f'scorer_{new_uuid()}',
            'description': 'Scores.',
            'metainfo': '{}',
            'created_at': NOW,
            **values,
        }
    )


def make_audit(goal_id: int, **values: Any) -> Audit:
    """Return an audit that has succeeded."""
    return Audit(
        **{
            'id': 0,
            'uuid': new_uuid(),
            'name': f'audit_{new_uuid()}',
            'audit_type': audits.ONESHOT,
            'state': audit_states.SUCCEEDED,
            'goal_id': goal_id,
            'scope': [],
            'created_at': NOW,
            **values,
        }
    )


def make_template(goal_id: int, **values: Any) -> AuditTemplate:
    """Return an audit template with a unique name."""
    return AuditTemplate(
        **{
            'id': 0,
            'uuid': new_uuid(),
            'name': f'template_{new_uuid()}',
            'goal_id': goal_id,
            'scope': [],
            'created_at': NOW,
            **values,
        }
    )


def make_worker(**values: Any) -> Worker:
    """Return a worker that serves the applier lane."""
    return Worker(
        **{
            'uuid': new_uuid(),
            'host': 'host-1',
            'identity': 'machine:1:4711:815',
            'lanes': ('applier',),
            **values,
        }
    )


def store_actions(
    store: Store, *actions: Action, needs: str = COMPLETION
) -> list[Action]:
    """Store actions, parents first, and return them as stored.

    The edges and the counts follow from `parents`.

    :param needs: the condition of each edge
    """
    edges = [Edge(p, action.uuid, needs) for action in actions for p in action.parents]
    children = collections.Counter(edge.parent for edge in edges)
    counted = list(actions)
    # Most have neither parents nor children: a copy costs as much as the insertion.
    for place, action in enumerate(actions):
        pending, dependents = len(action.parents), children[action.uuid]
        if (pending, dependents) != (action.pending, action.dependents):
            counted[place] = action.evolve(pending=pending, dependents=dependents)
    with store.transaction() as tx:
        ids = tx.insert_actions(counted, edges)
    return [a.stored(i) for a, i in zip(counted, ids, strict=True)]


def all_plans(store: Store) -> list[ActionPlan]:
    """Return all plans, including deleted ones, by id."""
    listed = store.list_action_plans(Query(deleted=True, limit=100_000))
    return [row.plan for row in listed]


def store_plan(
    store: Store, *actions: Action, needs: str = COMPLETION, **values: Any
) -> tuple[ActionPlan, list[Action]]:
    """Store a goal, a strategy, an audit, a plan and its actions.

    :param needs: the condition of each edge
    :param values: the fields of the plan
    :returns: the plan and its actions as stored
    """
    with store.transaction() as tx:
        goal = tx.ensure_goal(make_goal())
        strategy = tx.ensure_strategy(make_strategy(goal_id=goal.id))
        audit = tx.insert_audit(make_audit(goal.id, strategy_id=strategy.id))
        plan = tx.insert_plan(
            make_plan(
                **{
                    'audit_id': audit.id,
                    'strategy_id': strategy.id,
                    'total': len(actions),
                    'unfinished': len(actions),
                    **values,
                }
            )
        )
    members = [action.evolve(plan_id=plan.id) for action in actions]
    return plan, store_actions(store, *members, needs=needs)
