"""The functions of templates: their names, what they take, and since when."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.domain.templates import gatherings, lookups, shapes, texts, versions
from watcherlite.domain.templates.scope import Scope
from watcherlite.domain.templates.shapes import Shape


@dataclasses.dataclass(frozen=True, slots=True)
class Function:
    """A function.

    :param since: the first version that has it; in earlier ones its name means
        nothing
    :param shape: what its arguments look like as they are written
    :param call: evaluates it; None: the compiler knows how
    :param refers: 'resource', 'file' or None: what its first argument names
    :param pure: equal arguments give equal results, whatever the stack
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

#: What stands for values.
FUNCTIONS = (
    Function(
        'get_param',
        'The value of a parameter, or what is at a path in it.',
        *(_FIRST, shapes.a_path('get_param: NAME or [NAME, KEY, ...]', 1)),
        lookups.get_param,
        pure=False,
    ),
    Function(
        'get_resource',
        'What a resource of the stack is called; it is made before.',
        *(_FIRST, shapes.a_name('get_resource: NAME'), lookups.get_resource),
        refers='resource',
        pure=False,
    ),
    Function(
        'get_attr',
        'An attribute of a resource of the stack, or what is at a path in it.',
        *(_FIRST, shapes.a_path('get_attr: [NAME, ATTRIBUTE, KEY, ...]', 1)),
        lookups.get_attr,
        refers='resource',
        pure=False,
    ),
    Function(
        'get_file',
        'The text of a file that comes with the template.',
        *(_FIRST, shapes.a_name('get_file: NAME'), lookups.get_file),
        refers='file',
        pure=False,
    ),
    Function(
        'str_replace',
        'A text with values in the place of names.',
        *(_FIRST, shapes.a_mapping(_REPLACE, ('template', 'params'))),
        texts.str_replace,
    ),
    Function(
        'list_join',
        'The elements of lists as one text, with a delimiter between them.',
        *(_FIRST, shapes.a_list("list_join: [', ', [a, b]]", 2), texts.list_join),
    ),
    Function(
        'digest',
        'The digest of a text by an algorithm like sha256, in hexadecimal digits.',
        *('2015-04-30', shapes.a_list('digest: [sha256, TEXT]', 2, 2), texts.digest),
    ),
    Function(
        'repeat',
        'A list of what a template gives for each value, or combination of values.',
        '2015-04-30',
        shapes.a_mapping(
            '{template: port %p%, for_each: {%p%: [80, 443]}}',
            ('template', 'for_each'),
            ('permutations',),
        ),
        gatherings.repeat,
    ),
    Function(
        'str_split',
        'The parts of a text between delimiters, or one of them.',
        '2015-10-15',
        shapes.a_list("str_split: [',', TEXT] or [',', TEXT, 0]", 2, 3),
        texts.str_split,
    ),
    Function(
        'map_merge',
        'Several mappings as one; what stands in a later one counts.',
        *('2016-04-08', shapes.a_list('map_merge: [{a: 1}, {b: 2}]', 0)),
        gatherings.map_merge,
    ),
    Function(
        'if',
        'One of two values, as a condition has it.',
        versions.CONDITIONS,
        shapes.a_list('if: [CONDITION, VALUE, OTHERWISE]', 2, 3),
        None,
    ),
    Function(
        'map_replace',
        'A mapping with other keys or values.',
        versions.CONDITIONS,
        shapes.a_list('map_replace: [{a: 1}, {keys: {a: b}, values: {1: 2}}]', 2, 2),
        gatherings.map_replace,
    ),
    Function(
        'filter',
        'A list without some values.',
        *('2017-02-24', shapes.a_list('filter: [[VALUE, ...], LIST]', 2, 2)),
        gatherings.without,
    ),
    Function(
        'str_replace_strict',
        'As str_replace, and each name has to be in the text.',
        *('2017-02-24', shapes.a_mapping(_REPLACE, ('template', 'params'))),
        texts.str_replace_strict,
    ),
    Function(
        'contains',
        'Whether a value is in a list, a mapping or a text.',
        *('2017-09-01', shapes.a_list('contains: [VALUE, LIST]', 2, 2)),
        gatherings.contains,
    ),
    Function(
        'list_concat',
        'Several lists as one.',
        *('2017-09-01', shapes.a_list('list_concat: [[a], [b]]', 0)),
        gatherings.list_concat,
    ),
    Function(
        'list_concat_unique',
        'Several lists as one that has each value once.',
        *('2017-09-01', shapes.a_list('list_concat_unique: [[a], [b]]', 0)),
        gatherings.list_concat_unique,
    ),
    Function(
        'make_url',
        'A URL that is put together of its parts.',
        '2017-09-01',
        shapes.a_mapping(
            '{scheme: https, host: example.org, path: /a}',
            (),
            (
                *('scheme', 'username', 'password', 'host', 'port', 'path', 'query'),
                'fragment',
            ),
        ),
        texts.make_url,
    ),
    Function(
        'str_replace_vstrict',
        'As str_replace_strict, and no value may be empty.',
        *('2017-09-01', shapes.a_mapping(_REPLACE, ('template', 'params'))),
        texts.str_replace_vstrict,
    ),
)

#: What decides: in the section conditions, in `if`, and as `condition`.
CONDITION_FUNCTIONS = (
    Function(
        'equals',
        'Whether two values are the same.',
        *(versions.CONDITIONS, shapes.a_list('equals: [ONE, OTHER]', 2, 2)),
        gatherings.equals,
    ),
    Function(
        'not',
        'Whether a condition does not hold.',
        *(versions.CONDITIONS, shapes.anything, None),
    ),
    Function(
        'and',
        'Whether all conditions hold.',
        *(versions.CONDITIONS, shapes.a_list('and: [ONE, OTHER]', 2), None),
    ),
    Function(
        'or',
        'Whether at least one condition holds.',
        *(versions.CONDITIONS, shapes.a_list('or: [ONE, OTHER]', 2), None),
    ),
)

#: Functions that there are upstream and not here: name -> (since, what to do).
MISSING: Mapping[str, tuple[str, str]] = {
    'resource_facade': (_FIRST, 'hand over what it should give as a parameter'),
    'yaql': (versions.CONDITIONS, 'use map_merge, list_concat, repeat or filter'),
}


def of(date: str) -> dict[str, Function]:
    """Return the functions for values that a version has, by name."""
    return {f.name: f for f in FUNCTIONS if f.since <= date}


def conditions_of(date: str) -> dict[str, Function]:
    """Return the functions for conditions that a version has, by name."""
    return {f.name: f for f in CONDITION_FUNCTIONS if f.since <= date}


def missing_of(date: str) -> dict[str, str]:
    """Return what to do instead of functions that there are not, by name."""
    return {name: hint for name, (since, hint) in MISSING.items() if since <= date}


def listed(date: str, conditions: bool = False) -> list[dict[str, str]]:
    """Return functions as `GET /template_versions/VERSION/functions` tells them.

    :param conditions: with those for conditions
    """
    known = of(date) | (conditions_of(date) if conditions else {})
    return [
        {'functions': name, 'description': known[name].description}
        for name in sorted(known)
    ]
