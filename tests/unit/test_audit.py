"""The evaluation of pip-audit reports."""

import importlib.util
import pathlib

from tests import base

PATH = pathlib.Path(__file__).parents[2] / '.ci' / 'audit.py'
SKIPPED = {'name': 'b', 'skip_reason': 'Dependency not found on PyPI'}
CLEAN = {'name': 'c', 'version': '1', 'vulns': []}
BAD = {
    'name': 'a',
    'version': '1',
    'vulns': [{'id': 'PYSEC-1', 'fix_versions': ['2', '3']}],
}


def evaluate(*dependencies):
    """Return the exit status and the lines for these packages."""
    spec = importlib.util.spec_from_file_location('audit', PATH)
    audit = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(audit)
    return audit.evaluate({'dependencies': list(dependencies)})


class TestEvaluate(base.TestCase):
    def test_a_known_vulnerability_fails(self):
        self.assertEqual(
            (
                1,
                [
                    'a 1: PYSEC-1, fixed in 2, 3',
                    '2 packages audited, 1 without advisories',
                ],
            ),
            evaluate(BAD, SKIPPED, CLEAN),
        )
        self.assertEqual(0, evaluate(CLEAN)[0])

    def test_unavailable_advisories_are_reported_and_do_not_fail(self):
        self.assertEqual(
            (0, ['advisories not reachable: the index knows none of the packages']),
            evaluate(SKIPPED),
        )
