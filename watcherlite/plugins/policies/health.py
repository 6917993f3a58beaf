"""The policy for health checks and recovery of a cluster.

The engine implements it: see `engine.clusters.actions.health_monitor`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from watcherlite import exceptions
from watcherlite.domain import patterns
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import fragments, sizes

EVENTS = 'LIFECYCLE_EVENTS'
POLLING = 'NODE_STATUS_POLLING'
POLL_URL = 'NODE_STATUS_POLL_URL'
HYPERVISOR = 'HYPERVISOR_STATUS_POLLING'
ANY, ALL = 'ANY_FAILED', 'ALL_FAILED'
RECREATE = 'RECREATE'

#: In the data of a binding: whether the mode LIFECYCLE_EVENTS is on.
DETECTS_EVENTS = 'events'

_DATA = 'health'

_OPTIONS = fragments.closed(
    {
        'poll_url': fragments.text(
            'The URL to poll; {nodename} is replaced by the name of the node.',
            default='',
        ),
        'poll_url_ssl_verify': fragments.flag(
            True, 'Whether to verify the certificate.'
        ),
        'poll_url_conn_error_as_unhealthy': fragments.flag(
            True, 'Whether a node without a response is unhealthy.'
        ),
        'poll_url_healthy_response': fragments.text(
            'A regular expression that the response must match.', default=''
        ),
        'poll_url_retry_limit': fragments.integer(
            3, 'The number of polls before a node is unhealthy.'
        ),
        'poll_url_retry_interval': fragments.seconds(3, 'Seconds between these polls.'),
    },
    description=f'For {POLL_URL}.',
    default={},
)
_DETECTION = fragments.closed(
    {
        'interval': fragments.seconds(60, 'Seconds between two checks.', minimum=1),
        'node_update_timeout': fragments.seconds(
            300, 'Seconds after a change of a node during which it counts as healthy.'
        ),
        'recovery_conditional': fragments.choice(
            [ALL, ANY],
            'Whether all modes, or one, must find a node unhealthy.',
            default=ANY,
        ),
        'detection_modes': {
            'type': 'array',
            'minItems': 1,
            'description': 'The detection modes.',
            'items': fragments.closed(
                {
                    'type': fragments.choice(
                        [EVENTS, POLLING, POLL_URL, HYPERVISOR], 'The way.'
                    ),
                    'options': _OPTIONS,
                },
                'type',
            ),
        },
    },
    'detection_modes',
    description='The detection of unhealthy nodes.',
)
_RECOVERY = fragments.closed(
    {
        'actions': {
            'type': 'array',
            'maxItems': 1,
            'default': [],
            'description': 'The recovery actions; the default is RECREATE.',
            'items': fragments.closed(
                {
                    'name': fragments.choice(
                        ['REBOOT', 'REBUILD', RECREATE], 'The name of the action.'
                    ),
                    'params': {
                        'type': 'object',
                        'default': {},
                        'description': 'Parameters of the operation.',
                    },
                },
                'name',
            ),
        },
        'fencing': {
            'type': 'array',
            'default': [],
            'items': {'enum': ['COMPUTE']},
            'description': 'Whether a server that is recreated is deleted by force: '
            'nova then cannot restore it.',
        },
        'node_delete_timeout': fragments.seconds(
            20, 'Timeout of the deletion of a recreated node, in seconds.'
        ),
        'node_force_recreate': fragments.flag(
            False,
            'Whether a node is recreated even if the old one could not be deleted.',
        ),
    },
    description='The recovery of unhealthy nodes.',
    default={},
)


class Health(Policy):
    """Define the interval and mode of health checks, and the recovery.

    It defines them only. It need not be disabled while a cluster shrinks: checks obey
    the locks of actions.
    """

    description = 'Health checks of nodes, and the recovery of unhealthy ones.'
    priority = 600
    before = frozenset({sizes.RECOVER, sizes.NODE_RECOVER})
    schema: ClassVar[Mapping[str, Any]] = fragments.closed(
        {'detection': _DETECTION, 'recovery': _RECOVERY}, 'detection'
    )
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2018.06'},
        {'version': '1.1', 'status': 'SUPPORTED', 'since': '2018.09'},
        {'version': '1.2', 'status': 'SUPPORTED', 'since': '2020.09'},
    )

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse modes that occur twice, and a missing URL."""
        seen = set()
        for at, mode in enumerate(properties['detection']['detection_modes']):
            place = f'properties.detection.detection_modes.{at}'
            if mode['type'] in seen:
                raise exceptions.InvalidSpec(
                    f'{place}.type: {mode["type"]} may occur only once'
                )
            seen.add(mode['type'])
            if mode['type'] == POLL_URL:
                _check_options(f'{place}.options', mode['options'])

    def attach(self, context: PolicyContext) -> Mapping[str, Any]:
        """Return the settings of the checks to store with the binding.

        LIFECYCLE_EVENTS is no check, and is stored apart from the other modes. Marks of
        nodes count in any case.

        :raises Invalid: the profile type does not support the recovery, or a mode
        """
        for action in context.properties['recovery']['actions']:
            _check_supported(context, action['name'])
        detection = dict(context.properties['detection'])
        modes = {mode['type'] for mode in detection['detection_modes']}
        if HYPERVISOR in modes and not context.supports('check_host'):
            raise exceptions.Invalid(
                f'{HYPERVISOR} is not supported by the profile type {_kind(context)}; '
                f'use {POLLING} or {POLL_URL}'
            )
        detection['detection_modes'] = [
            {**mode, 'options': mode['options'] if mode['type'] == POLL_URL else {}}
            for mode in detection['detection_modes']
            if mode['type'] != EVENTS
        ]
        return {
            'interval': detection['interval'],
            **({DETECTS_EVENTS: True} if EVENTS in modes else {}),
            'detection': detection,
            'recovery': dict(context.properties['recovery']),
        }

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        recovery = context.properties['recovery']
        data[_DATA] = {
            'recover_action': recovery['actions'],
            'fencing': recovery['fencing'],
            'node_delete_timeout': recovery['node_delete_timeout'],
            'node_force_recreate': recovery['node_force_recreate'],
        }


def _check_supported(context: PolicyContext, name: str) -> None:
    if name == RECREATE or name.lower() in context.operations():
        return
    raise exceptions.Invalid(
        f'{name} is not supported by the profile type {_kind(context)}; {RECREATE} is, '
        'by all of them'
    )


def _kind(context: PolicyContext) -> str:
    """Return the profile type of a cluster with its version."""
    spec = context.profile()
    return f'{spec["type"]}-{spec["version"]}'


def _check_options(place: str, options: Mapping[str, Any]) -> None:
    """Refuse options that would find every node unhealthy, or none."""
    url = options['poll_url']
    if not url:
        raise exceptions.InvalidSpec(f'{place}.poll_url: is required for {POLL_URL}')
    if not url.lower().startswith(('http://', 'https://')):
        raise exceptions.InvalidSpec(
            f'{place}.poll_url: must start with http:// or https://'
        )
    desired = options['poll_url_healthy_response']
    try:
        patterns.compiled(desired)
    except patterns.InvalidPattern as error:
        raise exceptions.InvalidSpec(
            f'{place}.poll_url_healthy_response: {error}'
        ) from None
