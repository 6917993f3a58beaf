"""The action types of a worker: those of plugins, and those of the engine."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.engine.audit_action import AuditAction
from watcherlite.engine.clusters import cluster_actions, node_actions
from watcherlite.engine.clusters import plan_actions as cluster_plan_actions
from watcherlite.engine.clusters.health import CLUSTER_HEALTH, ClusterHealth
from watcherlite.engine.clusters.lifecycle_hooks import LIFECYCLE_HOOK, LifecycleHook
from watcherlite.engine.clusters.parts import Parts as ClusterParts
from watcherlite.engine.run_actions import AUDIT
from watcherlite.engine.runs import AuditRun
from watcherlite.engine.stacks import inputs as stack_inputs
from watcherlite.engine.stacks import plan_actions
from watcherlite.engine.stacks.operations import StackOperations
from watcherlite.engine.stacks.parts import Parts
from watcherlite.engine.stacks.resource_action import ResourceAction
from watcherlite.engine.stacks.stack_action import StackAction
from watcherlite.execution.runner import ActionTypes
from watcherlite.plugins.base import ActionContext, ActionType


class EngineTypes:
    """The action types of a worker: those of plugins, and those of the engine.

    Plan documents are checked against the plugins alone, so that no plan can ask
    for one of the engine's; those for stacks are both.

    :param plugins: the action types that are plugins
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
        stacks: Parts | None = None,
        operations: StackOperations | None = None,
        clusters: ClusterParts | None = None,
    ) -> 'EngineTypes':
        """Return the types of a worker that runs audits.

        :param stacks: what the actions of stacks work with; None: it has none
        :param operations: what users do with stacks, for the actions of plans
        :param clusters: what the actions of clusters and nodes work with; None: it
            has none
        """
        own: dict[str, Callable[[], ActionType]] = {
            AUDIT: functools.partial(AuditAction, run)
        }
        if stacks is not None:
            own[stack_inputs.STACK] = functools.partial(StackAction, stacks)
            own[stack_inputs.RESOURCE] = functools.partial(ResourceAction, stacks)
        if stacks is not None and operations is not None:
            # Plugins like others for those who check a plan; they need more than a
            # plugin is handed to be executed.
            for name, kind in plan_actions.TYPES.items():
                own[name] = functools.partial(kind, parts=stacks, operations=operations)
        if clusters is not None:
            of_clusters = {**node_actions.TYPES, **cluster_actions.TYPES}
            own |= cluster_plan_actions.of_worker(of_clusters, clusters)
            own[CLUSTER_HEALTH] = functools.partial(ClusterHealth, clusters)
            own[LIFECYCLE_HOOK] = functools.partial(LifecycleHook, clusters)
        return cls(plugins, own)

    def make_action_type(self, name: str) -> ActionType:
        """Return an instance; raises PluginNotFound or PluginError."""
        own = self._own.get(name)
        return own() if own is not None else self._plugins.make_action_type(name)

    def validate_inputs(
        self, action_type: ActionType, inputs: Mapping[str, Any]
    ) -> None:
        """Raise InvalidInput."""
        self._plugins.validate_inputs(action_type, inputs)
