"""The parser of server-sent events, with chunks of any size."""

from tests import base
from watcherlite.cli.http.server_sent_events import ServerSent, parse


class ParserTest(base.TestCase):
    def test_all_fields_of_events_are_parsed(self):
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

    def test_a_character_may_be_split_between_chunks(self):
        whole = 'data: ä€\n\n'.encode()

        self.assertEqual(
            [ServerSent('ä€')], list(parse(bytes([byte]) for byte in whole))
        )

    def test_an_event_is_returned_as_soon_as_it_is_complete(self):
        def pieces():
            yield b'data: one\n\ndata: t'
            raise AssertionError('the first event is complete')

        self.assertEqual(ServerSent('one'), next(parse(pieces())))
