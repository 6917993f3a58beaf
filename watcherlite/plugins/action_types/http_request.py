"""The action that makes an HTTP request."""

import logging
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain.outcomes import Done, Failed
from watcherlite.plugins import base, options
from watcherlite.plugins.action_types import http_parts
from watcherlite.plugins.capture import storable_json, storable_text
from watcherlite.plugins.http_messages import (
    Answer,
    ExchangeFailed,
    HttpRequestMessage,
    Settings,
)
from watcherlite.plugins.redaction import redact_url, secret_header, without_userinfo

LOG = logging.getLogger(__name__)
_random = random.SystemRandom()

_NAME = 'http_request'
_GROUP = options.group_name(base.ACTION_TYPES, _NAME)

#: The status by which a gateway requests a retry.
RETRY_STATUSES = (502, 503, 504)
DEFAULT_RETRIES = 3
#: Seconds before the first retry; doubled with each retry, plus up to JITTER.
FIRST_WAIT, LONGEST_WAIT, JITTER = 0.1, 10.0, 0.1

_MAX_HEADERS = 100
_MAX_HEADER_LENGTH = 1024


class ServerSilent(exceptions.WatcherliteError):
    """The server of `unless` does not respond."""


class HttpRequest(base.ActionType):
    """Make an HTTP request and store the response.

    Inputs: `method` and `url`; `headers`; `body` (text) or `json`; `expected_statuses`
    (200 to 299); `timeout` (60 seconds for all tries and the delays between them,
    limited by the deadline of the action), `connect_timeout` (10); `retries` (3) after
    a failed or broken connection and after `retry_statuses` (502, 503, 504), but a
    request that may have reached the server is repeated only if it is idempotent: by
    its method, or by the input `idempotent`; `follow_redirects` (false); `unless`
    (`url`, `headers` and `expected_statuses` of a GET): the action is skipped if that
    request succeeds.

    Outputs: `status`, `headers` (names in lower case, without credentials), `body`
    (text), `truncated`, `json` if the body is complete JSON, `elapsed` (seconds of the
    last try) and `tries`.

    The action's uuid is sent as `Idempotency-Key`, its attempt as `X-Fencing-Token`,
    unless the inputs set these headers.
    """

    description = 'Makes an HTTP request and checks the status of the response.'
    schema: ClassVar[Mapping[str, Any]] = {
        'type': 'object',
        'properties': {
            'method': {'enum': list(http_parts.METHODS)},
            'url': http_parts.URL,
            'headers': http_parts.HEADERS,
            'body': {'type': 'string'},
            'json': {},
            'expected_statuses': http_parts.STATUSES,
            'timeout': http_parts.SECONDS,
            'connect_timeout': http_parts.SECONDS,
            'retries': {'type': 'integer', 'minimum': 0, 'maximum': 100},
            'retry_statuses': {**http_parts.STATUSES, 'minItems': 0},
            'follow_redirects': {'type': 'boolean'},
            'idempotent': {'type': 'boolean'},
            'unless': {
                'type': 'object',
                'properties': {
                    'url': http_parts.URL,
                    'headers': http_parts.HEADERS,
                    'expected_statuses': http_parts.STATUSES,
                },
                'required': ['url'],
                'additionalProperties': False,
            },
        },
        'required': ['method', 'url'],
        'additionalProperties': False,
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return http_parts.OPTIONS

    def validate(self, inputs: Mapping[str, Any]) -> None:
        """Refuse requests that cannot be sent."""
        problems = [
            *http_parts.url_problems('url', inputs['url']),
            *http_parts.header_problems('headers', inputs.get('headers', {}), _NAME),
        ]
        unless = inputs.get('unless')
        if unless is not None:
            problems += http_parts.url_problems('unless.url', unless['url'])
            problems += http_parts.header_problems(
                'unless.headers', unless.get('headers', {}), _NAME
            )
        if 'body' in inputs and 'json' in inputs:
            problems.append('body: only one of body and json can be sent')
        try:
            http_parts.body(inputs)
        except ValueError:
            key = 'json' if 'json' in inputs else 'body'
            problems.append(f'{key}: cannot be encoded as UTF-8 or JSON')
        if problems:
            places = [f'input_parameters.{problem}' for problem in problems]
            raise exceptions.InvalidInput('; '.join(places))

    def is_idempotent(self, inputs: Mapping[str, Any]) -> bool:
        """Return the input `idempotent`, by default the idempotency of the method by
        RFC 9110.
        """
        return bool(inputs.get('idempotent', inputs['method'] in http_parts.IDEMPOTENT))

    def is_checkable(self, inputs: Mapping[str, Any]) -> bool:
        return 'unless' in inputs

    async def is_applied(self, context: base.CoroutineContext) -> bool:
        """Return whether `unless` is satisfied.

        :raises ServerSilent: it is unknown, so that the action must not run again
        """
        return await self._satisfied_status(context) is not None

    def has_pre_condition(self, inputs: Mapping[str, Any]) -> bool:
        return 'unless' in inputs

    async def pre_condition(self, context: base.CoroutineContext) -> None:
        """Skip the action if `unless` is satisfied.

        A server that does not respond satisfies nothing.
        """
        try:
            status = await self._satisfied_status(context)
        except ServerSilent as error:
            LOG.info('Action %s is to be executed: %s', context.uuid, error)
            return
        if status is not None:
            url = redact_url(context.inputs['unless']['url'])
            raise exceptions.ActionSkipException(f'{url} already answers {status}')

    async def execute(self, context: base.CoroutineContext) -> Done | Failed:
        # Slow to import and not needed by plans without HTTP.
        from watcherlite.plugins import http_client

        inputs = context.inputs
        method, url = inputs['method'], redact_url(inputs['url'])
        request = HttpRequestMessage(
            method,
            inputs['url'],
            http_parts.headers(context, inputs, inputs.get('headers', {})),
            http_parts.body(inputs),
            inputs.get('follow_redirects', False),
        )
        expected = frozenset(inputs.get('expected_statuses', range(200, 300)))
        again = self._retry_statuses(inputs) - expected
        settings = self._settings(inputs)
        budget = _budget(context)
        started = time.monotonic()

        async def once() -> Answer:
            left = max(0.001, budget - (time.monotonic() - started))
            try:
                answer = await http_client.exchange(context, request, settings, left)
            except ExchangeFailed as error:
                context.log(f'{method} {url}: {error}')
                raise
            context.log(
                f'{method} {url}: status {answer.status} after {answer.elapsed:.3f} s'
            )
            return answer

        answer, tries = await self._retry(context, once, budget, again)
        if isinstance(answer, ExchangeFailed):
            return Failed(f'{method} {url}: {answer}')
        outputs = _outputs(answer)
        outputs['tries'] = tries
        if answer.status in expected:
            return Done(outputs)
        desired = http_parts.ranges(expected)
        reason = f'{method} {url} answered {answer.status}, not {desired}'
        return Failed(reason, outputs=outputs)

    async def _retry(
        self,
        context: base.CoroutineContext,
        call: Callable[[], Awaitable[Answer]],
        budget: float,
        again: frozenset[int],
    ) -> tuple[Answer | ExchangeFailed, int]:
        """Repeat a call after temporary failures.

        :param budget: seconds for all tries and the delays between them
        :param again: statuses of temporary failures
        :returns: the last response or failure, and the number of tries
        """
        idempotent = self.is_idempotent(context.inputs)
        most = context.inputs.get('retries', DEFAULT_RETRIES) + 1
        until = time.monotonic() + budget
        tries, pause = 1, FIRST_WAIT
        while True:
            result: Answer | ExchangeFailed
            try:
                result = await call()
                temporary = result.status in again
            except ExchangeFailed as error:
                result = error
                # A request that may have been executed must not be repeated.
                temporary = not error.lasting and (not error.sent or idempotent)
            if not temporary or tries >= most:
                return result, tries
            wait = pause + _random.uniform(0, JITTER)
            if time.monotonic() + wait >= until:
                return result, tries
            await context.sleep(wait)
            tries, pause = tries + 1, min(pause * 2, LONGEST_WAIT)

    async def _satisfied_status(self, context: base.CoroutineContext) -> int | None:
        """Return the status of the response to `unless`, if it is satisfied.

        :raises ServerSilent: there was no response
        """
        # See execute
        from watcherlite.plugins import http_client

        unless = context.inputs['unless']
        request = HttpRequestMessage('GET', unless['url'], unless.get('headers', {}))
        try:
            answer = await http_client.exchange(
                context, request, self._settings(context.inputs), _budget(context)
            )
        except ExchangeFailed as error:
            raise ServerSilent(
                f'{redact_url(unless["url"])} does not respond: {error}'
            ) from None
        holds = answer.status in unless.get('expected_statuses', range(200, 300))
        return answer.status if holds else None

    def _retry_statuses(self, inputs: Mapping[str, Any]) -> frozenset[int]:
        default = RETRY_STATUSES if self.is_idempotent(inputs) else ()
        return frozenset(inputs.get('retry_statuses', default))

    def _settings(self, inputs: Mapping[str, Any]) -> Settings:
        timeout = inputs.get('connect_timeout', http_parts.DEFAULT_CONNECT_TIMEOUT)
        return http_parts.settings(self.options, _GROUP, self.destinations, timeout)


def _budget(context: base.RunningAction) -> float:
    """Return the seconds that the request may take, including retries."""
    budget = float(context.inputs.get('timeout', http_parts.DEFAULT_TIMEOUT))
    left = context.remaining()
    return budget if left is None else min(budget, left)


def _outputs(answer: Answer) -> dict[str, Any]:
    kept = [(n, v) for n, v in answer.headers.items() if not secret_header(n)]
    headers = {
        storable_text(name): storable_text(value[:_MAX_HEADER_LENGTH])
        for name, value in kept[:_MAX_HEADERS]
    }
    if 'location' in headers:
        headers['location'] = without_userinfo(headers['location'])
    outputs: dict[str, Any] = {
        'status': answer.status,
        'headers': headers,
        'body': answer.body.text(answer.charset),
        'truncated': answer.body.truncated,
        'elapsed': round(answer.elapsed, 3),
    }
    kind = answer.headers.get('content-type', '').partition(';')[0].strip().lower()
    if not answer.body.truncated and re.fullmatch(r'\w+/(?:[\w.-]+\+)?json', kind):
        try:
            outputs['json'] = storable_json(answer.body.text())
        except ValueError as error:
            LOG.debug('A body declared as JSON is not valid JSON: %s', error)
    return outputs
