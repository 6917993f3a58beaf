"""Captured output, truncated and sanitized for the store.

Databases and JSON reject some output of processes and servers: NUL characters, lone
surrogates, NaN.
"""

import codecs
import json
from typing import Any

#: Codecs that interpret their input, some in quadratic time: a server may name any.
_NOT_FOR_TEXT = frozenset({'idna', 'punycode', 'raw-unicode-escape', 'unicode-escape'})
_KEY_BEGIN, _KEY_END = '-----BEGIN ', '-----END '
_REPLACEMENT = '\N{REPLACEMENT CHARACTER}'


class Capture:
    """A buffer for the first bytes of a stream.

    :param limit: bytes to store
    :ivar truncated: whether there was more
    """

    __slots__ = ('_data', '_limit', 'truncated')

    def __init__(self, limit: int) -> None:
        self._data = bytearray()
        self._limit = limit
        self.truncated = False

    def add(self, data: bytes) -> None:
        """Store the bytes up to the limit; set `truncated` if some are dropped."""
        room = self._limit - len(self._data)
        if len(data) > room:
            self.truncated = True
            data = data[:room]
        self._data += data

    def text(self, encoding: str = 'utf-8') -> str:
        """Return the text, with invalid bytes replaced."""
        try:
            if codecs.lookup(encoding).name in _NOT_FOR_TEXT:
                raise LookupError
            # Raises LookupError for codecs from bytes to bytes, such as zlib.
            b'x'.decode(encoding, 'replace')
            decoder = codecs.getincrementaldecoder(encoding)(errors='replace')
            # A truncated character is dropped, not replaced.
            text = decoder.decode(bytes(self._data), final=not self.truncated)
        except (LookupError, ValueError):
            return self.text()
        return storable_text(text)


class LineReader:
    """Splits a stream of bytes into texts of whole lines.

    Lines of a private key stay together, so that it can be recognized and masked.

    :param limit: characters of a line, or a key, beyond which it is divided
    """

    __slots__ = ('_decoder', '_limit', '_rest')

    def __init__(self, limit: int = 65536) -> None:
        self._decoder = codecs.getincrementaldecoder('utf-8')(errors='replace')
        self._limit = limit
        self._rest = ''

    def feed(self, data: bytes) -> str:
        """Return the text up to the last newline, or '' if no line is complete."""
        text = self._rest + self._decoder.decode(data)
        end = text.rfind('\n') + 1
        begin = text.rfind(_KEY_BEGIN)
        if begin >= 0 and _KEY_END not in text[begin:]:
            end = text.rfind('\n', 0, begin) + 1
        if len(text) - end > self._limit:
            end = len(text)
        self._rest = text[end:]
        return text[:end]

    def finish(self) -> str:
        """Return the remaining text, which has no newline at its end."""
        text, self._rest = self._rest + self._decoder.decode(b'', True), ''
        return text


def storable_text(text: str) -> str:
    """Return the text with characters replaced that databases reject."""
    if '\x00' in text:
        text = text.replace('\x00', _REPLACEMENT)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode(errors='surrogatepass').decode(errors='replace')
    return text


def storable_json(text: str) -> Any:
    """Return the value of a JSON text.

    :raises ValueError: it is not JSON, or contains a value that cannot be stored
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
        stored = json.dumps(value, ensure_ascii=False, allow_nan=False)
        stored.encode()
    except RecursionError:
        raise ValueError('nested too deeply') from None
    # The escape sequence of a NUL character. A text that contains it literally is
    # refused as well, which only costs its reader the parsed form.
    if '\\u0000' in stored:
        raise ValueError('a NUL character')
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(f'{constant} is not JSON')
