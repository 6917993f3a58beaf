"""What all actions on clusters have in common: they go on in stages.

A stage is a step of the action itself and what that derives; the next one begins when
the last of these has ended. So nothing of an action runs any more when its lock is
released.
"""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import commands
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Profile
from watcherlite.domain.outcomes import (
    Cancelled,
    Failed,
    Fault,
    InProgress,
    Outcome,
)
from watcherlite.engine.clusters import actions, expansion
from watcherlite.engine.clusters.cluster_working import TIMED_OUT, ClusterWork
from watcherlite.engine.clusters.parts import Parts, not_here
from watcherlite.engine.patience import patiently
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult

DELETED = 'The cluster is deleted.'


class ClusterAction(ActionType):
    """What all of them have in common.

    :cvar kind: which one
    :param parts: None for one that only says what it takes
    """

    kind: ClassVar[actions.Kind]
    # One that begins again finds the nodes that it has stored, and derives the rest.
    idempotent = True

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if 'kind' in cls.__dict__:
            cls.schema = cls.kind.schema
            cls.description = cls.kind.description

    def __init__(self, options: Any = None, parts: Parts | None = None) -> None:
        super().__init__(options)
        self._of_worker = parts

    @property
    def parts(self) -> Parts:
        """Return what it works with."""
        if self._of_worker is None:
            raise not_here()
        return self._of_worker

    def execute(self, context: ActionContext) -> Outcome:
        """Begin: derive the first stage."""
        return self._staged(context, ())

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Derive the next stage, or say how it went."""
        return self._staged(context, results, begun=True)

    def overdue(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Say what was done before its time was over."""
        said = {**expansion.outputs(expansion.ends(results)), actions.REASON: TIMED_OUT}
        return Failed(TIMED_OUT, Fault('TimedOut', TIMED_OUT, '', ''), said)

    def poll(self, context: ActionContext, token: Any) -> Outcome:
        """Go on after a pause, when it is over; see `ClusterWork.pause`."""
        until = datetime.datetime.fromisoformat(token['until'])
        left = (until - context.now()).total_seconds()
        if left > 0:
            # It was suspended meanwhile, or another worker's.
            return InProgress(token, left)
        return self._staged(context, (), token)

    def _staged(
        self,
        context: ActionContext,
        results: Sequence[DerivedResult],
        token: Mapping[str, Any] | None = None,
        begun: bool = False,
    ) -> Outcome:
        store = self.parts.store

        def written() -> Outcome:
            action = store.get_action(context.uuid)
            # Not in the transaction: whoever has one connection must not need another.
            profile = self._profile(action)
            ended, now = expansion.ends(results), context.now()
            with store.transaction() as tx:
                work = ClusterWork.of(
                    *(self.parts, action, profile, tx, ended, now),
                    remaining=context.remaining(),
                )
                if work is None:
                    return self.gone()
                if token is not None:
                    return self.resume(work, token)
                return self.go_on(work) if begun else self.begin(work)

        what = f'The action {context.uuid} on a cluster'
        try:
            outcome = patiently(context, what, written)
        except (exceptions.Invalid, exceptions.NotFound) as error:
            outcome = Failed(str(error), outputs={actions.REASON: str(error)})
        self.parts.tell(None, commands.EventsStored())
        return outcome

    def _profile(self, action: Action) -> Profile | None:
        uuid = action.target or ''
        cluster = self.parts.store.clusters_by_uuid([uuid]).get(uuid)
        return None if cluster is None else self.profile(action, cluster)

    def profile(self, action: Action, cluster: Cluster) -> Profile:
        """Return the profile that new nodes are made from when the action is done."""
        return self.parts.profile(cluster.profile_id)

    def gone(self) -> Outcome:
        """Say how it goes with a cluster that is deleted."""
        return Cancelled(DELETED)

    def begin(self, work: ClusterWork) -> Outcome:
        """Derive the first stage."""
        raise NotImplementedError

    def go_on(self, work: ClusterWork) -> Outcome:
        """Go on after a stage has ended."""
        raise NotImplementedError

    def resume(self, work: ClusterWork, token: Mapping[str, Any]) -> Outcome:
        """Go on after a pause."""
        raise NotImplementedError
