"""The end of an action by force: whoever works on it owns it no more."""

from collections.abc import Sequence

from watcherlite import exceptions
from watcherlite.applier.progress import PlanProgress
from watcherlite.applier.signalling import end_unstarted
from watcherlite.domain import commands
from watcherlite.domain.actions import ENGINE, Action, ActionChange
from watcherlite.engine.clusters.progress import ClusterProgress
from watcherlite.engine.clusters.requesting import Requests
from watcherlite.execution.conflicts import again_on_conflict
from watcherlite.states import action as states

REASON = 'Cancelled by force; what was done so far may go on unseen'


@again_on_conflict
def end(requests: Requests, found: Action) -> None:
    """Cancel an action with all that it derived, and drop its locks.

    What a worker still does for it is fenced off: its result counts no more.

    :raises Conflict: it has ended
    """
    family = [found, *_derived(requests, found)]
    progress = ClusterProgress()
    now = requests.clock.now()
    with requests.store.transaction() as tx:
        about = [action for action in family if progress.concerns(action)]
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
            if progress.concerns(action)
        ]
        if followed:
            tx.add_events(progress.follow(tx, held, followed, now))
    requests.parts.tell(None, commands.ActionsSignalled())
    requests.parts.tell(ENGINE, commands.RunActions())
    requests.tell()


def _derived(requests: Requests, action: Action) -> Sequence[Action]:
    found: list[Action] = []
    frontier = [action]
    while frontier:
        ids = [one.id or 0 for one in frontier]
        frontier = requests.store.unfinished_derived(ids)
        found += frontier
    return found
