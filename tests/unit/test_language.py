"""The module docstrings are written in the language of the project."""

import ast
import pathlib

from tests import base

ROOT = pathlib.Path(__file__).parents[2]
#: First words of a docstring that describes what a module is about, not what it is.
FORBIDDEN = frozenset({'how', 'what', 'whatever', 'whether', 'who'})


def module_docstrings():
    """Return the docstring of every module of the product by its path."""
    return {
        str(path.relative_to(ROOT)): ast.get_docstring(ast.parse(path.read_text()))
        for path in sorted((ROOT / 'watcherlite').rglob('*.py'))
    }


class TestModuleDocstrings(base.TestCase):
    def test_none_opens_with_a_question_word(self):
        found = [
            f'{path}: {docstring.splitlines()[0]}'
            for path, docstring in module_docstrings().items()
            if docstring and docstring.split()[0].strip(':,').lower() in FORBIDDEN
        ]

        self.assertEqual([], found)

    def test_the_modules_are_found(self):
        self.assertIn('watcherlite/cli/main.py', module_docstrings())
