"""Stacks and resources: values, without I/O."""

import dataclasses
import datetime
import hashlib
import json
import operator
from collections.abc import Mapping
from typing import Any

from watcherlite.states import stack as states
from watcherlite.states.stack import State


@dataclasses.dataclass(frozen=True, slots=True)
class Definition:
    """What users gave to have a stack made: never changed once stored.

    Stacks share equal ones, so that a hundred nested stacks of one template keep
    its files once.

    :param template: the parsed document, not yet validated
    :param environment: merged: `parameters`, `parameter_defaults`,
        `resource_registry`, ...
    :param files: name -> text, for get_file and nested templates
    :param parameters: as given, over those of the environment
    """

    template: Mapping[str, Any]
    environment: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    id: int | None = None

    @property
    def digest(self) -> str:
        """Return what equal definitions have in common, and no others."""
        parts = [self.template, self.environment, self.files, self.parameters]
        text = json.dumps(parts, sort_keys=True, separators=(',', ':'))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclasses.dataclass(frozen=True, slots=True)
class Stack:
    """An instance of a template. All but `id`, `uuid` and the ancestry may change.

    :param tenant: the project that it belongs to; stacks of others do not exist
        for a request
    :param definition_id: what it is to be, or is
    :param previous_id: what it was before the update that runs or ran last: a
        rollback goes back to it
    :param owner_id: the stack of which it is a resource, or None
    :param owner_resource: the name of that resource
    :param root_id: the outermost stack around it; its own id if there is none
    :param depth: how many stacks are around it
    :param operation: uuid of the action that changes it, or did last: any other one
        has been superseded
    :param under_lock: the state below LOCK and UNLOCK; None when there is no overlay
    :param lock_level: of its own lock, ALL or STACKS; None: it has none
    :param inherited_level: of the lock that came from a stack around it
    :param timeout: seconds that an operation may take
    :param deadline: when the operation that runs times out
    :param user: the name of who made it
    """

    uuid: str
    name: str
    tenant: str
    definition_id: int
    action: str = states.CREATE
    status: str = states.IN_PROGRESS
    status_reason: str = ''
    id: int | None = None
    previous_id: int | None = None
    owner_id: int | None = None
    owner_resource: str | None = None
    root_id: int | None = None
    depth: int = 0
    operation: str | None = None
    under_lock: State | None = None
    lock_level: str | None = None
    inherited_level: str | None = None
    disable_rollback: bool = True
    timeout: int = 3600
    deadline: datetime.datetime | None = None
    tags: tuple[str, ...] = ()
    description: str = ''
    user: str | None = None
    context: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def evolve(self, **changes: Any) -> 'Stack':
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)

    @property
    def state(self) -> State:
        """Return the state that is shown."""
        return State(self.action, self.status, self.status_reason)

    @property
    def base(self) -> State:
        """Return the state that guards go by: the one below a lock."""
        return self.under_lock or self.state

    @property
    def level(self) -> str | None:
        """Return the level of its locks together; None: it is not locked."""
        levels = {self.lock_level, self.inherited_level} - {None}
        if not levels:
            return None
        return states.ALL if states.ALL in levels else states.STACKS

    def at(self, state: State, **changes: Any) -> 'Stack':
        """Return a copy in another state."""
        return self.evolve(
            action=state.action,
            status=state.status,
            status_reason=state.reason,
            **changes,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class Resource:
    """One member of a stack.

    :param type: as the template says; `handler` is what that stands for
    :param handler: the name of the resource handler, or of the nested template
    :param physical_id: what the handler calls it; None: it was never made
    :param nested_id: the stack that it is made of, for those that are one
    :param definition_id: of the definition that it was last made to fit
    :param properties: resolved, as it was last made to fit them
    :param attributes: as the handler last told them
    :param data: what only the handler reads
    :param requires: names of the resources that it depends on
    :param deletion_policy: Delete or Retain, as its last definition says
    :param superseded_by: the resource that replaced it; it waits to be deleted
    :param under_lock: the state below LOCK and UNLOCK; None when there is no overlay
    :param under_mark: the state before a user marked it unhealthy; None when it
        is not marked
    :param protected: its handler has locked it
    :param reference: what get_resource gives, as the handler said
    """

    uuid: str
    stack_id: int
    name: str
    type: str
    handler: str
    action: str = states.INIT
    status: str = states.COMPLETE
    status_reason: str = ''
    id: int | None = None
    physical_id: str | None = None
    nested_id: int | None = None
    definition_id: int | None = None
    properties: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    data: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    requires: tuple[str, ...] = ()
    deletion_policy: str = 'Delete'
    superseded_by: int | None = None
    under_lock: State | None = None
    under_mark: State | None = None
    protected: bool = False
    reference: str | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    def evolve(self, **changes: Any) -> 'Resource':
        """Return a copy with other values."""
        # Twice as fast as `dataclasses.replace`, for what every step does.
        values = list(_VALUES(self))
        for name, value in changes.items():
            values[_PLACES[name]] = value
        return Resource(*values)

    @property
    def state(self) -> State:
        """Return the state that is shown."""
        return State(self.action, self.status, self.status_reason)

    @property
    def base(self) -> State:
        """Return the state that decisions go by: the one below a lock."""
        return self.under_lock or self.state

    @property
    def made(self) -> bool:
        """Say whether there is something of it in the world, as far as is known."""
        return self.physical_id is not None and self.deleted_at is None

    def at(self, state: State, **changes: Any) -> 'Resource':
        """Return a copy in another state."""
        return self.evolve(
            action=state.action,
            status=state.status,
            status_reason=state.reason,
            **changes,
        )


_NAMES = tuple(field.name for field in dataclasses.fields(Resource))
_VALUES = operator.attrgetter(*_NAMES)
_PLACES = {name: place for place, name in enumerate(_NAMES)}


@dataclasses.dataclass(frozen=True, slots=True)
class StackSurroundings:
    """What of a stack never changes, for who tells of it.

    :param ancestry: the stacks around it, the outermost first: (name, uuid)
    """

    stack: Stack
    ancestry: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class NewStack:
    """What a user asks for to have a stack made, or changed.

    :param parameters: over those of the environment
    :param existing: of an update: what is not given stays as it is
    :param clear_parameters: of an existing update: names whose value is forgotten
    :param adopt: what `abandon` returned, for a stack of existing resources
    """

    name: str
    template: Mapping[str, Any] | None
    environment: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    timeout_mins: int | None = None
    disable_rollback: bool | None = None
    tags: tuple[str, ...] | None = None
    existing: bool = False
    clear_parameters: tuple[str, ...] = ()
    adopt: Mapping[str, Any] | None = None
