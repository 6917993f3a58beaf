"""The stories of the API: one test per file in `gabbits/`.

The steps of a story depend on each other, so a story is one test. All of its steps run;
the report names those that failed.
"""

import io
import pathlib
import unittest

from gabbi import handlers, suitemaker, utils

from tests import base
from tests.functional.api import fixtures

STORIES = pathlib.Path(__file__).parent / 'gabbits'


class Story(base.TestCase):
    """Runs one story."""

    path: pathlib.Path

    def run_story(self) -> None:
        suite = suitemaker.test_suite_from_dict(
            unittest.defaultTestLoader,
            self.path.stem,
            utils.load_yaml(yaml_file=str(self.path)),
            str(STORIES),
            '127.0.0.1',
            9322,
            fixtures,
            fixtures.application,
            handlers=[handler() for handler in handlers.RESPONSE_HANDLERS],
        )
        steps = suite.countTestCases()
        result = unittest.TextTestResult(io.StringIO(), False, 0)
        suite.run(result)

        wrong = [*result.errors, *result.failures]
        self.assertEqual([], [str(step) for step, _ in wrong], _report(wrong))
        self.assertEqual(steps, result.testsRun)


def _report(wrong: list[tuple[unittest.TestCase, str]]) -> str:
    return '\n'.join(f'{step}\n{text}' for step, text in wrong)


def _of(path: pathlib.Path) -> type[Story]:
    name = ''.join(part.title() for part in path.stem.replace('-', '_').split('_'))

    def test_the_story(self: Story) -> None:
        self.run_story()

    return type(
        f'Test{name}',
        (Story,),
        {
            '__doc__': f'gabbits/{path.name}',
            '__module__': __name__,
            'path': path,
            'test_the_story': test_the_story,
        },
    )


for _path in sorted(STORIES.glob('*.yaml')):
    _class = _of(_path)
    globals()[_class.__name__] = _class
del _path, _class
