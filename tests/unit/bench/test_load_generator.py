"""Tests of tests.bench.load_generator."""

from tests import base
from tests.bench import load_generator


class TestLoad(base.TestCase):
    """The rate and the percentiles of a load."""

    def test_a_rate_is_of_all_clients_together(self) -> None:
        self.assertEqual(25, load_generator.Load(2.0, [0.1] * 50).rate)

    def test_a_percentile_is_a_measured_latency(self) -> None:
        load = load_generator.Load(1.0, [0.5, 0.1, 0.4, 0.2, 0.3])

        self.assertEqual(
            [0.1, 0.3, 0.5, 0.5], [load.percentile(s) for s in (0.01, 0.5, 0.99, 1)]
        )


class TestAnswers(base.TestCase):
    """The content length of a response."""

    def test_the_length_is_found_in_any_case(self) -> None:
        head = b'HTTP/1.1 200 OK\r\nServer: x\r\nCONTENT-length:  12'

        self.assertEqual(12, load_generator.content_length(head))

    def test_an_answer_without_a_length_is_none(self) -> None:
        self.assertRaises(
            AssertionError,
            load_generator.content_length,
            b'HTTP/1.1 200 OK\r\nServer: x',
        )
