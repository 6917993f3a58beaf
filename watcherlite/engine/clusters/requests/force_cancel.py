"""Forced cancellation of actions, which takes them from their workers."""

from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.domain import commands
from watcherlite.domain.actions import ENGINE, Action, ActionChange
from watcherlite.engine.clusters.projection.cluster_projection import ClusterProjection
from watcherlite.engine.clusters.requests.base import ClusterOperationBase
from watcherlite.execution.retries import retry_on_conflict
from watcherlite.execution.signals import end_unstarted
from watcherlite.states import action as states

REASON = 'Cancelled by force; what was done so far may go on unseen'


@retry_on_conflict
def cancel(requests: ClusterOperationBase, found: Action) -> None:
    """Cancel an action with its derived actions, and release its locks.

    What a worker still does for it is fenced off: its result counts no more.

    :raises Conflict: it has ended
    """
    family = [found, *_derived(requests, found)]
    progress = ClusterProjection()
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        about = [action for action in family if progress.is_affected_by(action)]
        held = progress.lock(tx, about) if about else None
        locked = tx.lock_actions([action.id or 0 for action in family])
        if locked[found.id or 0].finished:
            raise exceptions.Conflict(f'Action {found.uuid} has ended')
        going = [action for action in locked.values() if not action.finished]
        # Who still works on it is told to stop.
        tx.set_control(states.CANCEL, now, action_ids=[a.id or 0 for a in going])
        ended, _ = end_unstarted(
            tx,
            PlanProgress(lambda name: False),
            None,
            going,
            states.CANCELLED,
            REASON,
            now,
        )
        after = {action.id: action for action in ended}
        followed = [
            (ActionChange(action, after[action.id]), None)
            for action in going
            if progress.is_affected_by(action)
        ]
        if followed:
            tx.add_events(progress.apply(tx, held, followed, now))
    requests.parts.tell(None, commands.ActionsSignalled())
    requests.parts.tell(ENGINE, commands.RunActions())
    requests.announce()


def _derived(requests: ClusterOperationBase, action: Action) -> Sequence[Action]:
    found: list[Action] = []
    frontier = [action]
    while frontier:
        ids = [one.id or 0 for one in frontier]
        frontier = requests.store.unfinished_derived(ids)
        found += frontier
    return found
