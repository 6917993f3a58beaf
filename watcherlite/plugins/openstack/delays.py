"""Waiting for a service that is not available, without occupying a thread.

An action type calls its steps through `attempt`::

    def execute(self, context):
        return delays.attempt(context, functools.partial(self._step, context))

    def poll(self, context, token):
        return delays.attempt(context, functools.partial(self._step, context), token)

    def _step(self, context, token):
        with errors.translated('compute', f'server {uuid}'):
            ...
        return InProgress(...) or Done(...)

While it raises ServiceUnavailable the action is InProgress, and the step is called
again with the same token. A step with an effect first checks whether the effect exists:
an earlier call may have had it, and lost the answer.
"""

import logging
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from watcherlite.domain.outcomes import InProgress, Retry
from watcherlite.domain.resource_results import ResourceInProgress
from watcherlite.exceptions import ServiceUnavailable

LOG = logging.getLogger(__name__)

#: The first delay in seconds, which doubles up to the last.
SHORTEST = 2.0
LONGEST = 30.0
#: The keys in the token of a delayed step: its number of tries, and its own token.
_TRIES = 'unavailable'
_INNER = 'step'

T = TypeVar('T')


class Delayed(Protocol):
    """The part of the context of an action or a resource that is read here."""

    @property
    def uuid(self) -> str: ...

    def remaining(self) -> float | None: ...


def attempt(
    context: Delayed, step: Callable[[Any], T], token: Any = None
) -> T | InProgress:
    """Return the result of `step(token)` of an action type.

    :param token: that of `poll`; None in `execute`
    :raises ServiceUnavailable: the deadline of the action does not allow another try
    """
    inner, tries = _unwrapped(token)
    try:
        return step(inner)
    except ServiceUnavailable as error:
        return InProgress(*_delayed(context, error, inner, tries))


def attempt_resource(
    context: Delayed, step: Callable[[Any], T], token: Any = None
) -> T | ResourceInProgress:
    """Return the result of `step(token)` of a resource handler; see `attempt`."""
    inner, tries = _unwrapped(token)
    try:
        return step(inner)
    except ServiceUnavailable as error:
        return ResourceInProgress(*_delayed(context, error, inner, tries))


def retry(error: ServiceUnavailable) -> Retry:
    """Return the outcome of a `pre_condition` that a service did not answer."""
    return Retry(str(error), SHORTEST)


def inner_token(token: Any) -> Any:
    """Return the token of a step, whether or not it is delayed; for `cancel`."""
    return _unwrapped(token)[0]


def _unwrapped(token: Any) -> tuple[Any, int]:
    if isinstance(token, dict) and token.keys() == {_TRIES, _INNER}:
        return token[_INNER], int(token[_TRIES])
    return token, 0


def _delayed(
    context: Delayed, error: ServiceUnavailable, token: Any, tries: int
) -> tuple[Any, float]:
    """Return the token and the delay of the next try; raise if there is none."""
    delay = min(SHORTEST * 2 ** min(tries, 10), LONGEST)
    remaining = context.remaining()
    if remaining is not None and remaining <= delay:
        raise error
    if tries == 0:
        LOG.warning('Action %s is delayed: %s', context.uuid, error)
    return {_TRIES: tries + 1, _INNER: token}, delay
