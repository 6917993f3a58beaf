"""The dependents of actions: released, or cancelled, when their parents end.

The functions run inside the committer's transaction, after the changes that
ended the actions and before the plans are counted.
"""

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
    """Count down what depends on ended actions, and end what cannot run now.

    :returns: the dependents that are READY (or handed over), and the actions
        that were ended because they needed the success of one that failed
    """
    ended_too: list[Action] = []
    frontier = list(ended)
    while frontier:
        # Only derived actions need the success of others; a plan's wait for the
        # end alone, so that it never pays for this question.
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
    """Count down what depends on ended actions; return what is at zero.

    One that ended while it still waited for others, skipped or cancelled, holds
    its place in the order: what depends on it goes on when these have ended, too.
    Without that a plan of which the middle is skipped would run its end together
    with its beginning.

    :param started: whether their plan runs
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
    """Store what an action derived, and let it wait for all of them.

    They run in the lane and plan of the one that asked, inherit its lock, and
    are READY at once unless they depend on each other. One that names a lane stands
    for itself there; the one that asked waits for it all the same. None is to start
    as long as the one that asked is SUSPENDED.

    :param derived: sound, see `results`
    :returns: the new actions with their ids
    """
    # Ids follow the order of insertion, and claims follow ids: parents first.
    derived = [derived[i] for i in graph.order(indexed(derived))]
    uuids = {item.key: new_uuid() for item in derived}
    children_of = {item.key: 0 for item in derived}
    for item in derived:
        for key in item.parents:
            children_of[key] += 1
    edges = [
        Edge(uuids[key], uuids[item.key], item.needs)
        for item in derived
        for key in item.parents
    ]
    edges += [Edge(uuids[item.key], parent.uuid, COMPLETION) for item in derived]
    actions = [
        NewAction(
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
            dependents=children_of[item.key] + 1,
            timeout=item.timeout,
            tenant=item.tenant or parent.tenant,
            within=_within(item, parent),
            status=states.WAITING if item.parents else states.READY,
            blocked_on=parent.uuid if parent.status == states.SUSPENDED else None,
            pending=len(item.parents),
            data={'key': item.key},
            created_at=now,
        )
        for item in derived
    ]
    ids = tx.insert_actions(actions, edges)
    tx.add_pending(parent.id, len(actions))
    return [
        action.stored(action_id) for action, action_id in zip(actions, ids, strict=True)
    ]


def _cause(item: DerivedAction, parent: Action) -> str:
    """Return the cause of a derived action, which says whether it locks its target."""
    alike = item.target is None or item.target in (parent.target, parent.within)
    # The lock that the one that waits for it holds would never become free.
    inherits = item.lane is None or alike
    return states.DERIVED_ACTION if inherits else states.RPC_REQUEST


def _within(item: DerivedAction, parent: Action) -> str | None:
    """Return what the target of a derived action is a part of."""
    within = item.within or parent.within
    held = within in (parent.target, parent.within)
    # Likewise: whoever waits to have it alone lets nobody share it any more.
    return None if held and _cause(item, parent) == states.RPC_REQUEST else within
