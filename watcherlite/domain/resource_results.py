"""Declared properties, their difference, and results of resource handlers."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions

# The effects of a changed definition on a resource
KEEP = 'keep'
UPDATE = 'update'
REPLACE = 'replace'


@dataclasses.dataclass(frozen=True, slots=True)
class Property:
    """A property of a resource type.

    :param schema: JSON schema of its value; `default` is filled in
    :param updatable: a change updates the resource in place; else it replaces it
    :param immutable: a change is refused
    """

    schema: Mapping[str, Any]
    description: str = ''
    required: bool = False
    updatable: bool = False
    immutable: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """An additional operation on an existing resource.

    :param schema: JSON schema of its parameters
    """

    description: str = ''
    schema: Mapping[str, Any] = dataclasses.field(
        default_factory=lambda: {'type': 'object', 'additionalProperties': False}
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Ready:
    """The operation is complete.

    :param physical_id: the external id of the resource; None: unchanged
    :param attributes: for get_attr; None: unchanged
    :param data: private to this handler (JSON); None: unchanged
    :param reason: for users
    """

    physical_id: str | None = None
    attributes: Mapping[str, Any] | None = None
    data: Mapping[str, Any] | None = None
    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceInProgress:
    """The operation is in progress; call `poll` with the token in `delay` seconds.

    No thread is occupied. Token (JSON), `physical_id` and `data` are durable before the
    first call, so that another worker can continue after a crash.
    """

    token: Any
    delay: float = 1.0
    physical_id: str | None = None
    data: Mapping[str, Any] | None = None


Result = Ready | ResourceInProgress | None


@dataclasses.dataclass(frozen=True, slots=True)
class PassOn:
    """A signal is to be forwarded to another resource of the stack.

    :param reference: its value of get_resource
    :param details: of the forwarded signal
    """

    reference: str
    details: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """A resource of the nested stack of a group.

    :param definition: in the template that was last applied to it; None: it was never
        created
    """

    name: str
    type: str
    status: str
    physical_id: str | None
    reference: str
    attributes: Mapping[str, Any]
    created_at: datetime.datetime | None
    definition: Mapping[str, Any] | None = None

    @property
    def failed(self) -> bool:
        return self.status == 'FAILED'

    @property
    def serving(self) -> bool:
        """Return whether it exists and is not known to be unhealthy."""
        return self.status == 'COMPLETE' and self.physical_id is not None


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """One step of a group, or of another nested stack.

    :param template: of the stack, parsed
    :param parameters: of the template
    :param files: for get_file and nested templates; None: those of the enclosing stack
    :param environment: None: that of the enclosing stack, without its parameters
    :param pause: seconds to wait after the previous step, if any
    :param timeout: seconds for the step; None: the remaining time of the enclosing
        stack
    :param region: of the cloud, for the resources of a new stack; None: that of the
        enclosing stack
    :param cloud_secret: the id of the secret with the credential of another cloud, for
        the resources of a new stack; None: they are in the cloud of the enclosing stack
    """

    template: Mapping[str, Any]
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    files: Mapping[str, str] | None = None
    environment: Mapping[str, Any] | None = None
    pause: int = 0
    timeout: int | None = None
    region: str | None = None
    cloud_secret: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Expansion:
    """The steps of a nested stack.

    :param batches: in order; none, and only after a signal: unchanged
    :param data: private to the handler (JSON), stored together with the steps before
        they start; None: unchanged
    :param reason: for users: why it is unchanged
    """

    batches: Sequence[Batch] = ()
    data: Mapping[str, Any] | None = None
    reason: str = ''

    @classmethod
    def of(cls, result: 'Sequence[Batch] | Expansion') -> 'Expansion':
        """Return the result of a handler as an Expansion."""
        return result if isinstance(result, Expansion) else cls(tuple(result))


class Declared(Protocol):
    """The part of a resource handler that is read here."""

    @property
    def properties(self) -> Mapping[str, Property]: ...

    @property
    def allows_undeclared(self) -> bool: ...

    @property
    def replaces_failed(self) -> bool: ...


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names of the properties that differ, sorted."""
    return sorted(
        name
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    )


def decide(
    handler: Declared, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
) -> str:
    """Return KEEP, UPDATE or REPLACE.

    A FAILED resource is replaced (spec 002), unless its type repairs in place: then
    it is updated even if nothing has changed.

    :raises Invalid: an immutable property has another value
    """
    declared = handler.properties
    names = [
        name
        for name in changed(before, after)
        if name in declared or not handler.allows_undeclared
    ]
    fixed = [name for name in names if name in declared and declared[name].immutable]
    if fixed:
        raise exceptions.Invalid(
            f'The properties {", ".join(fixed)} cannot be changed any more'
        )
    if failed and handler.replaces_failed:
        return REPLACE
    in_place = all(name in declared and declared[name].updatable for name in names)
    if names and not in_place:
        return REPLACE
    return UPDATE if names or failed else KEEP
