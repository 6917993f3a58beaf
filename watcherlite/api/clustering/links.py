"""Addresses of what the clustering API shows: whole ones, with the mount."""

from urllib import parse

from watcherlite.api.operation import Request

Link = dict[str, str]


def url(request: Request, *parts: str) -> str:
    """Return the address of something below the version."""
    below = '/'.join(parse.quote(part, safe='') for part in parts)
    return f'{request.mount_url}/v1/{below}'


def location(request: Request, *parts: str) -> dict[str, str]:
    """Return the header that says where something is."""
    return {'Location': url(request, *parts)}


def following(request: Request, arguments: dict[str, object]) -> Link:
    """Return a link to the page that comes after one; a list is given several times."""
    place = request.place.removeprefix('/v1/').split('/')
    query = parse.urlencode(arguments, doseq=True)
    return {'href': f'{url(request, *place)}?{query}', 'rel': 'next'}
