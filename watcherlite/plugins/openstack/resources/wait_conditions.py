"""Wait conditions, and the handles that receive their signals."""

import datetime
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain import bearer_tokens
from watcherlite.domain.resource_results import (
    REPLACE,
    Property,
    Ready,
    ResourceInProgress,
    Result,
)
from watcherlite.plugins.base import ResourceContext, ResourceHandler
from watcherlite.plugins.openstack.resources import fields
from watcherlite.plugins.resource_handlers import scaling_policy
from watcherlite.plugins.resource_handlers.errors import ResourceFault

SUCCESS, FAILURE = 'SUCCESS', 'FAILURE'
#: The attribute of a handle with the signals by their ids.
SIGNALS = 'signals'
#: The maximum number of signals that a handle keeps, and of characters of each.
MOST, LARGEST = 1000, 16 * 1024
#: The pauses between two looks for signals, in seconds.
_SHORTEST, _LONGEST = 1.0, 5.0
_TRANSPORTS = (
    'CFN_SIGNAL',
    'TEMP_URL_SIGNAL',
    'HEAT_SIGNAL',
    'NO_SIGNAL',
    'ZAQAR_SIGNAL',
    'TOKEN_SIGNAL',
)


class WaitConditionHandle(ResourceHandler):
    """A URL for signals of servers, and the signals received."""

    description = 'A URL for the signals of servers to a wait condition.'
    idempotent = True
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        'signal_transport': Property(
            {**fields.one_of(*_TRANSPORTS), 'default': 'TOKEN_SIGNAL'},
            'Accepted for templates of other services: signals are always sent by HTTP '
            'to a URL with a token.',
        )
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'token': 'Always empty: the URL contains the token.',  # nosec B105
        'endpoint': 'The URL for signals, with a token, which is its only credential.',
        'curl_cli': 'A command that sends a signal; add --data-binary and the signal.',
        'signal': 'The URL and the method, as JSON.',
        SIGNALS: 'The signals received so far, by their ids.',
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return scaling_policy.OPTIONS

    def create(self, context: ResourceContext) -> Ready:
        token = bearer_tokens.new_token()
        path = scaling_policy.PATH.format(
            quote(context.stack_uuid, safe=''),
            quote(context.resource_name, safe=''),
            bearer_tokens.ARGUMENT,
            token,
        )
        url = self.options.endpoint.rstrip('/') + path
        attributes = {
            'token': '',  # nosec B105
            'endpoint': url,
            'curl_cli': f"curl -i -X POST -H 'Content-Type: application/json' '{url}'",
            'signal': json.dumps({'alarm_url': url, 'method': 'POST'}),
            SIGNALS: {},
        }
        data = {bearer_tokens.SIGNAL_DIGEST: bearer_tokens.digest_of(token)}
        return Ready(context.physical_name, attributes, data)

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing: the digest of its token is deleted with its row."""

    def signal(self, context: ResourceContext, details: Mapping[str, Any]) -> Ready:
        """Store a signal; one with a known id replaces the former."""
        known = dict(context.attributes.get(SIGNALS) or {})
        number = str(details.get('id') or len(known) + 1)
        status = str(details.get('status') or SUCCESS)
        if status not in (SUCCESS, FAILURE):
            raise exceptions.Invalid(
                f'{context.resource_name}: the status {status} of the signal is '
                f'neither {SUCCESS} nor {FAILURE}'
            )
        received = {
            'status': status,
            'reason': str(details.get('reason') or f'Signal {number} received'),
            'data': details.get('data'),
        }
        if len(json.dumps(received)) + len(number) > LARGEST:
            raise exceptions.Invalid(
                f'{context.resource_name}: the signal is longer than {LARGEST} '
                'characters'
            )
        if len(known) >= MOST and number not in known:
            raise exceptions.Invalid(
                f'{context.resource_name}: it has received {MOST} signals, the maximum'
            )
        known[number] = received
        return Ready(
            attributes={**context.attributes, SIGNALS: known},
            reason=f'signal {number}: {status}',
        )


class UpdateWaitConditionHandle(WaitConditionHandle):
    """A handle that every update replaces, so that all signals are sent again."""

    description = 'A handle for signals that every update replaces.'
    properties: ClassVar[Mapping[str, Property]] = {}

    def decide(
        self, before: Mapping[str, Any], after: Mapping[str, Any], failed: bool
    ) -> str:
        """Return REPLACE."""
        return REPLACE


class WaitCondition(ResourceHandler):
    """Wait for signals to a handle."""

    description = 'A wait for signals of servers.'
    idempotent = True
    modified_by_signals = False
    properties: ClassVar[Mapping[str, Property]] = {
        'handle': Property(
            fields.TEXT, 'The handle: its value of get_resource.', required=True
        ),
        'timeout': Property(
            {**fields.NUMBER, 'minimum': 1, 'maximum': 43200},
            'The maximum duration of the wait in seconds.',
            required=True,
        ),
        'count': Property(
            {**fields.INTEGER, 'minimum': 1, 'default': 1},
            'The number of signals.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'data': 'The data of the signals by their ids, as JSON.'
    }

    def create(self, context: ResourceContext) -> Result:
        return self._start(context)

    def update(self, context: ResourceContext) -> Result:
        return self._start(context)

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def delete(self, context: ResourceContext) -> None:
        """Do nothing."""

    def poll(self, context: ResourceContext, operation: str, token: Any) -> Result:
        """Return Ready once enough signals have arrived; raise for a failure."""
        signals = self._signals(context)
        failures = [s['reason'] for s in signals.values() if s['status'] != SUCCESS]
        if failures:
            raise ResourceFault(f'WaitConditionFailure: {";".join(failures)}')
        count = self.limits(context)[2]
        if len(signals) >= count:
            data = {number: signal['data'] for number, signal in signals.items()}
            return Ready(context.physical_name, {'data': json.dumps(data)})
        left = _seconds_left(context, token)
        if left <= 0:
            raise ResourceFault(
                f'WaitConditionTimeout: {len(signals)} of {count} received'
            )
        polls = token.get('polls', 0) + 1
        delay = min(_LONGEST, _SHORTEST + polls * 0.1, max(left, 0.1))
        return ResourceInProgress({**token, 'polls': polls}, delay)

    def limits(self, context: ResourceContext) -> tuple[str, float, int]:
        """Return the reference of the handle, the timeout in seconds, and the count."""
        desired = context.properties
        return desired['handle'], desired['timeout'], desired['count']

    def _start(self, context: ResourceContext) -> Result:
        name, timeout, _ = self.limits(context)
        handle = context.dependencies.get(name)
        if handle is None or SIGNALS not in handle:
            raise ResourceFault(f'{name} is not a valid wait condition handle.')
        seconds = datetime.timedelta(seconds=timeout)
        token = {'until': (context.now() + seconds).isoformat()}
        return ResourceInProgress(token, 0.0)

    def _signals(self, context: ResourceContext) -> Mapping[str, Any]:
        handle = context.dependencies.get(self.limits(context)[0]) or {}
        return handle.get(SIGNALS) or {}


def _seconds_left(context: ResourceContext, token: Mapping[str, Any]) -> float:
    until = datetime.datetime.fromisoformat(token['until'])
    return (until - context.now()).total_seconds()
