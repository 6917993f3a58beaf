"""The common parts of the strategies that check and repair unhealthy objects."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from watcherlite.domain.solutions import Solution
from watcherlite.plugins import base

LOG = logging.getLogger(__name__)

# The values of the parameter `check`
UNHEALTHY = 'unhealthy'
ALL = 'all'
NONE = 'none'

#: The schema of a parameter with names.
NAMES: Mapping[str, Any] = {
    'type': 'array',
    'items': {'type': 'string', 'minLength': 1},
    'uniqueItems': True,
    'default': [],
}
TENANT: Mapping[str, Any] = {
    'type': ['string', 'null'],
    'default': None,
    'description': 'the project; null: all of them',
}


def check_parameter(nouns: str, repair: str) -> Mapping[str, Any]:
    """Return the schema of the parameter `check`.

    :param nouns: the objects: 'clusters'
    :param repair: their repair: 'recovery'
    """
    return {
        'type': 'string',
        'enum': [UNHEALTHY, ALL, NONE],
        'default': UNHEALTHY,
        'description': f'the {nouns} to check: only unhealthy ones, before their '
        f'{repair}; all; or none',
    }


def without_blockers(
    context: base.StrategyContext, noun: str, objects: Iterable[Any]
) -> Iterator[Any]:
    """Yield the objects that actions may change at present; log the others."""
    for one in objects:
        context.checkpoint()
        if one.blocking_reason is None:
            yield one
        else:
            LOG.info(
                'Audit %s skips %s %s: %s',
                context.audit_uuid,
                noun,
                one.uuid,
                one.blocking_reason,
            )


def add_check(
    solution: Solution,
    check: str,
    one: Any,
    action_type: str,
    inputs: Mapping[str, Any],
    target: str,
) -> list[str]:
    """Add the check of an object if the parameter requires it; return its name.

    :param check: the parameter `check`
    """
    if check == ALL or (check == UNHEALTHY and not one.healthy):
        name = f'check-{one.name}-{one.uuid}'
        return [solution.add_action(action_type, inputs, name=name, target=target)]
    return []
