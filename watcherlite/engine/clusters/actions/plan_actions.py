"""Actions on clusters and nodes in action plans.

They have the same names, and their target is `cluster:UUID` or `node:UUID`. Such an
action derives an action in the lane of the engine, like a request of a user, which
takes the locks and runs the policies. The action of the plan waits for the end of the
derived one without polling and without a thread.
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
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.lock_admission import CLUSTER, NODE, NodeLocks
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.engine.stacks.action_inputs import REASON, failure_reason
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ActionType, DerivedResult
from watcherlite.states import action as states

#: The key of the derived action.
OPERATION = 'operation'
#: Types that plans cannot contain: their targets are stored by the request.
NOT_IN_PLANS = frozenset(
    {
        action_types.CLUSTER_CREATE,
        action_types.NODE_CREATE,
        action_types.NODE_JOIN,
        action_types.NODE_LEAVE,
    }
)


def in_plans(kind: type[Any]) -> Callable[..., ActionType]:
    """Return a subclass of an action type that also works in plans.

    :param kind: executes the action; has `kind`, an
        `action_types.ActionDefinition`, and `parts` once a worker has made it
    """

    class Planned(kind):
        """Derives the action in a plan, and executes it elsewhere."""

        def is_applied(self, context: ActionContext) -> bool:
            """Return False in a plan: the derived action outlives the worker."""
            if context.plan_uuid is not None:
                return False
            return bool(super().is_applied(context))

        def pre_condition(self, context: ActionContext) -> Outcome | None:
            """Skip the action in a plan if its target is deleted or locked."""
            if context.plan_uuid is not None:
                return _PlanAction(self, context).pre_condition()
            return _optional_outcome(super().pre_condition(context))

        def execute(self, context: ActionContext) -> Outcome:
            """Derive the action in a plan."""
            if context.plan_uuid is not None:
                return _PlanAction(self, context).execute()
            return from_returned(super().execute(context))

        def complete(
            self, context: ActionContext, results: Sequence[DerivedResult]
        ) -> Outcome | None:
            """Return the outcome of the derived action."""
            if context.plan_uuid is not None:
                return _PlanAction(self, context).complete(results)
            return _optional_outcome(super().complete(context, results))

        def overdue(
            self, context: ActionContext, results: Sequence[DerivedResult]
        ) -> Outcome:
            """Time out in a plan."""
            if context.plan_uuid is not None:
                return TimedOut()
            return from_returned(super().overdue(context, results))

    Planned.__name__ = Planned.__qualname__ = kind.__name__
    Planned.__module__ = kind.__module__
    return Planned


def _optional_outcome(returned: Any) -> Outcome | None:
    return None if returned is None else from_returned(returned)


class _PlanAction:
    """An action of a plan.

    :param of: its type
    """

    def __init__(self, of: ActionType, context: ActionContext) -> None:
        self._kind: action_types.ActionDefinition = of.kind  # type: ignore[attr-defined]
        self._parts: ClusterServices = of.parts  # type: ignore[attr-defined]
        self._context = context

    def pre_condition(self) -> Outcome | None:
        """Skip the action if its target is deleted or locked."""
        if self._kind.name in NOT_IN_PLANS:
            return Failed(f'{self._kind.name} is not for plans')
        return self._retry(self._check)

    def _check(self) -> Outcome | None:
        try:
            row = self._target()
        except exceptions.Invalid as error:
            return Failed(str(error))
        except exceptions.NotFound as error:
            return Skipped(str(error))
        locks = NodeLocks(self._parts.store)
        if isinstance(row, Cluster):
            lock = locks.on_cluster(row)
        else:
            lock = locks.on_nodes([row])
        return None if lock is None else Skipped(f'{lock}.')

    def execute(self) -> Outcome:
        """Derive the action."""
        return self._retry(self._derive)

    def _derive(self) -> Outcome:
        row = self._target()
        cluster: Cluster | None = None
        within = None
        if isinstance(row, Cluster):
            cluster = row
        elif row.cluster_id is not None:
            key = row.cluster_id
            cluster = self._parts.store.objects_by_id(Cluster, [key]).get(key)
            within = cluster.uuid if cluster is not None else None
        operation = self._context.inputs.get('operation')
        if self._kind.name in (action_types.CLUSTER_RECOVER, action_types.NODE_RECOVER):
            operation = None
        derived = DerivedAction(
            OPERATION,
            self._kind.name,
            dict(self._context.inputs),
            name=action_types.action_name(self._kind.name, row.uuid, operation),
            target=row.uuid,
            timeout=cluster.timeout if cluster is not None else 0,
            lane=ENGINE,
            tenant=row.owner.tenant,
            within=within,
        )
        return Derived((derived,))

    def complete(self, results: Sequence[DerivedResult]) -> Outcome:
        """Return the outcome of the derived action."""
        (result,) = results
        target = self._context.target
        if result.status == states.SUCCEEDED:
            outputs = action_types.public_outputs(result.outputs)
            return Done({**outputs, 'target': target})
        if result.status == states.CANCELLED:
            why = result.status_message or 'it was cancelled'
            return Failed(f'{self._kind.name} of {target} was cancelled: {why}')
        if result.status == states.SKIPPED:
            return Failed(
                f'{self._kind.name} of {target} was skipped: {result.status_message}'
            )
        reason = failure_reason(cast(Action, result))
        return Failed(
            f'{self._kind.name} of {target} failed: {reason}', outputs={REASON: reason}
        )

    def _target(self) -> Cluster | Node:
        """Return the target.

        :raises NotFound: it does not exist
        :raises Invalid: the target is invalid for this type
        """
        prefix = CLUSTER if self._kind.on_cluster else NODE
        target = self._context.target or ''
        name = target.removeprefix(prefix)
        if not target.startswith(prefix) or not name:
            raise exceptions.Invalid(
                f'The target of {self._kind.name} is {prefix}UUID, not {target or None}'
            )
        store = self._parts.store
        tenant = self._context.creator.tenant
        if self._kind.on_cluster:
            return store.find_object(Cluster, name, tenant)
        return store.find_object(Node, name, tenant)

    def _retry(self, call: Any) -> Any:
        what = f'Action {self._context.uuid} on {self._context.target}'
        return retry_while_unavailable(self._context, what, call)


def of_worker(
    types: Mapping[str, type[Any]], parts: ClusterServices
) -> dict[str, Callable[[], ActionType]]:
    """Return the factories of the action types of a worker, by name."""
    return {
        name: functools.partial(in_plans(kind), parts=parts)
        for name, kind in types.items()
    }
