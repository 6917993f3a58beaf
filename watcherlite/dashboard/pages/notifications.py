"""Notifications of the latest events."""

from collections.abc import Mapping
from typing import Any
from urllib import parse

from watcherlite.dashboard.views import PageTable, View

PAGES = PageTable()
#: Events whose notifications a page shows.
EVENTS = 50


@PAGES.page('/notifications', 'notifications.html')
def list_notifications(view: View) -> Mapping[str, Any]:
    """List notifications with their payloads, the latest first."""
    body = view.api.get(
        '/v1/notifications', before=view.args.get('before', ''), limit=EVENTS
    )
    query = parse.parse_qs(parse.urlsplit(body.get('next', '')).query)
    before = query.get('before', [''])[0]
    return {
        'notifications': body['notifications'],
        'next': view.address('notifications', before=before) if before else '',
    }
