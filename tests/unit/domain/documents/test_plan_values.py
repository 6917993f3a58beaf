"""Suggestions for unknown names in a plan document."""

from tests import base
from watcherlite.domain.documents.plan_values import Findings


class NearestTest(base.TestCase):
    """The most similar known name."""

    def test_the_closest_name_is_found_unless_there_are_too_many(self) -> None:
        names = ['drain', 'restart']
        many = [f'action-{n}' for n in range(20_000)]
        for written, known, expected in (
            ('drian', names, 'drain'),
            ('format', names, None),
            (7, names, None),
            ('actoin-1', many, None),
        ):
            self.assertEqual(expected, Findings().closest_name(written, known))

    def test_many_misspelt_names_are_compared_in_bounded_time(self) -> None:
        findings = Findings()
        names = [f'action-{n}' for n in range(4000)]
        self.assertEqual(
            ['action-1', 'action-2', None, None],
            [findings.closest_name(f'actoin-{n}', names) for n in range(1, 5)],
        )
        self.assertEqual('drain', findings.closest_name('drian', ['drain']))
