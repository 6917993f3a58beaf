"""The declarations of a template: parameters, resources and outputs."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

from watcherlite.domain.documents import json_values
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.documents.plan_values import Findings, check_keys, quote
from watcherlite.domain.documents.yaml_values import Path
from watcherlite.domain.templates import constraints
from watcherlite.domain.templates.constraints import Constraint
from watcherlite.domain.templates.formats import HOT
from watcherlite.domain.templates.nodes import Static, ValueNode

TYPES = tuple(HOT.types)
STRING, NUMBER, BOOLEAN, JSON, LIST = TYPES

_KEYS = (
    'type',
    'label',
    'description',
    'default',
    'hidden',
    'immutable',
    'tags',
    'constraints',
)
_TRUE = frozenset({'t', 'true', 'on', 'y', 'yes', '1'})
_FALSE = frozenset({'f', 'false', 'off', 'n', 'no', '0'})


class InvalidValue(Exception):
    """A value does not have the type of its parameter."""


@dataclasses.dataclass(frozen=True, slots=True)
class ParameterDefinition:
    """A declared parameter.

    :param default: not evaluated; None: no default
    :param hidden: its value must never be shown
    :param immutable: an update must not change its value
    """

    name: str
    type: str
    label: str | None = None
    description: str = ''
    default: Any = None
    hidden: bool = False
    immutable: bool = False
    tags: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()

    def fitted(self, value: Any) -> Any:
        """Return a value of the type of the parameter.

        :raises InvalidValue: it is invalid; the message omits the value
        """
        found = converted(self.type, value)
        problems = [c.problem(found, self.hidden) for c in self.constraints]
        text = '; '.join(problem for problem in problems if problem)
        if text:
            raise InvalidValue(text)
        return found


def converted(parameter_type: str, value: Any) -> Any:
    """Return a value converted to a type; raises InvalidValue."""
    return _CONVERTERS[parameter_type](value)


def _string(value: Any) -> str:
    if isinstance(value, (dict, list)) or value is None:
        raise InvalidValue(f'it is {kind(value)} and must be text')
    text = str(value)
    problem = json_values.text_problem(text)
    if problem:
        raise InvalidValue(problem)
    return text


def _number(value: Any) -> int | float:
    number = constraints.number_of(value)
    if number is None:
        raise InvalidValue('it must be a number')
    return number


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, (str, int)):
        text = str(value).strip().lower()
        if text in _TRUE:
            return True
        if text in _FALSE:
            return False
    raise InvalidValue('it must be true or false')


def _json(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else {}
        except (ValueError, RecursionError):
            raise InvalidValue(
                'it must be a mapping or a list, or either as JSON'
            ) from None
    if not isinstance(value, (dict, list)):
        raise InvalidValue(f'it is {kind(value)} and must be a mapping or a list')
    for path, text in json_values.problems(value):
        raise InvalidValue(f'within it, {len(path)} levels deep: {text}')
    return value


def _list(value: Any) -> list[str]:
    if isinstance(value, str):
        return [part.strip() for part in _string(value).split(',')] if value else []
    if isinstance(value, list):
        return [_string(part) for part in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [str(value)]
    raise InvalidValue(f'it is {kind(value)} and must be text with commas, or a list')


_CONVERTERS = {
    STRING: _string,
    NUMBER: _number,
    BOOLEAN: _boolean,
    JSON: _json,
    LIST: _list,
}


def read(
    findings: Findings, path: Path, name: str, written: Any
) -> ParameterDefinition:
    """Return a parameter; report problems, and use string for an invalid type."""
    if not isinstance(written, dict):
        text = f'this is {kind(written)}; it must be a mapping like {{type: string}}'
        findings.add(path, text)
        return ParameterDefinition(name, STRING)
    check_keys(findings, path, written, _KEYS)
    if name.startswith('OS::') or not name:
        findings.add(
            path, 'the names OS::... are those of pseudo parameters; rename it'
        )
    parameter_type = _type(findings, path, name, written)
    found = ParameterDefinition(
        name,
        parameter_type or STRING,
        label=text_at(findings, path, written, 'label'),
        description=text_at(findings, path, written, 'description') or '',
        default=written.get('default'),
        hidden=flag(findings, (*path, 'hidden'), written.get('hidden')),
        immutable=flag(findings, (*path, 'immutable'), written.get('immutable')),
        tags=_tags(findings, (*path, 'tags'), written.get('tags')),
    )
    if parameter_type is None:
        return found
    place = (*path, 'constraints')
    rules = constraints.read(findings, place, written.get('constraints'), found.type)
    return with_constraints(
        findings, found, rules, rules_path=place, default_path=(*path, 'default')
    )


def _type(
    findings: Findings, path: Path, name: str, written: Mapping[str, Any]
) -> str | None:
    """Return the type of a parameter; None if it is invalid."""
    parameter_type = written.get('type')
    if parameter_type in TYPES:
        return str(parameter_type)
    what = 'Missing parameter type for parameter: ' + name
    if 'type' in written:
        what = f'{quote(parameter_type)} is no type of a parameter'
    findings.add((*path, 'type'), f'{what}; write one of {", ".join(TYPES)}')
    return None


def with_constraints(
    findings: Findings,
    found: ParameterDefinition,
    rules: Iterable[Constraint],
    *,
    rules_path: Path,
    default_path: Path,
) -> ParameterDefinition:
    """Return a parameter with its constraints, which its default has to meet.

    :param rules: with allowed values as they are written
    """
    found = dataclasses.replace(
        found,
        constraints=tuple(
            _typed(findings, rules_path, found.type, rule)
            if rule.kind == constraints.VALUES
            else rule
            for rule in rules
        ),
    )
    if found.default is not None:
        try:
            found.fitted(found.default)
        except InvalidValue as error:
            findings.add(default_path, f'Invalid default: {error}')
    return found


def _typed(
    findings: Findings, path: Path, parameter_type: str, rule: Constraint
) -> Constraint:
    """Return a constraint with its allowed values converted to the type."""
    element = STRING if parameter_type == LIST else parameter_type
    values = []
    for value in rule.settings['value']:
        try:
            values.append(converted(element, value))
        except InvalidValue as error:
            findings.add(path, f'allowed_values: one is no {element}: {error}')
    return dataclasses.replace(rule, settings={'value': values})


def text_at(
    findings: Findings, path: Path, written: Mapping[str, Any], key: str
) -> str | None:
    """Return the text of a key; None if there is none."""
    value = written.get(key)
    if isinstance(value, (dict, list)):
        findings.add((*path, key), f'this is {kind(value)}; it must be text')
        return None
    return None if value is None else str(value)


def flag(findings: Findings, path: Path, value: Any) -> bool:
    """Return a value that is true or false; null is false."""
    if value is None:
        return False
    try:
        return _boolean(value)
    except InvalidValue as error:
        findings.add(path, str(error))
        return False


def _tags(findings: Findings, path: Path, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
        findings.add(path, 'this must be a list of texts')
        return ()
    return tuple(value)


DELETE, RETAIN = 'Delete', 'Retain'
_NOTHING = Static(None)


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceNodes:
    """The compiled parts of a resource.

    :param condition: None: no condition
    :param external_id: None: constant
    """

    properties: ValueNode = _NOTHING
    metadata: ValueNode = _NOTHING
    update_policy: ValueNode = _NOTHING
    condition: ValueNode | None = None
    external_id: ValueNode | None = None


_NO_NODES = ResourceNodes()


@dataclasses.dataclass(frozen=True, slots=True)
class ResourceDefinition:
    """A declared resource; `properties` and the other parts are not evaluated.

    :param depends_on: names of resources, in addition to references
    :param deletion_policy: DELETE or RETAIN
    :param external_id: the id of an existing resource, which is not created
    """

    name: str
    type: str
    properties: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    metadata: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    deletion_policy: str = DELETE
    update_policy: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    condition: Any = None
    description: str = ''
    external_id: str | None = None
    nodes: ResourceNodes = dataclasses.field(
        default=_NO_NODES, repr=False, compare=False
    )


@dataclasses.dataclass(frozen=True, slots=True)
class OutputDefinition:
    """A declared output.

    :param value: not evaluated
    """

    key: str
    value: Any
    description: str = ''
    condition: Any = None
    node: ValueNode = dataclasses.field(default=_NOTHING, repr=False, compare=False)
    condition_node: ValueNode | None = dataclasses.field(
        default=None, repr=False, compare=False
    )
