"""Module docstrings and class names follow the language rules of the project."""

import ast
import collections
import pathlib

from tests import base

ROOT = pathlib.Path(__file__).parents[2]
#: First words of a docstring that describes what a module is about, not what it is.
FORBIDDEN = frozenset({'how', 'what', 'whatever', 'whether', 'who'})
#: Names that stand for two things on purpose, and the reason.
SHARED = {
    'Cancelled': 'the exception, and the outcome of an action that raises it',
    'TimedOut': 'the exception, and the outcome of an action that raises it',
    'Goal': 'the plugin, and its row',
    'Strategy': 'the plugin, and its row',
    'Worker': 'the process, and its row',
    'Operation': 'one of the API, and one that a resource handler declares',
    'Checkpoints': 'the port of an attempt, and that of its context',
    'ListedAction': 'of the list of all actions, and of those of clusters',
    'Batch': 'of rows, and of the members of a group',
    'Place': 'the statements on a table, and a region or zone',
    'Rule': 'of a purge, and of readiness',
    'Shape': 'of the rows of events, and of a page',
    'StackLock': 'of the command, and of the plugin of the openstack client',
    'StackUnlock': 'of the command, and of the plugin of the openstack client',
}


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


def namespace(path):
    """Return the part of the product within which a class name is unique.

    The command line is a program of its own, and plugins are named by their kind.
    """
    parts = path.relative_to(ROOT / 'watcherlite').parts
    if parts[0] == 'cli':
        return 'cli'
    return parts[1] if parts[0] == 'plugins' and len(parts) > 2 else ''


class TestClassNames(base.TestCase):
    def test_no_public_name_stands_for_two_things(self):
        found = collections.defaultdict(list)
        for path in sorted((ROOT / 'watcherlite').rglob('*.py')):
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith('_'):
                    place = namespace(path), node.name
                    found[place].append(str(path.relative_to(ROOT)))
        twice = {
            name: paths
            for (part, name), paths in found.items()
            if len(paths) > 1 and name not in SHARED
        }

        self.assertEqual({}, twice)
        self.assertGreater(len(found), 500)
