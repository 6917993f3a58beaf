"""Paths in messages, and the scalars of YAML."""

import math

from tests import base
from watcherlite.domain.documents.markup import Markup, path_text, text_path
from watcherlite.domain.documents.yaml_values import Path


class PathTest(base.TestCase):
    """From a path to a text, and back."""

    def test_path_round_trips_through_its_text(self) -> None:
        paths: tuple[Path, ...] = (
            (),
            ('resources', 'a', 'properties', 'ports', 0, 'to'),
            ('OS::stack_id', "it's", 'a "b"', 'c.d', 'e: f', '\n\\'),
            (2, 'x'),
        )
        self.assertEqual(paths, tuple(text_path(path_text(path)) for path in paths))

    def test_invalid_text_ends_the_path(self) -> None:
        self.assertEqual(('properties', 'a'), text_path('properties.a: is odd'))
        for text in ("'open", "'\\x'", "'two\nlines'"):
            self.assertEqual((), text_path(text))


class ScalarTest(base.TestCase):
    """The types of plain YAML scalars."""

    def test_scalars_are_read_as_upstream_reads_them_but_for_base_60(self) -> None:
        scalars = {
            # Booleans and dates as in the loader of Heat.
            'yes': True,
            'NO': False,
            'on': True,
            'Off': False,
            'true': True,
            '~': None,
            '2001-12-14': '2001-12-14',
            # Numbers to the base of 60 in YAML 1.1.
            '1:30': '1:30',
            '22:22': '22:22',
            '190:20:30.15': '190:20:30.15',
            '10.0.0.1:80': '10.0.0.1:80',
            # Numbers
            '0': 0,
            '-12': -12,
            '+1_000': 1000,
            '0x1F': 31,
            '0b11': 3,
            '0644': 420,
            '0o644': 420,
            '089': '089',
            '1.5': 1.5,
            '6.8523015e+5': 685230.15,
            '1e3': '1e3',
            '.5': 0.5,
            '-.inf': -math.inf,
        }

        markup = Markup('\n'.join(f'- {text}' for text in scalars), 'x')

        found = markup.value
        self.assertEqual(list(scalars.values()), found)
        self.assertEqual(
            [type(value) for value in scalars.values()], [type(v) for v in found]
        )
        self.assertEqual([], markup.problems)

    def test_a_number_is_not_converted_when_it_is_too_long_or_to_the_base_of_60(
        self,
    ) -> None:
        markup = Markup(
            f'a: {"1" * 5000}\n'
            f'b: 0x{"f" * 5000}\n'
            f'c: 1.{"0" * 5000}\n'
            f'd: !!int "1{":59" * 1000}"\n'
            'e: !!float "1:30.5"\n'
            f'f: 1{":59" * 1000}\n',
            'x',
        )

        self.assertEqual(
            [
                'this number has too many digits; put it in quotes',
                'this number has too many digits; put it in quotes',
                'this number has too many digits; put it in quotes',
                'this number has too many digits; put it in quotes',
                "'1:30.5' is not of the type float",
            ],
            [text for _, _, text in markup.problems],
        )
        self.assertEqual('1' + ':59' * 1000, markup.value['f'])
