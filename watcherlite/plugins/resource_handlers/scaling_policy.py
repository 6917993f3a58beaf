"""A scaling policy: the URL for an alarm that resizes a group."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from oslo_config import cfg

from watcherlite import exceptions
from watcherlite.domain import bearer_tokens, groups
from watcherlite.domain.resource_results import PassOn, Property, Ready
from watcherlite.plugins.base import ResourceContext, ResourceHandler

#: The state of an alarm that triggers a policy.
ALARM = 'alarm'
#: The path for signals with a token, below the root of the API.
PATH = '/orchestration/v1/signals/{}/{}?{}={}'

OPTIONS: tuple[cfg.Opt, ...] = (
    cfg.URIOpt(
        'endpoint',
        default='http://127.0.0.1:9322',
        schemes=['http', 'https'],
        mutable=True,
        help='The root URL of the API as alarm services reach it: the prefix of the '
        '`signal_url` of policies. Existing policies keep their URLs.',
    ),
)


class ScalingPolicy(ResourceHandler):
    """Change the size of an OS::Heat::AutoScalingGroup when it is signalled.

    A signal with the state of an alarm, as `current` or `state`, is ignored unless that
    state is `alarm`.
    """

    description = 'The change of the size of a group by signals.'
    idempotent = True
    #: The properties with the type of the adjustment and its minimum step.
    steps: ClassVar[tuple[str, str]] = ('adjustment_type', 'min_adjustment_step')
    #: The type of the adjustment that may have a minimum step.
    percent: ClassVar[str] = groups.PERCENT
    properties: ClassVar[Mapping[str, Property]] = {
        'auto_scaling_group_id': Property(
            {'type': 'string', 'minLength': 1},
            'The group: its value of get_resource.',
            required=True,
        ),
        'adjustment_type': Property(
            {'enum': list(groups.ADJUSTMENTS)},
            'The meaning of `scaling_adjustment`: a number of members to add, the '
            'new number of members, or a percentage.',
            required=True,
            updatable=True,
        ),
        'scaling_adjustment': Property(
            {'type': 'number'},
            'The amount of the change.',
            required=True,
            updatable=True,
        ),
        'min_adjustment_step': Property(
            {'type': 'integer', 'minimum': 0},
            'The minimum number of members by which a percentage changes the size.',
            updatable=True,
        ),
        'cooldown': Property(
            {'type': 'number', 'minimum': 0},
            'Seconds after a scaling by this policy during which it is ignored.',
            updatable=True,
        ),
    }
    attributes: ClassVar[Mapping[str, str]] = {
        'signal_url': 'The URL for signals, with a token, which is its only '
        'credential.',
        'alarm_url': 'The same, for alarms.',
    }

    @classmethod
    def get_config_opts(cls) -> Sequence[cfg.Opt]:
        return OPTIONS

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Validate that only a percentage has a minimum step."""
        type_name, step_name = self.steps
        kind = properties.get(type_name)
        if properties.get(step_name) is not None and kind not in (None, self.percent):
            raise exceptions.StackValidationFailed(
                f'properties.{step_name}: only goes with the {type_name} '
                f'{self.percent}, not with {kind}'
            )

    def create(self, context: ResourceContext) -> Ready:
        return dataclasses.replace(
            self.issue(context), physical_id=context.physical_name
        )

    def check(self, context: ResourceContext) -> Ready:
        return Ready()

    def update(self, context: ResourceContext) -> Ready:
        """Do nothing: the next signal uses the new properties.

        A policy from before the introduction of tokens is issued one.
        """
        if bearer_tokens.SIGNAL_DIGEST in context.data:
            return Ready()
        return self.issue(context)

    def delete(self, context: ResourceContext) -> None:
        """Do nothing: the digest of its token is deleted with its row."""

    def issue(self, context: ResourceContext) -> Ready:
        """Return the URL with a new token, and the digest of the token."""
        token = bearer_tokens.new_token()
        path = PATH.format(
            quote(context.stack_uuid, safe=''),
            quote(context.resource_name, safe=''),
            bearer_tokens.ARGUMENT,
            token,
        )
        url = self.options.endpoint.rstrip('/') + path
        return Ready(
            attributes={'signal_url': url, 'alarm_url': url},
            data={bearer_tokens.SIGNAL_DIGEST: bearer_tokens.digest_of(token)},
        )

    def signal(
        self, context: ResourceContext, details: Mapping[str, Any]
    ) -> Ready | PassOn:
        """Forward the adjustment to the group."""
        state = str(details.get('current', details.get('state', ALARM))).lower()
        if state != ALARM:
            return Ready(reason=f'Ignored: the alarm is in the state {state}')
        names = (
            'adjustment_type',
            'scaling_adjustment',
            'min_adjustment_step',
            'cooldown',
        )
        desired = context.properties
        adjustment = {
            name: desired[name] for name in names if desired.get(name) is not None
        }
        return PassOn(
            desired['auto_scaling_group_id'],
            {**adjustment, 'policy': context.resource_name},
        )
