"""A history, such as the events of a plan, until its subject has ended.

The API streams it; without a stream it is polled. A lost connection is restored at the
last row.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from watcherlite import exceptions
from watcherlite.cli.commands.poll import OUTAGE_TIMEOUT
from watcherlite.cli.http import server_sent_events
from watcherlite.cli.progress import Outage

if TYPE_CHECKING:
    from watcherlite.cli.http.client import Client

#: Seconds between two polls without a stream.
POLL = 1.0
#: Number of polls after which the stream is tried again.
TRY_STREAM = 10
#: Number of events requested at a time.
PAGE = 1000
END = 'end'

Event = Mapping[str, Any]


class Feed:
    """The rows of a history, each once and in order.

    :param path: of the history: ('action_plans', uuid, 'events')
    :param has_ended: returns whether its subject has ended; for polling
    :param note: shows a message
    :param wait: sleeps for some seconds
    :param monotonic: seconds
    """

    def __init__(
        self,
        client: 'Client',
        path: Sequence[str],
        has_ended: Callable[[], bool],
        *,
        note: Callable[[str], None],
        wait: Callable[[float], object],
        monotonic: Callable[[], float],
    ) -> None:
        self._client = client
        self._path = tuple(path)
        self._has_ended = has_ended
        self._wait = wait
        self._outage = Outage('API', OUTAGE_TIMEOUT, note, monotonic)
        self._last = 0
        self._has_stopped = False

    def __iter__(self) -> Iterator[Event]:
        """Yield past and new events.

        :raises NotFound: no such plan
        :raises ApiUnavailable: the API was unavailable for too long
        """
        while not self._has_stopped:
            try:
                yield from self._stream_events()
            except (exceptions.ApiUnavailable, exceptions.NotFound, exceptions.Invalid):
                # No stream at present, or none at all: poll.
                yield from self._poll_events()

    def _stream_events(self) -> Iterator[Event]:
        pieces = self._client.stream(*self._path, after=str(self._last))
        if pieces is None:
            self._has_stopped = True
            return
        self._outage.end()
        with contextlib.closing(pieces):
            for sent in server_sent_events.parse(pieces):
                if sent.event == END:
                    self._has_stopped = True
                    return
                yield from self._new(json.loads(sent.data))
        # The stream broke off.
        self._wait(POLL)

    def _poll_events(self) -> Iterator[Event]:
        for _ in range(TRY_STREAM):
            try:
                # Before the rows: all rows of an ended subject are stored.
                ended = self._has_ended()
                query = {'after': self._last, 'limit': PAGE}
                page, more = next(self._client.pages(*self._path, query=query))
            except exceptions.ApiUnavailable as error:
                self._outage.tolerate(error)
                page, more, ended = [], False, False
            else:
                self._outage.end()
            for event in page:
                yield from self._new(event)
            self._has_stopped = ended and not more
            if self._has_stopped:
                return
            if not more:
                self._wait(POLL)

    def _new(self, event: Event) -> Iterator[Event]:
        if event['sequence'] > self._last:
            self._last = event['sequence']
            yield event
