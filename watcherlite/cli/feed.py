"""What happens to a plan, one event after the other, until it has ended.

Events come as a stream where the API has one to give, else they are asked for. A
connection that is lost is made again, and goes on where it was.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.cli import server_sent
from watcherlite.cli.client import Client
from watcherlite.domain import events
from watcherlite.states import action_plan as states

#: Seconds between two questions while there is no stream.
POLL = 1.0
#: Questions after which a stream is tried again.
TRY_STREAM = 10
#: Seconds for which the API may be away.
PATIENCE = 60.0
#: Events that are asked for at a time.
PAGE = 1000
END = 'end'

Event = Mapping[str, Any]


class Feed:
    """The events of one plan, each once, in their order.

    :param note: shows a line that is no event
    :param wait: waits for some seconds
    :param monotonic: seconds
    """

    def __init__(
        self,
        client: Client,
        uuid: str,
        *,
        note: Callable[[str], None],
        wait: Callable[[float], object],
        monotonic: Callable[[], float],
    ) -> None:
        self._client = client
        self._place = ('action_plans', uuid, 'events')
        self._note = note
        self._wait = wait
        self._monotonic = monotonic
        self._last = 0
        self._over = False
        self._away_since: float | None = None

    def __iter__(self) -> Iterator[Event]:
        """Yield what has happened, and what happens.

        :raises NotFound: there is no such plan
        :raises ApiUnavailable: the API was away for too long
        """
        while not self._over:
            try:
                yield from self._streamed()
            except (exceptions.ApiUnavailable, exceptions.NotFound, exceptions.Invalid):
                # No stream for now, or none at all: then there are questions
                yield from self._polled()

    def _streamed(self) -> Iterator[Event]:
        pieces = self._client.stream(*self._place, after=str(self._last))
        if pieces is None:
            self._over = True
            return
        self._is_back()
        with contextlib.closing(pieces):
            for sent in server_sent.parse(pieces):
                if sent.event == END:
                    self._over = True
                    return
                yield from self._new(json.loads(sent.data))
        # It broke off without an end
        self._wait(POLL)

    def _polled(self) -> Iterator[Event]:
        for _ in range(TRY_STREAM):
            try:
                page, more = self._page()
            except exceptions.ApiUnavailable as error:
                self._be_patient(error)
                page, more = [], False
            else:
                self._is_back()
            ended = False
            for event in page:
                ended = ended or _ends(event)
                yield from self._new(event)
            self._over = ended and not more
            if self._over:
                return
            if not more:
                self._wait(POLL)

    def _page(self) -> tuple[list[dict[str, Any]], bool]:
        query = {'after': self._last, 'limit': PAGE}
        return next(self._client.pages(*self._place, query=query))

    def _new(self, event: Event) -> Iterator[Event]:
        if event['sequence'] > self._last:
            self._last = event['sequence']
            yield event

    def _be_patient(self, error: exceptions.ApiUnavailable) -> None:
        now = self._monotonic()
        if self._away_since is None:
            self._away_since = now
            self._note(f'waiting for the API: {error}')
        if now - self._away_since > PATIENCE:
            raise error

    def _is_back(self) -> None:
        if self._away_since is not None:
            self._away_since = None
            self._note('the API is back')


def _ends(event: Event) -> bool:
    return (
        event['subject'] == events.ACTION_PLAN
        and event['new_state'] in states.ENDED
        and event['old_state'] != event['new_state']
    )
