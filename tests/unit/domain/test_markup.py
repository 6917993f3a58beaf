"""Paths as messages write them."""

from tests import base
from watcherlite.domain.markup import path_text, text_path
from watcherlite.domain.yaml_values import Path


class PathTest(base.TestCase):
    """From a path to a text, and back."""

    def test_what_is_written_of_a_path_is_read_again(self) -> None:
        paths: tuple[Path, ...] = (
            (),
            ('resources', 'a', 'properties', 'ports', 0, 'to'),
            ('OS::stack_id', "it's", 'a "b"', 'c.d', 'e: f', '\n\\'),
            (2, 'x'),
        )
        self.assertEqual(paths, tuple(text_path(path_text(path)) for path in paths))

    def test_what_is_no_path_ends_it(self) -> None:
        self.assertEqual(('properties', 'a'), text_path('properties.a: is odd'))
        for text in ("'open", "'\\x'", "'two\nlines'"):
            self.assertEqual((), text_path(text))
