"""The truncation of external output."""

import json

from tests import base
from watcherlite.plugins.capture import (
    Capture,
    LineReader,
    storable_json,
    storable_text,
)


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

    def test_a_declared_encoding_is_used_unless_it_is_unknown(self):
        none = 'no-such zlib base64 hex rot13 punycode idna unicode_escape undefined'
        for data, text, encodings in (
            (b'\xe4', 'ä', ['latin-1']),
            (b'78 9c', '78 9c', [*none.split(), 'utf-8\x00', '', 'x' * 1000]),
        ):
            for encoding in encodings:
                capture = Capture(100)
                capture.add(data)

                self.assertEqual(
                    (text, False), (capture.text(encoding), capture.truncated), encoding
                )


class TestStorable(base.TestCase):
    def test_half_surrogates_of_a_text_are_replaced_and_json_can_be_written_again(self):
        self.assertEqual('a\ufffd\ufffd\ufffdb', storable_text('a\ud800b'))
        value = storable_json('{"a": [1, null, "ä"], "b": "\\u00e4\\ud83d\\ude00"}')

        self.assertEqual({'a': [1, None, 'ä'], 'b': 'ä😀'}, value)
        self.assertIn('"ä😀"', json.dumps(value, ensure_ascii=False))

    def test_unstorable_values_are_refused(self):
        texts = ('NaN', '[Infinity]', '1e999', '"\\u0000"', '"\\ud800"', '{"a": 1', '')
        for text in (*texts, '[' * 100_000):
            self.assertRaises(ValueError, storable_json, text)


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
