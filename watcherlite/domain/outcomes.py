"""Outcomes of one execution of an action, as values.

The type is the result, the fields are the reason. `execution.results` contains the
table from these to statuses; `from_returned` accepts the return values used in Watcher
and Senlin.
"""

import dataclasses
import datetime
import types
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """The location and text of a failure, for notifications.

    `message` is public text: see `public_text`.
    """

    exception: str
    message: str
    module: str
    function: str


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """Success; `outputs` (JSON) are stored with the action.

    :param again_at: the action is repeated: its next run is due then (aware),
        regardless of its interval
    :param last: the action is not repeated, regardless of its interval
    """

    outputs: Mapping[str, Any] | None = None
    again_at: datetime.datetime | None = None
    last: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Failed:
    """Failure; `reason` is shown to users. The rest is as in `Done`."""

    reason: str
    fault: Fault | None = None
    outputs: Mapping[str, Any] | None = None
    again_at: datetime.datetime | None = None
    last: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Skipped:
    """It does not apply and was not executed. Only `pre_condition` may return it."""

    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Retry:
    """Run it again after `delay` seconds, on any worker.

    Repeated retries are delayed further: see `execution.results`.

    :param elsewhere: on another worker than this one, if there is any
    """

    reason: str
    delay: float = 0.0
    elsewhere: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Cancelled:
    """It was cancelled by a CANCEL."""

    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class TimedOut:
    """It timed out, by its own limit or by its timeout."""

    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class DerivedAction:
    """One action derived from another one.

    :param key: unique among the actions derived together; `parents` contains keys
    :param needs: the condition on its parents: 'success' or 'completion'
    :param lane: that serves it. None: part of the deriving action's work, in its lane
        and plan and under its lock. Else it is independent, as if a user had requested
        it: it belongs to no plan, and locks its target
    :param tenant: its project; None: that of the deriving action
    :param within: the container of its target; None: that of the deriving action
    """

    key: str
    action_type: str
    inputs: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    name: str | None = None
    target: str | None = None
    parents: tuple[str, ...] = ()
    needs: str = 'success'
    timeout: int = 0
    lane: str | None = None
    tenant: str | None = None
    within: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Derived:
    """Become WAITING until these have ended, then call `complete`.

    :param timeout: seconds for all of these together. None: the remaining time of the
        action; if that has no timeout of its own, at least the longest timeout of these
    """

    actions: tuple[DerivedAction, ...]
    timeout: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class InProgress:
    """The work continues externally; call `poll(token)` in `delay` seconds.

    No thread is occupied. `token` (JSON) is durable, so that another worker can
    continue polling after a crash. Store a time to wait for in the token: a poll may
    come earlier.
    """

    token: Any
    delay: float = 1.0


Outcome = Done | Failed | Skipped | Retry | Cancelled | TimedOut | Derived | InProgress
_TYPES = (Done, Failed, Skipped, Retry, Cancelled, TimedOut, Derived, InProgress)
#: The outcomes that end an action, by name.
_ENDS: Mapping[str, Callable[..., Outcome]] = {
    kind.__name__: kind for kind in (Done, Failed, Cancelled, TimedOut)
}

_SENLIN: dict[str, Callable[[str], Outcome]] = {
    'OK': lambda reason: Done({'reason': reason} if reason else None),
    'ERROR': Failed,
    'RETRY': Retry,
    'CANCEL': Cancelled,
    'TIMEOUT': TimedOut,
}


def from_returned(value: object, hook: str = 'execute') -> Outcome:
    """Return the outcome represented by a plugin's return value.

    Accepted: an outcome; Watcher's True (as in Watcher, other values are failures);
    Senlin's `(RES, REASON)`.

    :param hook: the method of the plugin that returned it, for messages
    """
    if isinstance(value, _TYPES):
        return value
    if value is True:
        return Done()
    if (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], str)
        and value[0] in _SENLIN
    ):
        return _SENLIN[value[0]](str(value[1] or ''))
    if value is None or value is False:
        return Failed(f'{hook} returned {value}, not True')
    return Failed(f'{hook} returned a {type(value).__name__}, which is not an outcome')


def to_document(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome that ends an action as JSON."""
    document: dict[str, Any] = {'type': type(outcome).__name__}
    for field in dataclasses.fields(outcome):
        value = getattr(outcome, field.name)
        if isinstance(value, Fault):
            value = dataclasses.asdict(value)
        if isinstance(value, datetime.datetime):
            value = value.isoformat()
        if value is not None:
            document[field.name] = value
    return document


def from_document(document: Mapping[str, Any]) -> Outcome:
    """Return the outcome of a document of `to_document`."""
    values = dict(document)
    kind = _ENDS[values.pop('type')]
    if 'fault' in values:
        values['fault'] = Fault(**values['fault'])
    if 'again_at' in values:
        values['again_at'] = datetime.datetime.fromisoformat(values['again_at'])
    return kind(**values)


def public_text(error: BaseException) -> str:
    """Return the part of an error that may be shown to users.

    Our own exceptions are written for users; the text of others may contain secrets, so
    only the class name is shown, and the log has the rest.
    """
    if isinstance(error, exceptions.WatcherliteError):
        return str(error)
    return type(error).__name__


def fault_of(error: BaseException) -> Fault:
    """Return the fault for an exception, with the location of the raise."""
    frame: types.TracebackType | None = error.__traceback__
    module, function = '', ''
    while frame is not None:
        module = frame.tb_frame.f_globals.get('__name__', '')
        function = frame.tb_frame.f_code.co_name
        frame = frame.tb_next
    return Fault(type(error).__name__, public_text(error), module, function)
