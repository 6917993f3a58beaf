"""What the clustering API says of arguments and bodies that are refused.

Clients compare these texts. Of a value that lies deep in a body nothing is told: it
may be a secret.
"""

from collections.abc import Sequence
from typing import Any

from watcherlite.api import arguments
from watcherlite.api.arguments import BODY, PATCH, NotConverted, Texts, cut

#: The titles of schemas that clients know other texts for.
CLUSTERS = 'clusters'
ACTION = 'action of a cluster'
NODE_ACTION = 'action of a node'

_NO_MAP = 'The data provided is not a map'
#: Action -> what ends what is said of there being none of them, or several.
_ACTIONS = {ACTION: '', NODE_ACTION: '.'}


class Senlin(Texts):
    """As clients of Senlin know it."""

    def unknown(self, name: str, arguments: str) -> str:
        """Return the refusal of an argument that there is not."""
        shown = f"'{name}'" if arguments == CLUSTERS else name
        return f'Invalid parameter {shown}'

    def missing(self, name: str) -> str:
        """Return the refusal of a request without an argument, or without a body."""
        if name in _ACTIONS:
            return f'No action specified{_ACTIONS[name]}'
        if name in (BODY, PATCH):
            return 'The request needs a body, which is JSON.'
        return f"Missing parameter '{name}'"

    def not_converted(self, error: NotConverted) -> str:
        """Return the refusal of a value that is none of its type."""
        if error.kind == 'integer':
            return f"The value for {error.name} must be an integer: '{error.value}'."
        return f"Invalid value '{error.value}' specified for '{error.name}'"

    def broken(self, error: Any, argument: str) -> str:
        """Return the refusal that a validation error of jsonschema stands for."""
        path = [str(part) for part in error.absolute_path]
        keyword, right, value = error.validator, error.validator_value, error.instance
        if argument in _ACTIONS and not path and isinstance(value, dict):
            return _not_one(list(value), error.schema, _ACTIONS[argument])
        name = path[-1] if path else argument
        match keyword:
            case 'required':
                missing = next(one for one in right if one not in value)
                return _missing(missing, path, argument)
            case 'additionalProperties' if right is False:
                return _additional(list(arguments.unknown(value, error.schema)))
            case 'type' if right == 'object' or right == ['object', 'null']:
                return _NO_MAP
            case 'enum':
                shown = cut(str(value)) if len(path) <= 2 else f'of {name}'
                return f'Field value {shown} is invalid'
            case 'minimum':
                return f"Value must be >= {right} for field '{name}'."
            case 'format' if right == 'uuid':
                shown = cut(str(value))
                return f"The value for {name} is not a valid UUID: '{shown}'."
        return super().broken(error, argument)


def _not_one(names: Sequence[str], schema: Any, dot: str) -> str:
    if not names:
        return f'No action specified{dot}'
    if len(names) > 1:
        return f'Multiple actions specified{dot}'
    return f"Unrecognized action '{cut(names[0])}' specified"


def _missing(name: str, path: Sequence[str], argument: str) -> str:
    if path:
        return f"'{name}' is a required property"
    if argument == PATCH:
        return f"Malformed request data, missing '{name}' key in request body."
    if argument == BODY:
        return f"Request body missing '{name}' key."
    return f"'{name}' is a required property"


def _additional(names: Sequence[str]) -> str:
    shown = ', '.join(f"'{cut(name)}'" for name in names)
    verb = 'was' if len(names) == 1 else 'were'
    return f'Additional properties are not allowed ({shown} {verb} unexpected)'
