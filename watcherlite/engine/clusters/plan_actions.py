"""Actions on clusters and nodes as actions of plans.

They are named as all actions on clusters are, and their target is `cluster:UUID` or
`node:UUID`. Such an action derives one in the lane of the engine, as if a user had
asked for it: that takes the locks, and policies are asked about it. The action of the
plan waits for its end, at which the core wakes it: nothing is polled, and no thread
is held.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from watcherlite import exceptions
from watcherlite.domain.actions import ENGINE, Action
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.outcomes import (
    Derived,
    DerivedAction,
    Done,
    Failed,
    Outcome,
    Skipped,
    TimedOut,
    from_returned,
)
from watcherlite.engine.clusters import actions
from watcherlite.engine.clusters.keeping_out import CLUSTER, NODE, Locks
from watcherlite.engine.clusters.parts import Parts
from watcherlite.engine.patience import patiently
from watcherlite.engine.stacks.progress import REASON, reason_of
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as states

#: The key of the action that is derived.
OPERATION = 'operation'
#: What plans cannot ask for: what it is about is stored by the request for it.
NOT_IN_PLANS = frozenset(
    {
        *(actions.CLUSTER_CREATE, actions.NODE_CREATE),
        *(actions.NODE_JOIN, actions.NODE_LEAVE),
    }
)


def planned(kind: type[Any]) -> Callable[..., ActionType]:
    """Return an action type of clusters that knows what to do in a plan.

    :param kind: executes the action itself; has `kind` (see `actions.Kind`), and
        `parts` once a worker has made it
    """

    class Planned(kind):
        """Derives the action in a plan, and is it everywhere else."""

        def is_applied(self, context: ActionContext) -> bool:
            """Say no in a plan: what was derived waits for whoever comes."""
            if context.plan_uuid is not None:
                return False
            return bool(super().is_applied(context))

        def pre_condition(self, context: ActionContext) -> Outcome | None:
            """Skip it in a plan where its target is gone, or under a lock."""
            if context.plan_uuid is not None:
                return _Asking(self, context).pre_condition()
            return _outcome(super().pre_condition(context))

        def execute(self, context: ActionContext) -> Outcome:
            """Derive it in a plan."""
            if context.plan_uuid is not None:
                return _Asking(self, context).execute()
            return from_returned(super().execute(context))

        def complete(
            self, context: ActionContext, results: Sequence[DerivedResult]
        ) -> Outcome | None:
            """Say how it went."""
            if context.plan_uuid is not None:
                return _Asking(self, context).complete(results)
            return _outcome(super().complete(context, results))

        def overdue(
            self, context: ActionContext, results: Sequence[DerivedResult]
        ) -> Outcome:
            """Say that it has failed, in a plan."""
            if context.plan_uuid is not None:
                return TimedOut()
            return from_returned(super().overdue(context, results))

    Planned.__name__ = Planned.__qualname__ = kind.__name__
    Planned.__module__ = kind.__module__
    return Planned


def _outcome(said: Any) -> Outcome | None:
    return None if said is None else from_returned(said)


class _Asking:
    """One action of a plan.

    :param of: its type
    """

    def __init__(self, of: ActionType, context: ActionContext) -> None:
        self._kind: actions.Kind = of.kind  # type: ignore[attr-defined]
        self._parts: Parts = of.parts  # type: ignore[attr-defined]
        self._context = context

    def pre_condition(self) -> Outcome | None:
        """Skip it where its target is gone, or under a lock."""
        if self._kind.name in NOT_IN_PLANS:
            return Failed(f'{self._kind.name} is not for plans')
        return self._patiently(self._checked)

    def _checked(self) -> Outcome | None:
        try:
            row = self._row()
        except exceptions.Invalid as error:
            return Failed(str(error))
        except exceptions.NotFound as error:
            return Skipped(str(error))
        locks = Locks(self._parts.store)
        if isinstance(row, Cluster):
            lock = locks.on_cluster(row)
        else:
            lock = locks.on_nodes([row])
        return None if lock is None else Skipped(f'{lock}.')

    def execute(self) -> Outcome:
        """Derive it."""
        return self._patiently(self._derived)

    def _derived(self) -> Outcome:
        row = self._row()
        cluster: Cluster | None
        if isinstance(row, Cluster):
            cluster, within = row, None
        else:
            key = row.cluster_id or 0
            cluster = self._parts.store.nouns_by_id(Cluster, [key]).get(key)
            within = cluster.uuid if cluster is not None else None
        operation = self._context.inputs.get('operation')
        if self._kind.name in (actions.CLUSTER_RECOVER, actions.NODE_RECOVER):
            operation = None
        derived = DerivedAction(
            OPERATION,
            self._kind.name,
            dict(self._context.inputs),
            name=actions.action_name(self._kind.name, row.uuid, operation),
            target=row.uuid,
            timeout=cluster.timeout if cluster is not None else 0,
            lane=ENGINE,
            tenant=row.owner.tenant,
            within=within,
        )
        return Derived((derived,))

    def complete(self, results: Sequence[DerivedResult]) -> Outcome:
        """Say how it went."""
        (result,) = results
        target = self._context.target
        if result.status == states.SUCCEEDED:
            told = actions.shown_outputs(result.outputs)
            return Done({**told, 'target': target})
        if result.status == states.CANCELLED:
            why = result.status_message or 'it was cancelled'
            return Failed(f'{self._kind.name} of {target} was cancelled: {why}')
        if result.status == states.SKIPPED:
            return Failed(
                f'{self._kind.name} of {target} was skipped: {result.status_message}'
            )
        reason = reason_of(cast(Action, result))
        return Failed(
            f'{self._kind.name} of {target} failed: {reason}', outputs={REASON: reason}
        )

    def _row(self) -> Cluster | Node:
        """Return what is meant.

        :raises NotFound: it is not there, or not any more
        :raises Invalid: the target says nothing that makes sense for this type
        """
        prefix = CLUSTER if self._kind.on_cluster else NODE
        target = self._context.target or ''
        name = target.removeprefix(prefix)
        if not target.startswith(prefix) or not name:
            raise exceptions.Invalid(
                f'The target of {self._kind.name} is {prefix}UUID, not {target or None}'
            )
        store = self._parts.store
        if self._kind.on_cluster:
            return store.find_noun(Cluster, name, None)
        return store.find_noun(Node, name, None)

    def _patiently(self, call: Any) -> Any:
        what = f'Action {self._context.uuid} on {self._context.target}'
        return patiently(self._context, what, call)


def of_worker(
    types: Mapping[str, type[Any]], parts: Parts
) -> dict[str, Callable[[], ActionType]]:
    """Return what makes the action types of a worker, by name."""
    return {
        name: functools.partial(planned(kind), parts=parts)
        for name, kind in types.items()
    }
