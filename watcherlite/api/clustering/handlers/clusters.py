"""Clusters: created, listed, shown, changed, deleted, and looked into."""

from typing import Any

from watcherlite.api.clustering import answers, asking, finding, pages, rules
from watcherlite.api.clustering.representations import clusters as representations
from watcherlite.api.clustering.representations import nodes as node_representations
from watcherlite.api.clustering.schemas import clusters as schemas
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.versioning import since
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.domain.clusters import Cluster, Node
from watcherlite.engine.clusters.asking import NewCluster


def index(request: Request) -> Answer:
    """Answer a page of clusters."""
    filters = pages.given(request, 'name', 'status')
    store = request.services.store
    return pages.answer(
        request,
        'clusters',
        lambda limit: store.list_noun(
            Cluster, pages.query(request, Cluster, filters, limit)
        ),
        lambda rows: representations.represent(store, rows),
    )


def create(request: Request) -> Answer:
    """Store a cluster, and begin to make its nodes."""
    asked = dict(request.body['cluster'])
    new = NewCluster(profile=asked.pop('profile_id'), **asked)
    done = request.services.clusters.create(new, asking.who(request))
    return answers.begun_with(request, done, _body(request, done.row))


def show(request: Request) -> Answer:
    """Answer a cluster; NotFound."""
    return Answer(_body(request, finding.noun(request, Cluster, _name(request))))


def update(request: Request) -> Answer:
    """Begin to make a cluster what the body says; NotFound."""
    found, by = finding.reached(request, Cluster, _name(request))
    done = request.services.clusters.update(
        found.uuid, by, request.body['cluster'], wait=answers.waits(request)
    )
    return answers.begun_with(request, done, _body(request, done.row))


def delete(request: Request) -> Answer:
    """Begin to delete a cluster with its nodes; NotFound."""
    found, by = finding.reached(request, Cluster, _name(request))
    forced = answers.is_forced(request)
    done = request.services.clusters.delete(found.uuid, by, force=forced)
    return answers.deleting(request, done)


def collect(request: Request) -> Answer:
    """Answer what a JSON path finds in each node of a cluster.

    :raises BadRequest: it is none
    """
    found, by = finding.reached(request, Cluster, _name(request))
    nodes = request.services.store.nodes_of([found.id or 0])
    listed = node_representations.represent(request, nodes, details=True)
    shown = {one['id']: one for one in listed}

    def show(node: Node) -> dict[str, Any]:
        # One that has come since then has nothing to tell yet
        return shown.get(node.uuid, {})

    values = request.services.clusters.collect(
        found.uuid, by, request.path['path'], show
    )
    return Answer(
        {'cluster_attributes': [{'id': uuid, 'value': value} for uuid, value in values]}
    )


def _name(request: Request) -> str:
    return request.path['cluster']


def _body(request: Request, row: Cluster) -> dict[str, Any]:
    (shown,) = representations.represent(request.services.store, [row])
    return {'cluster': shown}


_ALL = '/v1/clusters'
_ONE = f'{_ALL}/{{cluster}}'

ROUTES: Routes = {
    _ALL: {
        'GET': Operation(
            index,
            'clusters:index',
            'List clusters.',
            query=schemas.INDEX,
            answers={200: schemas.COLLECTION},
            rules=rules.index('clusters:index'),
        ),
        'POST': Operation(
            create,
            'clusters:create',
            'Create a cluster.',
            query=shapes.NO_ARGUMENTS,
            body=schemas.NEW,
            answers={202: schemas.CLUSTER, 409: None},
        ),
    },
    _ONE: {
        'GET': Operation(
            show,
            'clusters:get',
            'Show a cluster.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.CLUSTER},
        ),
        'PATCH': Operation(
            update,
            'clusters:update',
            'Update a cluster.',
            query=shapes.ASKING,
            body=schemas.CHANGED,
            answers={202: schemas.CLUSTER, 409: None},
        ),
        'DELETE': Operation(
            delete,
            'clusters:delete',
            'Delete a cluster with its nodes.',
            query=schemas.DELETE,
            body=schemas.DELETE_BODY,
            needs_body=False,
            answers={202: shapes.NULL, 409: None},
        ),
    },
    f'{_ONE}/attrs/{{path}}': {
        'GET': Operation(
            collect,
            'clusters:collect',
            'Collect what a JSON path finds in each node of a cluster.',
            query=shapes.NO_ARGUMENTS,
            answers={200: schemas.ATTRIBUTES},
            **since((1, 2)),
        )
    },
}
