"""What the actions of stacks are handed: the inputs of `stack` and `resource`."""

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.outcomes import DerivedAction

#: The names of the action types; plan documents cannot use them.
STACK = 'stack'
RESOURCE = 'resource'
TYPES = frozenset({STACK, RESOURCE})

#: What an action does with a resource, beyond the actions of `states.stack`: makes
#: it fit its definition, whatever that takes.
CONVERGE = 'CONVERGE'
#: Takes note of a signal.
SIGNAL = 'SIGNAL'
#: Seconds that what was derived has after its deadline to end by itself.
LATER = 60.0
#: Seconds that one waits for another one which has a time of its own.
EVER = 315_360_000.0


@dataclasses.dataclass(frozen=True, slots=True)
class StackInputs:
    """What a `stack` action does.

    :param stack: id
    :param do: an action of stacks
    :param definition: id of what the stack is to be; None: as it is
    :param nested: it is derived: the stack begins the operation with this action,
        not with a request
    :param level: of LOCK
    :param deadline: of the operation around it; None: its own timeout counts
    :param adopted: of ADOPT: resource name -> {'resource_id': ..., ...}
    :param asked: another action asks for it, and there was no request: it begins by
        itself, see `asked`. Of UPDATE: what is given; of the others: nothing
    """

    stack: int
    do: str
    definition: int | None = None
    nested: bool = False
    level: str | None = None
    deadline: datetime.datetime | None = None
    adopted: Mapping[str, Any] | None = None
    asked: Mapping[str, Any] | None = None

    def as_inputs(self) -> dict[str, Any]:
        """Return it as the inputs of an action."""
        values = dataclasses.asdict(self)
        if self.deadline is not None:
            values['deadline'] = self.deadline.isoformat()
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def of(cls, inputs: Mapping[str, Any]) -> 'StackInputs':
        """Return what the inputs of an action say."""
        return cls(**{**inputs, 'deadline': _time(inputs.get('deadline'))})


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceInputs:
    """What a `resource` action does.

    :param resource: id; one that was replaced stands for what replaced it, except
        where it is deleted
    :param do: CONVERGE, SIGNAL, or an action of resources
    :param handler: that of the resource, so that it is known what a lost worker
        means for the action
    :param definition: of CONVERGE: id of the one that it is to fit
    :param level: of LOCK
    :param details: of SIGNAL
    :param passed: of SIGNAL: another resource passed it on; it goes no further
    :param undo: of CONVERGE: it goes back; what it replaced is put back, not made
    :param adopted: of ADOPT
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

    def as_inputs(self) -> dict[str, Any]:
        """Return it as the inputs of an action."""
        return {
            name: value.isoformat() if name == 'deadline' else value
            for name in _RESOURCE_FIELDS
            if (value := getattr(self, name)) is not None
        }

    @classmethod
    def of(cls, inputs: Mapping[str, Any]) -> 'ResourceInputs':
        """Return what the inputs of an action say."""
        return cls(**{**inputs, 'deadline': _time(inputs.get('deadline'))})


_RESOURCE_FIELDS = tuple(field.name for field in dataclasses.fields(ResourceInputs))


def nested(key: str, inputs: StackInputs, parents: tuple[str, ...] = ()) -> Any:
    """Return the action for a stack that is a resource of another one."""
    return DerivedAction(
        key, STACK, {**inputs.as_inputs(), 'nested': True}, parents=parents
    )


def seconds_left(deadline: datetime.datetime | None, now: datetime.datetime) -> int:
    """Return the timeout of an action with a deadline: at least 1; 0: none."""
    if deadline is None:
        return 0
    return max(1, int((deadline - now).total_seconds()) + 1)


def patience(
    deadline: datetime.datetime | None, now: datetime.datetime
) -> float | None:
    """Return how many seconds an action waits for what it derived; None: see `Derived`.

    What it derived has the same deadline, and says best why it has not done its part.
    """
    if deadline is None:
        return None
    return max(0.0, (deadline - now).total_seconds()) + LATER


def _time(text: str | None) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(text) if text is not None else None
