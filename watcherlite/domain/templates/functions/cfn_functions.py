"""The functions of templates of AWS, which are named Ref or Fn::..."""

import dataclasses
import functools
import json
import re
from collections.abc import Mapping
from typing import Any

from watcherlite.domain.documents import json_values
from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.templates import facade
from watcherlite.domain.templates.formats import CFN
from watcherlite.domain.templates.functions import (
    collection_functions,
    lookup_functions,
    text_functions,
)
from watcherlite.domain.templates.functions.function import (
    Function,
    Operator,
    any_shape,
    choice_shape,
    list_shape,
    name_shape,
)
from watcherlite.domain.templates.functions.text_functions import as_list
from watcherlite.domain.templates.nodes import Referent
from watcherlite.domain.templates.scope import VALUE, EvaluationError, Scope

#: The availability zones of every region: that of Nova unless it is configured.
ZONES = ('nova',)
_INDEX = re.compile(r'-?\d{1,9}', re.ASCII)
#: Mappings: name -> key -> name of a value -> value.
Mappings = Mapping[str, Mapping[str, Mapping[str, Any]]]


def find_in_map(mappings: Mappings, given: Any, scope: Scope) -> Any:
    """Return a value of a mapping of the template."""
    found: Any = mappings
    nouns = ('mapping', 'key', 'value')
    for noun, step in zip(nouns, as_list(given, 'its arguments', 3, 3), strict=True):
        if isinstance(step, (int, float)) and not isinstance(step, bool):
            step = str(step)
        if not isinstance(step, str):
            text = f'the name of the {noun} is {kind(step)}; it must be text'
            raise EvaluationError(text)
        if step not in found:
            raise EvaluationError(
                f'the mapping has no such {noun}; add it to Mappings'
                if noun != 'mapping'
                else 'there is no mapping of that name; add it to Mappings'
            )
        found = found[step]
    return scope.copy(found)


def availability_zones(given: Any, scope: Scope) -> list[str]:
    """Return the availability zones of a region."""
    return list(ZONES)


def select(given: Any, scope: Scope) -> Any:
    """Return an item of a list or mapping, or of its JSON; '' if there is none."""
    index, values = as_list(given, 'its arguments', 2, 2)
    if isinstance(values, str) and values:
        scope.spend(len(values))
        values = _parse(values)
    if values is None or values == '':
        return ''
    if isinstance(values, dict):
        if not isinstance(index, str):
            raise EvaluationError(f'its index is {kind(index)}; it must be a key')
        return scope.copy(values.get(index, ''))
    items = as_list(values, 'the values to select from')
    if isinstance(index, str) and _INDEX.fullmatch(index):
        index = int(index)
    if isinstance(index, bool) or not isinstance(index, int):
        raise EvaluationError(f'its index is {kind(index)}; it must be a number')
    return scope.copy(items[index]) if -len(items) <= index < len(items) else ''


def _parse(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise EvaluationError(
            'the text to select from is not JSON; give it a list or a mapping'
        ) from None
    for _, problem in json_values.problems(value):
        raise EvaluationError(f'the text to select from: {problem}')
    return value


def join(given: Any, scope: Scope) -> str | None:
    """Join the elements of a list."""
    return text_functions.list_join(as_list(given, 'its arguments', 2, 2), scope)


def split(given: Any, scope: Scope) -> list[str] | str | None:
    """Split a text at a delimiter."""
    return text_functions.str_split(as_list(given, 'its arguments', 2, 2), scope)


def replace(given: Any, scope: Scope) -> str | None:
    """Replace names in a text by values."""
    params, text = as_list(given, 'its arguments', 2, 2)
    return text_functions.str_replace({'template': text, 'params': params}, scope)


def base64(given: Any, scope: Scope) -> str | None:
    """Return a text unchanged: Nova encodes the user data itself."""
    if given is not None and not isinstance(given, str):
        raise EvaluationError(f'its argument is {kind(given)}; it must be text')
    return given


def member_list_to_map(given: Any, scope: Scope) -> dict[str, str]:
    """Return the mapping of the pairs in a list of `.member.NUMBER.NAME=TEXT`."""
    key_name, value_name, members = as_list(given, 'its arguments', 3, 3)
    if not isinstance(key_name, str) or not isinstance(value_name, str):
        raise EvaluationError('the names of the key and the value must be text')
    pairs: dict[str, dict[str, str]] = {}
    for member in as_list(members or [], 'the members'):
        if not isinstance(member, str):
            raise EvaluationError(f'a member is {kind(member)}; it must be text')
        scope.spend(VALUE + len(member))
        path, _, text = member.partition('=')
        before, _, name = path.rpartition('.')
        if before.startswith('.member.'):
            pairs.setdefault(before, {})[name] = text
    found: dict[str, str] = {}
    for pair in pairs.values():
        if key_name not in pair or value_name not in pair:
            raise EvaluationError(
                'a member lacks its key or its value; write both, like '
                '.member.0.Name=a and .member.0.Value=b'
            )
        found[pair[key_name]] = pair[value_name]
    return found


def _attribute_shape(written: Any) -> str | None:
    usage = 'Fn::GetAtt: [NAME, ATTRIBUTE] or NAME.ATTRIBUTE'
    if isinstance(written, str):
        name, _, attribute = written.partition('.')
        return None if name and attribute else f'it names no attribute; write {usage}'
    problem = list_shape(usage, 2, 2)(written)
    if problem is None and not isinstance(written, list):
        problem = f'its arguments are {kind(written)}, not a list; write {usage}'
    return problem


def _attribute_path(written: Any) -> Any:
    """Return the name of the resource and of its attribute as a list."""
    if not isinstance(written, str):
        return written
    name, _, attribute = written.partition('.')
    return [name, attribute]


#: The parts of a facade by their names in templates of AWS.
_FACADE = {CFN.key(part): part for part in facade.PARTS}
_REF = 'Ref: NAME'
REF = Function(
    'Ref',
    'The value of a parameter, or the reference of a resource.',
    name_shape(_REF),
    lookup_functions.get_resource,
    refers=Referent.RESOURCE,
    pure=False,
    otherwise=Function(
        'Ref',
        'The value of a parameter.',
        name_shape(_REF),
        lookup_functions.get_param,
        refers=Referent.PARAMETER,
        pure=False,
    ),
)
#: Functions that return values, in all versions.
FUNCTIONS = (
    REF,
    Function(
        'Fn::GetAtt',
        'An attribute of a resource of the stack.',
        _attribute_shape,
        lookup_functions.get_attr,
        refers=Referent.ATTRIBUTE,
        pure=False,
        rewrite=_attribute_path,
    ),
    Function(
        facade.CFN_KEY,
        'A part of the resource that the stack is in its parent.',
        choice_shape(facade.CFN_KEY, *_FACADE),
        lookup_functions.resource_facade,
        pure=False,
        rewrite=_FACADE.get,
    ),
    Function(
        'Fn::FindInMap',
        'A value of a mapping in the section Mappings.',
        list_shape('Fn::FindInMap: [MAPPING, KEY, NAME]', 3, 3),
        functools.partial(find_in_map, {}),
    ),
    Function(
        'Fn::GetAZs',
        'The availability zones of a region: nova, whatever the region.',
        any_shape,
        availability_zones,
    ),
    Function(
        'Fn::Select',
        'An item of a list by its index, or of a mapping by its key.',
        list_shape('Fn::Select: [INDEX, LIST]', 2, 2),
        select,
    ),
    Function(
        'Fn::Join',
        'The elements of a list as one text, with a delimiter between them.',
        list_shape("Fn::Join: [', ', [a, b]]", 2, 2),
        join,
    ),
    Function(
        'Fn::Split',
        'The parts of a text between delimiters.',
        list_shape("Fn::Split: [',', TEXT]", 2, 2),
        split,
    ),
    Function(
        'Fn::Replace',
        'A text with values in the place of names.',
        list_shape("Fn::Replace: [{$name: world}, 'to $name']", 2, 2),
        replace,
    ),
    Function(
        'Fn::Base64',
        'The same text: user data is encoded when it is sent.',
        any_shape,
        base64,
    ),
    Function(
        'Fn::MemberListToMap',
        'A mapping of the pairs in a list of numbered keys and values.',
        list_shape(
            "Fn::MemberListToMap: [Name, Value, ['.member.0.Name=a', "
            "'.member.0.Value=b']]",
            3,
            3,
        ),
        member_list_to_map,
    ),
)
#: The function for values in versions with conditions.
IF = Function(
    'Fn::If',
    'One of two values, as a condition has it.',
    list_shape('Fn::If: [CONDITION, VALUE, OTHERWISE]', 3, 3),
    operator=Operator.IF,
)
#: Functions that return conditions: in the section Conditions.
CONDITION_FUNCTIONS = (
    Function(
        'Fn::Equals',
        'Whether two values are the same.',
        list_shape('Fn::Equals: [ONE, OTHER]', 2, 2),
        collection_functions.equals,
    ),
    Function(
        'Fn::Not',
        'Whether a condition does not hold.',
        list_shape('Fn::Not: [CONDITION]', 1, 1),
        operator=Operator.NOT,
    ),
    Function(
        'Fn::And',
        'Whether all conditions hold.',
        list_shape('Fn::And: [ONE, OTHER]', 2),
        operator=Operator.AND,
    ),
    Function(
        'Fn::Or',
        'Whether at least one condition holds.',
        list_shape('Fn::Or: [ONE, OTHER]', 2),
        operator=Operator.OR,
    ),
)
#: Unsupported functions: name -> alternative.
MISSING: Mapping[str, str] = {
    'Fn::Sub': 'use Fn::Replace',
    'Fn::ImportValue': 'pass the value as a parameter',
}


def with_mappings(mappings: Mappings) -> tuple[Function, ...]:
    """Return the functions that return values, for a template with mappings."""
    call = functools.partial(find_in_map, mappings)
    return tuple(
        dataclasses.replace(f, call=call) if f.name == 'Fn::FindInMap' else f
        for f in FUNCTIONS
    )
