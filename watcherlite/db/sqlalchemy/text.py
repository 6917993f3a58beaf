"""Values as text that every database stores alike, and compares alike."""

import datetime
import functools
import json

from watcherlite.clock import UTC

#: Most characters of a name.
NAME_LENGTH = 255
#: Compact, and ASCII only: what it returns can be stored on any database.
dumps = json.JSONEncoder(separators=(',', ':')).encode


# One document has few different times, most of them EPOCH and now.
@functools.lru_cache(maxsize=1024)
def to_text(time: datetime.datetime) -> str:
    """Return an aware time as it is handed to every database: naive, in UTC."""
    if time.tzinfo is not UTC:
        time = time.astimezone(UTC)
    return time.isoformat(' ', 'microseconds')[:26]


def fold(name: str) -> str:
    """Return a name as it is looked for in any case; no longer than a column."""
    return name.lower()[:NAME_LENGTH]


def can_be_stored(text: str) -> bool:
    """Return whether a database can hold a text at all, and be asked for it."""
    return '\x00' not in text and not any('\ud800' <= c <= '\udfff' for c in text)


def name_text(name: str) -> str:
    """Return a tag or a name as it stands in a list of them, in JSON.

    There is no quote in it but those around it, so that it can be searched for.
    """
    # Backslashes that stand for themselves come in pairs.
    pairs = dumps(name)[1:-1].split('\\\\')
    inner = '\\\\'.join(part.replace('\\"', '\\u0022') for part in pairs)
    return f'"{inner}"'
