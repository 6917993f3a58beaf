"""Declared properties, their difference, and results of resource handlers."""

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from watcherlite import exceptions

# What becomes of a resource whose definition may have changed
KEEP = 'keep'
UPDATE = 'update'
REPLACE = 'replace'


@dataclasses.dataclass(frozen=True, slots=True)
class Property:
    """One property of a resource type.

    :param schema: JSON schema of its value; `default` is filled in
    :param updatable: a change of it is an update in place; else a replacement
    :param immutable: a change of it is refused
    """

    schema: Mapping[str, Any]
    description: str = ''
    required: bool = False
    updatable: bool = False
    immutable: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Operation:
    """Something that can be done with what is there.

    :param schema: JSON schema of its parameters
    """

    description: str = ''
    schema: Mapping[str, Any] = dataclasses.field(
        default_factory=lambda: {'type': 'object', 'additionalProperties': False}
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Ready:
    """The operation has done what it should.

    :param physical_id: what the resource is called outside; None: as before
    :param attributes: what get_attr sees; None: as before
    :param data: kept for this handler alone (JSON); None: as before
    :param reason: for users
    """

    physical_id: str | None = None
    attributes: Mapping[str, Any] | None = None
    data: Mapping[str, Any] | None = None
    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class NotYet:
    """It is under way; call `poll` with the token in `delay` seconds.

    No thread is held. Token (JSON), `physical_id` and `data` are durable before the
    first call, so that another worker can go on after a crash.
    """

    token: Any
    delay: float = 1.0
    physical_id: str | None = None
    data: Mapping[str, Any] | None = None


Result = Ready | NotYet | None


@dataclasses.dataclass(frozen=True, slots=True)
class PassOn:
    """A signal is for another resource of the stack.

    :param reference: what get_resource gives for that one
    :param details: what it is told
    """

    reference: str
    details: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """A resource of the stack that a group is made of.

    :param definition: what the template said of it that it was last made to fit;
        None: it was never made
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
        """Return whether it has been made, and is not known to be unwell."""
        return self.status == 'COMPLETE' and self.physical_id is not None


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """One step of a group, or of another resource that is a stack.

    :param template: of the stack, parsed
    :param parameters: of the template
    :param files: for get_file and templates in it; None: those of the stack around
    :param environment: None: that of the stack around, without its parameters
    :param pause: seconds to wait after the step before it, if there was one
    :param timeout: seconds that it may take; None: what the stack around has left
    """

    template: Mapping[str, Any]
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    files: Mapping[str, str] | None = None
    environment: Mapping[str, Any] | None = None
    pause: int = 0
    timeout: int | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Expansion:
    """What becomes of a resource that is a stack.

    :param batches: in turn; none, and only after a signal: it stays as it is
    :param data: kept for the handler alone (JSON), stored together with what its
        stack is to be, before anything is done; None: as before
    :param reason: for users: why it stays as it is
    """

    batches: Sequence[Batch] = ()
    data: Mapping[str, Any] | None = None
    reason: str = ''

    @classmethod
    def of(cls, said: 'Sequence[Batch] | Expansion') -> 'Expansion':
        """Return what a handler said as one."""
        return said if isinstance(said, Expansion) else cls(tuple(said))


class Declared(Protocol):
    """A resource handler, as far as this looks at it."""

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
    handler: Declared,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    failed: bool,
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
