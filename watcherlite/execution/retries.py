"""Retries of store calls."""

import functools
import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from watcherlite import exceptions
from watcherlite.plugins.base import ActionContext

LOG = logging.getLogger(__name__)

#: Attempts of an operation that conflicts with other transactions.
MAX_ATTEMPTS = 5
#: Seconds between two attempts while the database is unavailable.
UNAVAILABLE_DELAY = 2.0

P = ParamSpec('P')
R = TypeVar('R')


def retry_on(
    *errors: type[exceptions.WatcherliteError],
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that repeats a whole operation on these errors.

    The last attempt raises its error.
    """

    def decorate(operation: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(operation)
        def retried(*args: P.args, **kwargs: P.kwargs) -> R:
            for _ in range(MAX_ATTEMPTS - 1):
                try:
                    return operation(*args, **kwargs)
                except errors as error:
                    LOG.debug('Retrying %s: %s', operation.__name__, error)
            return operation(*args, **kwargs)

        return retried

    return decorate


def retry_on_conflict(operation: Callable[P, R]) -> Callable[P, R]:
    """Repeat a whole operation when its transaction loses to another one."""
    return retry_on(exceptions.StoreConflict)(operation)


def retry_while_unavailable(
    context: ActionContext, subject: str, call: Callable[[], R]
) -> R:
    """Repeat a store call of an action while the database is unavailable or busy.

    :param subject: for the log: 'The run of audit ...'
    :raises Cancelled, TimedOut: while it waits
    """
    while True:
        try:
            return call()
        except exceptions.StoreConflict as error:
            LOG.debug('%s: retrying a store call: %s', subject, error)
            context.checkpoint()
        except exceptions.StoreUnavailable as error:
            LOG.warning(
                '%s: the database is unavailable, retrying in %g s: %s',
                subject,
                UNAVAILABLE_DELAY,
                error,
            )
            context.sleep(UNAVAILABLE_DELAY)
