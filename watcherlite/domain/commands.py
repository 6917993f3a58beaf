"""Messages between processes: hints that name ids.

No message has authority. Who receives one re-reads the rows and decides from
those, so that a forged, repeated, late or lost message changes nothing but the
moment at which somebody looks. A receipt says when the broker may be told that a
message is done with.
"""

import dataclasses
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol


class Receipt:
    """Says when a command is looked after; any thread may, any number of times.

    :ivar claiming: a claim that it led to is being written
    """

    def __init__(self, parts: int = 1) -> None:
        """Prepare to be settled.

        :param parts: how many places there are to look at
        """
        self.claiming = False
        self._lock = threading.Lock()
        self._all = self._parts = parts
        self._calls: list[Callable[[], None]] = []

    @property
    def settled(self) -> bool:
        return self._parts <= 0

    def settle_part(self) -> None:
        """Note that one of the places was looked at; the last one settles it."""
        self._note(1)

    def settle(self) -> None:
        """Note that the command is looked after."""
        self._note(self._all)

    def when_settled(self, call: Callable[[], None]) -> None:
        """Have `call` called once it is settled, or now; it has to be quick."""
        with self._lock:
            if not self.settled:
                self._calls.append(call)
                return
        call()

    def _note(self, parts: int) -> None:
        with self._lock:
            self._parts -= parts
            calls: list[Callable[[], None]] = []
            if self.settled:
                calls, self._calls = self._calls, calls
        for call in calls:
            call()


@dataclasses.dataclass(frozen=True, slots=True)
class LaunchActionPlan:
    """A plan was started: a worker of the lane should take it (command)."""

    plan: str


@dataclasses.dataclass(frozen=True, slots=True)
class RunActions:
    """A lane has actions that can be taken (command)."""


@dataclasses.dataclass(frozen=True, slots=True)
class WorkAvailable:
    """More can be taken than its finder takes (broadcast).

    :param plans: uuids of the plans that have it
    :param lanes: the lanes that have it, of actions without a plan
    """

    plans: tuple[str, ...] = ()
    lanes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class ActionsSignalled:
    """Signals were written to `control`: look there (broadcast).

    :param plans: uuids of plans that were cancelled or otherwise changed
    """

    plans: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class EventsStored:
    """There are events: for the relay, and for who shows them (broadcast)."""


@dataclasses.dataclass(frozen=True, slots=True)
class WorkerLeft:
    """A worker has let its lease run out (broadcast)."""

    worker: str


Command = LaunchActionPlan | RunActions
Broadcast = WorkAvailable | ActionsSignalled | EventsStored | WorkerLeft


class Messenger(Protocol):
    """Sends hints over the bus; never blocks and never raises."""

    def send(self, lane: str, command: Command) -> None:
        """Send a command to one worker of a lane."""

    def broadcast(self, message: Broadcast) -> None:
        """Send a message to all workers."""


_NAMES: dict[type, str] = {
    LaunchActionPlan: 'launch_action_plan',
    RunActions: 'run_actions',
    WorkAvailable: 'work_available',
    ActionsSignalled: 'actions_signalled',
    EventsStored: 'events_stored',
    WorkerLeft: 'worker_left',
}
_TYPES = {name: cls for cls, name in _NAMES.items()}


def to_message(command: Command | Broadcast) -> dict[str, Any]:
    """Return the mapping that goes on the wire."""
    message: dict[str, Any] = {'type': _NAMES[type(command)]}
    for field in dataclasses.fields(command):
        value = getattr(command, field.name)
        message[field.name] = list(value) if isinstance(value, tuple) else value
    return message


def from_message(message: Mapping[str, Any]) -> Command | Broadcast:
    """Return what a mapping from the wire stands for; ValueError if nothing.

    A list that is missing is empty: a worker of an older version does not send it.
    """
    name = message.get('type')
    cls = _TYPES.get(name) if isinstance(name, str) else None
    if cls is None:
        raise ValueError(f'unknown type {name!r}')
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        many = field.default is not dataclasses.MISSING
        value = message.get(field.name, [] if many else None)
        if many and (
            isinstance(value, list) and all(isinstance(v, str) for v in value)
        ):
            values[field.name] = tuple(value)
        elif not many and isinstance(value, str):
            values[field.name] = value
        else:
            raise ValueError(f'{message["type"]}: {field.name} is {value!r}')
    return cls(**values)
