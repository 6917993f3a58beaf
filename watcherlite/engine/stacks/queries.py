"""Queries on stacks, resources and events, for the API."""

import dataclasses
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.db.query import EventQuery
from watcherlite.domain import bearer_tokens, events, stacks
from watcherlite.domain.events import StoredEvent
from watcherlite.domain.stacks import Resource, Stack, StoredDefinition
from watcherlite.domain.templates import environment as environments
from watcherlite.domain.templates import facade
from watcherlite.domain.templates.blueprint import Blueprint, OutputValue
from watcherlite.domain.templates.parameters import MASK
from watcherlite.domain.templates.scope import MAX_SHOWN
from watcherlite.engine import software
from watcherlite.engine.stacks import handlers, resolution
from watcherlite.engine.stacks.attribute_reader import AttributeReader
from watcherlite.engine.stacks.handlers import ResourceHandlers
from watcherlite.engine.stacks.requests import abandonment
from watcherlite.states import stack as states

LOG = logging.getLogger(__name__)

NO_METADATA = 'There is no metadata at this URL.'
#: More than the depth of any tree of stacks.
_ANY_DEPTH = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class StackView:
    """A stack with its parameters and outputs.

    :param owner: the stack that it is a resource of, or None
    :param parameters: as texts, with the pseudo parameters; hidden ones are masked
    :param outputs: empty if they were not requested
    :param problem: why parameters and outputs are missing
    """

    stack: Stack
    owner: Stack | None
    parameters: Mapping[str, str]
    outputs: Sequence[OutputValue] = ()
    problem: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceView:
    """A resource with its stack and its dependents.

    :param required_by: the names of the resources that depend on it, sorted
    :param nested: the stack that it is, or None
    :param parent: the name of the resource that its stack is, or None
    :param description: from the template; empty in lists
    """

    row: Resource
    stack: Stack
    required_by: tuple[str, ...]
    nested: Stack | None = None
    parent: str | None = None
    description: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class EventView:
    """An event with its stack.

    :param resource: uuid, name, type and physical_id of its resource, or of the stack
        for an event of the stack
    """

    stored: StoredEvent
    stack: Stack
    resource: Mapping[str, Any]


class StackQueries:
    """Reads stacks for the API; safe to use from all threads."""

    def __init__(
        self,
        store: Store,
        handlers: ResourceHandlers,
        blueprints: resolution.Blueprints,
        shown: int = MAX_SHOWN,
    ) -> None:
        """Use the handlers of this process.

        :param shown: the maximum size of the outputs of a stack, in bytes
        """
        self._store = store
        self._handlers = handlers
        self._blueprints = blueprints
        self._shown = shown

    # stacks

    def show(self, stack: Stack, with_outputs: bool = True) -> StackView:
        """Return a stack with its parameters and outputs."""
        owner = next(iter(self._ancestors(stack, 1)), None)
        try:
            blueprint = self._blueprint(stack)
        except exceptions.Invalid as error:
            # Another release has accepted its definition.
            return StackView(stack, owner, {}, problem=str(error))
        outputs = self._outputs(stack, blueprint) if with_outputs else ()
        return StackView(stack, owner, blueprint.shown_parameters(), outputs)

    def lock_owner(self, stack: Stack) -> str | None:
        """Return the uuid of the stack whose lock is in effect; None: unlocked."""
        if stack.lock_level is not None:
            return stack.uuid
        if stack.inherited_level is None:
            return None
        around = self._ancestors(stack)
        return next((one.uuid for one in around if one.lock_level is not None), None)

    def root(self, stack: Stack) -> Stack:
        """Return the root of the tree of a stack."""
        if stack.owner_id is None or stack.root_id is None:
            return stack
        return self._store.stacks_by_id([stack.root_id]).get(stack.root_id, stack)

    def export(self, stack: Stack) -> dict[str, Any]:
        """Return the document with which a new stack adopts the resources."""
        inside = self._tree(stack, _ANY_DEPTH)
        rows = self._store.list_resources(list(inside))
        return abandonment.export_stack(self._store, list(inside.values()), rows)

    def outputs(self, stack: Stack) -> list[OutputValue]:
        """Return the outputs of a stack; an unresolvable one has an error."""
        return self._outputs(stack, self._blueprint(stack))

    def output(self, stack: Stack, key: str) -> OutputValue:
        """Return one output; raises NotFound."""
        for output in self._outputs(stack, self._blueprint(stack), key):
            return output
        raise exceptions.NotFound(
            f'The output {key} could not be found in stack {stack.name}.'
        )

    def template(self, stack: Stack) -> Mapping[str, Any]:
        """Return the template of a stack, as in the request."""
        return self._definition(stack).template

    def files(self, stack: Stack) -> Mapping[str, str]:
        """Return the files of a stack."""
        return self._definition(stack).files

    def environment(self, stack: Stack) -> dict[str, Any]:
        """Return the environment with the parameters; hidden ones are masked."""
        definition = self._definition(stack)
        found, _ = facade.separate(definition.environment)
        # These may name parameters of nested templates, too.
        secret = found.get(environments.ENCRYPTED) or ()
        hidden = self._hidden(stack, definition) | frozenset(secret)
        for section in (environments.PARAMETERS, environments.DEFAULTS):
            given = dict(found.get(section) or {})
            if section == environments.PARAMETERS:
                given |= definition.parameters
            found[section] = {
                name: MASK if name in hidden else value for name, value in given.items()
            }
        return found

    def _hidden(self, stack: Stack, definition: StoredDefinition) -> frozenset[str]:
        try:
            return self._blueprints.of(stack, definition).hidden
        except exceptions.Invalid:
            # The template is invalid: hide all of them.
            sections = (environments.PARAMETERS, environments.DEFAULTS)
            given = [definition.environment.get(name) or () for name in sections]
            return frozenset(definition.parameters).union(*given)

    # resources

    def resources(self, stack: Stack, depth: int = 0) -> list[ResourceView]:
        """Return the resources of a stack and of its nested stacks down to a depth."""
        inside = self._tree(stack, depth)
        return self._views(inside, self._list(list(inside.values())))

    def resource(self, stack: Stack, name: str) -> ResourceView:
        """Return a resource by name, physical id or reference.

        :raises ResourceNotFound, PhysicalResourceIDAmbiguity: see `find_resource`
        """
        rows = self._list([stack])
        row = find_resource(rows, stack, name)
        seen = self._views({stack.id: stack}, rows, only=row)
        return dataclasses.replace(seen[0], description=self._description(stack, row))

    def _list(self, stacks: Sequence[Stack]) -> list[Resource]:
        """Return the resources of stacks.

        A deleted resource is one of them while it waits at a hook.
        """
        rows = self._store.list_resources([stack.id for stack in stacks])
        deleting = [stack.id for stack in stacks if stack.action == states.DELETE]
        waiting = self._store.waiting_resources(deleting) if deleting else []
        gone = [row for row in waiting if row.deleted_at is not None]
        return sorted([*rows, *gone], key=lambda row: row.id) if gone else rows

    def attributes(
        self, view: ResourceView, names: Iterable[str] = ()
    ) -> dict[str, Any]:
        """Return the attributes of a resource: those of its type, and the named ones.

        :param names: as for get_attr: `resource.0.value` of a group
        """
        row = view.row
        values: dict[str, Any] = {}
        try:
            handler = handlers.make_handler(self._handlers, row.handler)
            values = dict.fromkeys(handler.attributes)
        except exceptions.PluginError as error:
            LOG.debug('Attributes of resource %s are incomplete: %s', row.uuid, error)
        values |= row.attributes
        references = self._references(view.stack, [row])
        for name in names:
            try:
                values[name] = references.attribute(row.name, [name])
            except exceptions.Invalid:
                values[name] = None
        return values

    def metadata(self, stack: Stack, name: str, root_url: str) -> dict[str, Any]:
        """Return the metadata of a resource, that of a server with its deployments.

        :param root_url: of the API, to which the server sends signals
        :raises NotFound: there is no such resource
        """
        row = find_resource(self._store.list_resources([stack.id]), stack, name)
        return self._metadata(stack, row, root_url)

    def metadata_with_token(
        self, uuid: str, name: str, token: str | None, root_url: str
    ) -> dict[str, Any]:
        """Return the metadata of a server by the token of its URL.

        :param root_url: see `metadata`
        :raises NotFound: there is no such resource, or the token is wrong
        """
        try:
            stack = self._store.find_stack(uuid, None)
            rows = self._store.list_resources([stack.id], names=[name])
        except exceptions.NotFound:
            raise exceptions.NotFound(NO_METADATA) from None
        digest = rows[0].data.get(bearer_tokens.METADATA_DIGEST) if rows else None
        if stack.uuid != uuid or not bearer_tokens.is_valid(token, digest):
            raise exceptions.NotFound(NO_METADATA)
        return self._metadata(stack, rows[0], root_url)

    def _metadata(self, stack: Stack, row: Resource, root_url: str) -> dict[str, Any]:
        if bearer_tokens.METADATA_DIGEST not in row.data:
            return dict(row.metadata)
        # Groups have their deployments in nested stacks.
        tree = [member.id for member in self._store.stack_tree(stack.tree_id)]
        data = (other.data for other in self._store.list_resources(tree))
        others = software.read_deployments(
            self._store, row.physical_id or '', stack.tenant, root_url
        )
        return stacks.server_metadata(
            row.metadata, row.physical_id, data, (config for config, _ in others)
        )

    def _views(
        self,
        stacks: Mapping[int, Stack],
        rows: Sequence[Resource],
        only: Resource | None = None,
    ) -> list[ResourceView]:
        dependents: dict[tuple[int, str], list[str]] = {}
        for row in rows:
            for name in row.requires:
                dependents.setdefault((row.stack_id, name), []).append(row.name)
        desired = rows if only is None else [only]
        ids = {row.nested_id for row in desired if row.nested_id is not None}
        nested = {key: stacks[key] for key in ids if key in stacks}
        if ids - nested.keys():
            nested |= self._store.stacks_by_id(ids - nested.keys())
        return [
            ResourceView(
                row,
                stacks[row.stack_id],
                tuple(sorted(dependents.get((row.stack_id, row.name), ()))),
                None if row.nested_id is None else nested.get(row.nested_id),
                stacks[row.stack_id].owner_resource,
            )
            for row in desired
        ]

    def _description(self, stack: Stack, row: Resource) -> str:
        try:
            definition = self._blueprint(stack).resources.get(row.name)
        except exceptions.Invalid:
            return ''
        return definition.description if definition is not None else ''

    # events

    def events(
        self, stack: Stack, query: EventQuery, depth: int = 0
    ) -> list[EventView]:
        """Return a page of the events of a stack and of its nested stacks.

        :param query: without `stack_id`
        :raises NotFound: the event `after` does not exist
        """
        inside = self._tree(stack, depth)
        filters = {**query.filters, 'stack_id': tuple(inside)}
        desired = dataclasses.replace(query, filters=filters)
        return [
            _event_view(stored, inside)
            for stored in self._store.list_stack_events(desired)
        ]

    # lookups

    def _tree(self, stack: Stack, depth: int) -> dict[int, Stack]:
        """Return a stack and its nested stacks down to a depth, by id."""
        found = {stack.id: stack}
        if depth <= 0:
            return found
        others = self._store.stack_tree(stack.tree_id)
        # A parent is stored before its children: its id is lower.
        for other in sorted(others, key=lambda one: one.id):
            near = other.depth - stack.depth <= depth
            if other.owner_id in found and near:
                found[other.id] = other
        return found

    def _ancestors(self, stack: Stack, most: int = _ANY_DEPTH) -> list[Stack]:
        """Return the ancestors of a stack, the nearest first."""
        found: list[Stack] = []
        owner_id = stack.owner_id
        while owner_id is not None and len(found) < most:
            owner = self._store.stacks_by_id([owner_id]).get(owner_id)
            if owner is None:
                break
            found.append(owner)
            owner_id = owner.owner_id
        return found

    def _definition(self, stack: Stack) -> StoredDefinition:
        return self._store.get_definition(stack.definition_id)

    def _blueprint(self, stack: Stack) -> Blueprint:
        return self._blueprints.by_id(stack, stack.definition_id)

    def _outputs(
        self, stack: Stack, blueprint: Blueprint, desired: str | None = None
    ) -> list[OutputValue]:
        rows = self._store.list_resources([stack.id])
        references = self._references(stack, rows)
        return blueprint.outputs(references, desired, self._shown)

    def _references(
        self, stack: Stack, rows: Sequence[Resource]
    ) -> resolution.RowReferences:
        return resolution.RowReferences(
            {row.name: row for row in rows},
            AttributeReader(self._store, self._handlers, stack),
        )


def _event_view(stored: StoredEvent, stacks: Mapping[int, Stack]) -> EventView:
    event = stored.event
    stack = stacks[event.key]
    if event.subject == events.RESOURCE:
        return EventView(stored, stack, event.detail or {})
    own = {
        'uuid': stack.uuid,
        'name': stack.name,
        'type': 'OS::Heat::Stack',
        'physical_id': stack.uuid,
    }
    return EventView(stored, stack, own)


def find_resource(rows: Sequence[Resource], stack: Stack, name: str) -> Resource:
    """Return a resource by name, physical id or reference.

    :param rows: the resources of the stack that have not been replaced
    :raises ResourceNotFound, PhysicalResourceIDAmbiguity: see the message
    """
    for row in rows:
        if row.name == name:
            return row
    for same in (
        [row for row in rows if row.physical_id == name],
        [row for row in rows if row.reference == name],
    ):
        if len(same) > 1:
            names = ', '.join(sorted(row.name for row in same))
            raise exceptions.PhysicalResourceIDAmbiguity(
                f'Several resources of stack {stack.name} have the physical id {name}: '
                f'{names}. Specify the name.'
            )
        if same:
            return same[0]
    raise exceptions.ResourceNotFound(
        f'The Resource ({name}) could not be found in Stack {stack.name}.'
    )
