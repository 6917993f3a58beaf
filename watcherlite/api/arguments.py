"""Validation of the arguments and the body of a request by their schemas.

The errors are those of Watcher. Only values of scalar arguments are repeated: nested
values may be secrets.
"""

import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import jsonschema
import referencing

from watcherlite import exceptions
from watcherlite.api.operation import Schema
from watcherlite.domain.documents import json_values

#: Maximum length of a value that an error repeats.
SHOWN = 120
#: Names in errors of a patch, and of any other body without a title.
PATCH, BODY = 'patch', 'body'

_UUID = re.compile(
    r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', re.IGNORECASE
)
_MAX_ERRORS = 1000
_INTEGER = re.compile(r'[+-]?[0-9]{1,18}')
_BOOLEANS = {
    **dict.fromkeys(('1', 't', 'true', 'on', 'y', 'yes'), True),
    **dict.fromkeys(('0', 'f', 'false', 'off', 'n', 'no'), False),
}
_TYPES = {
    'array': 'a list',
    'boolean': 'true or false',
    'integer': 'a whole number',
    'null': 'null',
    'number': 'a number',
    'object': 'an object',
    'string': 'text',
}
_FORMATS = jsonschema.FormatChecker(())


@_FORMATS.checks('uuid')
def is_uuid(value: object) -> bool:
    """Return whether a text is a uuid, in any case; True for other types."""
    return not isinstance(value, str) or bool(_UUID.fullmatch(value))


class Texts:
    """The texts of validation errors: those of Watcher.

    Other APIs override them.
    """

    def unknown(self, name: str, arguments: str) -> str:
        """Return the error for an unknown argument.

        :param arguments: the title of their schema
        """
        return f'Unknown argument: "{name}"'

    def missing(self, name: str) -> str:
        """Return the error for a missing argument, or a missing body."""
        return f'Missing argument: "{name}"'

    def not_converted(self, error: 'NotConverted') -> str:
        """Return the error for a value of another type."""
        return str(error)

    def invalid(self, error: Any, argument: str) -> str:
        """Return the error for a validation error of jsonschema.

        :param argument: the name of the body
        """
        return _explain(error, argument)


class NotConverted(exceptions.Invalid):
    """An argument of a URL has another type than its schema.

    :ivar kind: the type of the schema: integer, number or boolean
    """

    def __init__(self, name: str, value: str, kind: str, text: str) -> None:
        self.name, self.value, self.kind = name, truncate(value), kind
        super().__init__(text)


WATCHER = Texts()


class Checker:
    """Validator of arguments and bodies by one schema.

    :param name: of the body in errors
    :param texts: the texts of errors
    """

    def __init__(
        self, schema: Schema, name: str = BODY, texts: Texts = WATCHER
    ) -> None:
        self._schema = schema
        self._texts = texts
        self.name = str(schema.get('title', name))
        # An empty registry: the default one fetches references over the network.
        self._validator = jsonschema.Draft202012Validator(
            schema, format_checker=_FORMATS, registry=referencing.Registry()
        )

    def query(self, given: Mapping[str, str | list[str]]) -> dict[str, Any]:
        """Return the arguments of a URL, converted to the types of the schema; Invalid.

        Unknown arguments are rejected, or ignored if the schema allows them. Arguments
        of type array may be repeated.
        """
        known = self._schema.get('properties', {})
        strict = self._schema.get('additionalProperties') is False
        found: dict[str, Any] = {}
        for name, value in given.items():
            if name not in known:
                if not strict:
                    continue
                raise exceptions.Invalid(self._texts.unknown(truncate(name), self.name))
            values = [value] if isinstance(value, str) else value
            kind = known[name]
            if kind.get('type') == 'array':
                found[name] = [self._converted(name, v, kind['items']) for v in values]
                continue
            if strict and len(values) > 1:
                raise exceptions.Invalid(f'The argument "{name}" is given twice')
            found[name] = self._converted(name, values[-1], kind)
        for name in self._schema.get('required', ()):
            if name not in found:
                raise exceptions.Invalid(self._texts.missing(name))
        self._check(found)
        return found

    def body(self, value: Any) -> Any:
        """Validate and return a body; Invalid."""
        self._check(value)
        return value

    def no_body(self) -> exceptions.Invalid:
        """Return the error for a missing body."""
        return exceptions.Invalid(self._texts.missing(self.name))

    def _converted(self, name: str, value: str, schema: Schema) -> Any:
        try:
            return _converted(name, value, schema)
        except NotConverted as error:
            raise exceptions.Invalid(self._texts.not_converted(error)) from None

    def _check(self, value: Any) -> None:
        try:
            # Explaining errors is slow, and each item of a body may have one.
            errors = itertools.islice(self._validator.iter_errors(value), _MAX_ERRORS)
            error = jsonschema.exceptions.best_match(errors)
        except RecursionError:
            raise exceptions.Invalid('The body is nested too deeply') from None
        if error is not None:
            raise exceptions.Invalid(self._texts.invalid(error, self.name))


def parse(data: bytes) -> Any:
    """Return the JSON value of a body; Invalid if it cannot be stored."""
    try:
        value = json.loads(
            data.decode(), parse_constant=_reject_constant, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        reason = getattr(error, 'msg', None)
        where = getattr(error, 'lineno', None)
        what = f': {reason}, line {where}' if reason and where else ''
        raise exceptions.Invalid(f'The body is not valid JSON{what}') from None
    for path, problem in json_values.problems(value):
        place = '.'.join(str(part) for part in path) or 'the body'
        raise exceptions.Invalid(f'{truncate(place)}: {problem}')
    return value


def _reject_constant(name: str) -> float:
    raise ValueError(f'{name} is not a number in JSON')


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError('a number is too large')
    return value


def _converted(name: str, value: str, schema: Schema) -> Any:
    problem = json_values.text_problem(value)
    if problem:
        raise exceptions.Invalid(f'The argument "{name}": {problem}')
    kinds = schema.get('type', 'string')
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        convert = _CONVERSIONS.get(kind)
        if convert is not None:
            return convert(name, value)
    return value


def _integer(name: str, value: str) -> int:
    if not _INTEGER.fullmatch(value.strip()):
        raise _not_converted(
            name, value, 'integer', 'int', 'a whole number is expected'
        )
    return int(value)


def _number(name: str, value: str) -> float:
    try:
        return _finite(value)
    except ValueError:
        raise _not_converted(
            name, value, 'number', 'float', 'a number is expected'
        ) from None


def _boolean(name: str, value: str) -> bool:
    try:
        return _BOOLEANS[value.strip().lower()]
    except KeyError:
        raise _not_converted(
            name, value, 'boolean', 'boolean', 'true or false is expected'
        ) from None


def _not_converted(
    name: str, value: str, kind: str, target_type: str, reason: str
) -> NotConverted:
    text = (
        f"Invalid input for field/attribute {name}. Value: '{truncate(value)}'. "
        f'unable to convert to {target_type}. Error: {reason}'
    )
    return NotConverted(name, value, kind, text)


_CONVERSIONS: Mapping[str, Callable[[str, str], Any]] = {
    'integer': _integer,
    'number': _number,
    'boolean': _boolean,
}


def _explain(error: Any, argument: str) -> str:
    """Return the error for a validation error."""
    # Omit the index of an operation of a patch.
    path = [part for part in error.absolute_path if isinstance(part, str)]
    keyword, right, value = error.validator, error.validator_value, error.instance
    if keyword == 'additionalProperties' and right is False:
        names = list(find_unknown(value, error.schema))
        many = 's' if len(names) > 1 else ''
        place = '.'.join([argument, *path])
        found = truncate(', '.join(names))
        return f'Unknown attribute{many} for argument {place}: {found}'
    if keyword == 'required':
        name = next(name for name in right if name not in value)
        field = '.'.join([*path, name])
        return (
            f"Invalid input for field/attribute {field}. Value: 'None'. Mandatory "
            'field missing.'
        )
    name = '.'.join(path) or argument
    if name == 'limit' and keyword in ('minimum', 'exclusiveMinimum'):
        return 'Limit must be positive'
    if name == 'sort_dir' and keyword == 'enum':
        return (
            f'Invalid sort direction: {truncate(str(value))}. '
            "Acceptable values are 'asc' or 'desc'"
        )
    shown = ''
    if len(path) == 1 and isinstance(value, str | int | float | None):
        shown = f"Value: '{truncate(str(value))}'. "
    return f'Invalid input for field/attribute {name}. {shown}{_rule(error)}'


def _rule(error: Any) -> str:
    keyword, right, value = error.validator, error.validator_value, error.instance
    match keyword:
        case 'type':
            kinds = [right] if isinstance(right, str) else right
            desired = ' or '.join(_TYPES[kind] for kind in kinds)
            return f'It must be {desired} and is {json_values.kind(value)}.'
        case 'enum':
            return f'Value should be one of: {", ".join(str(each) for each in right)}'
        case 'pattern':
            return f'Value should match the pattern {right}'
        case 'format' if right == 'uuid':
            return (
                'unable to convert to uuid. Error: Expected a uuid but received '
                f'{truncate(str(value))}'
            )
        case 'minimum':
            return f'Value should be greater or equal to {right}'
        case 'maximum':
            return f'Value should be lower or equal to {right}'
        case 'minLength' | 'minItems':
            return f'Value should have a minimum length of {right}'
        case 'maxLength' | 'maxItems':
            return f'Value should have a maximum length of {right}'
        case 'minProperties' | 'maxProperties':
            most = 'least' if keyword == 'minProperties' else 'most'
            known = ', '.join(sorted(error.schema.get('properties', ())))
            among = f' of {known}' if known else ''
            return f'It has {len(value)} keys and must have at {most} {right}{among}'
    return f'It breaks the rule {keyword}.'


def find_unknown(value: Mapping[str, Any], schema: Schema) -> Iterator[str]:
    """Return the members of an object that are not in its schema."""
    patterns: Iterable[str] = schema.get('patternProperties', {})
    for name in value:
        if name not in schema.get('properties', {}) and not any(
            re.search(pattern, name) for pattern in patterns
        ):
            yield name


def truncate(text: str) -> str:
    """Return a value truncated for errors."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + '…'


def accepts_json(content_type: str) -> bool:
    """Return whether a media type is JSON or ''."""
    kind = content_type.partition(';')[0].strip().lower()
    return kind in ('', 'application/json') or kind.endswith('+json')
