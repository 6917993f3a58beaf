"""Documents without the values that vary between runs."""

import re

UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
#: The formats of Watcher: times with a zone, and without one in UTC.
AWARE = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00')
NAIVE = re.compile(r'\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?')


def plain(value):
    """Return a document with UUID, AWARE and NAIVE for uuids and times."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, str):
        return NAIVE.sub('NAIVE', AWARE.sub('AWARE', UUID.sub('UUID', value)))
    return value
