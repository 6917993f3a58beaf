"""Stacks and resources: values, without I/O."""

import dataclasses
import datetime
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Self

from watcherlite.domain.rows import Value, stored
from watcherlite.states import stack as states
from watcherlite.states.stack import State

#: In the data of a resource: its deployment, and the id of the server in it.
DEPLOYMENT, SERVER = 'deployment', 'server_id'
#: In the metadata of a server: its deployments.
DEPLOYMENTS = 'deployments'
#: The path for metadata with a token, below the root of the API.
METADATA_PATH = '/orchestration/v1/metadata/{}/{}?{}={}'


@dataclasses.dataclass(frozen=True, slots=True)
class Definition:
    """The template, environment and files of a stack; immutable once stored.

    Stacks share equal ones, so that a hundred nested stacks of one template keep
    its files once.

    :param template: the parsed document, not yet validated
    :param environment: merged: `parameters`, `parameter_defaults`,
        `resource_registry`, ...
    :param files: name -> text, for get_file and nested templates
    :param parameters: as given; they override those of the environment
    """

    template: Mapping[str, Any]
    environment: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Return a digest that only equal definitions share."""
        parts = [self.template, self.environment, self.files, self.parameters]
        text = json.dumps(parts, sort_keys=True, separators=(',', ':'))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StoredDefinition(Definition):
    """A stored definition."""

    id: int


class _Stateful(Value):
    """A row with a state, and an overlay of it while it is locked."""

    __slots__ = ()

    action: str
    status: str
    status_reason: str
    under_lock: State | None

    @property
    def state(self) -> State:
        """Return the state that is shown."""
        return State(self.action, self.status, self.status_reason)

    @property
    def base(self) -> State:
        """Return the state below a lock, on which decisions are based."""
        return self.under_lock or self.state

    def at(self, state: State, **changes: Any) -> Self:
        """Return a copy in another state."""
        return self.evolve(
            action=state.action,
            status=state.status,
            status_reason=state.reason,
            **changes,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class NewStack(_Stateful):
    """An instance of a template that is not stored yet.

    All but `uuid` and the ancestry may change.

    :param tenant: its project; requests of other projects do not see it
    :param definition_id: of its current or target definition
    :param previous_id: of the definition before the current or last update: a rollback
        returns to it
    :param owner_id: the parent stack, or None
    :param owner_resource: the name of that resource
    :param root_id: the root of its tree; None: the stack itself
    :param depth: the number of its ancestors
    :param operation: uuid of the current or last action on it: any other one has been
        superseded
    :param under_lock: the state below LOCK and UNLOCK; None if there is no overlay
    :param lock_level: of its own lock, ALL or STACKS; None: it has none
    :param inherited_level: of the lock that it inherits from an ancestor
    :param timeout: of an operation, in seconds
    :param deadline: when the running operation times out
    :param user: the name of its creator
    """

    uuid: str
    name: str
    tenant: str
    definition_id: int
    action: str = states.CREATE
    status: str = states.IN_PROGRESS
    status_reason: str = ''
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

    @property
    def level(self) -> str | None:
        """Return the level in effect of its locks; None: it is not locked."""
        levels = {self.lock_level, self.inherited_level} - {None}
        if not levels:
            return None
        return states.ALL if states.ALL in levels else states.STACKS

    def stored(self, key: int) -> 'Stack':
        return stored(self, Stack, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Stack(NewStack):
    """A stored stack."""

    id: int

    @property
    def tree_id(self) -> int:
        """Return the id of the root of its tree."""
        return self.id if self.root_id is None else self.root_id


@dataclasses.dataclass(frozen=True, slots=True)
class NewResource(_Stateful):
    """A member of a stack that is not stored yet.

    :param type: as in the template; `handler` is the type that it is mapped to
    :param handler: the name of the resource handler, or of the nested template
    :param physical_id: from its handler; None: it does not exist yet
    :param nested_id: the stack that it is, or None
    :param definition_id: of the definition that it was last made to fit, or is made for
        the first time to fit; None: its creation has not begun
    :param properties: resolved, of that definition
    :param attributes: the last values from its handler
    :param data: private to its handler
    :param requires: names of the resources that it depends on
    :param deletion_policy: Delete or Retain, from its last definition
    :param superseded_by: its replacement; it waits for its deletion
    :param under_lock: the state below LOCK and UNLOCK; None when there is no overlay
    :param under_mark: the state before a user marked it unhealthy; None when it
        is not marked
    :param protected: its handler has locked it
    :param reference: the value of get_resource, from its handler
    :param hook: the hook of the environment at which it waits to be cleared, or None
    :param hook_action: uuid of the action that waits
    """

    uuid: str
    stack_id: int
    name: str
    type: str
    handler: str
    action: str = states.INIT
    status: str = states.COMPLETE
    status_reason: str = ''
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
    hook: str | None = None
    hook_action: str | None = None
    created_at: datetime.datetime | None = None
    updated_at: datetime.datetime | None = None
    deleted_at: datetime.datetime | None = None

    @property
    def exists(self) -> bool:
        """Return whether it exists, as far as is known."""
        return self.physical_id is not None and self.deleted_at is None

    @property
    def may_exist(self) -> bool:
        """Return whether it may exist, even without a known physical id."""
        known = self.physical_id is not None or self.definition_id is not None
        return known and self.deleted_at is None

    def stored(self, key: int) -> 'Resource':
        return stored(self, Resource, key)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resource(NewResource):
    """A stored resource."""

    id: int


@dataclasses.dataclass(frozen=True, slots=True)
class StackAncestry:
    """A stack with its ancestors, for notifications.

    :param ancestors: (name, uuid) of each, the root first
    """

    stack: Stack
    ancestors: tuple[tuple[str, str], ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class StackRequest:
    """A request to create or update a stack.

    :param parameters: override those of the environment
    :param existing: of an update: what it omits stays unchanged
    :param clear_parameters: of an existing update: names to reset
    :param adopt: the document that `abandon` returned, to adopt its resources
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


def server_metadata(
    metadata: Mapping[str, Any],
    server: str | None,
    data: Iterable[Mapping[str, Any]],
    others: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the metadata of a server with its deployments, sorted by name.

    :param metadata: of its resource
    :param server: its id
    :param data: of the resources of its stack and of the related ones
    :param others: its deployments that belong to no stack
    """
    found = [
        deployment
        for deployment in (one.get(DEPLOYMENT) for one in data)
        if deployment and deployment[SERVER] == server
    ]
    found += others
    found.sort(key=lambda deployment: str(deployment['name']))
    shown = [{k: v for k, v in one.items() if k != SERVER} for one in found]
    return {**metadata, DEPLOYMENTS: shown}
