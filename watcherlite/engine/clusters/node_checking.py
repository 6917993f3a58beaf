"""Whether what a node stands for is well: by its handler, and by a URL of its own."""

import datetime
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import patterns
from watcherlite.domain.handling import NotYet, Ready
from watcherlite.domain.outcomes import Done, InProgress, Outcome, public_text
from watcherlite.engine.clusters import actions
from watcherlite.engine.clusters.adopting import ADOPTED
from watcherlite.engine.clusters.node_context import kept
from watcherlite.engine.clusters.node_working import NodeWork
from watcherlite.engine.clusters.profile_types import filled_in
from watcherlite.plugins.redaction import shown_url
from watcherlite.states import cluster as states

WELL = 'Check: Node is ACTIVE.'
#: Seconds that one look at a URL may take.
PATIENCE = 10.0
#: Bytes of an answer that are looked at.
LARGEST = 65536


class Checking:
    """Looks at a node in the ways that a detection names, one after the other."""

    def __init__(self, work: NodeWork, detection: Mapping[str, Any] | None) -> None:
        self._work = work
        self._detection = detection or {}
        modes = self._detection.get('detection_modes')
        # None at all: only what a user says of a node counts.
        polled: Mapping[str, Any] = {'type': actions.NODE_STATUS_POLLING}
        self._modes: Sequence[Mapping[str, Any]] = [polled] if modes is None else modes

    def execute(self) -> Outcome:
        """Begin."""
        work = self._work
        mark = actions.mark_of(work.node)
        if mark is not None:
            return self._ended({}, [mark], certain=True)
        if not work.is_made:
            if work.node.status == states.INIT:
                return Done({'status': states.INIT, actions.REASON: 'not made yet'})
            known = work.node.status == states.ERROR and work.node.status_reason
            return self._ended({}, [known or 'There is nothing of it.'], certain=True)
        return self._look(0, [], {}, 0)

    def go_on(self, token: Mapping[str, Any]) -> Outcome:
        """Look how far it is, or once more."""
        at, wrong, became = token['at'], list(token['wrong']), dict(token['became'])
        if 'handler' not in token:
            return self._look(at, wrong, became, token['tries'])
        handler = self._work.handler
        try:
            said = handler.poll(self._work.handed(), self._hook, token['handler'])
        except (exceptions.Cancelled, exceptions.TimedOut):
            raise
        except exceptions.WatcherliteError as error:
            return self._look(at + 1, [*wrong, public_text(error)], became, 0)
        return self._said(at, wrong, became, said)

    def cancel(self, token: Mapping[str, Any]) -> None:
        """Tell the handler to stop."""
        if 'handler' in token:
            handed = self._work.handed()
            self._work.handler.cancel(handed, self._hook, token['handler'])

    @property
    def _hook(self) -> str:
        """Return what of the handler looks; the first look may be a takeover."""
        adopts = bool(self._work.node.kept.get(ADOPTED))
        return 'adopt' if adopts and self._work.handler.supports('adopt') else 'check'

    def _look(
        self, at: int, wrong: list[str], became: dict[str, Any], tries: int
    ) -> Outcome:
        """Look in the way that comes next."""
        if at >= len(self._modes):
            return self._ended(became, wrong)
        mode = self._modes[at]
        if mode['type'] == actions.NODE_STATUS_POLL_URL:
            return self._url(at, wrong, became, tries)
        try:
            handed = self._work.handed(begins=True)
            said = getattr(self._work.handler, self._hook)(handed)
        except (exceptions.Cancelled, exceptions.TimedOut):
            raise
        except exceptions.WatcherliteError as error:
            # By contract it is not as it should be. Any other exception is a
            # mistake of its type, and says nothing about it.
            return self._look(at + 1, [*wrong, public_text(error)], became, 0)
        return self._said(at, wrong, became, said)

    def _said(
        self, at: int, wrong: list[str], became: dict[str, Any], said: Any
    ) -> Outcome:
        if isinstance(said, NotYet):
            token = _token(at, wrong, became, 0) | {'handler': said.token}
            return InProgress(token, said.delay)
        if isinstance(said, Ready):
            if said.attributes is not None:
                became['attributes'] = dict(said.attributes)
            if said.data is not None:
                became['kept'] = kept(said.data)
        return self._look(at + 1, wrong, became, 0)

    def _url(
        self, at: int, wrong: list[str], became: dict[str, Any], tries: int
    ) -> Outcome:
        options = self._modes[at].get('options') or {}
        found = complaint(self._work, options)
        if found is not None:
            tries += 1
            if tries < max(1, options.get('poll_url_retry_limit', 3)):
                again = float(options.get('poll_url_retry_interval', 3))
                return InProgress(_token(at, wrong, became, tries), again)
            wrong = [*wrong, found]
        return self._look(at + 1, wrong, became, 0)

    def _ended(
        self, became: Mapping[str, Any], wrong: list[str], certain: bool = False
    ) -> Outcome:
        """Return what all of it says.

        :param certain: whether it is unwell whatever else is said
        """
        node = self._work.node
        every = self._detection.get('recovery_conditional') == actions.ALL_FAILED
        is_bad = bool(wrong) and (not every or len(wrong) == len(self._modes))
        reason = '; '.join(wrong)
        if certain or (is_bad and not self._is_fresh()):
            status, text = states.ERROR, reason
        elif is_bad:
            status = node.status
            text = f'It may not be ready yet: {reason}'
        elif node.status == states.WARNING:
            status, text = states.WARNING, node.status_reason
        elif not self._can_tell():
            # Nobody has looked: what is known of it stays.
            status, text = node.status, node.status_reason
        else:
            status, text = states.ACTIVE, WELL
        told = {**became, 'status': status, 'status_reason': text}
        if not wrong and node.kept.get(ADOPTED):
            told['kept'] = {**became.get('kept', {}), ADOPTED: None}
        return Done({'status': status, actions.REASON: text, actions.NODE: told})

    def _can_tell(self) -> bool:
        kinds = {mode['type'] for mode in self._modes}
        if actions.NODE_STATUS_POLL_URL in kinds:
            return True
        return bool(kinds) and self._work.handler.supports(self._hook)

    def _is_fresh(self) -> bool:
        """Say whether the node has changed so lately that it may not be up yet."""
        seconds = self._detection.get('node_update_timeout')
        node = self._work.node
        since = node.updated_at or node.created_at
        if not seconds or since is None or node.status != states.ACTIVE:
            return False
        return self._work.action.now() - since < datetime.timedelta(seconds=seconds)


def _token(
    at: int, wrong: list[str], became: Mapping[str, Any], tries: int
) -> dict[str, Any]:
    return {'at': at, 'wrong': wrong, 'became': dict(became), 'tries': tries}


def complaint(work: NodeWork, options: Mapping[str, Any]) -> str | None:
    """Say why a node is unwell by what a URL answers; None: it is well.

    `{nodename}` in the URL is the name of the node; see also `filled_in`.
    """
    # Takes long to import and is not needed without HTTP.
    from watcherlite.plugins import http_exchange

    name = urllib.parse.quote(work.node.name, safe='')
    url = str(filled_in(options.get('poll_url') or '', work.node))
    url = url.replace('{nodename}', name)
    verify = bool(options.get('poll_url_ssl_verify', True))
    settings = http_exchange.Settings(PATIENCE, LARGEST, verify)
    left = work.action.remaining()
    seconds = PATIENCE if left is None else max(0.001, min(PATIENCE, left))
    try:
        answer = http_exchange.exchange(
            work.action, http_exchange.Request('GET', url), settings, seconds
        )
    except http_exchange.ExchangeFailed as error:
        if not options.get('poll_url_conn_error_as_unhealthy', True):
            return None
        return f'{shown_url(url)}: {error}'
    if answer.status >= 400:
        return f'{shown_url(url)} answered {answer.status}'
    wanted = options.get('poll_url_healthy_response')
    if not wanted or is_in(wanted, answer.body.text()):
        return None
    return f'{shown_url(url)}: the answer has no {wanted!r}'


def is_in(pattern: str, text: str) -> bool:
    """Say whether a text has something that a pattern matches.

    :raises Invalid: the pattern cannot be used
    """
    try:
        return patterns.compiled(f'(?s:.*?)(?:{pattern})').matches(text, whole=False)
    except (patterns.Refused, patterns.TooLong) as error:
        raise exceptions.Invalid(f'poll_url_healthy_response: {error}') from None
