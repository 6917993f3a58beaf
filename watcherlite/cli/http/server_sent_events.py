"""A parser of server-sent events."""

import dataclasses
from collections.abc import Iterable, Iterator


@dataclasses.dataclass(frozen=True, slots=True)
class ServerSent:
    """One event.

    :param id: the Last-Event-ID for a reconnection; None: no id
    :param event: its type; default: `message`
    """

    data: str
    id: str | None = None
    event: str = 'message'


def parse(pieces: Iterable[bytes]) -> Iterator[ServerSent]:
    """Yield complete events; comments and unknown fields are ignored."""
    fields: dict[str, list[str]] = {}
    for line in _lines(pieces):
        if line:
            name, _, value = line.partition(':')
            fields.setdefault(name, []).append(value.removeprefix(' '))
            continue
        if 'data' in fields:
            yield ServerSent(
                data='\n'.join(fields['data']),
                id=fields.get('id', [None])[-1],
                event=fields.get('event', ['message'])[-1],
            )
        fields = {}


def _lines(pieces: Iterable[bytes]) -> Iterator[str]:
    rest = b''
    for piece in pieces:
        *lines, rest = (rest + piece).split(b'\n')
        for line in lines:
            yield line.removesuffix(b'\r').decode('utf-8', 'replace')
