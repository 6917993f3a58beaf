"""The dependents of actions, which are released or cancelled when their parents end.

The functions run in the transaction that ends the parents, after these changes and
before the counters of the plans are saved.
"""

import collections
import datetime
from collections.abc import Mapping, Sequence

from watcherlite.db.api import Released, Transaction
from watcherlite.domain import graph
from watcherlite.domain.actions import COMPLETION, Action, Edge, NewAction
from watcherlite.domain.events import new_uuid
from watcherlite.domain.outcomes import DerivedAction
from watcherlite.execution import results
from watcherlite.execution.results import indexed
from watcherlite.states import action as states


def release(
    tx: Transaction,
    ended: Sequence[Action],
    handovers: Mapping[int, Action],
    now: datetime.datetime,
) -> tuple[list[Released], list[Action]]:
    """Release the dependents of ended actions, and cancel those that cannot run.

    :returns: the dependents that are READY (or handed over), and those that are
        CANCELLED because they need the success of an action that failed
    """
    ended_too: list[Action] = []
    frontier = list(ended)
    while frontier:
        # Only derived actions can need the success of others. Actions of a plan need
        # only the end, and are spared the statement.
        needed = [
            action.id
            for action in frontier
            if action.dependents
            and (action.derived_from or action.cause == states.DERIVED_ACTION)
            and action.status in (states.FAILED, states.CANCELLED)
        ]
        if not needed:
            break
        frontier = tx.end_dependents(
            needed, states.CANCELLED, results.PARENT_FAILED, now
        )
        ended_too += frontier
    every = (*ended, *ended_too) if ended_too else ended
    return count_down(tx, every, now, handovers=handovers), ended_too


def count_down(
    tx: Transaction,
    ended: Sequence[Action],
    now: datetime.datetime,
    *,
    started: bool = True,
    handovers: Mapping[int, Action] | None = None,
) -> list[Released]:
    """Decrement the pending counters of dependents; return those that are released.

    An action that was skipped or cancelled while it waited keeps its place in the
    order: its dependents are released only after its own parents have ended.
    Otherwise the end of a plan whose middle is skipped would run together with its
    beginning.

    :param started: whether the plan runs
    """
    parents = [
        action.id for action in ended if action.dependents and action.pending == 0
    ]
    released: list[Released] = []
    while parents:
        found = tx.release_dependents(
            parents, started=started, handovers=handovers, now=now
        )
        released += [item for item in found if not item.ended]
        parents = [item.id for item in found if item.ended]
    return released


def derive(
    tx: Transaction,
    parent: Action,
    derived: Sequence[DerivedAction],
    now: datetime.datetime,
) -> list[Action]:
    """Insert derived actions, which their parent waits for; return them with ids.

    They run in the lane and plan of the parent, inherit its lock, and are READY at
    once unless they depend on each other. One that names a lane belongs to no plan and
    takes its own lock. None starts while the parent is SUSPENDED.

    :param derived: validated by `results.validated`
    """
    # Ids follow the order of insertion, and claims the order of ids.
    derived = [derived[i] for i in graph.order(indexed(derived))]
    uuids = {item.key: new_uuid() for item in derived}
    children = collections.Counter(key for item in derived for key in item.parents)
    edges = [
        Edge(uuids[key], uuids[item.key], item.needs)
        for item in derived
        for key in item.parents
    ]
    edges += [Edge(uuids[item.key], parent.uuid, COMPLETION) for item in derived]
    actions = [
        _derived_action(item, parent, uuids, children[item.key], now)
        for item in derived
    ]
    ids = tx.insert_actions(actions, edges)
    tx.add_pending(parent.id, len(actions))
    return [
        action.stored(action_id) for action, action_id in zip(actions, ids, strict=True)
    ]


def _derived_action(
    item: DerivedAction,
    parent: Action,
    uuids: Mapping[str, str],
    children: int,
    now: datetime.datetime,
) -> NewAction:
    return NewAction(
        uuid=uuids[item.key],
        name=item.name or item.key,
        action_type=item.action_type,
        lane=item.lane or parent.lane,
        plan_id=parent.plan_id if item.lane is None else None,
        derived_from=parent.id,
        target=item.target or parent.target,
        cause=_cause(item, parent),
        inputs=item.inputs,
        context=parent.context,
        parents=tuple(uuids[key] for key in item.parents),
        dependents=children + 1,
        timeout=item.timeout,
        tenant=item.tenant or parent.tenant,
        within=_within(item, parent),
        status=states.WAITING if item.parents else states.READY,
        blocked_on=parent.uuid if parent.status == states.SUSPENDED else None,
        pending=len(item.parents),
        data={'key': item.key},
        created_at=now,
    )


def _cause(item: DerivedAction, parent: Action) -> str:
    """Return the cause of a derived action: whether it takes the lock on its target."""
    alike = item.target is None or item.target in (parent.target, parent.within)
    # The parent holds that lock until the derived action ends.
    inherits = item.lane is None or alike
    return states.DERIVED_ACTION if inherits else states.RPC_REQUEST


def _within(item: DerivedAction, parent: Action) -> str | None:
    """Return the whole that contains the target of a derived action."""
    within = item.within or parent.within
    held = within in (parent.target, parent.within)
    # For the same reason a waiter for the exclusive lock blocks further shared locks.
    return None if held and _cause(item, parent) == states.RPC_REQUEST else within
