"""JSON schemas of services."""

from collections.abc import Mapping

from watcherlite.api.infra_optim import pages
from watcherlite.api.infra_optim.schemas import fragments
from watcherlite.api.infra_optim.versions import LEASES
from watcherlite.api.operation import Schema
from watcherlite.domain.actions import LANES

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

_WITH_LEASE: Mapping[str, Schema] = {
    **_DETAILED,
    'lane': {
        'type': 'string',
        'enum': list(LANES),
        'description': 'The actions that its worker executes.',
    },
    'lease_until': {
        **fragments.TIME,
        'description': 'The time until which it owns the actions that it has claimed, '
        'unless it extends its lease.',
    },
}

QUERY = pages.paging(
    SORT_KEYS,
    {'type': 'integer', 'description': 'The id of the service before the page.'},
)
SERVICE, COLLECTION, DETAILED_COLLECTION = fragments.views(
    'services', _LISTED, {(1, 0): _DETAILED, LEASES: _WITH_LEASE}
)
