"""The rollback of a failed plan.

The actions that revert others are ordinary actions, which the core claims, fences,
times out, cancels and notifies. They form one chain in the reverse order of the ends,
so that an action is reverted only after those that depend on it.
"""

import datetime
from typing import Protocol

from watcherlite.db.api import Store, Transaction
from watcherlite.domain.action_plans import REVERTING, ActionPlan
from watcherlite.domain.actions import REVERT, Action, Edge, NewAction
from watcherlite.domain.events import Event, created_event, new_uuid
from watcherlite.states import action as states

#: The number of actions that are read at one time.
PAGE = 1000


class RevertTypes(Protocol):
    """The action types, as far as a rollback uses them."""

    def may_revert(self, name: str) -> bool:
        """Return whether actions of a type are reverted."""


def start(
    store: Store,
    tx: Transaction,
    plan: ActionPlan,
    types: RevertTypes | None,
    now: datetime.datetime,
) -> tuple[ActionPlan, list[Event]]:
    """Insert the actions that revert a plan; return it as REVERTING, and the events.

    Only SUCCEEDED actions of types that override `revert` are reverted: skipped actions
    did nothing (spec 000), and other types cannot be reverted. An action of a type that
    is not installed any more is inserted as well, and fails with that reason.
    """
    succeeded = [] if types is None else _succeeded(store, plan, types)
    actions = _revert_actions(succeeded, now)
    uuids = [action.uuid for action in actions]
    edges = [Edge(uuids[i - 1], uuids[i]) for i in range(1, len(uuids))]
    ids = tx.insert_actions(actions, edges)
    after = plan.evolve(
        stage=REVERTING,
        total=plan.total + len(actions),
        unfinished=plan.unfinished + len(actions),
        updated_at=now,
    )
    created = [
        created_event(action.stored(action_id), after, now)
        for action, action_id in zip(actions, ids, strict=True)
    ]
    return after, created


def _revert_actions(succeeded: list[Action], now: datetime.datetime) -> list[NewAction]:
    """Return a chain of actions that revert others, the last to end first."""
    order = sorted(succeeded, key=lambda a: (a.end_time or now, a.id), reverse=True)
    uuids = [new_uuid() for _ in order]
    return [
        NewAction(
            uuid=uuid,
            name=f'revert {action.name or action.uuid}',
            action_type=action.action_type,
            lane=action.lane,
            plan_id=action.plan_id,
            derived_from=action.id,
            target=action.target,
            inputs=action.inputs,
            context=action.context,
            parents=(uuids[index - 1],) if index else (),
            dependents=1 if index + 1 < len(order) else 0,
            timeout=action.timeout,
            created_at=now,
            status=states.INIT,
            phase=REVERT,
            pending=1 if index else 0,
            data={'reverts': action.uuid, 'outputs': action.outputs},
        )
        for index, (uuid, action) in enumerate(zip(uuids, order, strict=True))
    ]


def _succeeded(store: Store, plan: ActionPlan, types: RevertTypes) -> list[Action]:
    found: list[Action] = []
    last: int | None = None
    while True:
        page = store.list_actions(
            plan_id=plan.id, statuses=[states.SUCCEEDED], after_id=last, limit=PAGE
        )
        found += [
            a for a in page if a.phase != REVERT and types.may_revert(a.action_type)
        ]
        if len(page) < PAGE:
            return found
        last = page[-1].id
