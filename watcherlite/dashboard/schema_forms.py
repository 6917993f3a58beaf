"""Forms from JSON schemas: the parameters of strategies."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

#: The prefix of the fields of a form.
PREFIX = 'parameter.'


@dataclasses.dataclass(frozen=True, slots=True)
class SchemaField:
    """A field of a form.

    :param kind: of the input: text, number, checkbox, select or json
    :param value: as it is shown
    """

    name: str
    label: str
    kind: str
    value: str
    description: str = ''
    choices: Sequence[str] = ()
    required: bool = False
    minimum: Any = None
    maximum: Any = None


def fields_of(
    schema: Mapping[str, Any], given: Mapping[str, str]
) -> Sequence[SchemaField]:
    """Return the fields for the properties of an object's schema.

    :param given: the fields of the form as they were sent, if it was
    """
    return [
        _field(name, described, name in schema.get('required', ()), given)
        for name, described in schema.get('properties', {}).items()
    ]


def values_of(schema: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the object that a form describes; empty fields are left out.

    A text that is no value of the type of its property stays a text, which the API
    refuses.
    """
    found: dict[str, Any] = {}
    for name, described in schema.get('properties', {}).items():
        kind = _kind(described)
        text = given.get(PREFIX + name, '')
        if kind == 'checkbox':
            found[name] = text == 'on'
        elif text.strip():
            found[name] = text if _is_text(described) else _parse_json(text)
    return found


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _types(described: Mapping[str, Any]) -> set[str]:
    types = described.get('type', ())
    return {types} if isinstance(types, str) else set(types)


def _is_text(described: Mapping[str, Any]) -> bool:
    choices = described.get('enum')
    if choices is not None:
        return all(isinstance(choice, str) for choice in choices)
    return _types(described) == {'string'}


def _kind(described: Mapping[str, Any]) -> str:
    if 'enum' in described:
        return 'select'
    types = _types(described) - {'null'}
    if types == {'boolean'}:
        return 'checkbox'
    if types and types <= {'integer', 'number'}:
        return 'number'
    return 'text' if types == {'string'} else 'json'


def _field(
    name: str, described: Mapping[str, Any], required: bool, given: Mapping[str, str]
) -> SchemaField:
    kind, default = _kind(described), described.get('default')
    if default is None:
        value = ''
    else:
        value = default if isinstance(default, str) else json.dumps(default)
    if given:
        value = given.get(PREFIX + name, '')
    return SchemaField(
        PREFIX + name,
        str(described.get('title') or name),
        kind,
        value,
        str(described.get('description') or ''),
        tuple(
            choice if isinstance(choice, str) else json.dumps(choice)
            for choice in described.get('enum', ())
        ),
        required and kind != 'checkbox',
        described.get('minimum'),
        described.get('maximum'),
    )
