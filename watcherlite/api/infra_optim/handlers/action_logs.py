"""Logs of actions."""

from typing import Any

from watcherlite.api import links, timestamps
from watcherlite.api.infra_optim import histories
from watcherlite.api.infra_optim.handlers.actions import ACTIONS, has_ended
from watcherlite.api.infra_optim.histories import History
from watcherlite.api.infra_optim.schemas import action_logs as schemas
from watcherlite.api.infra_optim.versions import LOGS
from watcherlite.api.operation import Request, Response, RouteTable
from watcherlite.db.action_logs import StoredLogEntry

ROUTES = RouteTable(histories.QUERY)


def represent(stored: StoredLogEntry) -> dict[str, Any]:
    """Return an entry; its credentials were masked when it was stored."""
    entry = stored.entry
    return {
        'sequence': stored.sequence,
        'logged_at': timestamps.offset(entry.logged_at),
        'attempt': entry.attempt,
        'stream': entry.stream,
        'text': entry.text,
    }


@ROUTES.route(
    'GET /v1/actions/{uuid}/logs',
    'action:get',
    {200: schemas.COLLECTION, 204: None, 503: None},
    since=LOGS,
    streams=True,
)
def list_log(request: Request) -> Response:
    """List or stream the log of an action."""
    action = ACTIONS.find(request).action
    store = request.services.store
    history = History(
        'logs',
        represent,
        lambda: has_ended(store, action.uuid),
        lambda after, before, limit: store.list_log_entries(
            [action.id], after, before, limit
        ),
    )
    place = links.unmounted_url(request, 'actions', action.uuid, 'logs')
    return histories.respond(request, history, place)
