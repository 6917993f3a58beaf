"""JSON schemas of services."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.operation import Schema

SORT_KEYS = ('id', 'name', 'host', 'status', 'last_seen_up', 'created_at', 'updated_at')

_LISTED: Mapping[str, Schema] = {
    'id': {'type': 'integer'},
    'name': fragments.TEXT,
    'host': fragments.TEXT,
    'status': {
        'type': 'string',
        'enum': ['ACTIVE', 'FAILED'],
        'description': 'FAILED: its lease has ended.',
    },
    'links': fragments.LINKS,
}
_DETAILED: Mapping[str, Schema] = {
    **_LISTED,
    'last_seen_up': fragments.NAIVE_TIME,
    **fragments.TIMESTAMPS,
}

QUERY = pages.paging(
    SORT_KEYS,
    {'type': 'integer', 'description': 'The id of the service before the page.'},
)
SERVICE, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'services', _LISTED, {(1, 0): _DETAILED}
)
