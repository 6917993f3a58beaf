"""What is shown of stacks and of their resources; changes nothing."""

import dataclasses
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.db.api import Store
from watcherlite.db.stacking import StackEventQuery
from watcherlite.domain import events
from watcherlite.domain.events import StoredEvent
from watcherlite.domain.stacks import Definition, Resource, Stack
from watcherlite.domain.templates import environment as environments
from watcherlite.domain.templates.blueprint import Blueprint, OutputValue
from watcherlite.domain.templates.parameters import MASK
from watcherlite.engine.stacks import handlers as making
from watcherlite.engine.stacks import marking, merging
from watcherlite.engine.stacks.handlers import Handlers
from watcherlite.engine.stacks.resolving import Blueprints, RowReferences

LOG = logging.getLogger(__name__)

#: More levels than stacks are ever in each other.
_ANY_DEPTH = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class Shown:
    """A stack as its page shows it.

    :param owner: the stack that it is a resource of, or None
    :param parameters: as texts, with the pseudo parameters; hidden ones are masked
    :param outputs: empty where they were not asked for
    :param problem: why there are no parameters and outputs
    """

    stack: Stack
    owner: Stack | None
    parameters: Mapping[str, str]
    outputs: Sequence[OutputValue] = ()
    problem: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """A resource as its page, or a list, shows it.

    :param stack: that it belongs to
    :param required_by: the names of those that depend on it, sorted
    :param nested: the stack that it is, or None
    :param parent: the name of the resource that its stack is, or None
    :param description: as the template says; not told in lists
    """

    row: Resource
    stack: Stack
    required_by: tuple[str, ...]
    nested: Stack | None = None
    parent: str | None = None
    description: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class ToldEvent:
    """An event with the stack that it is of.

    :param resource: its resource's detail: uuid, name, type, physical_id; those of
        the stack itself for an event of the stack
    """

    stored: StoredEvent
    stack: Stack
    resource: Mapping[str, Any]


class StackReading:
    """Reads stacks for those who show them; any number of threads may use it."""

    def __init__(
        self, store: Store, handlers: Handlers, blueprints: Blueprints
    ) -> None:
        self._store = store
        self._handlers = handlers
        self._blueprints = blueprints

    # one stack

    def show(self, stack: Stack, with_outputs: bool = True) -> Shown:
        """Return all that is shown of a stack."""
        owner = next(iter(self._around(stack, 1)), None)
        try:
            made = self._blueprint(stack)
        except exceptions.Invalid as error:
            # What made it is of another release.
            return Shown(stack, owner, {}, problem=str(error))
        outputs = self._outputs(stack, made) if with_outputs else ()
        return Shown(stack, owner, made.shown_parameters(), outputs)

    def lock_owner(self, stack: Stack) -> str | None:
        """Return the uuid of the stack whose lock it is under; None: of none."""
        if stack.lock_level is not None:
            return stack.uuid
        if stack.inherited_level is None:
            return None
        around = self._around(stack)
        return next((one.uuid for one in around if one.lock_level is not None), None)

    def root(self, stack: Stack) -> Stack:
        """Return the outermost stack around one, or itself."""
        if stack.owner_id is None or stack.root_id is None:
            return stack
        return self._store.stacks_by_id([stack.root_id]).get(stack.root_id, stack)

    def export(self, stack: Stack) -> dict[str, Any]:
        """Return what a new stack takes to adopt the resources of this one."""
        inside = self._tree(stack, _ANY_DEPTH)
        rows = self._store.list_resources(list(inside))
        return merging.exported(self._store, stack, list(inside.values()), rows)

    def outputs(self, stack: Stack) -> list[OutputValue]:
        """Return the outputs of a stack; one that cannot be resolved says why."""
        return self._outputs(stack, self._blueprint(stack))

    def output(self, stack: Stack, key: str) -> OutputValue:
        """Return one output; raises NotFound."""
        for output in self.outputs(stack):
            if output.key == key:
                return output
        raise exceptions.NotFound(
            f'The output {key} could not be found in stack {stack.name}.'
        )

    def template(self, stack: Stack) -> Mapping[str, Any]:
        """Return the template of a stack, as it was sent."""
        return self._definition(stack).template

    def files(self, stack: Stack) -> Mapping[str, str]:
        """Return the files that came with the template."""
        return self._definition(stack).files

    def environment(self, stack: Stack) -> dict[str, Any]:
        """Return the environment with all parameters that were given.

        Hidden ones are masked.
        """
        definition = self._definition(stack)
        found = dict(definition.environment)
        # Some may be of the templates of stacks in it, which this one knows nothing of.
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

    def _hidden(self, stack: Stack, definition: Definition) -> frozenset[str]:
        try:
            return self._blueprints.of(stack, definition).hidden
        except exceptions.Invalid:
            # Nothing says which are not to be shown.
            sections = (environments.PARAMETERS, environments.DEFAULTS)
            given = [definition.environment.get(name) or () for name in sections]
            return frozenset(definition.parameters).union(*given)

    # resources

    def resources(self, stack: Stack, depth: int = 0) -> list[Seen]:
        """Return the resources of a stack, and of those in it down to a depth."""
        inside = self._tree(stack, depth)
        return self._seen(inside, self._store.list_resources(list(inside)))

    def resource(self, stack: Stack, name: str) -> Seen:
        """Return the resource that a name, a physical id or a reference means.

        :raises ResourceNotFound, PhysicalResourceIDAmbiguity: see `marking.found`
        """
        rows = self._store.list_resources([stack.id or 0])
        row = marking.found(rows, stack, name)
        seen = self._seen({stack.id or 0: stack}, rows, only=row)
        return dataclasses.replace(seen[0], description=self._description(stack, row))

    def attributes(self, found: Seen, names: Iterable[str] = ()) -> dict[str, Any]:
        """Return the attributes of a resource: those of its type, and these.

        :param names: as get_attr takes them: `resource.0.value` of a group
        """
        row = found.row
        values: dict[str, Any] = {}
        try:
            handler = making.make(self._handlers, row.handler)
            values = dict.fromkeys(handler.attributes)
        except exceptions.PluginError as error:
            LOG.debug('Only what resource %s said is known: %s', row.uuid, error)
        values |= row.attributes
        references = RowReferences({row.name: row}, self._members)
        for name in names:
            try:
                values[name] = references.attribute(row.name, [name])
            except exceptions.Invalid:
                values[name] = None
        return values

    def _members(self, row: Resource) -> list[Resource]:
        if row.nested_id is None:
            return []
        return self._store.list_resources([row.nested_id])

    def _seen(
        self,
        stacks: Mapping[int, Stack],
        rows: Sequence[Resource],
        only: Resource | None = None,
    ) -> list[Seen]:
        dependents: dict[tuple[int, str], list[str]] = {}
        for row in rows:
            for name in row.requires:
                dependents.setdefault((row.stack_id, name), []).append(row.name)
        wanted = rows if only is None else [only]
        ids = {row.nested_id for row in wanted if row.nested_id is not None}
        nested = {key: stacks[key] for key in ids if key in stacks}
        if ids - nested.keys():
            nested |= self._store.stacks_by_id(ids - nested.keys())
        return [
            Seen(
                row,
                stacks[row.stack_id],
                tuple(sorted(dependents.get((row.stack_id, row.name), ()))),
                nested.get(row.nested_id or 0),
                stacks[row.stack_id].owner_resource,
            )
            for row in wanted
        ]

    def _description(self, stack: Stack, row: Resource) -> str:
        try:
            definition = self._blueprint(stack).resources.get(row.name)
        except exceptions.Invalid:
            return ''
        return definition.description if definition is not None else ''

    # events

    def events(
        self,
        stack: Stack,
        query: StackEventQuery,
        depth: int = 0,
    ) -> list[ToldEvent]:
        """Return a page of the events of a stack, and of those in it.

        :param query: what is wanted; its `stack_ids` are filled in here
        :raises NotFound: there is no event `after`
        """
        inside = self._tree(stack, depth)
        wanted = dataclasses.replace(query, stack_ids=tuple(inside))
        return [
            _told(stored, inside) for stored in self._store.list_stack_events(wanted)
        ]

    # what they have in common

    def _tree(self, stack: Stack, depth: int) -> dict[int, Stack]:
        """Return a stack and those in it down to a depth, by id."""
        found = {stack.id or 0: stack}
        if depth <= 0:
            return found
        others = self._store.stack_tree(stack.root_id or 0)
        # Ids ascend from the outside in.
        for other in sorted(others, key=lambda one: one.id or 0):
            near = other.depth - stack.depth <= depth
            if other.owner_id in found and near and other.id is not None:
                found[other.id] = other
        return found

    def _around(self, stack: Stack, most: int = _ANY_DEPTH) -> list[Stack]:
        """Return the stacks around one, the nearest first."""
        found: list[Stack] = []
        owner_id = stack.owner_id
        while owner_id is not None and len(found) < most:
            owner = self._store.stacks_by_id([owner_id]).get(owner_id)
            if owner is None:
                break
            found.append(owner)
            owner_id = owner.owner_id
        return found

    def _definition(self, stack: Stack) -> Definition:
        return self._store.get_definition(stack.definition_id)

    def _blueprint(self, stack: Stack) -> Blueprint:
        return self._blueprints.by_id(stack, stack.definition_id)

    def _outputs(self, stack: Stack, made: Blueprint) -> list[OutputValue]:
        rows = self._store.list_resources([stack.id or 0])
        references = RowReferences({row.name: row for row in rows}, self._members)
        return made.outputs(references)


def _told(stored: StoredEvent, stacks: Mapping[int, Stack]) -> ToldEvent:
    event = stored.event
    stack = stacks[event.subject_id or 0]
    if event.subject == events.RESOURCE:
        return ToldEvent(stored, stack, event.detail or {})
    own = {
        'uuid': stack.uuid,
        'name': stack.name,
        'type': 'OS::Heat::Stack',
        'physical_id': stack.uuid,
    }
    return ToldEvent(stored, stack, own)
