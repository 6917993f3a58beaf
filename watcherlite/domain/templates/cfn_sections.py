"""The sections of templates of AWS that have no equal in HOT."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.plan_values import Findings, check_keys, quote
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.templates import constraints, definitions
from watcherlite.domain.templates.constraints import Constraint
from watcherlite.domain.templates.formats import CFN

_RANGES = {
    constraints.RANGE: ('MinValue', 'MaxValue'),
    constraints.LENGTH: ('MinLength', 'MaxLength'),
}
_VALUES = {constraints.VALUES: 'AllowedValues', constraints.PATTERN: 'AllowedPattern'}
_DESCRIPTION = 'ConstraintDescription'
_KEYS = (
    'Type',
    'Label',
    'Description',
    'Default',
    'NoEcho',
    *(key for keys in _RANGES.values() for key in keys),
    *_VALUES.values(),
    _DESCRIPTION,
)
_TYPES = {written: name for name, written in CFN.types.items()}


def parameter(
    findings: Findings, path: Path, name: str, written: Any
) -> definitions.ParameterDefinition:
    """Return a parameter; report problems, and use string for an invalid type."""
    if not isinstance(written, dict):
        text = f'this is {kind(written)}; it must be a mapping like {{Type: String}}'
        findings.add(path, text)
        return definitions.ParameterDefinition(name, definitions.STRING)
    check_keys(findings, path, written, _KEYS)
    if name.startswith('AWS::') or not name:
        findings.add(
            path, 'the names AWS::... are those of pseudo parameters; rename it'
        )
    type_name = _type(findings, path, name, written)
    found = definitions.ParameterDefinition(
        name,
        type_name or definitions.STRING,
        label=definitions.text_at(findings, path, written, 'Label'),
        description=definitions.text_at(findings, path, written, 'Description') or '',
        default=written.get('Default'),
        hidden=definitions.flag(findings, (*path, 'NoEcho'), written.get('NoEcho')),
    )
    if type_name is None:
        return found
    rules = _rules(findings, path, written, type_name)
    return definitions.with_constraints(
        findings,
        found,
        rules,
        rules_path=(*path, 'AllowedValues'),
        default_path=(*path, 'Default'),
    )


def _type(
    findings: Findings, path: Path, name: str, written: Mapping[str, Any]
) -> str | None:
    """Return the type of a parameter by its name in HOT; None if it is invalid."""
    given = written.get('Type')
    if isinstance(given, str) and given in _TYPES:
        return _TYPES[given]
    what = 'Missing parameter type for parameter: ' + name
    if 'Type' in written:
        what = f'{quote(given)} is no type of a parameter'
    findings.add((*path, 'Type'), f'{what}; write one of {", ".join(_TYPES)}')
    return None


def _rules(
    findings: Findings, path: Path, written: Mapping[str, Any], type_name: str
) -> list[Constraint]:
    """Return the constraints of a parameter; allowed values as they are written."""
    text = definitions.text_at(findings, path, written, _DESCRIPTION) or ''
    found: list[Constraint] = []
    for name, keys in _RANGES.items():
        given = {key: written[key] for key in keys if written.get(key) is not None}
        place = (*path, next(iter(given), keys[0]))
        if not given or not constraints.is_applicable(findings, place, name, type_name):
            continue
        whole = name == constraints.LENGTH
        limits = constraints.numbers(findings, path, given, keys, whole=whole)
        if limits is not None:
            names = dict(zip(keys, ('min', 'max'), strict=True))
            settings = {names[key]: limit for key, limit in limits.items()}
            found.append(Constraint(name, settings, text))
    for name, key in _VALUES.items():
        place = (*path, key)
        if written.get(key) is None:
            continue
        if not constraints.is_applicable(findings, place, name, type_name):
            continue
        value = constraints.settings(findings, place, name, written[key])
        if value is not None:
            found.append(Constraint(name, value, text))
    return found


def mappings(
    findings: Findings, written: Mapping[str, Any]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the section Mappings, without its invalid parts."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name, keys in written.items():
        path = ('Mappings', name)
        if not isinstance(keys, dict):
            findings.add(path, f'this is {kind(keys)}; it must be a mapping of keys')
            continue
        found[name] = {}
        for key, values in keys.items():
            if isinstance(values, dict):
                found[name][key] = values
            else:
                text = f'this is {kind(values)}; it must be a mapping of values'
                findings.add((*path, key), text)
    return found
