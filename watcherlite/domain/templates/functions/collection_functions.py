"""The functions of templates that return lists and mappings."""

import itertools
import math
from typing import Any

from watcherlite.domain.documents.json_values import kind
from watcherlite.domain.templates.functions.text_functions import (
    as_list,
    as_mapping,
    text_of,
)
from watcherlite.domain.templates.scope import VALUE, EvaluationError, Scope


def map_merge(given: Any, scope: Scope) -> dict[str, Any]:
    """Merge mappings; later ones override earlier ones."""
    found: dict[str, Any] = {}
    for each in as_list(given, 'its arguments'):
        if each is not None:
            mapping = as_mapping(each, 'the values to merge')
            scope.spend(VALUE * len(mapping))
            found.update(mapping)
    return found


def map_replace(given: Any, scope: Scope) -> dict[str, Any] | None:
    """Replace keys and values of a mapping."""
    original, replacing = as_list(given, 'its arguments', 2, 2)
    if original is None or replacing is None:
        return None
    mapping = as_mapping(original, 'its first argument')
    replacing = as_mapping(replacing, 'its second argument')
    keys = as_mapping(replacing.get('keys') or {}, 'keys')
    values = as_mapping(replacing.get('values') or {}, 'values')
    found: dict[str, Any] = {}
    scope.spend(VALUE * len(mapping))
    for key, value in mapping.items():
        new = keys.get(key, key)
        if not isinstance(new, str):
            raise EvaluationError(f'keys: a new key is {kind(new)}; it must be text')
        if new in found or (new != key and new in mapping):
            raise EvaluationError(
                'two keys have the same replacement; make the replacements distinct'
            )
        if not isinstance(value, (dict, list)):
            other = _replace_key(values, value)
            # The value may match several keys.
            value = value if other is value else scope.copy(other)
        found[new] = value
    return found


def _replace_key(values: dict[str, Any], value: Any) -> Any:
    """Return the replacement of a value, whose key in the mapping is text."""
    if value in values:
        return values[value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return values.get(str(value), value)
    return value


def list_concat(given: Any, scope: Scope) -> list[Any]:
    """Concatenate lists."""
    found: list[Any] = []
    for each in as_list(given, 'its arguments'):
        if each is not None:
            items = as_list(each, 'the lists to concatenate')
            scope.spend(VALUE * len(items))
            found += items
    return found


def list_concat_unique(given: Any, scope: Scope) -> list[Any]:
    """Concatenate lists without duplicates."""
    found: list[Any] = []
    for value in list_concat(given, scope):
        scope.spend(1 + len(found) // 8)
        if not any(_is_equal(value, other) for other in found):
            found.append(value)
    return found


def without(given: Any, scope: Scope) -> list[Any] | None:
    """Remove values from a list."""
    values, original = as_list(given, 'its arguments', 2, 2)
    if original is None:
        return None
    removed = as_list(values or [], 'the values to remove')
    items = as_list(original, 'the list')
    scope.spend(len(items) * (1 + len(removed) // 8))
    return [i for i in items if not any(_is_equal(i, value) for value in removed)]


def contains(given: Any, scope: Scope) -> bool:
    """Return whether a list, a mapping or a text contains a value."""
    value, sequence = as_list(given, 'its arguments', 2, 2)
    if sequence is None:
        return False
    if isinstance(sequence, str):
        return text_of(value) in sequence
    if isinstance(sequence, dict):
        return isinstance(value, str) and value in sequence
    items = as_list(sequence, 'the collection to search')
    return any(_is_equal(value, item) for item in items)


def equals(given: Any, scope: Scope) -> bool:
    """Return whether two values are equal."""
    one, other = as_list(given, 'its arguments', 2, 2)
    return _is_equal(one, other)


def _is_equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal; true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def repeat(given: Any, scope: Scope) -> list[Any] | None:
    """Return the expansions of a template, one for each value or combination."""
    given = as_mapping(given, 'its arguments')
    template, each = given.get('template'), given.get('for_each')
    permutations = given.get('permutations', True)
    if permutations is None:
        permutations = True
    if not isinstance(permutations, bool):
        raise EvaluationError(
            f'permutations is {kind(permutations)}; it must be true or false'
        )
    if each is None:
        return []
    each = as_mapping(each, 'for_each')
    if not each:
        raise EvaluationError('for_each is empty; name the values to repeat')
    names = list(each)
    values = [_values(name, each[name]) for name in names]
    counts = [len(one) for one in values]
    if not permutations and len(set(counts)) > 1:
        raise EvaluationError(
            'without permutations all lists of for_each must be of one length; these '
            f'have {", ".join(map(str, counts))} values'
        )
    scope.spend(64 * (math.prod(counts) if permutations else counts[0]))
    combined = itertools.product(*values) if permutations else zip(*values, strict=True)
    return [
        _fill_names(template, dict(zip(names, combination, strict=True)), scope)
        for combination in combined
    ]


def _values(name: str, given: Any) -> list[Any]:
    if not name:
        raise EvaluationError('a name in for_each is empty; give it a name')
    if given is None:
        return []
    if isinstance(given, dict):
        return list(given)
    return as_list(given, 'a value of for_each')


def _fill_names(template: Any, values: dict[str, Any], scope: Scope) -> Any:
    """Replace names by values; a text that is a name becomes the value itself."""
    if isinstance(template, str):
        if template in values:
            return scope.copy(values[template])
        text = template
        for name, value in values.items():
            count = text.count(name)
            if count:
                inserted = text_of(value)
                scope.spend(count * len(inserted))
                text = text.replace(name, inserted)
        scope.spend(1 + len(values) + len(text))
        return text
    scope.spend(1)
    if isinstance(template, dict):
        return {
            text_of(_fill_names(key, values, scope)): _fill_names(value, values, scope)
            for key, value in template.items()
        }
    if isinstance(template, list):
        return [_fill_names(value, values, scope) for value in template]
    return template
