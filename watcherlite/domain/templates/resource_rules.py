"""The hooks and restricted actions that an environment sets for resources.

They are in `resource_registry.resources`, beside the mappings of types. A name may be a
pattern, and an entry for a resource that is a stack contains those for its resources.
"""

import fnmatch
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from watcherlite.domain.documents.plan_values import Findings, quote
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.states import stack as states

#: The keys in the entry of a resource.
HOOKS, RESTRICTED_ACTIONS = 'hooks', 'restricted_actions'
#: The sections of an environment with the entries.
REGISTRY, RESOURCES = 'resource_registry', 'resources'

UPDATE, REPLACE = 'update', 'replace'

_ALLOWED: Mapping[str, tuple[str, ...]] = {
    HOOKS: tuple(states.HOOKED_ACTIONS),
    RESTRICTED_ACTIONS: (UPDATE, REPLACE),
}
KEYS = frozenset(_ALLOWED)
#: Maximum number of patterns in one section: each is matched with all resources.
MAX_PATTERNS = 500
_WILDCARDS = frozenset('*?[')


class ResourceRules:
    """The hooks and restricted actions of the resources of one template."""

    def __init__(self, environment: Mapping[str, Any]) -> None:
        """Use a validated environment."""
        self._exact: dict[str, Mapping[str, Any]] = {}
        self._patterns: list[tuple[re.Pattern[str], Mapping[str, Any]]] = []
        for name, entry in entries_of(environment).items():
            if not isinstance(entry, Mapping) or not KEYS & entry.keys():
                continue
            if is_pattern(name):
                self._patterns.append((re.compile(fnmatch.translate(name)), entry))
            else:
                self._exact[name] = entry

    def __bool__(self) -> bool:
        return bool(self._exact or self._patterns)

    def hooks(self, name: str) -> frozenset[str]:
        """Return the hooks of a resource."""
        return self._values(name, HOOKS)

    def restricted_actions(self, name: str) -> frozenset[str]:
        """Return which of UPDATE and REPLACE an update must not do to a resource."""
        return self._values(name, RESTRICTED_ACTIONS)

    def _values(self, name: str, key: str) -> frozenset[str]:
        return frozenset(
            value for entry in self._entries(name) for value in _listed(entry.get(key))
        )

    def _entries(self, name: str) -> Iterator[Mapping[str, Any]]:
        if name in self._exact:
            yield self._exact[name]
        for pattern, entry in self._patterns:
            if pattern.match(name):
                yield entry


def entries_of(environment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the entries of an environment for single resources, by name or pattern."""
    registry = environment.get(REGISTRY) or {}
    entries: Mapping[str, Any] = registry.get(RESOURCES) or {}
    return entries


def is_pattern(name: str) -> bool:
    """Return whether the name of an entry contains wildcards."""
    return not _WILDCARDS.isdisjoint(name)


def has_hooks(environment: Mapping[str, Any], action: str) -> bool:
    """Return whether resources of a stack, or of its nested stacks, have hooks.

    :param action: CREATE, UPDATE or DELETE
    """
    desired = frozenset(states.HOOKS[action])
    remaining = [entries_of(environment)]
    while remaining:
        for key, value in remaining.pop().items():
            if key == HOOKS and not desired.isdisjoint(_listed(value)):
                return True
            if isinstance(value, Mapping):
                remaining.append(value)
    return False


def check(findings: Findings, path: Path, key: str, value: Any) -> None:
    """Report the problems of the value of a key, HOOKS or RESTRICTED_ACTIONS."""
    allowed = _ALLOWED[key]
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, str) or one not in allowed:
            text = f'{quote(one)} is not one of {", ".join(allowed)}'
            findings.add(path, text)


def check_patterns(findings: Findings, path: Path, names: Collection[str]) -> None:
    """Report too many patterns in the entries of one section."""
    count = sum(map(is_pattern, names))
    if count > MAX_PATTERNS:
        text = f'{count} names have wildcards; at most {MAX_PATTERNS} may have them'
        findings.add(path, text)


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)
