"""Waiting for the database in the thread of an action."""

import logging
from collections.abc import Callable
from typing import TypeVar

from watcherlite import exceptions
from watcherlite.plugins.base import ActionContext

LOG = logging.getLogger(__name__)

#: Seconds between two tries while the database is away.
RETRY = 2.0

T = TypeVar('T')


def patiently(context: ActionContext, what: str, call: Callable[[], T]) -> T:
    """Call again while the database is away, or has no time for this.

    :param what: for the log: 'The run of audit ...'
    :raises Cancelled, TimedOut: while it waits
    """
    while True:
        try:
            return call()
        except exceptions.StoreConflict as error:
            LOG.debug('%s tries again: %s', what, error)
            context.checkpoint()
        except exceptions.StoreUnavailable as error:
            LOG.warning('%s waits: %s', what, error)
            context.sleep(RETRY)
