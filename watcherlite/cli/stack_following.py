"""Following one operation on a stack, from its request to its end.

The API has no stream of the events of stacks: it is asked again and again, the more
rarely the longer nothing has happened.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.cli.output import Output
from watcherlite.cli.stack_api import Place, Stacks
from watcherlite.cmd import exits
from watcherlite.cmd.exits import one_line
from watcherlite.states import stack as states

#: Seconds between two questions, in the beginning and in the end.
FIRST, LONGEST = 0.2, 5.0
GROWTH = 1.5
#: Seconds for which the API may be away.
PATIENCE = 60.0
#: Events of resources that are shown, unless all are asked for.
MANY = 50

Shown = Mapping[str, Any]


class Follower:
    """Shows what happens to a stack until an operation on it has ended.

    :param err: where its lines go
    :param marker: the last event before the operation
    :param verbose: show every event, of however many resources
    :param wait: waits for some seconds
    :param monotonic: seconds
    """

    def __init__(
        self,
        stacks: Stacks,
        place: Place,
        err: Output,
        marker: str | None = None,
        *,
        verbose: bool = False,
        wait: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stacks = stacks
        self._place = place
        self._err = err
        self._marker = marker
        self._verbose = verbose
        self._wait = wait
        self._monotonic = monotonic
        self._away_since: float | None = None
        self._shown = 0
        self._left_out = 0

    def follow(self) -> Shown | None:
        """Return the stack once nothing goes on in it; None: it is gone.

        :raises ApiUnavailable: the API was away for too long
        """
        pause = FIRST
        while True:
            try:
                ended, stack, news = self._look()
            except exceptions.ApiUnavailable as error:
                self._be_patient(error)
                news = False
            else:
                self._is_back()
                if ended:
                    self._say_what_was_left_out()
                    return stack
            pause = FIRST if news else min(pause * GROWTH, LONGEST)
            self._wait(pause)

    def _look(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, the stack, and whether anything happened."""
        # The stack before its events: nothing comes after those of its end
        try:
            stack = self._stacks.show(self._place, outputs=False)
            news = self._take_events()
        except exceptions.NotFound:
            return True, None, False
        return not stack['stack_status'].endswith(states.IN_PROGRESS), stack, news

    def _take_events(self) -> bool:
        news = False
        for event in self._stacks.events_after(self._place, self._marker):
            news = True
            self._marker = event['id']
            self._show(event)
        return news

    def _show(self, event: Shown) -> None:
        status = str(event.get('resource_status') or '')
        name = event.get('resource_name')
        own = event.get('physical_resource_id') == self._place.uuid
        if not own and not self._verbose and not status.endswith(states.FAILED):
            if self._shown >= MANY:
                self._left_out += 1
                return
            self._shown += 1
        clock = str(event.get('event_time') or '')[11:19]
        reason = event.get('resource_status_reason') or ''
        self._err.line(one_line(f'{clock} {name} {status} {reason}'))

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


def code_of(place: Place, action: str, stack: Shown | None) -> tuple[int, str]:
    """Return the exit code of an operation that has ended, and why if it failed.

    :param action: what was asked for
    :param stack: as it is then, None if it is gone
    """
    if stack is None:
        if action == states.DELETE:
            return exits.SUCCESS, ''
        return exits.FAILURE, f'the stack {place.name} is gone'
    state = stack['stack_status']
    if state == f'{action}_{states.COMPLETE}':
        return exits.SUCCESS, ''
    reason = stack.get('stack_status_reason')
    why = f': {reason}' if reason else ''
    return exits.FAILURE, f'the stack {place.name} is {state}{why}'
