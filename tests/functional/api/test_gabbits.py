"""Gabbi suites of the REST API: one test per file in `gabbits/`.

The steps of a suite depend on each other, so a suite is one test. All of its steps run;
the report names those that failed.
"""

import functools
import io
import pathlib
import unittest

import jsonpath_ng.ext
import yaml
from gabbi import handlers, suitemaker

from tests import base
from tests.functional.api import fixtures

# gabbi would build the tables of the parser for each path.
jsonpath_ng.ext.parse = functools.cache(
    jsonpath_ng.ext.parser.ExtendedJsonPathParser().parse
)
SUITES = pathlib.Path(__file__).parent / 'gabbits'
#: The one of libyaml, if PyYAML has it, is ten times as fast.
LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


class SuiteCase(base.TestCase):
    """Runs one suite."""

    path: pathlib.Path

    def run_suite(self) -> None:
        suite = suitemaker.test_suite_from_dict(
            unittest.defaultTestLoader,
            self.path.stem,
            yaml.load(self.path.read_text(), LOADER),
            str(SUITES),
            '127.0.0.1',
            9322,
            fixtures,
            fixtures.application,
            handlers=[handler() for handler in handlers.RESPONSE_HANDLERS],
        )
        steps = suite.countTestCases()
        result = unittest.TextTestResult(io.StringIO(), False, 0)
        suite.run(result)

        failed = [*result.errors, *result.failures]
        self.assertEqual([], [str(step) for step, _ in failed], _report(failed))
        self.assertEqual(steps, result.testsRun)


def _report(failed: list[tuple[unittest.TestCase, str]]) -> str:
    return '\n'.join(f'{step}\n{text}' for step, text in failed)


def _make_class(path: pathlib.Path) -> type[SuiteCase]:
    name = ''.join(part.title() for part in path.stem.replace('-', '_').split('_'))

    def test_all_steps_pass(self: SuiteCase) -> None:
        self.run_suite()

    return type(
        f'Test{name}',
        (SuiteCase,),
        {
            '__doc__': f'gabbits/{path.name}',
            '__module__': __name__,
            'path': path,
            'test_all_steps_pass': test_all_steps_pass,
        },
    )


for _path in sorted(SUITES.glob('*.yaml')):
    _class = _make_class(_path)
    globals()[_class.__name__] = _class
del _path, _class
