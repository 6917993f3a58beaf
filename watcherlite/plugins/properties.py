"""The properties of resources: defaults, conversions and validation.

Templates are written by people and filled in from parameters, so a number may be given
as a string. Unambiguous values are converted; all other errors are reported together,
each with its position.
"""

import copy
import json
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import referencing.exceptions

from watcherlite import exceptions
from watcherlite.domain.documents import json_values
from watcherlite.domain.resource_results import Operation, Property
from watcherlite.plugins import schemas
from watcherlite.plugins.base import NestedHandler, ResourceHandler

#: The prefix of the paths of invalid properties.
PLACE = 'properties'
TRUE = frozenset({'1', 'on', 't', 'true', 'y', 'yes'})
FALSE = frozenset({'0', 'off', 'f', 'false', 'n', 'no'})

_COMPILED: 'weakref.WeakKeyDictionary[type, Any]' = weakref.WeakKeyDictionary()
#: Keywords that examine nested values, which may be unknown.
_DEEP = frozenset(
    {'contains', 'const', 'dependentSchemas', 'enum', 'if', 'not', 'uniqueItems'}
)


def fit(
    handler: ResourceHandler | type[ResourceHandler],
    values: Mapping[str, Any],
    *,
    known: bool = True,
) -> dict[str, Any]:
    """Return properties with their defaults, converted according to the schemas.

    A null property counts as not given, unless its schema allows null. One without
    value and default is not in the result.

    :param known: all dependencies exist; else None represents an unknown value, and is
        accepted everywhere
    :raises StackValidationFailed: names every invalid property
    :raises PluginError: the schemas of the handler cannot be used
    """
    kind = handler if isinstance(handler, type) else type(handler)
    try:
        fitted = _convert(_schema(kind), dict(values), known)
        errors = schemas.first_errors(_compiled(kind), fitted)
    except RecursionError:
        raise exceptions.StackValidationFailed(f'{PLACE}: nested too deeply') from None
    except referencing.exceptions.Unresolvable as error:
        raise exceptions.PluginError(f'{_label(kind)} has no {error.ref}') from None
    if not known:
        errors = [error for error in errors if not _depends_on_unknown(error)]
    if errors:
        raise exceptions.StackValidationFailed(schemas.problems(errors, PLACE))
    return fitted


def declaration_problem(kind: type[ResourceHandler]) -> str | None:
    """Return the problem of the declarations of a resource handler, or None."""
    if not isinstance(kind.properties, Mapping):
        return 'its properties are no mapping of a name to a Property'
    for name, declared in kind.properties.items():
        wrong = _property_problem(kind, name, declared)
        if wrong:
            return f'its property {name} {wrong}'
    for attributes in (kind.attributes, kind.live_attributes):
        if not isinstance(attributes, Mapping) or not all(
            isinstance(name, str) and isinstance(text, str)
            for name, text in attributes.items()
        ):
            return 'its attributes are no mapping of a name to a sentence'
    wrong = _operations_problem(kind)
    if wrong:
        return wrong
    if issubclass(kind, NestedHandler):
        missing = [] if kind.expand is not NestedHandler.expand else ['expand']
    else:
        missing = [name for name in ('create', 'delete') if not kind.supports(name)]
    return f'it has no {" and no ".join(missing)}' if missing else None


def _operations_problem(kind: type[ResourceHandler]) -> str | None:
    if not isinstance(kind.operations, Mapping):
        return 'its operations are no mapping of a name to an Operation'
    if kind.operations and not kind.supports('operate'):
        return 'it has operations, but no operate'
    for name, declared in kind.operations.items():
        if not isinstance(name, str) or not isinstance(declared, Operation):
            given = type(declared).__name__
            return f'its operation {name} is a {given}, not an Operation'
        label = 'its schema'
        try:
            schemas.validator_of(declared.schema, label)
        except exceptions.PluginError as error:
            wrong = str(error).removeprefix(f'{label} ')
            return f'its operation {name} {wrong}'
    return None


def _property_problem(
    kind: type[ResourceHandler], name: Any, declared: Any
) -> str | None:
    if not isinstance(name, str) or not isinstance(declared, Property):
        return f'is a {type(declared).__name__}, not a Property'
    label = 'its schema'
    try:
        schemas.validator_of(declared.schema, label)
    except exceptions.PluginError as error:
        return str(error).removeprefix(f'{label} ')
    if declared.updatable and declared.immutable:
        return 'is both updatable and immutable'
    if declared.updatable and not (
        issubclass(kind, NestedHandler) or kind.supports('update')
    ):
        return 'is updatable, but there is no update'
    if 'default' in declared.schema:
        whole = {'type': 'object', 'properties': {name: dict(declared.schema)}}
        given = {name: declared.schema['default']}
        errors = schemas.first_errors(schemas.validator_of(whole, label), given)
        if errors:
            problem = '; '.join(schemas.problems(errors, PLACE))
            return f'has a default that does not fit its schema: {problem}'
    return None


def _schema(kind: type[ResourceHandler]) -> dict[str, Any]:
    declared = kind.properties
    return {
        'type': 'object',
        'properties': {name: dict(p.schema) for name, p in declared.items()},
        'required': [name for name, p in declared.items() if p.required],
        'additionalProperties': kind.allows_undeclared,
    }


def _compiled(kind: type[ResourceHandler]) -> Any:
    validator = _COMPILED.get(kind)
    if validator is None:
        validator = schemas.validator_of(_schema(kind), _label(kind))
        _COMPILED[kind] = validator
    return validator


def _label(kind: type[ResourceHandler]) -> str:
    return f'The schema of {kind.__module__}:{kind.__qualname__}'


def _convert(schema: Any, value: Any, known: bool) -> Any:
    """Return a value with defaults and conversions, recursively."""
    if not isinstance(schema, Mapping):
        return value
    value = converted(value, schema.get('type'))
    if isinstance(value, Mapping):
        return _convert_object(schema, value, known)
    items = schema.get('items')
    if isinstance(value, list | tuple):
        return [_convert(items, item, known) for item in value]
    return value


def _convert_object(
    schema: Mapping[str, Any], given: Mapping[str, Any], known: bool
) -> dict[str, Any]:
    declared = schema.get('properties') or {}
    more = schema.get('additionalProperties')
    fitted = {}
    for name, value in given.items():
        inner = declared.get(name, more)
        if value is None and known and name in declared and not _allows_null(inner):
            continue
        fitted[name] = _convert(inner, value, known)
    for name, inner in declared.items():
        if name not in fitted and isinstance(inner, Mapping) and 'default' in inner:
            fitted[name] = _convert(inner, copy.deepcopy(inner['default']), known)
    return fitted


def _allows_null(schema: Any) -> bool:
    """Return whether null is a valid value."""
    if not isinstance(schema, Mapping):
        return True
    kinds = schema.get('type')
    if kinds is None:
        return 'enum' not in schema or None in schema['enum']
    return kinds == 'null' or 'null' in kinds


def converted(value: Any, kinds: Any) -> Any:
    """Return a value converted to one of the JSON schema types, if unambiguous.

    Values that already have one of the types, and values that cannot be converted, are
    returned unchanged: the schema then reports the error.

    :param kinds: 'integer', or several; None: any
    """
    if value is None or kinds is None:
        return value
    desired = [kinds] if isinstance(kinds, str) else list(kinds)
    if any(_IS[kind](value) for kind in desired if kind in _IS):
        return value
    for kind in desired:
        convert = _CONVERSIONS.get(kind)
        try:
            made = value if convert is None else convert(value)
        except ValueError:
            continue
        if made is not value:
            return made
    return value


def is_of(value: Any, kind: str) -> bool:
    """Return whether a value is of a type of JSON schema."""
    return _IS[kind](value)


def _to_text(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return str(value)
    return value


def _to_boolean(value: Any) -> Any:
    # Includes numbers: environments have no booleans.
    text = str(value).strip().lower() if isinstance(value, str | int) else ''
    if text in TRUE:
        return True
    return False if text in FALSE else value


def _to_integer(value: Any) -> Any:
    number = _to_number(value)
    if isinstance(number, float) and number.is_integer():
        return int(number)
    return number if isinstance(number, int) else value


def _to_number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    # Brackets are skipped: deep nesting would overflow the stack.
    if value.lstrip()[:1] in ('[', '{'):
        return value
    number = json.loads(value.strip())
    fits = _is_number(number) and not any(json_values.problems(number))
    return number if fits else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    'string': _to_text,
    'boolean': _to_boolean,
    'integer': _to_integer,
    'number': _to_number,
}
_IS: Mapping[str, Callable[[Any], bool]] = {
    'string': lambda value: isinstance(value, str),
    'boolean': lambda value: isinstance(value, bool),
    'integer': lambda value: isinstance(value, int) and not isinstance(value, bool),
    'number': _is_number,
    'array': lambda value: isinstance(value, list | tuple),
    'object': lambda value: isinstance(value, Mapping),
    'null': lambda value: value is None,
}


def _depends_on_unknown(error: Any) -> bool:
    """Return whether an error may disappear once all values are known."""
    if error.instance is None:
        return True
    if error.context or error.validator in _DEEP:
        return _has_unknown(error.instance)
    return False


def _has_unknown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_unknown(inner) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(_has_unknown(inner) for inner in value)
    return value is None
