"""Links: absolute addresses, with the prefix of the mount that was called."""

from collections.abc import Mapping
from typing import Any
from urllib import parse

from watcherlite.api.mounts import decode_slashes
from watcherlite.api.operation import Request

Link = dict[str, str]

SELF = 'self'


def link(href: str, rel: str = SELF) -> Link:
    """Return a link."""
    return {'href': href, 'rel': rel}


def url(request: Request, *parts: str) -> str:
    """Return the address of something below the version."""
    below = '/'.join(parse.quote(part, safe='') for part in parts)
    return f'{request.mount_url}/v1/{below}'


def location(request: Request, *parts: str) -> dict[str, str]:
    """Return the header Location for something below the version."""
    return {'Location': url(request, *parts)}


def with_arguments(address: str, arguments: Mapping[str, Any]) -> str:
    """Return an address with arguments; a list is given several times."""
    texts = {name: _text(value) for name, value in arguments.items()}
    return f'{address}?{parse.urlencode(texts, doseq=True)}'


def next_page(request: Request, marker: str) -> Link:
    """Return the link to the page of the same list that begins after a row."""
    _, _, *parts = request.route_path.split('/')
    address = url(request, *map(decode_slashes, parts))
    return link(with_arguments(address, {**request.query, 'marker': marker}), 'next')


def _text(value: Any) -> Any:
    """Return an argument as a URL has it."""
    return str(value).lower() if isinstance(value, bool) else value
