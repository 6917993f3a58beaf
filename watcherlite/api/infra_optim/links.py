"""Links of the infra-optim API.

They have scheme and host but no mount: clients strip these and append the rest to their
endpoint.
"""

from watcherlite.api.operation import Request

SELF = 'self'
BOOKMARK = 'bookmark'


def url(request: Request, noun: str, *rest: str) -> str:
    """Return the versioned address of a collection, or of something below it."""
    return '/'.join((request.host_url, 'v1', noun, *rest))


def of(request: Request, noun: str, identifier: object) -> list[dict[str, str]]:
    """Return the two links of one object.

    :param noun: of the collection, as it stands in the address: 'audit_templates'
    :param identifier: its uuid, or its number where it has none
    """
    return _pair(request, f'{noun}/{identifier}')


def of_collection(request: Request, noun: str) -> list[dict[str, str]]:
    """Return the two links of a whole collection; they end in a slash."""
    return _pair(request, f'{noun}/')


def _pair(request: Request, place: str) -> list[dict[str, str]]:
    return [
        {'href': f'{request.host_url}/v1/{place}', 'rel': SELF},
        {'href': f'{request.host_url}/{place}', 'rel': BOOKMARK},
    ]
