"""Reconnecting to a broker, with backoff."""

import logging
import threading
import time
from collections.abc import Callable

import tenacity

from watcherlite import exceptions
from watcherlite.messaging import connection

LOG = logging.getLogger(__name__)
_FIRST_WAIT = 0.5
_LEAST_WAIT = 0.1
#: Seconds of a connection after which the backoff starts again.
_STEADY = 10.0


class ReconnectLoop:
    """Repeats a session, which connects and works until the connection is lost.

    The backoff grows to `maximum` seconds and is random, so that the workers of an
    installation do not reconnect at the same moment.
    """

    def __init__(
        self,
        what: str,
        stop: threading.Event,
        maximum: float,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare the loop.

        :param what: the name of the thread in the log
        :param stop: ends a wait, and the loop
        """
        self._what = what
        self._monotonic = monotonic
        self._since: float | None = None
        self._logged = ''
        self._retrying = tenacity.Retrying(
            retry=tenacity.retry_if_not_exception_type(exceptions.ConfigurationError),
            wait=tenacity.wait_random_exponential(
                multiplier=_FIRST_WAIT, min=_LEAST_WAIT, max=maximum
            ),
            stop=tenacity.stop_when_event_set(stop),
            sleep=tenacity.sleep_using_event(stop),
            after=self._ended,
            before_sleep=self._announce,
        )

    def on_connected(self) -> None:
        """Record that the session is connected; called by the session."""
        self._since = self._monotonic()
        self._logged = ''

    def run(self, session: Callable[[], None]) -> None:
        """Repeat `session` until it returns, or `stop` is set.

        :raises exceptions.ConfigurationError: when the session did
        """
        try:
            self._retrying(session)
        except tenacity.RetryError as error:
            LOG.debug('%s: stopped after %s', self._what, error)

    def _ended(self, state: tenacity.RetryCallState) -> None:
        if self._since is not None and self._monotonic() - self._since >= _STEADY:
            state.attempt_number = 1
        self._since = None

    def _announce(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        expected = isinstance(error, (*connection.ERRORS, exceptions.BrokerUnavailable))
        text = str(error).rstrip('.') or type(error).__name__
        # One warning for each outage.
        LOG.log(
            logging.INFO if expected and text == self._logged else logging.WARNING,
            '%s: no connection to the message broker: %s. Next attempt in %.1f s.',
            self._what,
            text,
            state.upcoming_sleep,
            exc_info=None if expected else error,
        )
        self._logged = text
