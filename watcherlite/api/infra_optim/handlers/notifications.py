"""Notifications of the latest events, as consumers receive them."""

import dataclasses
import json
from typing import Any

from watcherlite.api import links
from watcherlite.api.infra_optim.schemas import notifications as schemas
from watcherlite.api.infra_optim.versions import NOTIFICATIONS
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.notifications.messages import MessageBuilder

#: A sequence number after those of all events.
NEWEST = 2**53 - 1

ROUTES = RouteTable(schemas.QUERY)


def represent(body: bytes) -> dict[str, Any]:
    """Return a message without the envelope of oslo.messaging."""
    message: dict[str, Any] = json.loads(json.loads(body)['oslo.message'])
    del message['_unique_id']
    return message


@ROUTES.route(
    'GET /v1/notifications',
    'notification:get_all',
    {200: schemas.COLLECTION},
    since=NOTIFICATIONS,
)
def index(request: Request) -> Response:
    """List the notifications of the latest events, the latest first.

    They are built from the events with the settings of this process. Whether they were
    published already is shown by the health of the outbox.
    """
    services = request.services
    limit = request.page_size
    before = request.query.get('before', NEWEST)
    found = services.store.list_events(before=before, limit=limit + 1)
    # A message for each topic differs only in its routing key.
    settings = dataclasses.replace(
        services.notifications, topics=services.notifications.topics[:1]
    )
    batch = MessageBuilder(settings, services.store).build(found[:limit])
    shown: dict[str, Any] = {
        'notifications': [represent(message) for _, message in batch.messages]
    }
    if len(found) > limit:
        place = links.unmounted_url(request, 'notifications')
        last = found[limit - 1].sequence
        shown['next'] = f'{place}?before={last}&limit={limit}'
    return Response(shown)
