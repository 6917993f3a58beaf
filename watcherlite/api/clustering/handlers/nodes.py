"""Nodes: created, adopted, listed, shown, changed, deleted."""

from collections.abc import Collection
from typing import Any

from watcherlite.api.clustering import answers, asking, finding, links, pages, rules
from watcherlite.api.clustering.representations import nodes as representations
from watcherlite.api.clustering.schemas import clusters as cluster_schemas
from watcherlite.api.clustering.schemas import nodes as schemas
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.versioning import since
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.conf import masking
from watcherlite.domain.clusters import Node
from watcherlite.engine.clusters.asking import Adoption, NewNode


def index(request: Request) -> Answer:
    """Answer a page of nodes."""
    filters: dict[str, Collection[Any]] = pages.given(request, 'name', 'status')
    if 'cluster_id' in request.query:
        cluster = finding.cluster(request, request.query['cluster_id'])
        filters['cluster_id'] = {cluster.id}
    store = request.services.store
    return pages.answer(
        request,
        'nodes',
        lambda limit: store.list_noun(Node, pages.query(request, Node, filters, limit)),
        lambda rows: representations.represent(request, rows),
    )


def create(request: Request) -> Answer:
    """Store a node, and begin to make it."""
    asked = dict(request.body['node'])
    new = NewNode(
        profile=asked.pop('profile_id'),
        cluster=asked.pop('cluster_id', None) or None,
        **asked,
    )
    done = request.services.clusters.nodes.create(
        new, asking.who(request), wait=answers.waits(request)
    )
    return answers.begun_with(request, done, _body(request, done.row))


def show(request: Request) -> Answer:
    """Answer a node; NotFound."""
    details = bool(request.query.get('show_details'))
    return Answer(_body(request, finding.noun(request, Node, _name(request)), details))


def update(request: Request) -> Answer:
    """Begin to make a node what the body says; NotFound."""
    found, by = finding.reached(request, Node, _name(request))
    done = request.services.clusters.nodes.update(
        found.uuid, by, request.body['node'], wait=answers.waits(request)
    )
    return answers.begun_with(request, done, _body(request, done.row))


def delete(request: Request) -> Answer:
    """Begin to delete a node; NotFound."""
    found, by = finding.reached(request, Node, _name(request))
    forced = answers.is_forced(request)
    done = request.services.clusters.nodes.delete(found.uuid, by, force=forced)
    return answers.deleting(request, done)


def adopt(request: Request) -> Answer:
    """Make a node, and its profile, of something that is there."""
    nodes = request.services.clusters.nodes
    made = nodes.adopt(_adoption(request), asking.who(request))
    headers = links.location(request, 'nodes', made.uuid)
    return Answer(_body(request, made), headers=headers)


def preview(request: Request) -> Answer:
    """Answer the profile that `adopt` would make, and make nothing."""
    nodes = request.services.clusters.nodes
    found = nodes.preview(_adoption(request), asking.who(request))
    return Answer({'node_profile': {'node_preview': masking.mask_data(found)}})


def _adoption(request: Request) -> Adoption:
    asked = dict(request.body)
    snapshot = asked.pop('snapshot', None)
    if isinstance(snapshot, str):
        snapshot = snapshot.lower() == 'true'
    return Adoption(snapshot=bool(snapshot), **asked)


def _name(request: Request) -> str:
    return request.path['node']


def _body(request: Request, row: Node, details: bool = False) -> dict[str, Any]:
    (shown,) = representations.represent(request, [row], details)
    return {'node': shown}


_ALL = '/v1/nodes'
_ONE = f'{_ALL}/{{node}}'

ROUTES: Routes = {
    _ALL: {
        'GET': Operation(
            index,
            'nodes:index',
            'List nodes.',
            query=schemas.INDEX,
            answers={200: schemas.COLLECTION},
            rules=rules.index('nodes:index'),
        ),
        'POST': Operation(
            create,
            'nodes:create',
            'Create a node, in a cluster or in none.',
            query=shapes.ASKING,
            body=schemas.NEW,
            answers={202: schemas.NODE, 409: None},
        ),
    },
    f'{_ALL}/adopt': {
        'POST': Operation(
            adopt,
            'nodes:adopt',
            'Make a node of something that is there.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.ADOPT,
            answers={200: schemas.NODE, 409: None},
            **since((1, 7)),
        )
    },
    f'{_ALL}/adopt-preview': {
        'POST': Operation(
            preview,
            'nodes:adopt-preview',
            'Show the profile of what would be adopted.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.PREVIEW,
            answers={200: schemas.PREVIEWED, 409: None},
            **since((1, 7)),
        )
    },
    _ONE: {
        'GET': Operation(
            show,
            'nodes:get',
            'Show a node.',
            query=schemas.SHOW,
            answers={200: schemas.NODE},
        ),
        'PATCH': Operation(
            update,
            'nodes:update',
            'Update a node.',
            query=shapes.ASKING,
            body=schemas.CHANGED,
            answers={202: schemas.NODE, 409: None},
        ),
        'DELETE': Operation(
            delete,
            'nodes:delete',
            'Delete a node.',
            query=cluster_schemas.DELETE,
            body=cluster_schemas.DELETE_BODY,
            needs_body=False,
            answers={202: shapes.NULL, 409: None},
        ),
    },
}
