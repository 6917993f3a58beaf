"""Suggestions for unknown names in a plan document."""

from tests import base
from watcherlite.domain.documents.plan_values import Findings


class NearestTest(base.TestCase):
    """The name that was probably meant."""

    def test_it_is_found(self) -> None:
        names = ['drain', 'restart']
        self.assertEqual('drain', Findings().nearest('drian', names))
        self.assertIsNone(Findings().nearest('format', names))
        self.assertIsNone(Findings().nearest(7, names))

    def test_a_document_with_many_names_and_slips_does_not_take_for_ever(self) -> None:
        findings = Findings()
        names = [f'action-{n}' for n in range(4000)]
        self.assertEqual(
            ['action-1', 'action-2', None, None],
            [findings.nearest(f'actoin-{n}', names) for n in range(1, 5)],
        )
        self.assertEqual('drain', findings.nearest('drian', ['drain']))

    def test_one_with_more_than_can_be_looked_at_goes_without(self) -> None:
        names = [f'action-{n}' for n in range(20_000)]
        self.assertIsNone(Findings().nearest('actoin-1', names))
