"""Outcomes of one execution of an action, as values.

The type is the result, the fields are the reason. `execution.results` holds the
one table from these to statuses; `from_returned` accepts what authors coming
from Watcher and Senlin write instead.
"""

import dataclasses
import datetime
import types
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """Where and how something failed, as notifications tell it.

    `message` is public text: see `public_text`.
    """

    exception: str
    message: str
    module: str
    function: str


@dataclasses.dataclass(frozen=True, slots=True)
class Done:
    """It did what it should; `outputs` (JSON) are stored with the action.

    :param again_at: the action is repeated: its next run is due then (aware),
        whatever its interval says
    :param last: the action is repeated no more, whatever its interval says
    """

    outputs: Mapping[str, Any] | None = None
    again_at: datetime.datetime | None = None
    last: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Failed:
    """It did not; `reason` is shown to users. The rest is as in `Done`."""

    reason: str
    fault: Fault | None = None
    outputs: Mapping[str, Any] | None = None
    again_at: datetime.datetime | None = None
    last: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Skipped:
    """It does not apply and was not executed. Only `pre_condition` may say so."""

    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Retry:
    """Run it again, `delay` seconds from now, at any worker.

    One that says so again and again waits longer: see `execution.results`.

    :param elsewhere: by another worker than this one, if there is any
    """

    reason: str
    delay: float = 0.0
    elsewhere: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Cancelled:
    """It heeded a CANCEL."""

    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class TimedOut:
    """It ran out of time, by its own count or by its timeout."""

    reason: str = ''


@dataclasses.dataclass(frozen=True, slots=True)
class DerivedAction:
    """One action that another one asks for.

    :param key: unique among the actions derived together; `parents` name keys
    :param needs: what it needs of its parents: 'success' or 'completion'
    :param lane: who serves it. None: as a part of what the one that asks belongs to,
        in its lane and plan and under its lock. Else it stands for itself, as if a
        user had asked for it: it belongs to no plan, and locks its target
    :param tenant: the project that it belongs to; None: that of the one that asks
    :param within: what its target is a part of; None: as of the one that asks
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
    """Go to WAITING until these have ended, then call `complete`.

    :param timeout: seconds that all of these may take together. None: what is left of
        the time of the action; if that has no timeout of its own, at least as long as
        the longest of these may take
    """

    actions: tuple[DerivedAction, ...]
    timeout: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class InProgress:
    """The work goes on outside; call `poll(token)` in `delay` seconds.

    No thread is held. `token` (JSON) is durable, so that another worker can
    poll on after a crash. What is to wait until a certain time has that in its
    token: a poll may come sooner.
    """

    token: Any
    delay: float = 1.0


Outcome = Done | Failed | Skipped | Retry | Cancelled | TimedOut | Derived | InProgress
_TYPES = (Done, Failed, Skipped, Retry, Cancelled, TimedOut, Derived, InProgress)

_SENLIN: dict[str, Callable[[str], Outcome]] = {
    'OK': lambda reason: Done({'reason': reason} if reason else None),
    'ERROR': Failed,
    'RETRY': Retry,
    'CANCEL': Cancelled,
    'TIMEOUT': TimedOut,
}


def from_returned(value: object, hook: str = 'execute') -> Outcome:
    """Return the outcome that a plugin's return value stands for.

    Accepted: an outcome; Watcher's True (anything else that is not listed here
    is a failure there too); Senlin's `(RES, REASON)`.

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


def public_text(error: BaseException) -> str:
    """Return what of an error may leave the process (decisions.md).

    Our own exceptions speak to users; the text of a foreign one may hold
    secrets, so only its class name is shown, and the log has the rest.
    """
    if isinstance(error, exceptions.WatcherliteError):
        return str(error)
    return type(error).__name__


def fault_of(error: BaseException) -> Fault:
    """Return the fault that an exception stands for: where it was raised."""
    frame: types.TracebackType | None = error.__traceback__
    module, function = '', ''
    while frame is not None:
        module = frame.tb_frame.f_globals.get('__name__', '')
        function = frame.tb_frame.f_code.co_name
        frame = frame.tb_next
    return Fault(type(error).__name__, public_text(error), module, function)
