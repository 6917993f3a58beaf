"""Following something that goes on, from its request to its end.

The API is asked again and again, the more rarely the longer nothing has happened.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.cli.output import Output
from watcherlite.cmd.exits import one_line

#: Seconds between two questions, in the beginning and in the end.
FIRST, LONGEST = 0.2, 5.0
GROWTH = 1.5
#: Seconds for which the API may be away.
PATIENCE = 60.0
#: Events of members that are shown, unless all are asked for.
MANY = 50

Shown = Mapping[str, Any]


class Polling:
    """Shows what happens until something has ended; what that is, `look` knows.

    :param err: where its lines go
    :param marker: the last event before it began
    :param verbose: show every event, of however many members
    :param wait: waits for some seconds
    :param monotonic: seconds
    """

    def __init__(
        self,
        err: Output,
        marker: str | None = None,
        *,
        verbose: bool = False,
        wait: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._err = err
        self.marker = marker
        self._verbose = verbose
        self._wait = wait
        self._monotonic = monotonic
        self._away_since: float | None = None
        self._shown = 0
        self._left_out = 0

    def look(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, what is there, and whether anything happened."""
        raise NotImplementedError

    def until_ended(self) -> Shown | None:
        """Return what is there once it has ended; None: nothing.

        :raises ApiUnavailable: the API was away for too long
        """
        pause = FIRST
        while True:
            try:
                ended, found, news = self.look()
            except exceptions.ApiUnavailable as error:
                self._be_patient(error)
                news = False
            else:
                self._is_back()
                if ended:
                    self._say_what_was_left_out()
                    return found
            pause = FIRST if news else min(pause * GROWTH, LONGEST)
            self._wait(pause)

    def tell(self, text: str, *, minor: bool = False) -> None:
        """Show an event; of many that are minor, the first ones only."""
        if minor and not self._verbose:
            if self._shown >= MANY:
                self._left_out += 1
                return
            self._shown += 1
        self._err.line(one_line(text))

    def _say_what_was_left_out(self) -> None:
        if self._left_out:
            self._err.line(
                f'{self._left_out} more events are not shown; --verbose shows all'
            )

    def _be_patient(self, error: exceptions.ApiUnavailable) -> None:
        now = self._monotonic()
        if self._away_since is None:
            self._away_since = now
            self._err.line(one_line(f'waiting for the API: {error}'))
        if now - self._away_since > PATIENCE:
            raise error

    def _is_back(self) -> None:
        if self._away_since is not None:
            self._away_since = None
            self._err.line('the API is back')
