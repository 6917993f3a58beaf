"""The time at which a command from the broker may be acknowledged."""

from tests import base
from watcherlite.domain.commands import Receipt


class ReceiptTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.calls = []

    def receipt(self, *parts):
        made = Receipt(*parts)
        made.when_settled(lambda: self.calls.append('settled'))
        return made

    def test_receipt_is_settled_once_and_a_late_callback_called_at_once(self):
        for parts in ((), (2,)):
            self.calls.clear()
            receipt = self.receipt(*parts)

            receipt.settle()
            receipt.settle()
            receipt.settle_part()

            self.assertEqual((['settled'], True), (self.calls, receipt.settled))
            receipt.when_settled(lambda: self.calls.append('late'))
            self.assertEqual(['settled', 'late'], self.calls)

    def test_of_several_places_the_last_one_settles_it(self):
        receipt = self.receipt(2)

        receipt.settle_part()
        before = list(self.calls), receipt.settled
        receipt.settle_part()

        self.assertEqual(([], False), before)
        self.assertEqual((['settled'], True), (self.calls, receipt.settled))
