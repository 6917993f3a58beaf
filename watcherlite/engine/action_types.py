"""The action types of a worker: plugins and the types of the engine."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.engine.audits.run_actions import AUDIT
from watcherlite.engine.audits.runs import AuditAction, AuditRun
from watcherlite.engine.clusters.actions import cluster_actions, node_actions
from watcherlite.engine.clusters.actions import plan_actions as cluster_plan_actions
from watcherlite.engine.clusters.actions.health_monitor import (
    CLUSTER_HEALTH,
    ClusterHealthAction,
)
from watcherlite.engine.clusters.actions.lifecycle_hooks import (
    LIFECYCLE_HOOK,
    LifecycleHook,
)
from watcherlite.engine.clusters.services import ClusterServices as ClusterParts
from watcherlite.engine.stacks import action_inputs
from watcherlite.engine.stacks.actions import plan_actions
from watcherlite.engine.stacks.actions.hooks import HookAction
from watcherlite.engine.stacks.actions.resource_action import ResourceAction
from watcherlite.engine.stacks.actions.stack_action import StackAction
from watcherlite.engine.stacks.requests.operations import StackOperations
from watcherlite.engine.stacks.services import StackServices
from watcherlite.execution.ports import ActionTypes
from watcherlite.plugins.base import ActionContext, ActionType


class EngineActionTypes:
    """The action types of a worker: plugins and the types of the engine.

    Plan documents are validated against the plugins alone, so that no plan can name
    a type of the engine. The action types for stacks are both.

    :param plugins: the action types that are plugins
    :param own: factories of the types of the engine, by name
    """

    def __init__(
        self, plugins: ActionTypes, own: Mapping[str, Callable[[], ActionType]]
    ) -> None:
        self._plugins = plugins
        self._own = own

    @classmethod
    def of(
        cls,
        plugins: ActionTypes,
        run: Callable[[ActionContext], AuditRun],
        stacks: StackServices | None = None,
        operations: StackOperations | None = None,
        clusters: ClusterParts | None = None,
    ) -> 'EngineActionTypes':
        """Return the action types of an engine worker.

        :param stacks: services of the actions on stacks; None: no such actions
        :param operations: stack operations, for the actions of plans
        :param clusters: services of the actions on clusters and nodes; None: no
            such actions
        """
        own: dict[str, Callable[[], ActionType]] = {
            AUDIT: functools.partial(AuditAction, run)
        }
        if stacks is not None:
            own[action_inputs.STACK] = functools.partial(StackAction, stacks)
            own[action_inputs.RESOURCE] = functools.partial(ResourceAction, stacks)
            own[action_inputs.HOOK] = functools.partial(HookAction, stacks)
        if stacks is not None and operations is not None:
            # Plan validation loads these as plugins. Their execution needs services
            # that plugins do not get.
            for name, kind in plan_actions.TYPES.items():
                own[name] = functools.partial(
                    kind, services=stacks, operations=operations
                )
        if clusters is not None:
            of_clusters = {**node_actions.TYPES, **cluster_actions.TYPES}
            own |= cluster_plan_actions.of_worker(of_clusters, clusters)
            own[CLUSTER_HEALTH] = functools.partial(ClusterHealthAction, clusters)
            own[LIFECYCLE_HOOK] = functools.partial(LifecycleHook, clusters)
        return cls(plugins, own)

    def make_action_type(self, name: str) -> ActionType:
        own = self._own.get(name)
        return own() if own is not None else self._plugins.make_action_type(name)

    def validate_inputs(
        self, action_type: ActionType, inputs: Mapping[str, Any]
    ) -> None:
        self._plugins.validate_inputs(action_type, inputs)
