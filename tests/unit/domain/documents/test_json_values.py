"""The recognition of JSON values."""

import datetime

from tests import base
from watcherlite.domain.documents import json_values


def find_problems(value):
    return list(json_values.problems(value))


class ProblemsTest(base.TestCase):
    def test_json_has_none(self):
        value = {'a': [1, 2.5, True, None, 'ü😀', {'b': []}], '': {}}

        self.assertEqual([], find_problems(value))

    def test_each_problem_has_its_path_and_no_value(self):
        value = {
            'when': datetime.date(2026, 1, 2),
            'ratio': float('nan'),
            'list': [{'raw': b'secret'}, 'NUL\0', 'half \ud800'],
            7: 'seven',
            'half \udc00': 1,
        }

        self.assertEqual(
            [
                (('half \udc00',), 'as a key, this text has half of a surrogate pair, '
                 'which is not a character'),
                (('7',), 'a key must be text and this is a number; put it in quotes'),
                (('when',), 'this is a date, which JSON does not have'),
                (('ratio',), 'nan is not a number in JSON'),
                (('list', 0, 'raw'), 'this is a bytes, which JSON does not have'),
                (('list', 1), 'this text has a NUL character, which databases cannot '
                 'store'),
                (('list', 2), 'this text has half of a surrogate pair, which is not a '
                 'character'),
            ],
            find_problems(value),
        )  # fmt: skip

    def test_excessive_depth_is_reported_once_without_recursion(self):
        value = leaf = []
        for _ in range(100_000):
            leaf.append([])
            leaf = leaf[0]

        self.assertEqual(
            [((0,) * 100, 'this is nested deeper than 100 levels')],
            find_problems(value),
        )
