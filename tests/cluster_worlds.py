"""A world in which clusters are created from profiles; see `tests.worlds`."""

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from tests.stack_worlds import ExternalResources, HandlerError, sample
from tests.worlds import Report, World, WorldCase
from watcherlite.clock import EPOCH
from watcherlite.db.api import Store
from watcherlite.db.query import EventQuery
from watcherlite.destinations import WITH_LOOPBACK
from watcherlite.domain import commands, events
from watcherlite.domain.actions import Action, ActionChange
from watcherlite.domain.clusters import (
    Cluster,
    NewCluster,
    NewNode,
    NewProfile,
    Node,
    Owner,
    Profile,
)
from watcherlite.domain.resource_results import Operation, Ready, ResourceInProgress
from watcherlite.engine.action_types import EngineActionTypes
from watcherlite.engine.affinity import LiveHosts
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions import cluster_actions, node_actions
from watcherlite.engine.clusters.actions.health_monitor import (
    CLUSTER_HEALTH,
    ClusterHealthAction,
)
from watcherlite.engine.clusters.actions.lifecycle_hooks import (
    LIFECYCLE_HOOK,
    LifecycleHook,
)
from watcherlite.engine.clusters.policies.cluster_policies import ClusterPolicies
from watcherlite.engine.clusters.projection.cluster_projection import ClusterProjection
from watcherlite.engine.clusters.requests.base import (
    ActionRequest,
    ClusterOperationBase,
)
from watcherlite.engine.clusters.requests.values import RequestContext
from watcherlite.engine.clusters.services import ClusterLimits, ClusterServices
from watcherlite.engine.clusters.stack_profile import StackBackend
from watcherlite.engine.stacks.action_inputs import HOOK, RESOURCE, STACK
from watcherlite.engine.stacks.actions.hooks import HookAction
from watcherlite.engine.stacks.actions.resource_action import ResourceAction
from watcherlite.engine.stacks.actions.stack_action import StackAction
from watcherlite.engine.stacks.projection.stack_projection import StackProjection
from watcherlite.engine.stacks.queries import StackQueries
from watcherlite.engine.stacks.requests.operations import StackOperations
from watcherlite.engine.stacks.resolution import Blueprints
from watcherlite.engine.stacks.services import StackServices
from watcherlite.execution.policy_chain import PolicyChain
from watcherlite.execution.ports import ActionTypes, CompositeProjection, Projection
from watcherlite.execution.worker import Worker
from watcherlite.plugins import base, loader
from watcherlite.plugins.action_types.nop import Nop
from watcherlite.plugins.action_types.sleep import Sleep
from watcherlite.states import action as states

TENANT = 'a-project'
BY = RequestContext(Owner(TENANT, 'a user'))
#: A request whose action waits for the running ones.
QUEUED = dataclasses.replace(BY, wait=True)
#: The short ids of the target and of the action itself.
_SUFFIX = re.compile(r'(_[0-9a-f]{8}){1,2}\Z')
#: The fields of an event that tests compare: name, verb and phase, status.
Fact = tuple[str, str, str | None]


def machine(external: ExternalResources, **members: Any) -> type[base.ResourceHandler]:
    """Return a handler of resources that can be rebooted, rebuilt and patched.

    See `stack_worlds.sample`; `patch` is polled once.
    """

    class Machine(sample(external)):  # type: ignore[misc]
        operations: ClassVar[Mapping[str, Operation]] = {
            'reboot': Operation(
                'Restarts it.',
                {
                    'type': 'object',
                    'properties': {'type': {'enum': ['SOFT', 'HARD']}},
                    'additionalProperties': False,
                },
            ),
            'rebuild': Operation('Recreates it in place.'),
            'patch': Operation(
                'Gives it a colour.',
                {
                    'type': 'object',
                    'properties': {
                        'colour': {'type': 'string'},
                        'coats': {'type': 'integer', 'default': 1},
                    },
                    'required': ['colour'],
                    'additionalProperties': False,
                },
            ),
        }

        def operate(
            self, context: base.ResourceContext, operation: str, parameters: Any
        ) -> Any:
            external.record_call(operation, context.resource_name)
            if context.physical_id not in external.samples:
                raise HandlerError(f'{context.physical_id} is not there')
            if operation == 'patch':
                return ResourceInProgress({'colour': parameters['colour']}, 0.0)
            return Ready(data={'done': operation})

        def poll(
            self, context: base.ResourceContext, operation: str, token: Any
        ) -> Any:
            if operation == 'patch':
                return Ready(attributes={'output': token['colour']})
            return super().poll(context, operation, token)

    return type('Machine', (Machine,), members)


class ClusterWorld(World):
    """A system whose workers create clusters.

    :ivar external: the physical resources that the handlers have created
    :ivar requests: requests any action, as `ClusterOperations` does
    :ivar cluster_parts: the services of its clusters
    """

    def __init__(
        self,
        store: Store,
        handlers: Mapping[str, type] | None = None,
        types: Mapping[str, type] | None = None,
        policies: Mapping[str, type] | None = None,
        load_balancers: Mapping[str, type] | None = None,
        limits: ClusterLimits | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(store, projection=_projection(), **{'linger': 0.0, **settings})
        self.external = ExternalResources()
        self._limits = limits or ClusterLimits()
        self.types = loader.Plugins.of(
            action_types={'nop': Nop, 'sleep': Sleep, **(types or {})},
            resource_handlers={
                'Sample': machine(self.external),
                'Plain': sample(self.external),
                **(handlers or {}),
            },
            policies=policies,
            load_balancers=load_balancers,
            destinations=lambda: WITH_LOOPBACK,
        )
        self.cluster_parts = self.parts(store)
        self.requests = ClusterOperationBase(self.cluster_parts, self.clock, self)

    # Services

    def stack_parts(self, store: Store) -> StackServices:
        """Return the services of stacks that use this store."""
        return StackServices(store, self.types, Blueprints(store), self)

    def parts(self, store: Store) -> ClusterServices:
        """Return the services of clusters that use this store."""
        of_stacks = self.stack_parts(store)
        operations = StackOperations(of_stacks, self.clock, self)
        reading = StackQueries(store, self.types, of_stacks.blueprints)
        stacks = StackBackend(store, operations, reading)
        return ClusterServices(
            store,
            self.types,
            self,
            stacks,
            self._limits,
            lambda: WITH_LOOPBACK,
            # The name of the worker that is started next.
            hosts=LiveHosts(f'host-{len(self.workers)}', 0.0),
        )

    def worker_types(self, store: Store) -> ActionTypes:
        of_stacks, parts = self.stack_parts(store), self.parts(store)
        own: dict[str, Callable[[], base.ActionType]] = {
            STACK: functools.partial(StackAction, of_stacks),
            RESOURCE: functools.partial(ResourceAction, of_stacks),
            HOOK: functools.partial(HookAction, of_stacks),
        }
        for name, kind in _cluster_types().items():
            own[name] = functools.partial(kind, parts=parts)
        own[CLUSTER_HEALTH] = functools.partial(ClusterHealthAction, parts)
        own[LIFECYCLE_HOOK] = functools.partial(LifecycleHook, parts)
        return EngineActionTypes(self.types, own)

    def worker(self, **keys: Any) -> Worker:
        given: dict[str, Any] = {
            'lanes': ('applier', 'engine'),
            'projection': _projection(),
            'policies': PolicyChain(ClusterPolicies(self.store, self.types)),
        }
        return super().worker(**{**given, **keys})

    # Rows

    def profile(
        self, name: str = 'p', type_: str = 'sample', **properties: Any
    ) -> Profile:
        """Store a profile."""
        spec = {'type': type_, 'version': '1.0', 'properties': properties}
        checked = self.cluster_parts.profile_types.check(spec)
        return self._insert(
            NewProfile(
                events.new_uuid(),
                name,
                checked.type,
                checked.handler,
                spec,
                BY.owner,
                created_at=self.clock.now(),
            )
        )

    def insert_cluster(
        self, profile: Profile, size: int = 0, name: str = 'c', **values: Any
    ) -> Cluster:
        """Store a created cluster with nodes that have not been created."""
        now = self.clock.now()
        given = {
            'desired_capacity': size,
            'status': 'ACTIVE',
            'next_index': size + 1,
            'init_at': now,
            'created_at': now,
            **values,
        }
        made = NewCluster(events.new_uuid(), name, BY.owner, profile.id, **given)
        cluster = self._insert(made)
        for index in range(1, size + 1):
            self.insert_node(profile, f'{name}-{index}', cluster, index)
        return cluster

    def insert_node(
        self,
        profile: Profile,
        name: str = 'n',
        cluster: Cluster | None = None,
        index: int = -1,
        **values: Any,
    ) -> Node:
        """Store a node that has not been created."""
        given = {'init_at': self.clock.now(), **values}
        if cluster is not None:
            given |= {'cluster_id': cluster.id, 'index': index}
        new = NewNode(
            events.new_uuid(), name, BY.owner, profile.id, profile.handler, **given
        )
        return self._insert(new)

    def _insert(self, row: Any) -> Any:
        with self.store.transaction() as tx:
            return tx.insert_object(row)

    def save(self, row: Cluster | Node, **values: Any) -> None:
        """Change columns of a row directly."""
        with self.store.transaction() as tx:
            if isinstance(row, Cluster):
                (found,) = tx.lock_clusters([row.uuid]).values()
                tx.save_clusters([found.evolve(**values)])
            else:
                (one,) = tx.lock_nodes([row.uuid]).values()
                tx.save_nodes([one.evolve(**values)])

    def reload(self, row: Any) -> Any:
        """Return the current state of a cluster or node, even if it is deleted."""
        return self.store.objects_by_id(type(row), [row.id])[row.id]

    def nodes(self, cluster: Cluster) -> list[Node]:
        """Return the nodes of a cluster, by index."""
        found = self.store.nodes_of([cluster.id])
        return sorted(found, key=lambda node: node.index)

    # Actions

    def request_action(
        self,
        action_type: str,
        row: Cluster | Node,
        inputs: Mapping[str, Any] | None = None,
        by: RequestContext = BY,
        **wish: Any,
    ) -> Action:
        """Request an action on a cluster or node; do not wait."""
        desired = ActionRequest(action_type, by, **wish)
        given = dict(inputs or {})
        if isinstance(row, Cluster):
            begun = self.requests.request_action(
                Cluster, row.uuid, desired, lambda *_: given
            )
            return self.store.get_action(begun.action)
        asked = self.requests.request_action(Node, row.uuid, desired, lambda *_: given)
        return self.store.get_action(asked.action)

    def run_action(
        self,
        action_type: str,
        row: Cluster | Node,
        inputs: Mapping[str, Any] | None = None,
        **wish: Any,
    ) -> Action:
        """Request an action, and wait for its end; start a worker if there is none."""
        if not self.workers:
            self.worker()
        return self.wait_for_end(self.request_action(action_type, row, inputs, **wish))

    def wait_for_end(self, action: Action | str) -> Action:
        """Wait until an action has ended, and return its final state.

        :param action: the action, or its uuid
        """
        uuid = action if isinstance(action, str) else action.uuid
        self.wait_until(
            lambda: self.store.get_action(uuid).finished,
            lambda: f'{uuid}\n{self.full_report()}',
            lambda event: event.new_status in states.FINAL,
        )
        return self.store.get_action(uuid)

    def store_decisions(self, action: Action, data: Mapping[str, Any]) -> None:
        """Store the data of an unclaimed action, as policies do."""
        with self.store.transaction() as tx:
            (row,) = tx.lock_actions([action.id]).values()
            tx.change_actions([ActionChange(row, row.evolve(data=data))])

    def make_due(self, action: Action) -> None:
        """Let a scheduled action start now."""
        due = action.evolve(not_before=EPOCH)
        with self.store.transaction() as tx:
            assert tx.change_actions([ActionChange(action, due)])
        self.deliver(commands.RunActions())

    def create_node(self, node: Node) -> Node:
        """Create a node, and return its state afterwards."""
        self.run_action(action_types.NODE_CREATE, node)
        return self.reload(node)

    def wait_until_idle(self) -> None:
        """Wait until all actions have ended."""
        self.wait_until(lambda: not self._unfinished(), self.full_report)

    # Events

    def transitions(self, *rows: Cluster | Node) -> list[Fact]:
        """Return the notified changes of these rows (or of all), in order."""
        filters: dict[str, Any] = {}
        if rows:
            filters = {'name': [row.name for row in rows]}
        query = EventQuery(filters=filters, descending=False)
        found = []
        for item in self.store.list_cluster_events(query):
            detail = item.event.detail or {}
            kind = action_types.DEFINITIONS.get(detail['action']['type'])
            verb = kind.verb if kind else detail['action']['type']
            name = f'{verb}.{detail["phase"]}'
            found.append((detail['name'], name, item.event.new_status))
        return found

    def status_changes(self, *names: str) -> list[tuple[str, str | None, str | None]]:
        """Return the changes of state of actions: name, old and new status.

        :param names: the names of the actions, without the short ids at their ends
        """
        lines = []
        for name, before, after, _ in self.history():
            short = _SUFFIX.sub('', name)
            if not names or short in names:
                lines.append((short, before, after))
        return lines

    def full_report(self) -> Report:
        """Return all events, for the report of a failure."""
        return Report(self._full_report)

    def _full_report(self) -> str:
        found = '\n'.join(
            f'{a.id} {a.name} {a.action_type} {a.status} {a.status_message}'
            for a in self._actions()
        )
        return f'{found}\n{self.report()}'


class ClusterCase(WorldCase):
    """The base case of tests of clusters.

    Derive from it and override `make_store` to run the tests on another store.
    """

    def create_cluster_world(self, **keys: Any) -> ClusterWorld:
        """Return a world, stopped at the end; see `ClusterWorld`."""
        world = ClusterWorld(self.make_store(), **keys)
        self.addCleanup(world.stop)
        return world


def _projection() -> Projection:
    return CompositeProjection(StackProjection(), ClusterProjection())


def _cluster_types() -> dict[str, Any]:
    return {**node_actions.TYPES, **cluster_actions.TYPES}
