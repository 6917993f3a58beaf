"""Texts of validation errors in the clustering API.

Clients compare them. Nested values are not repeated: they may be secrets.
"""

from collections.abc import Sequence
from typing import Any

from watcherlite.api import arguments
from watcherlite.api.arguments import BODY, PATCH, NotConverted, Texts, truncate
from watcherlite.domain.documents import json_values

#: Titles of schemas with special texts.
CLUSTERS = 'clusters'
ACTION = 'action of a cluster'
NODE_ACTION = 'action of a node'

_NO_MAP = 'The data provided is not a map'
OPERATION = 'operation of a cluster'
NODE_OPERATION = 'operation of a node'
#: Title of a body with exactly one member -> the word for the member, and the end of
#: the error for none or several.
_ONES = {
    ACTION: ('action', ''),
    NODE_ACTION: ('action', '.'),
    OPERATION: ('operation', ''),
    NODE_OPERATION: ('operation', '.'),
}


class SenlinTexts(Texts):
    """The texts of Senlin."""

    def unknown(self, name: str, arguments: str) -> str:
        shown = f"'{name}'" if arguments == CLUSTERS else name
        return f'Invalid parameter {shown}'

    def missing(self, name: str) -> str:
        if name in _ONES:
            return _exactly_one_text([], *_ONES[name])
        if name in (BODY, PATCH):
            return 'The request requires a body in JSON.'
        return f"Missing parameter '{name}'"

    def not_converted(self, error: NotConverted) -> str:
        if error.kind == 'integer':
            return f"The value for {error.name} must be an integer: '{error.value}'."
        return f"Invalid value '{error.value}' specified for '{error.name}'"

    def invalid(self, error: Any, argument: str) -> str:
        path = [str(part) for part in error.absolute_path]
        keyword, right, value = error.validator, error.validator_value, error.instance
        if argument in _ONES and not path and isinstance(value, dict):
            return _exactly_one_text(list(value), *_ONES[argument])
        name = path[-1] if path else argument
        match keyword:
            case 'required':
                missing = next(one for one in right if one not in value)
                return _missing(missing, path, argument)
            case 'additionalProperties' if right is False:
                return _additional(list(arguments.find_unknown(value, error.schema)))
            case 'type' if right == 'object' or right == ['object', 'null']:
                return _NO_MAP
            case 'type' | 'pattern' if 'integer' in error.schema['type']:
                shown = _format_value(value, path)
                return f"The value for {name} must be an integer: '{shown}'."
            case 'type' | 'pattern' if 'boolean' in error.schema['type']:
                shown = _format_value(value, path)
                return f"Invalid value '{shown}' specified for '{name}'"
            case 'enum':
                return f'Field value {_format_value(value, path)} is invalid'
            case 'minimum':
                return f"Value must be >= {right} for field '{name}'."
            case 'format' if right == 'uuid':
                shown = truncate(str(value))
                return f"The value for {name} is not a valid UUID: '{shown}'."
        return super().invalid(error, argument)


def _format_value(value: Any, path: Sequence[str]) -> str:
    """Return a value for an error, if it is scalar and not nested."""
    if len(path) > 2:
        return f'of {path[-1]}'
    plain = isinstance(value, str | int | float)
    return truncate(str(value)) if plain else json_values.kind(value)


def _exactly_one_text(names: Sequence[str], what: str, dot: str) -> str:
    if not names:
        return f'No {what} specified{dot}'
    if len(names) > 1:
        return f'Multiple {what}s specified{dot}'
    return f"Unrecognized {what} '{truncate(names[0])}' specified"


def _missing(name: str, path: Sequence[str], argument: str) -> str:
    if path:
        return f"'{name}' is a required property"
    if argument == PATCH:
        return f"Malformed request data, missing '{name}' key in request body."
    if argument == BODY:
        return f"Request body missing '{name}' key."
    return f"'{name}' is a required property"


def _additional(names: Sequence[str]) -> str:
    shown = ', '.join(f"'{truncate(name)}'" for name in names)
    verb = 'was' if len(names) == 1 else 'were'
    return f'Additional properties are not allowed ({shown} {verb} unexpected)'
