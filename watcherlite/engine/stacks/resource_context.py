"""The context of a resource handler.

Implements `plugins.base.ResourceContext`, and `NestedContext` for the handlers of
resources that are stacks.
"""

import dataclasses
import datetime
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from watcherlite.clock import UTC
from watcherlite.db.credentials import AUTHORITY, REGION, REMOTE_CLOUD
from watcherlite.domain.stacks import NewResource, NewStack

#: Maximum length of a physical name, that of the strictest services.
NAME_LENGTH = 63
#: Number of digits of the resource's uuid that make the name unique.
SHORT_ID = 12


class HandlerAction(Protocol):
    """The part of an action that the handler of its resource may use."""

    @property
    def uuid(self) -> str: ...

    @property
    def attempt(self) -> int: ...

    @property
    def deadline(self) -> datetime.datetime | None: ...

    @property
    def authority(self) -> str | None: ...

    def checkpoint(self) -> None: ...

    def fence(self) -> None: ...

    def remaining(self) -> float | None: ...

    def now(self) -> datetime.datetime: ...

    def on_signal(
        self, call: Callable[[str], None]
    ) -> AbstractContextManager[None]: ...


class DryRunAction:
    """The action of a validation or preview: without signals and without deadline."""

    uuid = ''
    attempt = 0
    deadline: datetime.datetime | None = None
    authority: str | None = None

    def checkpoint(self) -> None:
        """Return: it is never cancelled."""

    def fence(self) -> None:
        """Return: nothing has an effect."""

    def remaining(self) -> float | None:
        """Return None: there is no deadline."""
        return None

    def now(self) -> datetime.datetime:
        """Return the time."""
        return datetime.datetime.now(UTC)

    def on_signal(self, call: Callable[[str], None]) -> AbstractContextManager[None]:
        """Return a context that does nothing."""
        return nullcontext()


@dataclasses.dataclass(slots=True)
class HandlerContext:
    """See `ResourceContext`; time and signals are those of the action."""

    uuid: str = dataclasses.field(init=False)
    attempt: int = dataclasses.field(init=False)
    deadline: datetime.datetime | None = dataclasses.field(init=False)
    tenant: str
    stack_name: str
    stack_uuid: str
    resource_name: str
    resource_uuid: str
    physical_name: str
    physical_id: str | None
    properties: Mapping[str, Any]
    before: Mapping[str, Any]
    attributes: Mapping[str, Any]
    metadata: Mapping[str, Any]
    data: Mapping[str, Any]
    files: Mapping[str, str]
    action: HandlerAction
    update_policy: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    credential: str | None = None
    dependencies: Mapping[str, Mapping[str, Any]] = dataclasses.field(
        default_factory=dict
    )
    region: str | None = None
    cloud_secret: str | None = None
    is_fenced: bool = False

    def __post_init__(self) -> None:
        self.uuid = self.action.uuid
        self.attempt = self.action.attempt
        self.deadline = self.action.deadline

    def checkpoint(self) -> None:
        self.action.checkpoint()

    def fence(self) -> None:
        self.action.fence()

    def remaining(self) -> float | None:
        return self.action.remaining()

    def now(self) -> datetime.datetime:
        return self.action.now()

    def on_signal(self, call: Callable[[str], None]) -> AbstractContextManager[None]:
        return self.action.on_signal(call)


def build_handler_context(
    action: HandlerAction,
    stack: NewStack,
    row: NewResource,
    files: Mapping[str, str],
    properties: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    dependencies: Mapping[str, Mapping[str, Any]] | None = None,
) -> HandlerContext:
    """Return the context for the handler of a resource.

    :param properties: None: those of the last operation
    :param metadata: None: that of the last operation
    :param dependencies: the attributes of the resources that it depends on
    """
    return HandlerContext(
        tenant=stack.tenant,
        stack_name=stack.name,
        stack_uuid=stack.uuid,
        resource_name=row.name,
        resource_uuid=row.uuid,
        physical_name=physical_name(stack, row),
        physical_id=row.physical_id,
        properties=row.properties if properties is None else properties,
        before=row.properties,
        attributes=row.attributes,
        metadata=row.metadata if metadata is None else metadata,
        data=row.data,
        files=files,
        action=action,
        dependencies=dependencies or {},
        # A signal, or a plan, has no authority of a user.
        credential=action.authority or stack.context.get(AUTHORITY),
        region=stack.context.get(REGION),
        cloud_secret=stack.context.get(REMOTE_CLOUD),
    )


def physical_name(stack: NewStack, row: NewResource) -> str:
    """Return a unique name with the names of the stack and the resource."""
    return unique_name(stack.name, row.name, row.uuid)


def unique_name(stack_name: str, resource_name: str, uuid: str) -> str:
    """Return a unique name from the names and the uuid of the resource."""
    short = uuid.replace('-', '')[:SHORT_ID]
    begin = f'{stack_name}-{resource_name}'[: NAME_LENGTH - SHORT_ID - 1]
    return f'{begin}-{short}'
