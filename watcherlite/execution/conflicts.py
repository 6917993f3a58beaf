"""What is tried again when its transaction lost against another one."""

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from watcherlite import exceptions

LOG = logging.getLogger(__name__)

#: How often an operation is tried that loses against other transactions.
TRIES = 5

P = ParamSpec('P')
R = TypeVar('R')


def again_on_conflict(operation: Callable[P, R]) -> Callable[P, R]:
    """Try an operation again as a whole when its transaction lost to another one."""

    @functools.wraps(operation)
    def tried(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(TRIES - 1):
            try:
                return operation(*args, **kwargs)
            except exceptions.StoreConflict as error:
                LOG.debug('%s is tried again: %s', operation.__name__, error)
        return operation(*args, **kwargs)

    return tried
