"""Requests that changed something: who sent them, and what they changed."""

from collections.abc import Mapping
from typing import Any

from watcherlite.dashboard.views import PageTable, View

PAGES = PageTable()
ROWS = 50
_FILTERS = ('user', 'object', 'since', 'until', 'marker')
#: Class of an object -> the path of its pages.
OBJECTS: Mapping[str, str] = {
    'action': 'actions',
    'action_plan': 'action_plans',
    'audit': 'audits',
    'audit_template': 'audit_templates',
    'cluster': 'clusters',
    'node': 'nodes',
}


@PAGES.page('/requests', 'requests.html')
def list_requests(view: View) -> Mapping[str, Any]:
    """List the requests that changed something, the latest first."""
    args = view.filters(*_FILTERS)
    body = view.api.get('/v1/requests', **args, limit=ROWS)
    return {
        'requests': body['requests'],
        'pages': OBJECTS,
        'filters': args,
        'next': view.next_address(body, args, 'requests'),
    }
