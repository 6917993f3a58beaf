"""Undoing what a failed plan has done.

The actions that undo others are actions like all others: claimed, fenced,
timed, cancelled and notified by the same core. They form one chain, the last
that succeeded first, so that nothing is undone before what was built on it.
"""

import datetime
from collections.abc import Callable

from watcherlite.db.api import Store, Transaction
from watcherlite.domain.action_plans import REVERTING, ActionPlan
from watcherlite.domain.actions import REVERT, Action, Edge, NewAction
from watcherlite.domain.events import Event, new_uuid
from watcherlite.execution.events import created_event
from watcherlite.states import action as states

PAGE = 1000


def begin(
    store: Store,
    tx: Transaction,
    plan: ActionPlan,
    reverts: Callable[[str], bool],
    now: datetime.datetime,
) -> tuple[ActionPlan, list[Event]]:
    """Store the actions that revert a plan; return it as REVERTING.

    Only SUCCEEDED actions of types that override `revert` are reverted: one
    that was skipped did nothing (spec 000), and what others did cannot be
    undone by us. Where nobody can tell, because the type is not installed any
    more, the action is stored as well, and fails with that reason.
    """
    done = _succeeded(store, plan, reverts)
    done.sort(key=lambda a: (a.end_time or now, a.id), reverse=True)
    uuids = [new_uuid() for _ in done]
    actions = [
        NewAction(
            uuid=uuid,
            name=f'revert {action.name or action.uuid}',
            action_type=action.action_type,
            lane=action.lane,
            plan_id=plan.id,
            derived_from=action.id,
            target=action.target,
            inputs=action.inputs,
            context=action.context,
            parents=(uuids[index - 1],) if index else (),
            dependents=1 if index + 1 < len(done) else 0,
            timeout=action.timeout,
            created_at=now,
            status=states.INIT,
            phase=REVERT,
            pending=1 if index else 0,
            data={'reverts': action.uuid, 'outputs': action.outputs},
        )
        for index, (uuid, action) in enumerate(zip(uuids, done, strict=True))
    ]
    edges = [Edge(uuids[i - 1], uuids[i]) for i in range(1, len(uuids))]
    ids = tx.insert_actions(actions, edges)
    after = plan.evolve(
        stage=REVERTING,
        total=plan.total + len(actions),
        unfinished=plan.unfinished + len(actions),
        updated_at=now,
    )
    made = [
        created_event(action.stored(action_id), after, now)
        for action, action_id in zip(actions, ids, strict=True)
    ]
    return after, made


def _succeeded(
    store: Store, plan: ActionPlan, reverts: Callable[[str], bool]
) -> list[Action]:
    found: list[Action] = []
    last: int | None = None
    while True:
        page = store.list_actions(
            plan_id=plan.id, statuses=[states.SUCCEEDED], after_id=last, limit=PAGE
        )
        found += [a for a in page if a.phase != REVERT and reverts(a.action_type)]
        if len(page) < PAGE:
            return found
        last = page[-1].id
