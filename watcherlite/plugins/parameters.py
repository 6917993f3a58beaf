"""The validation of the parameters of strategies and the indicators of goals."""

import copy
from collections.abc import Mapping
from typing import Any

import referencing.exceptions

from watcherlite import exceptions
from watcherlite.domain.solutions import IndicatorSpecification
from watcherlite.plugins import schemas

#: The prefix of the paths of invalid parameters.
PLACE = 'parameters'


def fill(spec: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return validated parameters with the defaults of their schema.

    Parameters that the schema does not name are refused, even if the schema allows
    others, as in Watcher.

    :param spec: the schema; one without properties allows no parameter
    :raises InvalidInput: names every offending parameter as a path
    :raises PluginError: the schema cannot be used
    """
    properties = spec.get('properties') or {}
    unknown = sorted(str(name) for name in given if name not in properties)
    if unknown:
        known = ', '.join(sorted(properties)) or 'none'
        raise exceptions.InvalidInput(
            f'Audit parameter {", ".join(unknown)} are not allowed; known: {known}'
        )
    filled = _with_defaults(spec, copy.deepcopy(dict(given)))
    _check({'type': 'object', **spec}, filled, PLACE, 'The schema of the parameters')
    return filled


def check_indicator(specification: IndicatorSpecification, value: object) -> None:
    """Raise InvalidInput if an indicator violates its specification."""
    name = specification.name
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise exceptions.InvalidInput(f'The indicator {name} is not a number')
    label = f'The schema of the indicator {name}'
    _check(specification.schema, value, f'indicator {name}', label)


def _with_defaults(spec: Any, value: Any) -> Any:
    """Fill in the defaults of objects, outer ones first."""
    if not isinstance(spec, Mapping) or not isinstance(value, dict):
        return value
    for name, inner in (spec.get('properties') or {}).items():
        if not isinstance(inner, Mapping):
            continue
        if name not in value and 'default' in inner:
            value[name] = copy.deepcopy(inner['default'])
        if name in value:
            value[name] = _with_defaults(inner, value[name])
    return value


def _check(spec: Mapping[str, Any], value: Any, place: str, label: str) -> None:
    validator = schemas.validator_of(spec, label)
    try:
        errors = schemas.first_errors(validator, value)
    except RecursionError:
        raise exceptions.InvalidInput(f'{place}: nested too deeply') from None
    except referencing.exceptions.Unresolvable as error:
        raise exceptions.PluginError(f'{label} has no {error.ref}') from None
    if errors:
        raise exceptions.InvalidInput('; '.join(schemas.problems(errors, place)))
