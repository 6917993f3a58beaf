"""Actions on clusters and nodes in action plans.

They have the same names, and their target is `cluster:UUID` or `node:UUID`. Such an
action derives an action in the lane of the engine, see `derived_operations`.
"""

import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from watcherlite import exceptions
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.domain.outcomes import DerivedAction, Failed, Outcome, Skipped
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import derivation
from watcherlite.engine.clusters.lock_admission import CLUSTER, NODE, NodeLocks
from watcherlite.engine.clusters.services import ClusterServices
from watcherlite.engine.derived_operations import OPERATION, OperationAction
from watcherlite.execution.coroutines.steps import steps_of_core
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext, ActionType, Awaited, DerivedResult

T = TypeVar('T')

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

        def _performer(self, context: ActionContext) -> Any:
            if context.plan_uuid is None:
                return super()
            return _PlanAction(self.kind, self.parts)

        def is_applied(self, context: ActionContext) -> Any:
            return self._performer(context).is_applied(context)

        def pre_condition(self, context: ActionContext) -> Any:
            return self._performer(context).pre_condition(context)

        @steps_of_core
        async def execute(self, context: ActionContext) -> Any:
            return await _settle(self._performer(context).execute(context))

        @steps_of_core
        async def complete(
            self, context: ActionContext, results: Sequence[DerivedResult]
        ) -> Any:
            return await _settle(self._performer(context).complete(context, results))

        def overdue(
            self, context: ActionContext, results: Sequence[DerivedResult]
        ) -> Any:
            return self._performer(context).overdue(context, results)

    Planned.__name__ = Planned.__qualname__ = kind.__name__
    Planned.__module__ = kind.__module__
    return Planned


async def _settle(returned: Awaited[T]) -> T:
    """Return what a function has returned, or the result of steps."""
    return await returned if isinstance(returned, Coroutine) else returned


class _PlanAction(OperationAction):
    """An action of a plan.

    :param kind: of the derived action
    """

    def __init__(
        self, kind: action_types.ActionDefinition, parts: ClusterServices
    ) -> None:
        super().__init__()
        self._kind = kind
        self._parts = parts

    def pre_condition(self, context: ActionContext) -> Outcome | None:
        """Skip the action if its target is deleted or locked."""
        if self._kind.name in NOT_IN_PLANS:
            return Failed(f'{self._kind.name} is not for plans')
        return self._retry(context, self._check)

    def _check(self, context: ActionContext) -> Outcome | None:
        try:
            row = self._target(context)
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

    def derive(self, context: ActionContext) -> DerivedAction:
        return self._retry(context, self._derive)

    def _derive(self, context: ActionContext) -> DerivedAction:
        row = self._target(context)
        cluster: Cluster | None = None
        if isinstance(row, Cluster):
            cluster = row
        elif row.cluster_id is not None:
            key = row.cluster_id
            cluster = self._parts.store.objects_by_id(Cluster, [key]).get(key)
        kind, operation = self._kind.name, context.inputs.get('operation')
        if kind in (action_types.CLUSTER_RECOVER, action_types.NODE_RECOVER):
            operation = None
        return derivation.own_action(
            OPERATION, kind, context.inputs, row, cluster, operation
        )

    def title(self, context: ActionContext) -> str:
        return f'{self._kind.name} of {context.target}'

    def results(self, context: ActionContext, result: DerivedResult) -> dict[str, Any]:
        outputs = action_types.public_outputs(result.outputs)
        return {**outputs, 'target': context.target}

    def _target(self, context: ActionContext) -> Cluster | Node:
        """Return the target.

        :raises NotFound: it does not exist
        :raises Invalid: the target is invalid for this type
        """
        prefix = CLUSTER if self._kind.on_cluster else NODE
        target = context.target or ''
        name = target.removeprefix(prefix)
        if not target.startswith(prefix) or not name:
            raise exceptions.Invalid(
                f'The target of {self._kind.name} is {prefix}UUID, not {target or None}'
            )
        store = self._parts.store
        tenant = context.creator.tenant
        if self._kind.on_cluster:
            return store.find_object(Cluster, name, tenant)
        return store.find_object(Node, name, tenant)

    def _retry(self, context: ActionContext, call: Callable[[ActionContext], T]) -> T:
        what = f'Action {context.uuid} on {context.target}'
        return retry_while_unavailable(context, what, lambda: call(context))


def of_worker(
    types: Mapping[str, type[Any]], parts: ClusterServices
) -> dict[str, Callable[[], ActionType]]:
    """Return the factories of the action types of a worker, by name."""
    return {
        name: functools.partial(in_plans(kind), parts=parts)
        for name, kind in types.items()
    }
