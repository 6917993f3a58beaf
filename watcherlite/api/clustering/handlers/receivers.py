"""Receivers: what is asked for when something happens outside."""

from collections.abc import Collection
from typing import Any
from urllib import parse

from watcherlite.api import arguments
from watcherlite.api.clustering import answers, asking, finding, links, pages, rules
from watcherlite.api.clustering.representations import receivers as representations
from watcherlite.api.clustering.schemas import receivers as schemas
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.versioning import since
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.db.clustering import not_found
from watcherlite.domain.clusters import Receiver
from watcherlite.engine.clusters.asking import NewReceiver

#: The version of webhooks whose inputs are arguments of the address.
_FIRST = '1'


def index(request: Request) -> Answer:
    """Answer a page of receivers."""
    filters: dict[str, Collection[Any]] = pages.given(
        request, 'name', 'type', 'action', 'user'
    )
    if 'cluster_id' in request.query:
        filters['cluster_id'] = {
            finding.cluster(request, name).id for name in request.query['cluster_id']
        }
    store = request.services.store
    return pages.answer(
        request,
        'receivers',
        lambda limit: store.list_noun(
            Receiver, pages.query(request, Receiver, filters, limit)
        ),
        lambda rows: representations.represent(store, rows),
    )


def create(request: Request) -> Answer:
    """Store a receiver; its channel says how it is triggered."""
    asked = dict(request.body['receiver'])
    new = NewReceiver(cluster=asked.pop('cluster_id', None), **asked)
    base = f'{request.mount_url}/v1'
    receivers = request.services.clusters.receivers
    made = receivers.create(new, asking.who(request), base)
    headers = links.location(request, 'receivers', made.uuid)
    return _answer(request, made, 201, headers)


def show(request: Request) -> Answer:
    """Answer a receiver; NotFound."""
    return _answer(request, finding.noun(request, Receiver, _name(request)))


def update(request: Request) -> Answer:
    """Change a receiver; NotFound."""
    found, by = finding.reached(request, Receiver, _name(request))
    receivers = request.services.clusters.receivers
    changed = receivers.update(found.uuid, by, request.body['receiver'])
    return _answer(request, changed)


def delete(request: Request) -> Answer:
    """Delete a receiver; NotFound."""
    found, by = finding.reached(request, Receiver, _name(request))
    request.services.clusters.receivers.delete(found.uuid, by)
    return Answer(status=204)


def notify(request: Request) -> Answer:
    """Tell a receiver that there is a message; BadRequest, as none reads any."""
    found, by = finding.reached(request, Receiver, _name(request))
    request.services.clusters.receivers.notify(found.uuid, by)
    return Answer(status=204)


def trigger(request: Request) -> Answer:
    """Ask for the action of a receiver; who knows its id needs no token.

    :raises NotFound: there is none, or it is none that is triggered like this
    """
    uuid = _name(request)
    if not arguments.is_uuid(uuid):
        # What is said of a name that means several would tell their ids
        raise not_found(Receiver, uuid)
    inputs = request.body
    if request.query['V'] == _FIRST:
        inputs = dict(parse.parse_qsl(request.query_string))
        inputs.pop('V', None)
    receivers = request.services.clusters.receivers
    return answers.begun(request, receivers.trigger(uuid, inputs))


def _name(request: Request) -> str:
    return request.path['receiver']


def _answer(
    request: Request,
    row: Receiver,
    status: int = 200,
    headers: dict[str, str] | None = None,
) -> Answer:
    (shown,) = representations.represent(request.services.store, [row])
    return Answer({'receiver': shown}, status, headers or {})


_ALL = '/v1/receivers'
_ONE = f'{_ALL}/{{receiver}}'

ROUTES: Routes = {
    _ALL: {
        'GET': Operation(
            index,
            'receivers:index',
            'List receivers.',
            query=schemas.INDEX,
            answers={200: schemas.COLLECTION},
            rules=rules.index('receivers:index'),
        ),
        'POST': Operation(
            create,
            'receivers:create',
            'Create a receiver.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.NEW,
            answers={201: schemas.RECEIVER, 409: None},
        ),
    },
    _ONE: {
        'GET': Operation(
            show,
            'receivers:get',
            'Show a receiver.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.RECEIVER},
        ),
        'PATCH': Operation(
            update,
            'receivers:update',
            'Change the name, the action or the inputs of a receiver.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.CHANGED,
            answers={200: schemas.RECEIVER, 409: None},
            **since((1, 7)),
        ),
        'DELETE': Operation(
            delete,
            'receivers:delete',
            'Delete a receiver.',
            query=shapes.NO_ARGUMENTS,
            answers={204: None},
        ),
    },
    f'{_ONE}/notify': {
        'POST': Operation(
            notify,
            'receivers:notify',
            'Tell a receiver that there is a message.',
            query=shapes.NO_ARGUMENTS,
            answers={204: None},
        )
    },
    '/v1/webhooks/{receiver}/trigger': {
        'POST': Operation(
            trigger,
            None,
            'Ask for the action of a receiver, without a token.',
            query=schemas.TRIGGER,
            body=schemas.INPUTS,
            needs_body=False,
            answers={202: shapes.ACTION, 409: None},
            public=True,
        )
    },
}
