"""Captured output, truncated and sanitized for the store.

Databases and JSON do not take everything that a process or a server may say: no
NUL characters, no half surrogates, no NaN.
"""

import codecs
import json
from typing import Any

#: Decoders that interpret, some of them in quadratic time: a server may name any.
_NOT_FOR_TEXT = frozenset({'idna', 'punycode', 'raw-unicode-escape', 'unicode-escape'})
_REPLACEMENT = '\N{REPLACEMENT CHARACTER}'


class Capture:
    """Keeps the first bytes of a stream.

    :param limit: bytes to keep
    :ivar truncated: whether there was more
    """

    __slots__ = ('_data', '_limit', 'truncated')

    def __init__(self, limit: int) -> None:
        self._data = bytearray()
        self._limit = limit
        self.truncated = False

    def add(self, data: bytes) -> None:
        """Keep what fits; what does not is dropped, and `truncated` says so."""
        room = self._limit - len(self._data)
        if len(data) > room:
            self.truncated = True
            data = data[:room]
        self._data += data

    def text(self, encoding: str = 'utf-8') -> str:
        """Return the text; bytes that are none become replacement characters."""
        try:
            if codecs.lookup(encoding).name in _NOT_FOR_TEXT:
                raise LookupError
            # Raises LookupError for what turns bytes into bytes, such as zlib.
            b'x'.decode(encoding, 'replace')
            decoder = codecs.getincrementaldecoder(encoding)(errors='replace')
            # A character that was cut in two is left out, not replaced.
            text = decoder.decode(bytes(self._data), final=not self.truncated)
        except (LookupError, ValueError):
            return self.text()
        return storable_text(text)


def storable_text(text: str) -> str:
    """Return the text with what no database keeps replaced."""
    if '\x00' in text:
        text = text.replace('\x00', _REPLACEMENT)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode(errors='surrogatepass').decode(errors='replace')
    return text


def storable_json(text: str) -> Any:
    """Return what a JSON text stands for.

    :raises ValueError: it is not JSON, or holds what cannot be stored
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
        stored = json.dumps(value, ensure_ascii=False, allow_nan=False)
        stored.encode()
    except RecursionError:
        raise ValueError('nested too deeply') from None
    # How a NUL character is written. A text that spells that out is refused with
    # it, which costs its reader the parsed form and nothing else.
    if '\\u0000' in stored:
        raise ValueError('a NUL character')
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(f'{constant} is not JSON')
