"""A world in which stacks are created from templates; see `tests.worlds`."""

import functools
import threading
from collections.abc import Mapping
from typing import Any, ClassVar

from tests.worlds import Gate, Report, World, WorldCase, kind
from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.db.query import EventQuery
from watcherlite.destinations import WITH_LOOPBACK
from watcherlite.domain import events
from watcherlite.domain.resource_results import (
    Batch,
    Property,
    Ready,
    ResourceInProgress,
)
from watcherlite.domain.stacks import Resource, Stack, StackRequest
from watcherlite.engine.action_types import EngineActionTypes
from watcherlite.engine.affinity import LiveHosts
from watcherlite.engine.stacks.action_inputs import HOOK, RESOURCE, STACK
from watcherlite.engine.stacks.actions.hooks import HookAction
from watcherlite.engine.stacks.actions.resource_action import ResourceAction
from watcherlite.engine.stacks.actions.stack_action import StackAction
from watcherlite.engine.stacks.projection.stack_projection import StackProjection
from watcherlite.engine.stacks.requests.operations import StackOperations
from watcherlite.engine.stacks.resolution import Blueprints
from watcherlite.engine.stacks.services import StackLimits, StackServices
from watcherlite.execution.ports import ActionTypes
from watcherlite.execution.worker import Worker
from watcherlite.plugins import base, loader
from watcherlite.plugins.action_types.nop import Nop
from watcherlite.plugins.action_types.sleep import Sleep
from watcherlite.plugins.openstack.connections import Clouds

TENANT = 'a-project'
VERSION = '2018-08-31'
#: The name of a stack or resource, and its new state.
Fact = tuple[str, str]


class ExternalResources:
    """The physical resources of a world, and the calls of its handlers.

    :ivar samples: physical id -> properties
    :ivar calls: (operation, name of the resource), in the order of the calls
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.samples: dict[str, dict[str, Any]] = {}
        self.locked: set[str] = set()
        self.calls: list[tuple[str, str]] = []
        self.gates: dict[tuple[str, str], Gate] = {}
        self.fails: set[tuple[str, str]] = set()

    def record_call(self, operation: str, name: str) -> None:
        """Record a call; wait at its gate, and fail if the test requires it."""
        with self._lock:
            self.calls.append((operation, name))
            gate = self.gates.get((operation, name))
            fails = (operation, name) in self.fails
        if gate is not None:
            gate()
        if fails:
            raise HandlerError(f'{operation} of {name} does not work')

    def of(self, operation: str) -> list[str]:
        """Return the names of the resources for which an operation was called."""
        with self._lock:
            return [name for called, name in self.calls if called == operation]


class HandlerError(exceptions.WatcherliteError):
    """The operation of a handler failed."""


def sample(external: ExternalResources, **members: Any) -> type[base.ResourceHandler]:
    """Return a handler of resources that are created immediately.

    `value` is updated in place, `fixed` is not, and `wait` is the number of polls at
    which `create` and `update` are still in progress.
    """

    class Sample(base.ResourceHandler):
        idempotent = True
        properties: ClassVar[Mapping[str, Property]] = {
            'value': Property({'type': 'string'}, updatable=True),
            'fixed': Property({'type': 'string'}),
            'final': Property({'type': 'string'}, immutable=True),
            'wait': Property({'type': 'integer', 'default': 0}, updatable=True),
        }
        attributes: ClassVar[Mapping[str, str]] = {'output': 'the value'}

        def create(self, context: base.ResourceContext) -> Any:
            external.record_call('create', context.resource_name)
            return self._poll_creation(context, context.properties.get('wait') or 0)

        def update(self, context: base.ResourceContext) -> Any:
            external.record_call('update', context.resource_name)
            return self._poll_creation(context, context.properties.get('wait') or 0)

        def poll(
            self, context: base.ResourceContext, operation: str, token: Any
        ) -> Any:
            external.record_call('poll', context.resource_name)
            return self._poll_creation(context, token['left'])

        def _poll_creation(self, context: base.ResourceContext, left: int) -> Any:
            physical_id = context.physical_id or context.physical_name
            if left:
                return ResourceInProgress(
                    {'left': left - 1}, 0.0, physical_id=physical_id
                )
            external.samples[physical_id] = dict(context.properties)
            value = context.properties.get('value')
            return Ready(physical_id, attributes={'output': value})

        def check(self, context: base.ResourceContext) -> Any:
            external.record_call('check', context.resource_name)
            if context.physical_id not in external.samples:
                raise HandlerError(f'{context.physical_id} is not there')

        def delete(self, context: base.ResourceContext) -> Any:
            external.record_call('delete', context.resource_name)
            if context.physical_id in external.locked:
                raise HandlerError(f'{context.physical_id} is locked')
            external.samples.pop(context.physical_id or '', None)

        def suspend(self, context: base.ResourceContext) -> Any:
            external.record_call('suspend', context.resource_name)

        def resume(self, context: base.ResourceContext) -> Any:
            external.record_call('resume', context.resource_name)

        def lock(self, context: base.ResourceContext) -> Any:
            external.record_call('lock', context.resource_name)
            external.locked.add(context.physical_id or '')

        def unlock(self, context: base.ResourceContext) -> Any:
            external.record_call('unlock', context.resource_name)
            external.locked.discard(context.physical_id or '')

        def signal(
            self, context: base.ResourceContext, details: Mapping[str, Any]
        ) -> Any:
            external.record_call('signal', context.resource_name)
            return Ready(attributes={'output': details.get('value')})

    return type('Sample', (Sample,), members)


class Nothing(base.ResourceHandler):
    """A handler that supports neither locks nor signals, and never replaces."""

    idempotent = True
    allows_undeclared = True
    replaces_failed = False

    def create(self, context: base.ResourceContext) -> Any:
        return None

    def delete(self, context: base.ResourceContext) -> Any:
        return None


class Group(base.NestedHandler):
    """A nested stack with a given number of resources; a signal changes the number."""

    properties: ClassVar[Mapping[str, Property]] = {
        'count': Property({'type': 'integer'}, updatable=True),
        'value': Property({'type': 'string'}, updatable=True),
    }

    def expand(self, context: base.ResourceContext, members: Any) -> Any:
        return [_samples(context.properties['count'], context.properties)]

    def adjust(self, context: base.ResourceContext, members: Any, details: Any) -> Any:
        return [_samples(details['count'], context.properties)]

    def gather(self, context: base.ResourceContext, members: Any, outputs: Any) -> Any:
        return {'refs': [member.reference for member in members]}


def _samples(count: int, properties: Mapping[str, Any]) -> Batch:
    value = properties.get('value') or 'a member'
    return Batch(template({f'm{at}': res(value=value) for at in range(count)}))


def template(resources: Mapping[str, Any], **sections: Any) -> dict[str, Any]:
    """Return a template."""
    return {'heat_template_version': VERSION, 'resources': dict(resources), **sections}


def res(type_: str = 'Sample', /, **properties: Any) -> dict[str, Any]:
    """Return a resource of a template; a key that begins with '_' is no property."""
    beside = {key[1:]: value for key, value in properties.items() if key[0] == '_'}
    own = {key: value for key, value in properties.items() if key[0] != '_'}
    return {'type': type_, **({'properties': own} if own else {}), **beside}


class StackWorld(World):
    """A system whose workers create stacks.

    :ivar external: the physical resources that the handlers have created
    """

    def __init__(
        self,
        store: Store,
        handlers: Mapping[str, type] | None = None,
        types: Mapping[str, type] | None = None,
        limits: StackLimits | None = None,
        clouds: Clouds | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(
            store, projection=StackProjection(), **{'linger': 0.0, **settings}
        )
        self.external = ExternalResources()
        self._limits = limits or StackLimits()
        self.types = loader.Plugins.of(
            action_types={'nop': Nop, 'sleep': Sleep, 'ours': kind(), **(types or {})},
            resource_handlers={
                'Sample': sample(self.external),
                'Nothing': Nothing,
                'Group': Group,
                **(handlers or {}),
            },
            destinations=lambda: WITH_LOOPBACK,
            clouds=clouds,
        )
        self.stacks = StackOperations(self.parts(store), self.clock, self)

    def parts(self, store: Store) -> StackServices:
        """Return the services of stacks that use this store."""
        return StackServices(
            store,
            self.types,
            Blueprints(store),
            self,
            self._limits,
            hosts=LiveHosts(f'host-{len(self.workers)}', 0.0),
        )

    def worker_types(self, store: Store) -> ActionTypes:
        parts = self.parts(store)
        own = {
            STACK: functools.partial(StackAction, parts),
            RESOURCE: functools.partial(ResourceAction, parts),
            HOOK: functools.partial(HookAction, parts),
        }
        return EngineActionTypes(self.types, own)

    def worker(self, **keys: Any) -> Worker:
        return super().worker(
            **{'lanes': ('applier', 'engine'), 'projection': StackProjection(), **keys}
        )

    # Stacks

    def start_creation(
        self,
        resources: Mapping[str, Any],
        name: str = 's',
        sections: Mapping[str, Any] | None = None,
        **keys: Any,
    ) -> Stack:
        """Request a stack; do not wait."""
        whole = template(resources, **(sections or {}))
        return self.stacks.create(StackRequest(name, whole, **keys), TENANT, 'a user')

    def make(self, resources: Mapping[str, Any], **keys: Any) -> Stack:
        """Create a stack, and wait for the end; start a worker if there is none."""
        if not self.workers:
            self.worker()
        return self.wait_until_settled(self.start_creation(resources, **keys))

    def change(
        self,
        stack: Stack,
        resources: Mapping[str, Any] | None = None,
        sections: Mapping[str, Any] | None = None,
        **keys: Any,
    ) -> Stack:
        """Update a stack, and wait for the end.

        :param resources: of the new template; None keeps the template
        """
        self.start_update(stack, resources, sections, **keys)
        return self.wait_until_settled(stack)

    def start_update(
        self,
        stack: Stack,
        resources: Mapping[str, Any] | None = None,
        sections: Mapping[str, Any] | None = None,
        **keys: Any,
    ) -> Stack:
        """Request an update of a stack; do not wait."""
        whole = None
        if resources is not None:
            whole = template(resources, **(sections or {}))
        new = StackRequest(stack.name, whole, existing=resources is None, **keys)
        return self.stacks.update(stack.uuid, TENANT, new)

    def act(self, stack: Stack, operation: str, level: str | None = None) -> Stack:
        """Begin an operation and wait for its end."""
        self.stacks.start_operation(stack.uuid, TENANT, operation, level)
        return self.wait_until_settled(stack)

    def wait_until_settled(self, stack: Stack) -> Stack:
        """Wait until no operation runs on a stack or its nested stacks."""

        def quiet() -> bool:
            if self.reload(stack).state.busy:
                return False
            tree = self.store.stack_tree(stack.tree_id)
            return not any(member.state.busy for member in tree) and not any(
                action.lane == 'engine' for action in self._unfinished()
            )

        self.wait_until(
            quiet,
            lambda: f'{self.reload(stack)}\n{self.full_report()}',
            lambda event: event.subject == events.STACK,
        )
        return self.reload(stack)

    def reload(self, stack: Stack) -> Stack:
        """Return the current state of a stack, even if it is deleted."""
        return self.store.stacks_by_id([stack.id])[stack.id]

    def find_stack(self, name: str) -> Stack:
        """Return the stack with this name."""
        return self.store.find_stack(name, TENANT)

    # Resources

    def resource(self, stack: Stack, name: str) -> Resource:
        """Return the current state of a resource."""
        (row,) = self.store.list_resources([stack.id], names=[name])
        return row

    def nested(self, stack: Stack, name: str) -> Stack:
        """Return the nested stack of a resource."""
        nested_id = self.resource(stack, name).nested_id or 0
        return self.store.stacks_by_id([nested_id])[nested_id]

    def states(self, stack: Stack) -> dict[str, str]:
        """Return the state of each resource, by name."""
        rows = self.store.list_resources([stack.id])
        return {row.name: row.state.name for row in rows}

    def ids(self, stack: Stack) -> dict[str, str | None]:
        """Return the physical id of each resource, by name."""
        rows = self.store.list_resources([stack.id])
        return {row.name: row.physical_id for row in rows}

    def mark(
        self, stack: Stack, name: str, unhealthy: bool = True, reason: str | None = None
    ) -> Resource:
        """Set the health of a resource."""
        return self.stacks.mark_unhealthy(stack.uuid, TENANT, name, unhealthy, reason)

    # Events

    def transitions(self, *stacks: Stack) -> list[Fact]:
        """Return the changes of state of these stacks and their resources, in order."""
        ids = [stack.id for stack in stacks]
        names = {stack.id: stack.name for stack in stacks}
        query = EventQuery({'stack_id': ids}, descending=False)
        return [
            (
                (item.event.detail or {}).get('name') or names[item.event.subject_id],
                item.event.new_status or '',
            )
            for item in self.store.list_stack_events(query)
        ]

    def full_report(self) -> Report:
        """Return all events, for the report of a failure."""
        return Report(self._full_report)

    def _full_report(self) -> str:
        actions = '\n'.join(
            f'{a.id} {a.name} {a.action_type} {a.inputs.get("do")} {a.status} '
            f'{a.status_message}'
            for a in self._actions()
        )
        return f'{actions}\n{self.report()}'

    def unfinished(self) -> list[str | None]:
        """Return the names of the actions that have not ended."""
        return [action.name for action in self._unfinished()]


class StackWorldCase(WorldCase):
    """The base case of tests of stacks."""

    def create_stack_world(
        self,
        handlers: Mapping[str, type] | None = None,
        types: Mapping[str, type] | None = None,
        **settings: Any,
    ) -> StackWorld:
        """Return a world with these handlers besides Sample, Nothing and Group."""
        world = StackWorld(self.make_store(), handlers, types, **settings)
        self.addCleanup(world.stop)
        return world
