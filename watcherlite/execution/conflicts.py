"""What is tried again because somebody else was quicker."""

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from watcherlite import exceptions

LOG = logging.getLogger(__name__)

#: How often an operation is tried that loses against others.
TRIES = 5

P = ParamSpec('P')
R = TypeVar('R')


def again_on(
    *errors: type[exceptions.WatcherliteError],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator: try an operation again as a whole on these errors."""

    def decorate(operation: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(operation)
        def tried(*args: P.args, **kwargs: P.kwargs) -> R:
            for _ in range(TRIES - 1):
                try:
                    return operation(*args, **kwargs)
                except errors as error:
                    LOG.debug('%s is tried again: %s', operation.__name__, error)
            return operation(*args, **kwargs)

        return tried

    return decorate


def again_on_conflict(operation: Callable[P, R]) -> Callable[P, R]:
    """Try an operation again as a whole when its transaction lost to another one."""
    return again_on(exceptions.StoreConflict)(operation)
