"""The parser of server-sent events, with chunks of any size."""

from tests import base
from watcherlite.cli.http.server_sent_events import ServerSent, parse


class ServerSentTest(base.TestCase):
    def test_events_of_all_shapes(self):
        text = (
            b': a comment\n\n'
            b'id: 1\ndata: one\n\n'
            b'data:two\ndata:  lines \r\n\r\n'
            b'event: end\ndata: {}\nretry: 3\n\n'
            b'id: 4\n\n'
            b'data\n\n'
            b'id: 5\ndata: not whole'
        )
        expected = [
            ServerSent('one', '1'),
            ServerSent('two\n lines '),
            ServerSent('{}', event='end'),
            ServerSent(''),
        ]

        for size in (1, 2, 3, 7, len(text)):
            pieces = [text[i : i + size] for i in range(0, len(text), size)]
            self.assertEqual(expected, list(parse(pieces)), size)

    def test_a_character_may_be_cut_in_two(self):
        whole = 'data: ä€\n\n'.encode()

        self.assertEqual(
            [ServerSent('ä€')], list(parse(bytes([byte]) for byte in whole))
        )

    def test_events_are_there_as_soon_as_they_are_whole(self):
        def pieces():
            yield b'data: one\n\ndata: t'
            raise AssertionError('the first event is complete')

        self.assertEqual(ServerSent('one'), next(parse(pieces())))
