"""Dependencies that follow from the types of resources, as templates rely on them.

A port takes its address from a subnet of its network, although it only refers to the
network. The subnets of the template must therefore exist before the port, and be
deleted after it.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

from watcherlite.domain.templates.definitions import ResourceDefinition

_NETWORK = (('network',), ('network_id',))
_ROUTER = (('router',), ('router_id',))
_GATEWAY = (('external_gateway_info', 'network'),)


@dataclasses.dataclass(frozen=True, slots=True)
class ImpliedDependency:
    """Resources of one type depend on those of another with an equal property.

    :param paths: of the property; `*` is any item of a list. Without paths they depend
        on every resource of the other type
    """

    type: str
    paths: tuple[tuple[str, ...], ...]
    other: str
    other_paths: tuple[tuple[str, ...], ...]


RULES = (
    ImpliedDependency('OS::Neutron::Port', _NETWORK, 'OS::Neutron::Subnet', _NETWORK),
    ImpliedDependency('OS::Neutron::Router', _GATEWAY, 'OS::Neutron::Subnet', _NETWORK),
    ImpliedDependency(
        'OS::Nova::Server',
        (('networks', '*', 'network'), ('networks', '*', 'uuid')),
        'OS::Neutron::Subnet',
        _NETWORK,
    ),
    ImpliedDependency(
        'OS::Neutron::FloatingIP',
        (('floating_network',), ('floating_network_id',)),
        'OS::Neutron::Router',
        _GATEWAY,
    ),
    ImpliedDependency(
        'OS::Neutron::FloatingIP',
        (('floating_network',), ('floating_network_id',)),
        'OS::Neutron::RouterGateway',
        _NETWORK,
    ),
    ImpliedDependency(
        'OS::Neutron::RouterGateway', _NETWORK, 'OS::Neutron::Subnet', _NETWORK
    ),
    # An interface is deleted after the floating IPs, which need the gateway.
    ImpliedDependency(
        'OS::Neutron::RouterGateway', _ROUTER, 'OS::Neutron::RouterInterface', _ROUTER
    ),
    # Only an interface connects the port with the external network.
    ImpliedDependency(
        'OS::Neutron::FloatingIP', (), 'OS::Neutron::RouterInterface', ()
    ),
    ImpliedDependency(
        'OS::Neutron::FloatingIPAssociation', (), 'OS::Neutron::RouterInterface', ()
    ),
)
_OTHERS = frozenset(rule.other for rule in RULES)


def add(
    resources: Mapping[str, ResourceDefinition],
    types: Mapping[str, str],
    requires: Mapping[str, tuple[str, ...]],
) -> dict[str, tuple[str, ...]]:
    """Return the dependencies with the implied ones that cause no cycle.

    :param types: of the resources, as the registry of the environment maps them
    """
    found = dict(requires)
    if _OTHERS.isdisjoint(types.values()):
        return found
    for name, other in _candidates(resources, types):
        if other not in found[name] and not _reaches(found, other, name):
            found[name] = tuple(sorted({*found[name], other}))
    return found


def _candidates(
    resources: Mapping[str, ResourceDefinition], types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a resource and one that it depends on by a rule."""
    by_type: dict[str, list[str]] = {}
    for name, kind in types.items():
        by_type.setdefault(kind, []).append(name)
    for rule in RULES:
        by_value: dict[str, list[str]] = {}
        for other in by_type.get(rule.other, ()):
            for value in _values(resources[other].properties, rule.other_paths):
                by_value.setdefault(value, []).append(other)
        if not by_value:
            continue
        for name in by_type.get(rule.type, ()):
            for value in _values(resources[name].properties, rule.paths):
                for other in by_value.get(value, ()):
                    yield name, other


def _values(
    properties: Mapping[str, Any], paths: tuple[tuple[str, ...], ...]
) -> Iterator[str]:
    """Yield the values at the paths as texts: references are compared as written."""
    if not paths:
        yield ''
    for path in paths:
        for value in _at(properties, path):
            if value not in (None, ''):
                yield json.dumps(value, sort_keys=True, default=str)


def _at(value: Any, path: tuple[str, ...]) -> Iterator[Any]:
    if not path:
        yield value
        return
    if path[0] == '*':
        if isinstance(value, list):
            for item in value:
                yield from _at(item, path[1:])
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _at(value[path[0]], path[1:])


def _reaches(requires: Mapping[str, tuple[str, ...]], name: str, target: str) -> bool:
    """Return whether a resource depends on another, directly or not."""
    seen, todo = {name}, [name]
    while todo:
        here = todo.pop()
        if here == target:
            return True
        for other in requires.get(here, ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return False
