"""Actions: asked for, listed, shown, signalled."""

from collections.abc import Collection, Sequence
from typing import Any

from watcherlite.api import arguments
from watcherlite.api.clustering import answers, asking, finding, links, pages, rules
from watcherlite.api.clustering.representations import actions as representations
from watcherlite.api.clustering.schemas import actions as schemas
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.versioning import since
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.db.clustering import ListedAction, not_found
from watcherlite.domain.actions import Action
from watcherlite.engine.clusters.asking import NewAction


def index(request: Request) -> Answer:
    """Answer a page of actions."""
    filters: dict[str, Collection[Any]] = pages.given(
        request, 'name', 'target', 'action', 'status'
    )
    if 'cluster_id' in request.query:
        names = request.query['cluster_id']
        filters['cluster_id'] = {_cluster(request, name) for name in names}
    store = request.services.store
    return pages.answer(
        request,
        'actions',
        lambda limit: store.list_cluster_actions(
            pages.query(request, Action, filters, limit)
        ),
        lambda rows: _shown(request, rows),
    )


def _cluster(request: Request, name: str) -> str:
    # Actions stay when their cluster has gone
    if arguments.is_uuid(name):
        return name.lower()
    return finding.cluster(request, name).uuid


def show(request: Request) -> Answer:
    """Answer an action, by uuid, name or short id; NotFound."""
    return _answer(request, finding.action(request, request.path['action']))


def create(request: Request) -> Answer:
    """Have an action of any type done on a cluster or node.

    :raises Invalid: the inputs do not fit the type
    """
    new = NewAction(**request.body['action'])
    done = request.services.clusters.actions.create(
        new, *finding.askers(request), wait=answers.waits(request)
    )
    listed = request.services.store.find_cluster_action(done.action, None)
    return _answer(request, listed, 202)


def signal(request: Request) -> Answer:
    """Cancel, suspend or resume an action, which is named by its whole uuid.

    :raises ActionImmutable: its status does not allow that
    """
    uuid = request.path['action']
    if not arguments.is_uuid(uuid):
        raise not_found(Action, uuid)
    listed = finding.action(request, uuid)
    by = asking.administrator(request) or asking.who(request)
    status = request.body['action']['status']
    forced = bool(request.query.get('force'))
    done = request.services.clusters.actions.update(
        listed.action.uuid, by, status, force=forced
    )
    return _answer(request, done, 202)


def _answer(request: Request, listed: ListedAction, status: int = 200) -> Answer:
    headers = {}
    if status != 200:
        headers = links.location(request, 'actions', listed.action.uuid)
    (shown,) = _shown(request, [listed])
    return Answer({'action': shown}, status, headers)


def _shown(request: Request, rows: Sequence[ListedAction]) -> list[dict[str, Any]]:
    unclear = representations.unclear(rows)
    clusters = request.services.store.clusters_by_uuid(unclear)
    return [representations.represent(row, request.version, clusters) for row in rows]


_ALL = '/v1/actions'

ROUTES: Routes = {
    _ALL: {
        'GET': Operation(
            index,
            'actions:index',
            'List what is done, and was done, with clusters and nodes.',
            query=schemas.INDEX,
            answers={200: schemas.COLLECTION},
            rules=rules.index('actions:index'),
        ),
        'POST': Operation(
            create,
            'actions:create',
            'Have an action of any type done on a cluster or node.',
            query=shapes.ASKING,
            body=schemas.NEW,
            answers={202: schemas.ACTION, 409: None},
            **since((1, 15)),
        ),
    },
    f'{_ALL}/{{action}}': {
        'GET': Operation(
            show,
            'actions:get',
            'Show an action.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.ACTION},
        ),
        'PATCH': Operation(
            signal,
            'actions:update',
            'Cancel an action, suspend it, or let it go on.',
            query=schemas.SIGNAL_QUERY,
            body=schemas.SIGNAL,
            answers={202: schemas.ACTION, 409: None},
            rules=rules.signal,
            **since((1, 12)),
        ),
    },
}
