"""The outputs of the actions that run audits."""

from tests import base
from watcherlite.engine.audits import runs


class TestOutputs(base.TestCase):
    def test_a_failure_recorded_by_an_earlier_version_is_recognised(self):
        for outputs, expected in (
            ({'failure_recorded': True}, True),
            ({'told': True}, True),
            ({'action_plan': 'uuid'}, False),
            ({}, False),
            (None, False),
        ):
            self.assertEqual(expected, runs.is_failure_recorded(outputs), outputs)
