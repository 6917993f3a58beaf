"""The base of actions on clusters, which run in stages.

A stage is a step of the action and the actions that it derives. The next stage starts
when all of them have ended, so that no part of an action still runs when its lock is
released.
"""

import abc
import datetime
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import commands
from watcherlite.domain.actions import Action
from watcherlite.domain.clusters import Cluster, Profile
from watcherlite.domain.outcomes import Cancelled, Failed, Fault, InProgress, Outcome
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import derivation
from watcherlite.engine.clusters.actions.cluster_stage import TIMED_OUT, ClusterStage
from watcherlite.engine.clusters.services import ClusterServices, no_worker_error
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult

DELETED = 'The cluster is deleted.'


class ClusteringAction(ActionType):
    """An action on a cluster or node.

    :cvar kind: its definition
    :param parts: None for an instance that only validates inputs
    """

    kind: ClassVar[action_types.ActionDefinition]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if 'kind' in cls.__dict__:
            cls.schema = cls.kind.schema
            cls.description = cls.kind.description

    def __init__(
        self, options: Any = None, parts: ClusterServices | None = None
    ) -> None:
        super().__init__(options)
        self._services = parts

    @property
    def parts(self) -> ClusterServices:
        """Return the services of the worker."""
        if self._services is None:
            raise no_worker_error()
        return self._services


class ClusterAction(ClusteringAction, abc.ABC):
    """An action on a cluster that derives actions on its nodes.

    :cvar failure_text: the beginning of the reason when actions on nodes fail
    """

    failure_text: ClassVar[str]

    # A repeated action finds the nodes that it has stored, and derives the rest.
    idempotent = True

    @abc.abstractmethod
    def start(self, stage: ClusterStage) -> Outcome:
        """Derive the actions of the first stage."""

    def advance(self, stage: ClusterStage) -> Outcome:
        """Derive the actions of the next stage, or conclude."""
        return stage.conclude(self.failure_text)

    def profile(self, action: Action, cluster: Cluster) -> Profile:
        """Return the profile of new nodes after this action."""
        return self.parts.profile(cluster.profile_id)

    def target_deleted(self) -> Outcome:
        """Return the outcome for a deleted cluster."""
        return Cancelled(DELETED)

    def execute(self, context: ActionContext) -> Outcome:
        return self._run(context, (), self.start)

    def complete(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        return self._run(context, results, self.advance)

    def overdue(
        self, context: ActionContext, results: Sequence[DerivedResult]
    ) -> Outcome:
        """Fail with the results so far."""
        outputs = {
            **derivation.outputs(derivation.node_results(results)),
            action_types.REASON: TIMED_OUT,
        }
        return Failed(TIMED_OUT, Fault('TimedOut', TIMED_OUT, '', ''), outputs)

    def _run(
        self,
        context: ActionContext,
        results: Sequence[DerivedResult],
        run: Callable[[ClusterStage], Outcome],
    ) -> Outcome:
        """Run a stage in a transaction that locks the cluster and its nodes."""
        store, ended = self.parts.store, derivation.node_results(results)

        def write() -> Outcome:
            action = store.get_action(context.uuid)
            # Outside the transaction, which must not need a second connection.
            uuid = action.target or ''
            cluster = store.clusters_by_uuid([uuid]).get(uuid)
            if cluster is None:
                return self.target_deleted()
            profile = self.profile(action, cluster)
            with store.transaction() as tx:
                stage = ClusterStage.lock(
                    self.parts, action, profile, tx, ended, context
                )
                return self.target_deleted() if stage is None else run(stage)

        what = f'The action {context.uuid} on a cluster'
        try:
            outcome = retry_while_unavailable(context, what, write)
        except (exceptions.Invalid, exceptions.NotFound) as error:
            outcome = Failed(str(error), outputs={action_types.REASON: str(error)})
        self.parts.messenger.broadcast(commands.EventsStored())
        return outcome


class PausingAction(ClusterAction):
    """An action that may wait between two stages; see `ClusterStage.pause`."""

    @abc.abstractmethod
    def resume(self, stage: ClusterStage, token: Mapping[str, Any]) -> Outcome:
        """Continue after a pause."""

    def poll(self, context: ActionContext, token: Any) -> Outcome:
        until = datetime.datetime.fromisoformat(token['until'])
        left = (until - context.now()).total_seconds()
        if left > 0:
            # It was suspended, or claimed by another worker.
            return InProgress(token, left)
        return self._run(context, (), functools.partial(self.resume, token=token))
