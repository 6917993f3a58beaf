"""Recorded requests: who changed what, and when."""

import datetime
from typing import Any
from urllib import parse

from watcherlite import exceptions
from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim.schemas import requests as schemas
from watcherlite.api.infra_optim.versions import REQUESTS
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.db.requests import RequestQuery, StoredRequest

ROUTES = RouteTable(schemas.QUERY)


def represent(stored: StoredRequest) -> dict[str, Any]:
    """Return a recorded request."""
    request = stored.request
    shown = None
    if request.object_uuid is not None:
        shown = {
            'type': request.object_type,
            'uuid': request.object_uuid,
            'name': request.object_name,
            'created': request.created,
        }
    return {
        'request_id': request.request_id,
        'occurred_at': timestamps.offset(request.occurred_at),
        'user_id': request.user_id,
        'user_name': request.user_name,
        'project_id': request.project_id,
        'roles': list(request.roles),
        'method': request.method,
        'path': request.path,
        'changes': request.changes,
        'object': shown,
    }


@ROUTES.route(
    'GET /v1/requests', 'request:get_all', {200: schemas.COLLECTION}, since=REQUESTS
)
def index(request: Request) -> Response:
    """List the requests that changed something, the latest first."""
    asked, limit = request.query, request.page_size
    query = RequestQuery(
        limit=limit + 1,
        user=asked.get('user'),
        project_id=asked.get('project_id'),
        object_uuid=asked.get('object'),
        since=timestamps.parse_time('since', asked.get('since')),
        until=timestamps.parse_time('until', asked.get('until')),
        before=_parse_marker(asked.get('marker')),
    )
    found = request.services.store.list_requests(query)
    body: dict[str, Any] = {'requests': [represent(one) for one in found[:limit]]}
    if len(found) > limit:
        last = found[limit - 1]
        place = f'{last.request.occurred_at.isoformat()},{last.sequence}'
        arguments = parse.urlencode({**asked, 'limit': limit, 'marker': place})
        body['next'] = f'{links.unmounted_url(request, "requests")}?{arguments}'
    return Response(body)


def _parse_marker(marker: str | None) -> tuple[datetime.datetime, int] | None:
    """Return the time and the sequence number in a marker; Invalid."""
    if marker is None:
        return None
    time, _, sequence = marker.partition(',')
    moment = timestamps.parse_time('marker', time)
    if moment is None or not sequence.isdecimal() or len(sequence) > 18:
        raise exceptions.Invalid(
            'The marker is invalid; follow the link `next` of a page instead'
        )
    return moment, int(sequence)
