"""The policy that selects the nodes to remove."""

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib import parse

from watcherlite import exceptions
from watcherlite.domain import capacity
from watcherlite.plugins.base import Policy, PolicyContext
from watcherlite.plugins.policies import fragments, sizes

_PROPERTIES: Mapping[str, Any] = {
    'criteria': fragments.choice(
        list(capacity.CRITERIA),
        'The order in which healthy nodes are removed.',
        default=capacity.RANDOM,
    ),
    'destroy_after_deletion': fragments.flag(
        True, 'Whether a removed node is deleted.'
    ),
    'grace_period': fragments.seconds(
        0, 'Seconds between the decision and the deletion.'
    ),
    'reduce_desired_capacity': fragments.flag(
        True, 'Whether the desired capacity is reduced.'
    ),
}
_WEBHOOK, _ZAQAR = 'webhook', 'zaqar'
_DATA = 'hooks'
_HOOKS = fragments.closed(
    {
        'type': fragments.choice(
            [_ZAQAR, _WEBHOOK],
            f'The type of notification; {_ZAQAR} is accepted by clients, and refused '
            'here.',
            default=_ZAQAR,
        ),
        'params': fragments.closed(
            {
                'queue': fragments.text(f'Of {_ZAQAR}.', default=''),
                'url': fragments.text(
                    f'The URL for {_WEBHOOK}: receives a POST for each node.',
                    default='',
                ),
            },
            description='The parameters of the notification.',
            default={},
        ),
        'timeout': fragments.seconds(
            0,
            'Seconds after which a node is removed even if its hook was not completed.',
        ),
    },
    description='A notification before the removal of a node, which may delay it.',
)


class Deletion(Policy):
    """Select the nodes to remove.

    Unhealthy and tainted nodes are removed first, then nodes that were never created;
    the criteria order the others. The numbers per region and zone decided by other
    policies are respected.
    """

    description = 'The selection and the removal of nodes.'
    priority = 400
    before = frozenset(
        {sizes.SCALE_IN, sizes.DEL_NODES, sizes.RESIZE, sizes.NODE_DELETE}
    )
    schema: ClassVar[Mapping[str, Any]] = fragments.closed(_PROPERTIES)
    support_status: ClassVar = (
        {'version': '1.0', 'status': 'SUPPORTED', 'since': '2016.04'},
    )

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        count = -sizes.change(context, data)
        if count < 0 or (count == 0 and context.action_type == sizes.RESIZE):
            return
        decided = data.get(sizes.DELETION) or {}
        candidates = decided.get('candidates')
        if candidates is None:
            candidates = self._candidates(context, count, decided)
        properties = context.properties
        # A request for particular nodes may specify whether they are deleted.
        destroy = properties['destroy_after_deletion']
        destroy = context.inputs.get('destroy_after_deletion', destroy)
        data[sizes.DELETION] = {
            **decided,
            'count': len(candidates),
            'candidates': candidates,
            'destroy_after_deletion': destroy,
            'grace_period': properties['grace_period'],
            'reduce_desired_capacity': properties['reduce_desired_capacity'],
        }

    def _candidates(
        self, context: PolicyContext, count: int, decided: Mapping[str, Any]
    ) -> list[str]:
        if context.node is not None:
            return [context.node.uuid]
        if context.inputs.get('candidates'):
            return list(context.inputs['candidates'])
        criteria, profiles = context.properties['criteria'], context.profiles()
        return sizes.victims(
            context, count, decided, criteria=criteria, profiles=profiles
        )


class HookedDeletion(Deletion):
    """The deletion policy with the property `hooks`.

    The engine sends the notifications, see `engine.clusters.lifecycle_hooks`.
    """

    schema: ClassVar[Mapping[str, Any]] = fragments.closed(
        {**_PROPERTIES, 'hooks': _HOOKS}
    )
    support_status: ClassVar = (
        {'version': '1.1', 'status': 'SUPPORTED', 'since': '2018.01'},
    )

    def validate(self, properties: Mapping[str, Any]) -> None:
        """Refuse hooks that cannot be delivered."""
        hooks = _hooks(properties)
        if hooks is None:
            return
        if hooks['type'] != _WEBHOOK:
            raise exceptions.InvalidSpec(
                f'properties.hooks.type: {_ZAQAR} is not supported; use {_WEBHOOK}'
            )
        if not _is_http(hooks['params']['url']):
            raise exceptions.InvalidSpec(
                'properties.hooks.params.url: is required, and starts with http:// '
                'or https://'
            )

    def pre_op(self, context: PolicyContext, data: dict[str, Any]) -> None:
        super().pre_op(context, data)
        hooks = _hooks(context.properties)
        if hooks is not None and sizes.DELETION in data:
            data[_DATA] = dict(hooks)


def _hooks(properties: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the hooks if there are any: clients write {} for none."""
    hooks: Mapping[str, Any] = properties.get(_DATA) or {}
    is_empty = hooks.get('type', _ZAQAR) == _ZAQAR and not any(
        (hooks.get('params') or {}).values()
    )
    return None if is_empty else hooks


def _is_http(url: str) -> bool:
    try:
        parts = parse.urlsplit(url)
        # An invalid port raises.
        is_fit = bool(parts.hostname) and parts.port != 0
        return is_fit and parts.scheme in ('http', 'https')
    except ValueError:
        return False
