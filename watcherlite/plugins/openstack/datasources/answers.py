"""The answers of datasources: their size, and the names of hosts."""

from collections.abc import Collection, Mapping
from typing import Any

from watcherlite import exceptions

#: Maximum size of an answer in bytes: about 200,000 values.
LONGEST = 64 * 1024 * 1024
_CHUNK = 64 * 1024


def read_body(source: str, response: Any) -> bytes:
    """Return the body of a response, up to the limit.

    :param source: the name of the datasource
    """
    parts, size = [], 0
    for part in response.iter_content(_CHUNK):
        size += len(part)
        if size > LONGEST:
            raise exceptions.WatcherliteError(
                f'The datasource {source} answers with more than {LONGEST} bytes'
            )
        parts.append(part)
    return b''.join(parts)


def values_of_hosts(
    values: Mapping[str, float], hosts: Collection[str]
) -> dict[str, float]:
    """Return the values of hosts; only one of nova and the answer may have a domain."""
    short = {name.partition('.')[0]: value for name, value in values.items()}
    found = {}
    for host in hosts:
        value = values.get(host, short.get(host.partition('.')[0]))
        if value is not None:
            found[host] = value
    return found
