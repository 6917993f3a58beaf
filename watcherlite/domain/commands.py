"""Messages between processes: hints that contain ids.

Messages have no authority. A receiver rereads the rows and decides from those, so that
a forged, repeated, late or lost message only affects the time of a database query. A
receipt determines when a message may be acknowledged to the broker.
"""

import dataclasses
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol


class Receipt:
    """The completion of a command; thread-safe and idempotent.

    :ivar claiming: a resulting claim is being stored
    """

    def __init__(self, parts: int = 1) -> None:
        """Create an unsettled receipt.

        :param parts: number of parts to handle
        """
        self.claiming = False
        self._lock = threading.Lock()
        self._all = self._parts = parts
        self._calls: list[Callable[[], None]] = []

    @property
    def settled(self) -> bool:
        return self._parts <= 0

    def settle_part(self) -> None:
        """Settle one of the parts; the last one settles the receipt."""
        self._record(1)

    def settle(self) -> None:
        """Settle the receipt."""
        self._record(self._all)

    def when_settled(self, call: Callable[[], None]) -> None:
        """Call `call` once it is settled, or now; it must not block."""
        with self._lock:
            if not self.settled:
                self._calls.append(call)
                return
        call()

    def _record(self, parts: int) -> None:
        with self._lock:
            self._parts -= parts
            calls: list[Callable[[], None]] = []
            if self.settled:
                calls, self._calls = self._calls, calls
        for call in calls:
            call()


@dataclasses.dataclass(frozen=True, slots=True)
class LaunchActionPlan:
    """A plan was started: a worker of the lane should claim it (command)."""

    plan: str


@dataclasses.dataclass(frozen=True, slots=True)
class RunActions:
    """A lane has claimable actions (command)."""


@dataclasses.dataclass(frozen=True, slots=True)
class WorkAvailable:
    """There are more claimable actions than the sender claims (broadcast).

    :param plans: uuids of plans with claimable actions
    :param lanes: lanes with claimable actions without a plan
    """

    plans: tuple[str, ...] = ()
    lanes: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class ActionsSignalled:
    """Signals were written to `control` (broadcast).

    :param plans: uuids of plans that were cancelled or otherwise changed
    """

    plans: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class EventsStored:
    """Events were stored, for the relay and for event streams (broadcast)."""


@dataclasses.dataclass(frozen=True, slots=True)
class WorkerLeft:
    """The lease of a worker has ended (broadcast)."""

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
    """Return the mapping to send."""
    message: dict[str, Any] = {'type': _NAMES[type(command)]}
    for field in dataclasses.fields(command):
        value = getattr(command, field.name)
        message[field.name] = list(value) if isinstance(value, tuple) else value
    return message


def from_message(message: Mapping[str, Any]) -> Command | Broadcast:
    """Return the message in a received mapping; raises ValueError if it is invalid.

    A missing list is empty: a worker of an older version does not send it.
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
