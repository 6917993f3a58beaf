"""Paths into JSON values, and their limits."""

from typing import Any

from tests import base
from watcherlite import exceptions
from watcherlite.domain.documents import json_values

VALUE: dict[str, Any] = {
    'name': 'n',
    'details': {'pid': 1, 'a name': 2, 'more': [{'pid': 3}, {'pid': 4}]},
}


def find(path: str, value: Any = VALUE, visits: int = 100) -> list[Any]:
    """Return all values that match a path."""
    budget = json_values.Budget(visits)
    return list(json_values.find(json_values.parse(path), value, budget))


class TestPaths(base.TestCase):
    def test_steps_find_their_values(self) -> None:
        for path, values in {
            '$': [VALUE],
            'name': ['n'],
            '$.details.pid': [1],
            'details.pid': [1],
            "details['a name']": [2],
            '$["details"]["a name"]': [2],
            'details.more[0].pid': [3],
            'details.more[-1].pid': [4],
            'details.more[*].pid': [3, 4],
            'details.more.*.pid': [3, 4],
            '$..pid': [1, 3, 4],
            'details..[1].pid': [4],
            "$..['a name']": [2],
            'nope': [],
            'name.pid': [],
            'details.more[2]': [],
            'details[0]': [],
        }.items():
            self.assertEqual(values, find(path), path)

    def test_descendants_are_in_the_order_of_the_document(self) -> None:
        self.assertEqual([1, [2, 3], 2, 3], find('..*', {'a': 1, 'b': [2, 3]}))

    def test_invalid_path_is_rejected(self) -> None:
        for path in (
            *('$.[', '.', '..', '$.', '[', '[]', "['a", "['a\\'b']", 'a[', '$$', 'a b'),
            *('`parent`', '$.a.`parent`', '&@[-1]', '@[?(@.a==1)]', 'a[0:2]', 'a[0,1]'),
            *('a|b', 'a where b', '`this`', 'a.`len`', 'a[9999999999]', 'a\n', '$...a'),
            '$..a.[0]',
        ):
            error = self.assertRaises(exceptions.BadRequest, json_values.parse, path)
            self.assertIn('is no JSON path', str(error), path)

    def test_long_path_and_second_descent_are_rejected(self) -> None:
        for path, text in {
            '': 'A JSON path has 1 to 1024 characters, not 0.',
            'a' * 1025: 'A JSON path has 1 to 1024 characters, not 1025.',
            '$..a..b': "'$..a..b' has more than one '..'.",
            'a' + '.a' * 64: f"'{('a' + '.a' * 64)[:80]}' has more than 64 steps.",
        }.items():
            error = self.assertRaises(exceptions.BadRequest, json_values.parse, path)
            self.assertEqual(text, str(error))

    def test_a_path_visits_no_more_than_its_budget(self) -> None:
        value: Any = 0
        for _ in range(17):
            value = [value] * 2

        for path in ('..*', '$' + '[*]' * 17, '..a'):
            error = self.assertRaises(exceptions.BadRequest, find, path, value, 1000)
            self.assertIn('leads to more than 1000 values', str(error))

    def test_a_deep_value_needs_no_recursion(self) -> None:
        value: Any = {'pid': 1}
        for _ in range(5000):
            value = {'a': value}

        self.assertEqual([1], find('..pid', value, 10_000))
