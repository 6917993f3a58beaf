"""The cells for values of the API in each format."""

import datetime

from tests import base
from watcherlite.cli import formatting
from watcherlite.cli.formatting import Column


def format_cell(value, formatter, **options):
    (found,) = formatting.cells([Column('A', 'a', **options)], {'a': value}, formatter)
    return found


class CellsTest(base.TestCase):
    def test_structured_formats_contain_the_value(self):
        for value in (None, True, 1, 1.5, 'x', [], ['a'], {'b': [1]}):
            for formatter in ('json', 'yaml'):
                self.assertEqual(value, format_cell(value, formatter, text=str))

    def test_flat_formats_contain_lists_and_objects_as_json(self):
        for formatter in ('csv', 'value', 'shell'):
            self.assertEqual(
                ['{"b": [1]}', '[]', True],
                [format_cell(value, formatter) for value in ({'b': [1]}, [], True)],
            )

    def test_no_format_contains_control_sequences(self):
        for formatter in ('table', 'csv', 'value', 'shell'):
            self.assertEqual(
                ' [2Ja b\nc', format_cell('\x1b[2Ja\rb\nc', formatter), formatter
            )

    def test_tables_contain_lists_and_objects_as_lines(self):
        for value, expected in (
            (['a', 'b'], 'a\nb'),
            ([], ''),
            ({}, ''),
            ({'b': 1}, '{\n  "b": 1\n}'),
            (1, 1),
            (False, False),
            ('a\tb\x1b[2J\nc', 'a b [2J\nc'),
        ):
            self.assertEqual(expected, format_cell(value, 'table'))

    def test_null_values_have_the_text_of_their_column(self):
        for formatter in ('table', 'json', 'csv'):
            self.assertEqual(
                [None, 'auto'],
                [
                    format_cell(None, formatter),
                    format_cell(None, formatter, empty='auto'),
                ],
            )

    def test_unknown_fields_have_no_column(self):
        columns = [Column('A', 'a'), Column('B', 'b')]

        self.assertEqual(
            columns[1:], formatting.supported_columns(columns, {'b': None, 'c': 1})
        )

    def test_efficacy_properties_and_requirements_are_formatted_as_text(self):
        named = {'name': 'a', 'unit': '%'}
        for call, value, expected in (
            (
                formatting.indicators,
                [
                    {**named, 'value': 50.0},
                    {'name': 'b', 'value': 2, 'unit': None},
                    {'name': 'c', 'value': None, 'unit': 's'},
                ],
                'a: 50.00 %\nb: 2\nc: None s',
            ),
            (
                formatting.specification,
                [
                    {**named, 'description': 'What.'},
                    {'name': 'b', 'unit': None, 'description': None},
                ],
                'a (%): What.\nb:',
            ),
            (formatting.specification, None, ''),
            (formatting.properties, {'properties': {'a': {}}}, '{\n  "a": {}\n}'),
            (formatting.properties, {}, ''),
            (formatting.properties, None, ''),
            (formatting.format_requirements, 'x', 'x'),
            (formatting.format_requirements, [{'a': 'b'}, {'c': 'd'}], 'a: b\nc: d'),
        ):
            self.assertEqual(expected, call(value))

    def test_progress_and_age_of_plans_are_formatted_as_text(self):
        counts = {'total': 5, 'ended': 3, 'failed': 0}
        now = datetime.datetime(2030, 1, 2, tzinfo=datetime.UTC)
        for created_at, seconds, text in (
            ('2030-01-01T23:59:58.5+00:00', 1, '1 s'),
            # Without an offset, a time is in UTC.
            ('2030-01-01T22:56:00', 3840, '1 h 4 min'),
            ('2029-12-30T00:00:00Z', 259200, '3 d 0 h'),
            ('2030-01-02T00:00:05+00:00', 0, '0 s'),
        ):
            self.assertEqual(seconds, formatting.age(created_at, now), created_at)
            self.assertEqual(text, formatting.duration(seconds))
        self.assertIsNone(formatting.age('yesterday', now))
        self.assertEqual('3 of 5', formatting.progress(counts))
        self.assertEqual(
            '3 of 5, 1 failed', formatting.progress({**counts, 'failed': 1})
        )
