"""Health checks of nodes, by their handler and by URL."""

import dataclasses
import datetime
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain import patterns
from watcherlite.domain.outcomes import Done, InProgress, Outcome, public_text
from watcherlite.domain.resource_results import Ready, ResourceInProgress
from watcherlite.engine.clusters import action_types
from watcherlite.engine.clusters.actions.node_context import binding_values
from watcherlite.engine.clusters.actions.node_steps import NodeTarget, check_hook
from watcherlite.engine.clusters.node_record import ADOPTED
from watcherlite.engine.clusters.profile_types import fill_placeholders
from watcherlite.engine.stacks.handler_calls import call_handler
from watcherlite.engine.stacks.resource_context import HandlerContext
from watcherlite.execution.coroutines.steps import OnLoop
from watcherlite.plugins.http_messages import (
    DestinationRefused,
    ExchangeFailed,
    HttpRequestMessage,
    Settings,
)
from watcherlite.plugins.redaction import redact_url
from watcherlite.states import cluster as states

WELL = 'Check: Node is ACTIVE.'
#: Timeout of one request to a URL, in seconds.
URL_TIMEOUT = 10.0
#: Bytes of a response that are read.
MAX_BODY_SIZE = 65536


class NodeCheckRun:
    """Checks a node in the modes of a detection, one after the other."""

    def __init__(self, target: NodeTarget, detection: Mapping[str, Any] | None) -> None:
        self._target = target
        self._detection = detection or {}
        modes = self._detection.get('detection_modes')
        # No modes at all: only the mark of a user counts.
        polled: Mapping[str, Any] = {'type': action_types.NODE_STATUS_POLLING}
        self._modes: Sequence[Mapping[str, Any]] = [polled] if modes is None else modes

    async def execute(self) -> Outcome:
        """Start the check."""
        target = self._target
        mark = action_types.unhealthy_mark(target.node)
        if mark is not None:
            return self._conclude(_CheckProgress(wrong=(mark,)), certain=True)
        if not target.exists:
            if target.node.status == states.INIT:
                return Done(
                    {'status': states.INIT, action_types.REASON: 'not made yet'}
                )
            known = target.node.status == states.ERROR and target.node.status_reason
            wrong = (known or 'It has no resource.',)
            return self._conclude(_CheckProgress(wrong=wrong), certain=True)
        return await self._run_mode(_CheckProgress())

    async def advance(self, token: Mapping[str, Any]) -> Outcome:
        """Poll the handler, or run the next mode."""
        progress = _CheckProgress.from_token(token)
        if 'handler' not in token:
            return await self._run_mode(progress)
        context = self._target.handler_context()
        polled = self._operation(progress), token['handler']
        return await self._call_handler(progress, context, 'poll', *polled)

    async def cancel(self, token: Mapping[str, Any]) -> None:
        """Cancel the operation of the handler."""
        if 'handler' in token:
            context = self._target.handler_context()
            progress = _CheckProgress.from_token(token)
            polled = self._operation(progress), token['handler']
            await call_handler(self._target.handler, 'cancel', context, *polled)

    def _operation(self, progress: '_CheckProgress') -> str:
        """Return the handler operation of the current mode."""
        if self._modes[progress.at]['type'] == action_types.HYPERVISOR_STATUS_POLLING:
            return 'check_host'
        return self._check_operation

    @property
    def _check_operation(self) -> str:
        """Return the operation of a check: `adopt` is that of the first one."""
        handler = self._target.handler
        adopts = bool(self._target.node.kept.get(ADOPTED))
        if adopts and handler.supports('adopt'):
            return 'adopt'
        return check_hook(handler)

    async def _run_mode(self, progress: '_CheckProgress') -> Outcome:
        if progress.at >= len(self._modes):
            return self._conclude(progress)
        mode = self._modes[progress.at]
        if mode['type'] == action_types.NODE_STATUS_POLL_URL:
            return await self._run_url_mode(progress)
        if mode['type'] == action_types.LIFECYCLE_EVENTS:
            event = (mode.get('options') or {}).get('event')
            return await self._run_mode(progress.advanced(wrong=event))
        context = self._target.handler_context(begins=True)
        return await self._call_handler(progress, context, self._operation(progress))

    async def _call_handler(
        self,
        progress: '_CheckProgress',
        context: HandlerContext,
        hook: str,
        *arguments: Any,
    ) -> Outcome:
        try:
            result = await call_handler(self._target.handler, hook, context, *arguments)
        except (exceptions.Cancelled, exceptions.TimedOut):
            raise
        except exceptions.StateUnknown as error:
            return await self._run_mode(progress.advanced(unknown=public_text(error)))
        except exceptions.WatcherliteError as error:
            # By contract the resource is unhealthy. Any other exception is a defect of
            # the handler, and no information about the resource.
            return await self._run_mode(progress.advanced(wrong=public_text(error)))
        if isinstance(result, ResourceInProgress):
            return InProgress(
                progress.token() | {'handler': result.token}, result.delay
            )
        changes = dict(progress.changes)
        if isinstance(result, Ready):
            if result.attributes is not None:
                changes['attributes'] = dict(result.attributes)
            if result.data is not None:
                changes['kept'] = binding_values(result.data)
        return await self._run_mode(
            dataclasses.replace(progress.advanced(), changes=changes)
        )

    async def _run_url_mode(self, progress: '_CheckProgress') -> Outcome:
        options = self._modes[progress.at].get('options') or {}
        try:
            found = await check_url(self._target, options)
        except exceptions.StateUnknown as error:
            return await self._run_mode(progress.advanced(unknown=public_text(error)))
        if found is None:
            return await self._run_mode(progress.advanced())
        tries = progress.tries + 1
        if tries < max(1, options.get('poll_url_retry_limit', 3)):
            again = float(options.get('poll_url_retry_interval', 3))
            return InProgress(dataclasses.replace(progress, tries=tries).token(), again)
        return await self._run_mode(progress.advanced(wrong=found))

    def _conclude(self, progress: '_CheckProgress', certain: bool = False) -> Outcome:
        """Return the outcome of all modes.

        :param certain: whether the node is unhealthy in any case
        """
        node = self._target.node
        wrong = progress.wrong
        every = self._detection.get('recovery_conditional') == action_types.ALL_FAILED
        is_bad = bool(wrong) and (not every or len(wrong) == len(self._modes))
        reason = '; '.join(wrong)
        if certain or (is_bad and not self._is_starting()):
            status, text = states.ERROR, reason
        elif is_bad:
            status = node.status
            text = f'It may not be ready yet: {reason}'
        elif progress.unknown:
            status = node.status
            text = f'Its state is unknown: {"; ".join(progress.unknown)}'
        elif node.status == states.WARNING:
            status, text = states.WARNING, node.status_reason
        elif not self._is_conclusive():
            # No mode was conclusive: keep the status.
            status, text = node.status, node.status_reason
        else:
            status, text = states.ACTIVE, WELL
        fields = {**progress.changes, 'status': status, 'status_reason': text}
        if not wrong and not progress.unknown and node.kept.get(ADOPTED):
            fields['kept'] = {**progress.changes.get('kept', {}), ADOPTED: None}
        return Done(
            {'status': status, action_types.REASON: text, action_types.NODE: fields}
        )

    def _is_conclusive(self) -> bool:
        kinds = {mode['type'] for mode in self._modes}
        if action_types.NODE_STATUS_POLL_URL in kinds:
            return True
        polled = action_types.NODE_STATUS_POLLING in kinds
        return polled and self._target.handler.supports(self._check_operation)

    def _is_starting(self) -> bool:
        """Return whether the node changed so recently that it may still be starting."""
        seconds = self._detection.get('node_update_timeout')
        node = self._target.node
        since = node.updated_at or node.created_at
        if not seconds or since is None or node.status != states.ACTIVE:
            return False
        return self._target.action.now() - since < datetime.timedelta(seconds=seconds)


@dataclasses.dataclass(frozen=True, slots=True)
class _CheckProgress:
    """The progress of a check.

    :param at: index of the next mode
    :param wrong: findings
    :param unknown: reasons of inconclusive modes
    :param changes: new values of fields of the node
    :param tries: failed requests to the URL
    """

    at: int = 0
    wrong: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    changes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    tries: int = 0

    @classmethod
    def from_token(cls, token: Mapping[str, Any]) -> '_CheckProgress':
        return cls(
            token['at'],
            tuple(token['wrong']),
            tuple(token.get('unknown', ())),
            token['became'],
            token['tries'],
        )

    def token(self) -> dict[str, Any]:
        return {
            'at': self.at,
            'wrong': list(self.wrong),
            'unknown': list(self.unknown),
            'became': dict(self.changes),
            'tries': self.tries,
        }

    def advanced(
        self, wrong: str | None = None, unknown: str | None = None
    ) -> '_CheckProgress':
        """Return the progress after the current mode."""
        return dataclasses.replace(
            self,
            at=self.at + 1,
            wrong=self.wrong if wrong is None else (*self.wrong, wrong),
            unknown=self.unknown if unknown is None else (*self.unknown, unknown),
            tries=0,
        )


async def check_url(target: NodeTarget, options: Mapping[str, Any]) -> str | None:
    """Return why a node is unhealthy by its URL; None if it is healthy.

    `{nodename}` in the URL is the name of the node; see also `fill_placeholders`.

    :raises StateUnknown: the destination is not allowed
    """
    # Imported here because it is slow, and needed only for HTTP.
    from watcherlite.plugins import http_client

    name = urllib.parse.quote(target.node.name, safe='')
    url = str(fill_placeholders(options.get('poll_url') or '', target.node))
    url = url.replace('{nodename}', name)
    verify = bool(options.get('poll_url_ssl_verify', True))
    settings = Settings(
        URL_TIMEOUT, MAX_BODY_SIZE, target.parts.destinations(), verify=verify
    )
    left = target.action.remaining()
    seconds = URL_TIMEOUT if left is None else max(0.001, min(URL_TIMEOUT, left))
    try:
        answer = await OnLoop(
            lambda context: http_client.exchange(
                context, HttpRequestMessage('GET', url), settings, seconds
            )
        )
    except DestinationRefused as error:
        raise exceptions.StateUnknown(f'{redact_url(url)}: {error}') from None
    except ExchangeFailed as error:
        if not options.get('poll_url_conn_error_as_unhealthy', True):
            return None
        return f'{redact_url(url)}: {error}'
    if answer.status >= 400:
        return f'{redact_url(url)} answered {answer.status}'
    desired = options.get('poll_url_healthy_response')
    if not desired or is_found(desired, answer.body.text()):
        return None
    return f'{redact_url(url)}: the answer has no {desired!r}'


def is_found(pattern: str, text: str) -> bool:
    """Return whether a pattern matches a part of a text.

    :raises Invalid: the pattern is invalid
    """
    try:
        return patterns.compiled(f'(?s:.*?)(?:{pattern})').matches(text, whole=False)
    except (patterns.InvalidPattern, patterns.TooLong) as error:
        raise exceptions.Invalid(f'poll_url_healthy_response: {error}') from None
