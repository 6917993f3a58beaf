"""Templates in which the values of some parameters are unknown."""

from collections.abc import Mapping
from typing import Any

from watcherlite.domain.templates import document

#: A placeholder for an unknown parameter, by the type of the parameter.
_NEUTRAL: Mapping[str, Any] = {
    'string': '',
    'number': 0,
    'boolean': False,
    'json': {},
    'comma_delimited_list': '',
}
#: Functions whose argument must name something that exists.
_NAMING = ('get_file', 'get_resource', 'get_attr')


def mask_unknown(written: Any, value: Any, unknown: frozenset[str]) -> Any:
    """Return a value with None in place of what depends on unknown parameters.

    :param written: the value as the template has it
    """
    if not depends_on_unknown(written, unknown):
        return value
    match written, value:
        case dict(), dict() if value.keys() <= written.keys():
            return {k: mask_unknown(written[k], v, unknown) for k, v in value.items()}
        case list(), list() if len(written) == len(value):
            pairs = zip(written, value, strict=True)
            return [mask_unknown(raw, inner, unknown) for raw, inner in pairs]
    return None


def depends_on_unknown(written: Any, unknown: frozenset[str]) -> bool:
    """Return whether a value depends on resources or on unknown parameters."""
    if isinstance(written, dict):
        if len(written) == 1:
            ((name, given),) = written.items()
            if name in ('get_resource', 'get_attr'):
                return True
            if name == 'get_param':
                first = given[0] if isinstance(given, list) and given else given
                return isinstance(first, str) and first in unknown
        return any(depends_on_unknown(inner, unknown) for inner in written.values())
    if isinstance(written, list):
        return any(depends_on_unknown(inner, unknown) for inner in written)
    return False


def relax_template(
    template: Mapping[str, Any], unknown: frozenset[str]
) -> dict[str, Any]:
    """Return a template that accepts any value for its unknown parameters."""
    declared = dict(template['parameters'])
    for name in unknown:
        one = declared.get(name)
        kind = one.get('type') if isinstance(one, Mapping) else None
        if isinstance(kind, str) and kind in _NEUTRAL:
            declared[name] = {'type': kind, 'default': _NEUTRAL[kind]}
    conditions = _unknown_conditions(template.get('conditions'), unknown)
    found = document.Document({**template, 'parameters': declared})
    if isinstance(template.get('conditions'), dict):
        known = template['conditions']
        found['conditions'] = {n: n in conditions or v for n, v in known.items()}
    for section in ('resources', 'outputs'):
        if isinstance(template.get(section), dict):
            found[section] = {
                name: _without_condition(
                    _without_unknown_names(written, unknown), conditions, unknown
                )
                for name, written in template[section].items()
            }
    found.markup = getattr(template, 'markup', None)
    return found


def _unknown_conditions(written: Any, unknown: frozenset[str]) -> frozenset[str]:
    """Return the names of the conditions that depend on unknown parameters."""
    found: set[str] = set()
    before = -1
    while isinstance(written, dict) and before != len(found):
        before = len(found)
        found |= {
            name
            for name, value in written.items()
            if depends_on_unknown(value, unknown) or _names_condition(value, found)
        }
    return frozenset(found)


def _names_condition(written: Any, names: frozenset[str] | set[str]) -> bool:
    if isinstance(written, dict):
        return any(_names_condition(inner, names) for inner in written.values())
    if isinstance(written, list):
        return any(_names_condition(inner, names) for inner in written)
    return isinstance(written, str) and written in names


def _without_condition(
    written: Any, conditions: frozenset[str], unknown: frozenset[str]
) -> Any:
    """Return a resource or output without its condition, if that is unknown."""
    if not isinstance(written, dict) or 'condition' not in written:
        return written
    condition = written['condition']
    if not (
        depends_on_unknown(condition, unknown)
        or _names_condition(condition, conditions)
    ):
        return written
    return {key: value for key, value in written.items() if key != 'condition'}


def _without_unknown_names(written: Any, unknown: frozenset[str]) -> Any:
    """Return a value with None in place of names that are unknown."""
    if isinstance(written, dict):
        if len(written) == 1:
            ((name, given),) = written.items()
            if name in _NAMING and _names_unknown(given, unknown):
                return None
        return {
            name: _without_unknown_names(inner, unknown)
            for name, inner in written.items()
        }
    if isinstance(written, list):
        return [_without_unknown_names(inner, unknown) for inner in written]
    return written


def _names_unknown(given: Any, unknown: frozenset[str]) -> bool:
    """Return whether the name that a function takes is unknown."""
    parts = given if isinstance(given, list) else [given]
    return any(
        isinstance(part, dict) and depends_on_unknown(part, unknown) for part in parts
    )
