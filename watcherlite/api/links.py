"""Links: absolute addresses with the prefix of the request's mount.

Links of the infra-optim API have no prefix: clients append their path to the endpoint.
"""

from collections.abc import Mapping
from typing import Any
from urllib import parse

from watcherlite.api.mounts import decode_slashes
from watcherlite.api.operation import Request
from watcherlite.domain.stacks import NewStack, Stack

Link = dict[str, str]

SELF = 'self'
BOOKMARK = 'bookmark'


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
    """Return an address with arguments; items of a list are repeated arguments."""
    texts = {name: _text(value) for name, value in arguments.items()}
    return f'{address}?{parse.urlencode(texts, doseq=True)}'


def next_page(request: Request, marker: str) -> Link:
    """Return the link to the next page of a list."""
    _, _, *parts = request.route_path.split('/')
    address = url(request, *map(decode_slashes, parts))
    return link(with_arguments(address, {**request.query, 'marker': marker}), 'next')


def _text(value: Any) -> Any:
    """Return the value of an argument in a URL."""
    return str(value).lower() if isinstance(value, bool) else value


def unmounted_url(request: Request, noun: str, *rest: str) -> str:
    """Return an address of a collection without the prefix of the mount."""
    return '/'.join((request.root_url, 'v1', noun, *rest))


def object_links(
    request: Request, noun: str, identifier: object
) -> list[dict[str, str]]:
    """Return the two links of one object.

    :param noun: the collection: 'audit_templates'
    :param identifier: the uuid, or the number of an object without uuid
    """
    return _self_and_bookmark(request, f'{noun}/{identifier}')


def collection_links(request: Request, noun: str) -> list[dict[str, str]]:
    """Return the two links of a collection, which end with a slash."""
    return _self_and_bookmark(request, f'{noun}/')


def _self_and_bookmark(request: Request, place: str) -> list[dict[str, str]]:
    return [
        {'href': f'{request.root_url}/v1/{place}', 'rel': SELF},
        {'href': f'{request.root_url}/{place}', 'rel': BOOKMARK},
    ]


def stack_url(request: Request, stack: NewStack, *rest: str) -> str:
    """Return the address of a stack, or of something below it."""
    return url(request, stack.tenant, 'stacks', stack.name, stack.uuid, *rest)


def stack_link(request: Request, stack: NewStack, rel: str = SELF) -> Link:
    """Return a link to a stack."""
    return link(stack_url(request, stack), rel)


def resource_link(
    request: Request, stack: Stack, name: str, *rest: str, rel: str = SELF
) -> Link:
    """Return a link to a resource, or to something below it."""
    return link(stack_url(request, stack, 'resources', name, *rest), rel)
