"""The truncation of external output."""

import json

from tests import base
from watcherlite.plugins.capture import (
    Capture,
    LineReader,
    storable_json,
    storable_text,
)


def captured(data, encoding):
    capture = Capture(100)
    capture.add(data)
    return capture.text(encoding), capture.truncated


class TestCapture(base.TestCase):
    def test_bytes_become_text_up_to_a_limit(self):
        for name, pieces, limit, expected in (
            ('what fits is kept whole', [b'ab', b'cd'], 4, ('abcd', False)),
            ('the rest is dropped', [b'ab', b'cd', b'ef'], 3, ('abc', True)),
            ('a limit of nothing keeps nothing', [b'a'], 0, ('', True)),
            ('a character cut in two is left out', ['ää'.encode()], 3, ('ä', True)),
            ('no text', [b'a\xffb\xc3'], 100, ('a\ufffdb\ufffd', False)),
            ('a NUL character', [b'a\x00b'], 100, ('a\ufffdb', False)),
        ):
            capture = Capture(limit)
            for piece in pieces:
                capture.add(piece)

            self.assertEqual(expected, (capture.text(), capture.truncated), name)

    def test_another_encoding_is_heeded(self):
        self.assertEqual(('ä', False), captured(b'\xe4', encoding='latin-1'))

    def test_encodings_that_are_none_are_not(self):
        for encoding in (
            'no-such',
            'zlib',
            'base64',
            'hex',
            'rot13',
            'punycode',
            'idna',
            'unicode_escape',
            'undefined',
            'utf-8\x00',
            '',
            'x' * 1000,
        ):
            self.assertEqual(('78 9c', False), captured(b'78 9c', encoding=encoding))


class TestStorable(base.TestCase):
    def test_half_surrogates_are_replaced(self):
        text = storable_text('a\ud800b')

        self.assertEqual('a\ufffd\ufffd\ufffdb', text)

    def test_json_is_parsed(self):
        self.assertEqual({'a': [1, None, 'ä']}, storable_json('{"a": [1, null, "ä"]}'))

    def test_what_cannot_be_stored_is_refused(self):
        for text in (
            'NaN',
            '[Infinity]',
            '1e999',
            '"\\u0000"',
            '"\\ud800"',
            '{"a": 1',
            '',
            '[' * 100_000,
        ):
            self.assertRaises(ValueError, storable_json, text)

    def test_what_is_accepted_can_be_written_again(self):
        value = storable_json('{"a": "\\u00e4\\ud83d\\ude00"}')

        self.assertEqual('{"a": "ä😀"}', json.dumps(value, ensure_ascii=False))


KEY = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n'


class TestLineReader(base.TestCase):
    def test_texts_end_with_whole_lines(self):
        cases = (
            ('a line in pieces', [b'ab', b'c\nd'], ['', 'abc\n', 'd']),
            ('a character in pieces', [b'\xc3', b'\xa4\n'], ['', 'ä\n', '']),
            (
                'bytes that are no text',
                [b'a\xff\n', b'\xc3'],
                ['a\ufffd\n', '', '\ufffd'],
            ),
            ('a line above the limit', [b'x' * 50, b'y'], ['x' * 50, '', 'y']),
            (
                'a private key',
                [f'a\n{KEY[:40]}'.encode(), f'{KEY[40:]}b'.encode()],
                ['a\n', KEY, 'b'],
            ),
            (
                'a key without an end',
                [f'{KEY[:32]}{"x" * 50}\n'.encode()],
                [f'{KEY[:32]}{"x" * 50}\n', ''],
            ),
        )
        for name, pieces, expected in cases:
            reader = LineReader(limit=49)
            found = [*map(reader.feed, pieces), reader.finish()]
            self.assertEqual(expected, found, name)
