"""The functions of templates: names, shapes of arguments, and first versions."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.templates import (
    collection_functions,
    lookup_functions,
    text_functions,
    versions,
)
from watcherlite.domain.templates.scope import Scope

#: Returns the problem of arguments that are not evaluated, or None.
Shape = Callable[[Any], str | None]


def any_shape(written: Any) -> str | None:
    """Accept all arguments: they are validated after the evaluation."""
    return None


def list_shape(usage: str, least: int, most: int | None = None) -> Shape:
    """Return the shape of a list with a number of elements.

    :param usage: an example for the message
    """

    def check(written: Any) -> str | None:
        if isinstance(written, dict) and len(written) == 1:
            return None  # a function that may give one
        if not isinstance(written, list):
            return f'its arguments are {kind(written)}, not a list; write {usage}'
        count = len(written)
        if count < least or (most is not None and count > most):
            desired = f'{least} or more' if most is None else f'{least} to {most}'
            desired = str(least) if least == most else desired
            return f'it has {count} arguments, not {desired}; write {usage}'
        return None

    return check


def name_shape(usage: str) -> Shape:
    """Return the shape of a name, or a function for it."""

    def check(written: Any) -> str | None:
        if (isinstance(written, str) and written) or _is_function(written):
            return None
        return f'its argument is {kind(written)}, not a name; write {usage}'

    return check


def path_shape(usage: str, least: int) -> Shape:
    """Return the shape of a list that starts with a name.

    :param least: minimum length of the list; 1 also allows the name alone
    """
    as_list = list_shape(usage, least)

    def check(written: Any) -> str | None:
        if least == 1 and isinstance(written, str) and written:
            return None
        problem = as_list(written)
        if problem or not isinstance(written, list):
            return problem
        first = written[0]
        if (isinstance(first, str) and first) or _is_function(first):
            return None
        return f'the first argument is {kind(first)}, not a name; write {usage}'

    return check


def mapping_shape(
    usage: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Shape:
    """Return the shape of a mapping with these keys."""

    def check(written: Any) -> str | None:
        if not isinstance(written, dict):
            return f'its arguments are {kind(written)}, not a mapping; write {usage}'
        missing = [key for key in required if key not in written]
        known = (*required, *optional)
        unknown = sorted(str(key) for key in written if key not in known)
        if missing:
            return f'{", ".join(missing)} is missing; write {usage}'
        if unknown:
            return f'there is no {", ".join(unknown)}; known are {", ".join(known)}'
        return None

    return check


def _is_function(written: Any) -> bool:
    return isinstance(written, dict) and len(written) == 1


@dataclasses.dataclass(frozen=True, slots=True)
class Function:
    """A function of templates.

    :param since: the first version with the function
    :param shape: validates its arguments before they are evaluated
    :param call: evaluates it; None: the compiler does
    :param refers: the kind that its first argument names: 'resource', 'file' or None
    :param pure: the result depends only on the arguments
    """

    name: str
    description: str
    since: str
    shape: Shape
    call: Callable[[Any, Scope], Any] | None
    refers: str | None = None
    pure: bool = True


_FIRST = versions.VERSIONS[0].date
_REPLACE = "{template: 'to $name', params: {$name: world}}"

#: Functions that return values.
FUNCTIONS = (
    Function(
        'get_param',
        'The value of a parameter, or the value at a path in it.',
        _FIRST,
        path_shape('get_param: NAME or [NAME, KEY, ...]', 1),
        lookup_functions.get_param,
        pure=False,
    ),
    Function(
        'get_resource',
        'The reference of a resource of the stack, which is created before.',
        _FIRST,
        name_shape('get_resource: NAME'),
        lookup_functions.get_resource,
        refers='resource',
        pure=False,
    ),
    Function(
        'get_attr',
        'An attribute of a resource of the stack, or the value at a path in it.',
        _FIRST,
        path_shape('get_attr: [NAME, ATTRIBUTE, KEY, ...]', 1),
        lookup_functions.get_attr,
        refers='resource',
        pure=False,
    ),
    Function(
        'get_file',
        'The text of a file that comes with the template.',
        _FIRST,
        name_shape('get_file: NAME'),
        lookup_functions.get_file,
        refers='file',
        pure=False,
    ),
    Function(
        'str_replace',
        'A text with values in the place of names.',
        _FIRST,
        mapping_shape(_REPLACE, ('template', 'params')),
        text_functions.str_replace,
    ),
    Function(
        'list_join',
        'The elements of lists as one text, with a delimiter between them.',
        _FIRST,
        list_shape("list_join: [', ', [a, b]]", 2),
        text_functions.list_join,
    ),
    Function(
        'digest',
        'The digest of a text by an algorithm like sha256, in hexadecimal digits.',
        '2015-04-30',
        list_shape('digest: [sha256, TEXT]', 2, 2),
        text_functions.digest,
    ),
    Function(
        'repeat',
        'A list of the results of a template for each value, or combination of values.',
        '2015-04-30',
        mapping_shape(
            '{template: port %p%, for_each: {%p%: [80, 443]}}',
            ('template', 'for_each'),
            ('permutations',),
        ),
        collection_functions.repeat,
    ),
    Function(
        'str_split',
        'The parts of a text between delimiters, or one of them.',
        '2015-10-15',
        list_shape("str_split: [',', TEXT] or [',', TEXT, 0]", 2, 3),
        text_functions.str_split,
    ),
    Function(
        'map_merge',
        'The merge of several mappings; later ones take precedence.',
        '2016-04-08',
        list_shape('map_merge: [{a: 1}, {b: 2}]', 0),
        collection_functions.map_merge,
    ),
    Function(
        'if',
        'One of two values, as a condition has it.',
        versions.CONDITIONS,
        list_shape('if: [CONDITION, VALUE, OTHERWISE]', 2, 3),
        None,
    ),
    Function(
        'map_replace',
        'A mapping with other keys or values.',
        versions.CONDITIONS,
        list_shape('map_replace: [{a: 1}, {keys: {a: b}, values: {1: 2}}]', 2, 2),
        collection_functions.map_replace,
    ),
    Function(
        'filter',
        'A list without some values.',
        '2017-02-24',
        list_shape('filter: [[VALUE, ...], LIST]', 2, 2),
        collection_functions.without,
    ),
    Function(
        'str_replace_strict',
        'As str_replace, and each name has to be in the text.',
        '2017-02-24',
        mapping_shape(_REPLACE, ('template', 'params')),
        text_functions.str_replace_strict,
    ),
    Function(
        'contains',
        'Whether a value is in a list, a mapping or a text.',
        '2017-09-01',
        list_shape('contains: [VALUE, LIST]', 2, 2),
        collection_functions.contains,
    ),
    Function(
        'list_concat',
        'Several lists as one.',
        '2017-09-01',
        list_shape('list_concat: [[a], [b]]', 0),
        collection_functions.list_concat,
    ),
    Function(
        'list_concat_unique',
        'Several lists as one that has each value once.',
        '2017-09-01',
        list_shape('list_concat_unique: [[a], [b]]', 0),
        collection_functions.list_concat_unique,
    ),
    Function(
        'make_url',
        'A URL that is put together of its parts.',
        '2017-09-01',
        mapping_shape(
            '{scheme: https, host: example.org, path: /a}',
            (),
            (
                'scheme',
                'username',
                'password',
                'host',
                'port',
                'path',
                'query',
                'fragment',
            ),
        ),
        text_functions.make_url,
    ),
    Function(
        'str_replace_vstrict',
        'As str_replace_strict, and no value may be empty.',
        '2017-09-01',
        mapping_shape(_REPLACE, ('template', 'params')),
        text_functions.str_replace_vstrict,
    ),
)

#: Functions that return conditions: in the section conditions, in `if`, as `condition`.
CONDITION_FUNCTIONS = (
    Function(
        'equals',
        'Whether two values are the same.',
        versions.CONDITIONS,
        list_shape('equals: [ONE, OTHER]', 2, 2),
        collection_functions.equals,
    ),
    Function(
        'not',
        'Whether a condition does not hold.',
        versions.CONDITIONS,
        any_shape,
        None,
    ),
    Function(
        'and',
        'Whether all conditions hold.',
        versions.CONDITIONS,
        list_shape('and: [ONE, OTHER]', 2),
        None,
    ),
    Function(
        'or',
        'Whether at least one condition holds.',
        versions.CONDITIONS,
        list_shape('or: [ONE, OTHER]', 2),
        None,
    ),
)

#: Unsupported functions of Heat: name -> (first version, alternative).
MISSING: Mapping[str, tuple[str, str]] = {
    'resource_facade': (_FIRST, 'pass its result as a parameter'),
    'yaql': (versions.CONDITIONS, 'use map_merge, list_concat, repeat or filter'),
}


def of(date: str) -> dict[str, Function]:
    """Return the functions for values of a version, by name."""
    return {f.name: f for f in FUNCTIONS if f.since <= date}


def conditions_of(date: str) -> dict[str, Function]:
    """Return the functions for conditions of a version, by name."""
    return {f.name: f for f in CONDITION_FUNCTIONS if f.since <= date}


def unsupported_functions(date: str) -> dict[str, str]:
    """Return the alternatives to unsupported functions, by name."""
    return {name: hint for name, (since, hint) in MISSING.items() if since <= date}


def list_functions(date: str, conditions: bool = False) -> list[dict[str, str]]:
    """Return the body of `GET /template_versions/VERSION/functions`.

    :param conditions: include functions for conditions
    """
    known = of(date) | (conditions_of(date) if conditions else {})
    return [
        {'functions': name, 'description': known[name].description}
        for name in sorted(known)
    ]
