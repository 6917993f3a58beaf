"""The resource registry of an environment: handlers and templates of types."""

from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.document_values import Findings
from watcherlite.domain.json_values import kind
from watcherlite.domain.yaml_values import Path

#: The key of the mappings for single resources.
RESOURCES = 'resources'
_BASE_URL = 'base_url'
#: Unsupported keys that would pause or restrict operations.
_REFUSED = {
    'hooks': 'hooks are not supported; remove them',
    'restricted_actions': (
        'restricted actions are not supported; lock the stack to protect resources'
    ),
}
#: Maximum length of a chain of mappings.
_MAX_HOPS = 20


class Registry:
    """The mapping of the types of a template."""

    def __init__(self, environment: Mapping[str, Any]) -> None:
        written = environment.get('resource_registry') or {}
        self._all = _Types(written)
        self._single: dict[str, _Types] = {}
        self._prefixes: list[tuple[str, _Types]] = []
        for name, types in (written.get(RESOURCES) or {}).items():
            if name.endswith('*'):
                self._prefixes.append((name[:-1], _Types(types)))
            else:
                self._single[name] = _Types(types)
        self._known: dict[str, str] = {}

    def type_of(self, resource_name: str, resource_type: str) -> str:
        """Return the name of the handler or template of a type.

        :raises StackValidationFailed: it is switched off, or stands for itself by a
            detour
        """
        sources = [types for types in (self._single.get(resource_name),) if types]
        sources += [
            t for prefix, t in self._prefixes if resource_name.startswith(prefix)
        ]
        if sources:
            return self._resolved([*sources, self._all], resource_type)
        known = self._known.get(resource_type)
        if known is None:
            known = self._resolved([self._all], resource_type)
            self._known[resource_type] = known
        return known

    def _resolved(self, sources: list['_Types'], resource_type: str) -> str:
        here = resource_type
        for _ in range(_MAX_HOPS):
            found = next((t for s in sources for t in s.find(here)), here)
            if not found:
                raise exceptions.StackValidationFailed(
                    f'resource_registry: the type {here} is switched off; let it stand '
                    'for another one'
                )
            if found == here:
                return here
            here = found
        raise exceptions.StackValidationFailed(
            f'resource_registry: the type {resource_type} stands for others without an '
            'end; let the last one stand for none'
        )


class _Types:
    """The mappings of one section of a registry."""

    def __init__(self, written: Any) -> None:
        self._exact: dict[str, str] = {}
        self._prefixes: dict[str, str] = {}
        entries = written.items() if isinstance(written, Mapping) else ()
        for name, target in entries:
            if name in (RESOURCES, _BASE_URL) or isinstance(target, Mapping):
                continue
            if name.endswith('*'):
                self._prefixes[name[:-1]] = target or ''
            else:
                self._exact[name] = target or ''
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)

    def find(self, name: str) -> list[str]:
        """Return the mapping of a type, empty if there is none."""
        if name in self._exact:
            return [self._exact[name]]
        for length in self._lengths:
            target = self._prefixes.get(name[:length])
            if target is None or len(name) < length:
                continue
            if target.endswith('*'):
                return [target[:-1] + name[length:]]
            return [target]
        return []


def check(findings: Findings, path: Path, written: Mapping[str, Any]) -> None:
    """Report the problems of a registry."""
    for name, target in written.items():
        if name == RESOURCES:
            if target is None:
                continue
            if not isinstance(target, Mapping):
                text = f'this is {kind(target)}; it must be a mapping of resources'
                findings.add((*path, name), text)
                continue
            for resource, types in target.items():
                _check_resource(findings, (*path, name, resource), types)
        else:
            _check_type(findings, (*path, name), target)


def _check_resource(findings: Findings, path: Path, written: Any) -> None:
    if not isinstance(written, Mapping):
        text = f'this is {kind(written)}; it must be a mapping of types'
        findings.add(path, text)
        return
    for name, target in written.items():
        if name in _REFUSED:
            findings.add((*path, name), _REFUSED[name])
        elif isinstance(target, Mapping):
            # The mappings for the resources of a nested stack.
            _check_resource(findings, (*path, name), target)
        else:
            _check_type(findings, (*path, name), target)


def _check_type(findings: Findings, path: Path, target: Any) -> None:
    if isinstance(target, Mapping):
        known = [name for name in target if name in _REFUSED]
        for name in known:
            findings.add((*path, name), _REFUSED[name])
        if known:
            return
    if target is not None and not isinstance(target, str):
        text = f'this is {kind(target)}; it must be the name of a type or of a template'
        findings.add(path, text)
