"""Reports of failed tests, which must fit into a subunit packet."""

from testtools import content
from testtools.testresult import doubles

from tests import base

#: Bytes of a subunit packet, including its header.
PACKET = 2**22


def run_failing_test_with_long_log():
    """Return the attachments of a failed test that exceed a packet."""

    class LongFailure(base.TestCase):
        def runTest(self):
            self.addDetail('log', content.text_content('a' + 'ü' * PACKET + 'z'))
            self.fail('x' * 2 * PACKET + 'the end')

    result = doubles.ExtendedTestResult()
    LongFailure().run(result)
    [details] = [event[2] for event in result._events if event[0] == 'addFailure']
    return details


class AttachmentsTest(base.TestCase):
    def test_a_long_failure_is_reported_with_its_beginning_and_end(self):
        details = run_failing_test_with_long_log()
        sizes = [len(b''.join(detail.iter_bytes())) for detail in details.values()]
        self.assertTrue(max(sizes) < PACKET, sizes)
        self.assertTrue('the end' in details['traceback'].as_text()[-100:])
        log = details['log'].as_text()
        self.assertEqual(('a', 'z'), (log[0], log[-1]))
        self.assertTrue('bytes left out' in log)

    def test_a_short_failure_is_reported_unchanged(self):
        detail = content.text_content('short')
        self.assertIs(detail, base.shorten(detail))
