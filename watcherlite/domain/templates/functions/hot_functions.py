"""The functions of HOT, with their first versions."""

from collections.abc import Mapping

from watcherlite.domain.templates import facade, versions
from watcherlite.domain.templates.functions import (
    collection_functions,
    lookup_functions,
    text_functions,
)
from watcherlite.domain.templates.functions.function import (
    Function,
    Operator,
    choice_shape,
    list_shape,
    mapping_shape,
    name_shape,
    path_shape,
    value_shape,
)
from watcherlite.domain.templates.nodes import Referent

_REPLACE = "{template: 'to $name', params: {$name: world}}"

#: Functions that return values.
FUNCTIONS = (
    Function(
        'get_param',
        'The value of a parameter, or the value at a path in it.',
        path_shape('get_param: NAME or [NAME, KEY, ...]', 1),
        lookup_functions.get_param,
        refers=Referent.PARAMETER,
        pure=False,
    ),
    Function(
        'get_resource',
        'The reference of a resource of the stack, which is created before.',
        name_shape('get_resource: NAME'),
        lookup_functions.get_resource,
        refers=Referent.RESOURCE,
        pure=False,
    ),
    Function(
        'get_attr',
        'An attribute of a resource of the stack, or the value at a path in it.',
        path_shape('get_attr: [NAME, ATTRIBUTE, KEY, ...]', 1),
        lookup_functions.get_attr,
        refers=Referent.ATTRIBUTE,
        pure=False,
    ),
    Function(
        'get_file',
        'The text of a file that comes with the template.',
        name_shape('get_file: NAME'),
        lookup_functions.get_file,
        refers=Referent.FILE,
        pure=False,
    ),
    Function(
        facade.KEY,
        'A part of the resource that the stack is in its parent.',
        choice_shape(facade.KEY, *facade.PARTS),
        lookup_functions.resource_facade,
        pure=False,
    ),
    Function(
        'str_replace',
        'A text with values in the place of names.',
        mapping_shape(_REPLACE, ('template', 'params')),
        text_functions.str_replace,
    ),
    Function(
        'list_join',
        'The elements of lists as one text, with a delimiter between them.',
        list_shape("list_join: [', ', [a, b]]", 2),
        text_functions.list_join,
    ),
    Function(
        'digest',
        'The digest of a text by an algorithm like sha256, in hexadecimal digits.',
        list_shape('digest: [sha256, TEXT]', 2, 2),
        text_functions.digest,
        since='2015-04-30',
    ),
    Function(
        'repeat',
        'A list of the results of a template for each value, or combination of values.',
        mapping_shape(
            '{template: port %p%, for_each: {%p%: [80, 443]}}',
            ('template', 'for_each'),
            ('permutations',),
        ),
        collection_functions.repeat,
        since='2015-04-30',
    ),
    Function(
        'str_split',
        'The parts of a text between delimiters, or one of them.',
        list_shape("str_split: [',', TEXT] or [',', TEXT, 0]", 2, 3),
        text_functions.str_split,
        since='2015-10-15',
    ),
    Function(
        'map_merge',
        'The merge of several mappings; later ones take precedence.',
        list_shape('map_merge: [{a: 1}, {b: 2}]', 0),
        collection_functions.map_merge,
        since='2016-04-08',
    ),
    Function(
        'if',
        'One of two values, as a condition has it.',
        list_shape('if: [CONDITION, VALUE, OTHERWISE]', 2, 3),
        operator=Operator.IF,
        since=versions.CONDITIONS,
    ),
    Function(
        'map_replace',
        'A mapping with other keys or values.',
        list_shape('map_replace: [{a: 1}, {keys: {a: b}, values: {1: 2}}]', 2, 2),
        collection_functions.map_replace,
        since=versions.CONDITIONS,
    ),
    Function(
        'filter',
        'A list without some values.',
        list_shape('filter: [[VALUE, ...], LIST]', 2, 2),
        collection_functions.without,
        since='2017-02-24',
    ),
    Function(
        'str_replace_strict',
        'As str_replace, and each name has to be in the text.',
        mapping_shape(_REPLACE, ('template', 'params')),
        text_functions.str_replace_strict,
        since='2017-02-24',
    ),
    Function(
        'contains',
        'Whether a value is in a list, a mapping or a text.',
        list_shape('contains: [VALUE, LIST]', 2, 2),
        collection_functions.contains,
        since='2017-09-01',
    ),
    Function(
        'list_concat',
        'Several lists as one.',
        list_shape('list_concat: [[a], [b]]', 0),
        collection_functions.list_concat,
        since='2017-09-01',
    ),
    Function(
        'list_concat_unique',
        'Several lists as one that has each value once.',
        list_shape('list_concat_unique: [[a], [b]]', 0),
        collection_functions.list_concat_unique,
        since='2017-09-01',
    ),
    Function(
        'make_url',
        'A URL that is put together of its parts.',
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
        since='2017-09-01',
    ),
    Function(
        'str_replace_vstrict',
        'As str_replace_strict, and no value may be empty.',
        mapping_shape(_REPLACE, ('template', 'params')),
        text_functions.str_replace_vstrict,
        since='2017-09-01',
    ),
)

#: Functions that return conditions: in the section conditions, in `if`, as `condition`.
CONDITION_FUNCTIONS = (
    Function(
        'equals',
        'Whether two values are the same.',
        list_shape('equals: [ONE, OTHER]', 2, 2),
        collection_functions.equals,
        since=versions.CONDITIONS,
    ),
    Function(
        'not',
        'Whether a condition does not hold.',
        value_shape('not: CONDITION'),
        operator=Operator.NOT,
        since=versions.CONDITIONS,
    ),
    Function(
        'and',
        'Whether all conditions hold.',
        list_shape('and: [ONE, OTHER]', 2),
        operator=Operator.AND,
        since=versions.CONDITIONS,
    ),
    Function(
        'or',
        'Whether at least one condition holds.',
        list_shape('or: [ONE, OTHER]', 2),
        operator=Operator.OR,
        since=versions.CONDITIONS,
    ),
)

#: Unsupported functions: name -> (first version, alternative).
MISSING: Mapping[str, tuple[str, str]] = {
    'yaql': (versions.CONDITIONS, 'use map_merge, list_concat, repeat or filter')
}
