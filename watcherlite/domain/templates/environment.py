"""Environments: parameters, defaults and the resource registry of a template."""

import fnmatch
import json
from collections.abc import Mapping, Sequence
from typing import Any

from watcherlite import exceptions
from watcherlite.domain.documents import json_values
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.plan_values import Findings, check_keys, quote
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.templates import document, formats, resource_rules
from watcherlite.domain.templates.resource_rules import REGISTRY, RESOURCES

_BASE_URL = 'base_url'
#: Keys beside the mappings of types.
_NO_TYPES = frozenset({RESOURCES, _BASE_URL, *resource_rules.KEYS})
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

        :raises StackValidationFailed: the type is disabled, or its mappings are
            circular
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
                    f'resource_registry: the type {here} is disabled; map it to '
                    'another type'
                )
            if found == here:
                return here
            here = found
        raise exceptions.StackValidationFailed(
            f'resource_registry: the type {resource_type} has a cyclic mapping; '
            'remove a part of it'
        )


class _Types:
    """The mappings of one section of a registry."""

    def __init__(self, written: Any) -> None:
        self._exact: dict[str, str] = {}
        self._prefixes: dict[str, str] = {}
        entries = written.items() if isinstance(written, Mapping) else ()
        for name, target in entries:
            if name in _NO_TYPES or isinstance(target, Mapping):
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
            resource_rules.check_patterns(findings, (*path, name), target)
            for resource, types in target.items():
                _check_resource(findings, (*path, name, resource), types)
        else:
            _check_type(findings, (*path, name), target)


def _check_resource(findings: Findings, path: Path, written: Any) -> None:
    if not isinstance(written, Mapping):
        text = f'this is {kind(written)}; it must be a mapping of types'
        findings.add(path, text)
        return
    inner = [name for name, value in written.items() if isinstance(value, Mapping)]
    resource_rules.check_patterns(findings, path, inner)
    for name, target in written.items():
        if name in resource_rules.KEYS:
            resource_rules.check(findings, (*path, name), name, target)
        elif isinstance(target, Mapping):
            # The entries for the resources of a nested stack.
            _check_resource(findings, (*path, name), target)
        else:
            _check_type(findings, (*path, name), target)


def _check_type(findings: Findings, path: Path, target: Any) -> None:
    if target is not None and not isinstance(target, str):
        text = f'this is {kind(target)}; it must be the name of a type or of a template'
        findings.add(path, text)


PARAMETERS, DEFAULTS = 'parameters', 'parameter_defaults'
STRATEGIES = 'parameter_merge_strategies'
SINKS, ENCRYPTED = 'event_sinks', 'encrypted_param_names'
SECTIONS = (PARAMETERS, DEFAULTS, REGISTRY, STRATEGIES, SINKS, ENCRYPTED)

OVERWRITE, MERGE, DEEP_MERGE = 'overwrite', 'merge', 'deep_merge'
_LISTS = (SINKS, ENCRYPTED)


def load(written: object, name: str = 'environment') -> dict[str, Any]:
    """Return a validated environment without its null sections.

    :param written: a mapping, YAML or JSON text, or None
    :param name: of its file, for messages
    :raises StackValidationFailed: with all problems
    """
    if isinstance(written, str):
        written = document.parse(written, name) if written.strip() else {}
    if written is None:
        return {}
    if not isinstance(written, Mapping):
        raise exceptions.StackValidationFailed(
            f'{name}: this is {kind(written)}; it must be a mapping like '
            '{parameters: {}}'
        )
    if not isinstance(written, dict):
        written = dict(written)
    impossible = list(json_values.problems(written))
    findings = Findings()
    if not impossible:
        _check(findings, written)
    found = impossible or findings.problems
    if found:
        lines = document.located_lines(written, found)
        raise exceptions.StackValidationFailed(
            lines
            if isinstance(written, document.Document)
            else [f'{name}: {line}' for line in lines]
        )
    return {key: value for key, value in written.items() if value is not None}


def _check(findings: Findings, written: dict[str, Any]) -> None:
    check_keys(findings, (), written, SECTIONS)
    for key in SECTIONS:
        value = written.get(key)
        desired = list if key in _LISTS else dict
        if value is not None and not isinstance(value, desired):
            noun = 'list' if desired is list else 'mapping'
            findings.add((key,), f'this is {kind(value)}; it must be a {noun}')
        elif key == REGISTRY and isinstance(value, dict):
            check(findings, (key,), value)
        elif key == STRATEGIES and isinstance(value, dict):
            for name, strategy in value.items():
                if strategy not in (OVERWRITE, MERGE, DEEP_MERGE):
                    known = f'{OVERWRITE}, {MERGE}, {DEEP_MERGE}'
                    text = f'{quote(strategy)} is not one of {known}'
                    findings.add((key, name), text)


def merge(
    environment: object,
    files: Mapping[str, str] | None = None,
    environment_files: Sequence[str] | None = None,
    template: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return several environments merged; later ones override earlier ones.

    :param environment: the first one: a mapping, text, or None
    :param environment_files: names among the files of the others, in order
    :param template: parsed; for the types of merged parameters
    :raises StackValidationFailed: an environment is invalid
    """
    merged = load(environment)
    types = _types(template)
    for name in environment_files or ():
        text = (files or {}).get(name) if isinstance(name, str) else None
        if text is None:
            raise exceptions.StackValidationFailed(
                f'environment_files: there is no {quote(name)} among the files; send '
                'its text in files'
            )
        merged = _merge_parameters(merged, load(text, name), types)
    return merged


def _merge_parameters(
    before: Mapping[str, Any], after: Mapping[str, Any], types: Mapping[str, str]
) -> dict[str, Any]:
    found = dict(before)
    strategies = after.get(STRATEGIES) or {}
    for key, value in after.items():
        if key in (PARAMETERS, DEFAULTS):
            values = dict(found.get(key) or {})
            for name, given in value.items():
                strategy = strategies.get(name, strategies.get('default', OVERWRITE))
                values[name] = _merge_values(
                    values.get(name), given, strategy, types.get(name)
                )
            found[key] = values
        elif key == REGISTRY:
            found[key] = _deep_merge(found.get(key) or {}, value)
        elif key == ENCRYPTED:
            found[key] = list(dict.fromkeys([*(found.get(key) or ()), *value]))
        elif key == SINKS:
            found[key] = [*(found.get(key) or ()), *value]
        elif key != STRATEGIES:
            found[key] = value
    return found


def _merge_values(before: Any, after: Any, strategy: str, desired: str | None) -> Any:
    """Return the merged value of a parameter with two values."""
    if strategy == OVERWRITE or before is None:
        return after
    if after is None:
        return before
    one, other = _parse_value(before, desired), _parse_value(after, desired)
    if isinstance(one, dict) and isinstance(other, dict):
        return _deep_merge(one, other) if strategy == DEEP_MERGE else one | other
    if isinstance(one, list) and isinstance(other, list):
        return one + other
    if isinstance(one, str) and isinstance(other, str) and desired == 'string':
        return one + other
    return after


def _parse_value(value: Any, desired: str | None) -> Any:
    """Return the value of a text by the type of the parameter."""
    if not isinstance(value, str):
        return value
    if desired == 'comma_delimited_list':
        return [part.strip() for part in value.split(',')] if value else []
    if desired == 'json':
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return value if next(json_values.problems(found), None) else found
    return value


def _deep_merge(before: Any, after: Any) -> Any:
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return after
    found = dict(before)
    for key, value in after.items():
        found[key] = _deep_merge(found[key], value) if key in found else value
    return found


def _types(template: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the types of the parameters of a template, which may be invalid."""
    written = formats.format_of(template)
    types = {name: term for term, name in written.types.items()}
    declared = formats.mapping_section(template, PARAMETERS)
    return {
        name: types.get(str(parameter.get(written.key('type'))), '')
        for name, parameter in declared.items()
        if isinstance(parameter, Mapping)
    }


def complete(environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return an environment with all sections that clients expect, empty or not."""
    registry = environment.get(REGISTRY) or {}
    return {
        PARAMETERS: {},
        DEFAULTS: {},
        SINKS: [],
        **environment,
        REGISTRY: {RESOURCES: {}, **registry},
    }


def nested(environment: Mapping[str, Any], resource_name: str) -> dict[str, Any]:
    """Return the environment of a nested stack.

    It has no parameters; `resource_registry.resources` has what the entries for the
    resource contain. The entry with its exact name overrides those with patterns.
    """
    found = {key: environment[key] for key in (DEFAULTS,) if environment.get(key)}
    types = environment.get(REGISTRY)
    if types:
        inner: dict[str, Any] = {}
        for entry in _entries_for(types.get(RESOURCES) or {}, resource_name):
            inner = _deep_merge(inner, entry)
        members = {k: v for k, v in inner.items() if isinstance(v, Mapping)}
        found[REGISTRY] = {k: v for k, v in types.items() if k != RESOURCES}
        if members:
            found[REGISTRY][RESOURCES] = members
    return found


def _entries_for(entries: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the entries for a resource, the one with its exact name last."""
    found = [
        entry
        for pattern, entry in entries.items()
        if pattern != name
        and resource_rules.is_pattern(pattern)
        and fnmatch.fnmatchcase(name, pattern)
    ]
    return [*found, entries[name]] if entries.get(name) else found
