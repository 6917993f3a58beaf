"""The validation of inputs against JSON schemas, with readable messages.

A message contains the position, the value, and what is expected. A value is omitted if
its key looks like that of a secret.
"""

import difflib
import itertools
import json
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jsonschema
import referencing
import referencing.exceptions
import referencing.jsonschema

from watcherlite import exceptions
from watcherlite.conf import masking
from watcherlite.plugins import options
from watcherlite.plugins.base import ActionType
from watcherlite.plugins.redaction import is_secret_name

#: The prefix of the paths of invalid keys.
PLACE = 'input_parameters'
#: More messages would not help.
MAX_PROBLEMS = 10
#: The maximum number of errors to find: each takes time, and a long list may have one
#: for every item.
MAX_ERRORS = 1000
_VALUE_LENGTH = 60

#: Keywords whose value is data, in which a `$ref` is not a reference.
_DATA = frozenset({'const', 'default', 'enum', 'examples'})
_COMPILED: 'weakref.WeakKeyDictionary[type, Any]' = weakref.WeakKeyDictionary()
_EMPTY: Any = referencing.Registry()
#: Classes of validators, each with the text of a schema that is one to it
_PASSED: set[tuple[type, str]] = set()

_TYPES = {
    'array': 'a list',
    'boolean': 'true or false',
    'integer': 'a whole number',
    'null': 'null',
    'number': 'a number',
    'object': 'an object',
    'string': 'a string',
}


def validate_inputs(action_type: ActionType | type[ActionType], inputs: Any) -> None:
    """Validate inputs against the schema, then by the type's own `validate`.

    :param action_type: an instance; a class is used with its default options
    :raises InvalidInput: names every offending key as a path
    :raises PluginError: the schema is invalid or refers to other documents, or
        `validate` raised another exception than InvalidInput
    """
    kind = action_type if isinstance(action_type, type) else type(action_type)
    if isinstance(inputs, Mapping) and not isinstance(inputs, dict):
        inputs = dict(inputs)
    try:
        errors = first_errors(compiled(kind), inputs)
    except RecursionError:
        raise exceptions.InvalidInput(f'{PLACE}: nested too deeply') from None
    except referencing.exceptions.Unresolvable as error:
        raise _invalid_schema(_label(kind), f'it has no {error.ref}') from None
    if errors:
        raise exceptions.InvalidInput('; '.join(problems(errors)))
    if kind.supports('validate'):
        instance = (
            kind(options.standalone_group(kind))
            if isinstance(action_type, type)
            else action_type
        )
        _validate(instance, inputs)


def first_errors(validator: Any, value: Any) -> list[Any]:
    """Return the errors of a validator for a value, up to a limit."""
    return list(itertools.islice(validator.iter_errors(value), MAX_ERRORS))


def compiled(kind: type[ActionType]) -> Any:
    """Return the validator of a type's schema, cached.

    :raises PluginError: see `validate_inputs`
    """
    validator = _COMPILED.get(kind)
    if validator is None:
        validator = _COMPILED[kind] = validator_of(kind.schema, _label(kind))
    return validator


def validator_of(schema: Mapping[str, Any], label: str) -> Any:
    """Return a validator that does not fetch references.

    :param label: the name of the schema in messages
    :raises PluginError: see `validate_inputs`
    """
    try:
        made = jsonschema.validators.validator_for(
            schema, default=jsonschema.Draft202012Validator
        )
        _check_once(made, schema)
    except jsonschema.SchemaError as error:
        place = ''.join(f'.{part}' for part in error.absolute_path)
        raise _invalid_schema(label, f'schema{place}: {error.message}') from None
    except Exception as error:
        raise _invalid_schema(label, f'{type(error).__name__}: {error}') from error
    _check_references(schema, label)
    # An empty registry: the default one would fetch from the network.
    return made(schema, registry=_EMPTY)


def _check_references(schema: Mapping[str, Any], label: str) -> None:
    references = list(_references(schema))
    if not references:
        return
    resource = referencing.jsonschema.DRAFT202012.create_resource(schema)
    registry = _EMPTY.with_resource('', resource)
    for ref in references:
        if not ref.startswith('#'):
            raise _invalid_schema(
                label,
                f'it refers to {ref}; only references into the schema itself, such '
                'as #/$defs/name, are followed',
            )
        try:
            registry.resolver('').lookup(ref)
        except referencing.exceptions.Unresolvable:
            raise _invalid_schema(label, f'it has no {ref}') from None


def _check_once(made: Any, schema: Mapping[str, Any]) -> None:
    """Check a schema, unless an equal one has passed; raises SchemaError."""
    # Most are as short as {'type': 'string'}, and of many properties.
    key = (made, repr(schema))
    if key not in _PASSED:
        made.check_schema(dict(schema))
        _PASSED.add(key)


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key in ('$ref', '$dynamicRef') and isinstance(value, str):
                yield value
            elif key not in _DATA:
                yield from _references(value)
    elif isinstance(schema, list | tuple):
        for value in schema:
            yield from _references(value)


def _label(kind: type[ActionType]) -> str:
    return f'The schema of {kind.__module__}:{kind.__qualname__}'


def _invalid_schema(label: str, reason: str) -> exceptions.PluginError:
    return exceptions.PluginError(f'{label} is not usable: {reason}')


def _validate(instance: ActionType, inputs: Mapping[str, Any]) -> None:
    try:
        instance.validate(inputs)
    except exceptions.InvalidInput:
        raise
    except (Exception, SystemExit) as error:
        kind = type(instance)
        raise exceptions.PluginError(
            f'{kind.__module__}:{kind.__qualname__} cannot check its inputs: its '
            f'validate() raised {type(error).__name__}'
        ) from error


def problems(errors: Iterable[Any], root: str = PLACE) -> list[str]:
    """Return one line for each problem in validation errors.

    :param root: the prefix of the paths
    """
    found = []
    ordered = sorted(errors, key=lambda e: [str(part) for part in e.absolute_path])
    for error in ordered:
        # Of several alternatives, the closest one, if there is any.
        nearest = jsonschema.exceptions.best_match([error]) if error.context else error
        if nearest is not None and nearest.context:
            found.append(
                ' or '.join(t for e in nearest.context for t in _explain(e, root))
            )
        else:
            found += list(_explain(nearest, root))
    unique = list(dict.fromkeys(found))
    if len(unique) > MAX_PROBLEMS:
        more = len(unique) - MAX_PROBLEMS
        return [*unique[:MAX_PROBLEMS], f'and {more} more problems']
    return unique


def _explain(error: Any, root: str) -> Iterator[str]:
    """Yield one line for each problem in a validation error."""
    keyword, right, instance = error.validator, error.validator_value, error.instance
    place = '.'.join([root, *(str(part) for part in error.absolute_path)])
    value = _format_value(instance, error.absolute_path)
    match keyword:
        case 'required':
            for key in right:
                if key not in instance:
                    yield f'{place}.{key}: is required'
        case 'additionalProperties' | 'unevaluatedProperties' if right is False:
            yield from _unknown_keys(place, instance, error.schema)
        case 'type':
            kinds = [right] if isinstance(right, str) else list(right)
            desired = ' or '.join(_TYPES.get(kind, kind) for kind in kinds)
            yield f'{place}: {value} is not {desired}'
        case 'minimum':
            yield f'{place}: {value} is less than the minimum of {right}'
        case 'maximum':
            yield f'{place}: {value} is greater than the maximum of {right}'
        case 'exclusiveMinimum':
            yield f'{place}: {value} is not greater than {right}'
        case 'exclusiveMaximum':
            yield f'{place}: {value} is not less than {right}'
        case 'enum':
            choices = ', '.join(json.dumps(choice) for choice in right)
            yield f'{place}: {value} is none of {choices}'
        case 'const':
            yield f'{place}: {value} is not {json.dumps(right)}'
        case 'pattern':
            meaning = error.schema.get('description')
            hint = f' ({meaning})' if meaning else ''
            yield f'{place}: {value} does not match {right}{hint}'
        case 'minLength' | 'minItems' | 'minProperties':
            count = f'{len(instance)} {_unit(keyword)}'
            yield f'{place}: has {count}, at least {right} needed'
        case 'maxLength' | 'maxItems' | 'maxProperties':
            count = f'{len(instance)} {_unit(keyword)}'
            yield f'{place}: has {count}, at most {right} allowed'
        case 'uniqueItems':
            yield f'{place}: has the same item twice'
        case None:
            yield f'{place}: {value} must not be there'
        case _:
            rule = _truncate(json.dumps(right, default=str))
            yield f'{place}: {value} breaks the rule {keyword}: {rule}'


def _unknown_keys(place: str, instance: Any, schema: Any) -> Iterator[str]:
    known = sorted(schema.get('properties', ()))
    patterns = schema.get('patternProperties', {})
    for key in itertools.islice(sorted(str(key) for key in instance), MAX_ERRORS):
        if key in known or any(_matches(pattern, key) for pattern in patterns):
            continue
        near = difflib.get_close_matches(key, known, n=1)
        if near:
            yield f'{place}.{key}: is not known, did you mean {near[0]}?'
        else:
            yield f'{place}.{key}: is not known (known: {", ".join(known) or "none"})'


def _matches(pattern: str, key: str) -> bool:
    probe = {'type': 'string', 'pattern': pattern}
    return bool(jsonschema.Draft202012Validator(probe).is_valid(key))


def _unit(keyword: str) -> str:
    return {'Length': 'characters', 'Items': 'items', 'Properties': 'keys'}[keyword[3:]]


def _format_value(value: Any, path: Iterable[Any]) -> str:
    """Return a value for a message, or a description of it."""
    if any(is_secret_name(part) for part in path if isinstance(part, str)):
        return masking.MASK
    if isinstance(value, Mapping):
        return 'an object'
    if isinstance(value, list | tuple):
        return 'a list'
    if isinstance(value, str):
        return _truncate(json.dumps(masking.mask_text(value), ensure_ascii=False))
    return _truncate(json.dumps(value, default=str))


def _truncate(text: str) -> str:
    return text if len(text) <= _VALUE_LENGTH else text[: _VALUE_LENGTH - 1] + '…'
