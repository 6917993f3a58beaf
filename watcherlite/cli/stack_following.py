"""Following one operation on a stack, from its request to its end.

The API has no stream of the events of stacks: see `polling`.
"""

import time
from collections.abc import Callable

from watcherlite import exceptions
from watcherlite.cli.output import Output
from watcherlite.cli.polling import Polling, Shown
from watcherlite.cli.stack_api import Place, Stacks
from watcherlite.cmd import exits
from watcherlite.states import stack as states


class Follower(Polling):
    """Shows what happens to a stack until an operation on it has ended.

    For the other parameters see `Polling`.
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
        super().__init__(err, marker, verbose=verbose, wait=wait, monotonic=monotonic)
        self._stacks = stacks
        self._place = place

    def follow(self) -> Shown | None:
        """Return the stack once nothing goes on in it; None: it is gone.

        :raises ApiUnavailable: the API was away for too long
        """
        return self.until_ended()

    def look(self) -> tuple[bool, Shown | None, bool]:
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
        for event in self._stacks.events_after(self._place, self.marker):
            news = True
            self.marker = event['id']
            self._show(event)
        return news

    def _show(self, event: Shown) -> None:
        status = str(event.get('resource_status') or '')
        name = event.get('resource_name')
        own = event.get('physical_resource_id') == self._place.uuid
        clock = str(event.get('event_time') or '')[11:19]
        reason = event.get('resource_status_reason') or ''
        minor = not own and not status.endswith(states.FAILED)
        self.tell(f'{clock} {name} {status} {reason}', minor=minor)


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
