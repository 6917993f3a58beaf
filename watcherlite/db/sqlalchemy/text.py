"""Conversions of values to text that all databases store and compare alike."""

import datetime
import functools
import json

from watcherlite.clock import UTC

#: Maximum length of a name.
NAME_LENGTH = 255
#: Serializes JSON, compact and in ASCII, which any database can store.
dumps = json.JSONEncoder(separators=(',', ':')).encode


# Cached: the rows of a statement have few different times.
@functools.lru_cache(maxsize=1024)
def to_text(time: datetime.datetime) -> str:
    """Return an aware time as text, naive and in UTC."""
    if time.tzinfo is not UTC:
        time = time.astimezone(UTC)
    return time.isoformat(' ', 'microseconds')[:26]


def fold(name: str) -> str:
    """Return a name for case-insensitive searches, no longer than its column."""
    return name.lower()[:NAME_LENGTH]


def can_be_stored(text: str) -> bool:
    """Return whether all databases accept a text, which may be a parameter."""
    return '\x00' not in text and not any('\ud800' <= c <= '\udfff' for c in text)


def name_text(name: str) -> str:
    """Return a tag or name as an element of a JSON list that can be searched.

    Quotes within it are escaped without a quote character.
    """
    # Escaped backslashes come in pairs.
    pairs = dumps(name)[1:-1].split('\\\\')
    inner = '\\\\'.join(part.replace('\\"', '\\u0022') for part in pairs)
    return f'"{inner}"'
