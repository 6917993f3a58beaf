"""The inputs and outputs of the action types of stacks."""

import dataclasses
import datetime
import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from watcherlite.domain.actions import Action
from watcherlite.domain.outcomes import DerivedAction
from watcherlite.plugins.base import DerivedResult

#: The names of the action types; plan documents cannot use them.
STACK = 'stack'
RESOURCE = 'resource'
HOOK = 'resource_hook'
TYPES = frozenset({STACK, RESOURCE, HOOK})

#: An operation on a resource beyond those of `states.stack`: creates, updates or
#: replaces it so that it has its definition.
CONVERGE = 'CONVERGE'
#: The operation that delivers a signal to a resource.
SIGNAL = 'SIGNAL'
#: Seconds after its deadline in which a derived action may still end by itself.
GRACE_PERIOD = 60.0
#: The timeout, in seconds, of a wait for an action with a deadline of its own.
NO_TIMEOUT = 315_360_000.0


class _Inputs:
    """The inputs of an action, as a dataclass."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def as_inputs(self) -> dict[str, Any]:
        """Return the inputs as stored in an action; those that are None are omitted."""
        return {
            name: value.isoformat() if name == 'deadline' else value
            for name in self.__dataclass_fields__
            if (value := getattr(self, name)) is not None
        }

    @classmethod
    def of(cls, inputs: Mapping[str, Any]) -> Self:
        """Return the inputs of a stored action."""
        deadline = inputs.get('deadline')
        if deadline is not None:
            deadline = datetime.datetime.fromisoformat(deadline)
        return cls(**{**inputs, 'deadline': deadline})


@dataclasses.dataclass(frozen=True, slots=True)
class StackInputs(_Inputs):
    """The inputs of a `stack` action.

    :param stack: id
    :param do: the operation, an action of stacks
    :param definition: id of the target definition; None: the present one
    :param nested: the action is derived, and starts the operation on the stack itself
    :param level: of LOCK
    :param deadline: of the operation on the parent; None: the timeout of the stack
    :param adopted: of ADOPT: resource name -> {'resource_id': ..., ...}
    :param asked: the arguments of an operation that another action starts, without a
        request, see `action_started_operations`: empty except for UPDATE
    """

    stack: int
    do: str
    definition: int | None = None
    nested: bool = False
    level: str | None = None
    deadline: datetime.datetime | None = None
    adopted: Mapping[str, Any] | None = None
    asked: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceInputs(_Inputs):
    """The inputs of a `resource` action.

    :param resource: id; a replaced row represents its replacement, except for DELETE
    :param do: the operation: CONVERGE, SIGNAL, or an action of resources
    :param handler: of the resource: it decides how to recover from a lost worker
    :param definition: of CONVERGE: id of the target definition
    :param level: of LOCK
    :param details: of SIGNAL
    :param passed: of SIGNAL: another resource has forwarded it; it goes no further
    :param undo: of CONVERGE: a rollback, which restores replaced rows
    :param adopted: of ADOPT
    :param failure: of CHECK: the last failure, kept if the state is unknown
    """

    stack: int
    resource: int
    do: str
    handler: str
    definition: int | None = None
    level: str | None = None
    deadline: datetime.datetime | None = None
    details: Mapping[str, Any] | None = None
    adopted: Mapping[str, Any] | None = None
    undo: bool | None = None
    passed: bool | None = None
    failure: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class HookInputs(_Inputs):
    """The inputs of a `resource_hook` action.

    :param resource: id; a replaced row represents its replacement, except in a deletion
    :param hook: one of `states.HOOKED_ACTIONS`
    """

    stack: int
    resource: int
    hook: str
    deadline: datetime.datetime | None = None


def derive_nested(
    key: str, inputs: StackInputs, parents: tuple[str, ...] = ()
) -> DerivedAction:
    """Return the derived action for a nested stack."""
    return DerivedAction(
        key, STACK, {**inputs.as_inputs(), 'nested': True}, parents=parents
    )


def seconds_left(deadline: datetime.datetime | None, now: datetime.datetime) -> int:
    """Return the timeout of an action with a deadline: at least 1; 0: none."""
    if deadline is None:
        return 0
    return max(1, int((deadline - now).total_seconds()) + 1)


def wait_timeout(
    deadline: datetime.datetime | None, now: datetime.datetime
) -> float | None:
    """Return how long an action waits for its derived actions; None: see `Derived`.

    The derived actions have the same deadline, and report best why they missed it.
    """
    if deadline is None:
        return None
    return max(0.0, (deadline - now).total_seconds()) + GRACE_PERIOD


#: Of a resource: no change was necessary.
UNCHANGED = 'unchanged'
#: Of a resource: it was FAILED, and its type has nothing to repair.
HEALED = 'healed'
#: Of a resource: the row that it had replaced is restored, in its former state.
RESTORED = 'restored'
#: Of a resource: it is FAILED and could not be suspended or resumed.
UNABLE = 'unable'
#: Of a resource: its environment forbids the change; the resource is unchanged.
RESTRICTED = 'restricted'
#: Of both: the reason, in full length.
REASON = 'reason'

_PREFIX = re.compile(r'^Action failed in [a-z_]+: ')


def failure_reason(action: Action | DerivedResult) -> str:
    """Return why an action on a stack or resource failed, for users of stacks."""
    reason = (action.outputs or {}).get(REASON)
    return str(reason or _PREFIX.sub('', action.status_message or 'its action failed'))
