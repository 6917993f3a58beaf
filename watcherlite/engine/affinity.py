"""Host affinity: actions on a resource of one host run on a worker of that host."""

import datetime
import random
import socket
from typing import Any

from watcherlite.db.api import Store
from watcherlite.domain.actions import ENGINE
from watcherlite.domain.outcomes import InProgress, Retry
from watcherlite.execution.retries import retry_while_unavailable
from watcherlite.plugins.base import ActionContext

#: Attempts of an action before it stays with the worker that has claimed it.
MAX_ATTEMPTS = 30
#: Minimum and maximum delay between two attempts, in seconds.
RETRY_DELAY = (0.2, 1.2)
FORWARDED = 'Handed on to {}, where its target is.'
_RANDOM = random.SystemRandom()
#: Lifetime of the cached list of live hosts: many nodes are checked at once.
CACHE_TIME = datetime.timedelta(seconds=1)


class LiveHosts:
    """The hosts with a live engine worker, cached for `CACHE_TIME`.

    :param here: the host of this worker
    :param poll_interval: seconds between two polls of an operation on another host
    """

    def __init__(self, here: str | None = None, poll_interval: float = 5.0) -> None:
        self.here = socket.gethostname() if here is None else here
        self.poll_interval = poll_interval
        self._known: tuple[datetime.datetime, frozenset[str]] | None = None

    def is_alive(self, host: str, store: Store, context: ActionContext) -> bool:
        """Return whether a host has a live engine worker."""
        known, now = self._known, context.now()
        if known is None or abs(now - known[0]) > CACHE_TIME:
            workers = retry_while_unavailable(
                context, f'Action {context.uuid}', lambda: store.live_workers(ENGINE)
            )
            known = now, frozenset(worker.host for worker in workers)
            self._known = known
        return host in known[1]


def forward(
    store: Store, context: ActionContext, hosts: LiveHosts, host: str | None
) -> Retry | None:
    """Return a retry on the host of a resource, or None to continue on this worker.

    The action also continues here if that host has no live worker; the handler then
    reports what it can.

    :param host: of the resource, see `ResourceHandler.host`
    """
    if host is None or host == hosts.here or context.attempt >= MAX_ATTEMPTS:
        return None
    if not hosts.is_alive(host, store, context):
        return None
    # The first retry is immediate. Later ones are spread, so that they are not in
    # step with the sweeps of this worker.
    delay = 0.0 if context.attempt == 1 else _RANDOM.uniform(*RETRY_DELAY)
    return Retry(FORWARDED.format(host), delay, elsewhere=True)


def await_host(
    store: Store,
    context: ActionContext,
    hosts: LiveHosts,
    host: str | None,
    token: Any,
    can_repeat: bool,
) -> Retry | InProgress | None:
    """Return the outcome of an action whose operation runs on another host.

    A worker of that host repeats the operation and finds what exists. If it has no
    live worker, or the operation is not repeatable, this worker polls again later,
    within the timeout of the action. None: the operation is not on another host.

    :param host: the host of the operation, see `ResourceHandler.host`
    :param token: the token of the action
    :param can_repeat: whether the operation is safe to repeat
    """
    if host is None or host == hosts.here:
        return None
    can_move = can_repeat and context.attempt < MAX_ATTEMPTS
    if can_move and hosts.is_alive(host, store, context):
        return Retry(FORWARDED.format(host), elsewhere=True)
    return InProgress(token, hosts.poll_interval)
