"""Following one action on a cluster or node, from its request to its end."""

import re
import time
from collections.abc import Callable, Mapping

from watcherlite import exceptions
from watcherlite.cli.cluster_api import Clustering
from watcherlite.cli.output import Output
from watcherlite.cli.polling import Polling, Shown
from watcherlite.cmd import exits
from watcherlite.states import action as states

#: The level of what went wrong.
ERROR = '40'
#: How the reason of a status begins where it says which action left the cluster so.
_OF_ACTION = re.compile('([A-Z]+(?:_[A-Z]+)+): ')


class Follower(Polling):
    """Shows what happens to a cluster, or a node, until an action on it has ended.

    For the other parameters see `Polling`.

    :param action: its id
    :param about: which events are of interest, as arguments of the API
    """

    def __init__(
        self,
        clustering: Clustering,
        action: str,
        about: Mapping[str, str],
        err: Output,
        marker: str | None = None,
        *,
        verbose: bool = False,
        wait: Callable[[float], object] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(err, marker, verbose=verbose, wait=wait, monotonic=monotonic)
        self._clustering = clustering
        self._action = action
        self._about = about

    def follow(self) -> Shown:
        """Return the action once it has ended.

        :raises ApiUnavailable: the API was away for too long
        """
        return self.until_ended() or {}

    def look(self) -> tuple[bool, Shown | None, bool]:
        """Return whether it has ended, the action, and whether anything happened."""
        # The action before the events: nothing comes after those of its end
        action = self._clustering.show('actions', self._action)
        return action['status'] in states.FINAL, action, self._take_events()

    def _take_events(self) -> bool:
        news = False
        try:
            found = self._clustering.events_after(self._about, self.marker)
        except (exceptions.NotFound, exceptions.Invalid):
            # What the events are about is deleted by now
            return False
        for event in found:
            news = True
            self.marker = event['id']
            self._show(event)
        return news

    def _show(self, event: Shown) -> None:
        of_node = event.get('otype') == 'NODE'
        clock = str(event.get('timestamp') or '')[11:19]
        words = (clock, event.get('oname'), event.get('action'), event.get('status'))
        reason = str(event.get('status_reason') or '')
        told = _OF_ACTION.match(reason)
        if told and told[1] != event.get('action'):
            # It is how the cluster was left by an action before this one
            reason = ''
        text = ' '.join(str(word) for word in (*words, reason))
        self.tell(text, minor=of_node and event.get('level') != ERROR)


def code_of(action: Shown) -> tuple[int, str]:
    """Return the exit code of an action that has ended, and why if it failed."""
    if action['status'] == states.SUCCEEDED:
        return exits.SUCCESS, ''
    reason = action.get('status_reason')
    why = f': {reason}' if reason else ''
    return exits.FAILURE, f'the action {action["name"]} is {action["status"]}{why}'
