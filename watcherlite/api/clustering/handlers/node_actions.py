"""What is done with a node besides making, changing and deleting it."""

from watcherlite.api.clustering import answers, finding
from watcherlite.api.clustering.representations import nodes as representations
from watcherlite.api.clustering.schemas import nodes as schemas
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.versioning import since
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.domain.clusters import Node

_MARK = 'mark_unhealthy'


def act(request: Request) -> Answer:
    """Begin what the body names; that a node is unhealthy is noted at once.

    :raises ResourceIsLocked, ActionConflict: the node or its cluster is busy, and the
        request does not wait
    """
    found, by = finding.reached(request, Node, request.path['node'])
    ((name, given),) = request.body.items()
    given = given or {}
    nodes = request.services.clusters.nodes
    if name == _MARK:
        said, reason = given.get(_MARK, True), given.get('reason')
        row = nodes.mark_unhealthy(found.uuid, by, said, reason)
        (shown,) = representations.represent(request, [row])
        return Answer({'node': shown}, 202)
    begin = nodes.check if name == 'check' else nodes.recover
    done = begin(found.uuid, by, given, wait=answers.waits(request))
    return answers.begun(request, done)


def operate(request: Request) -> Answer:
    """Begin an operation of the profile; likewise."""
    found, by = finding.reached(request, Node, request.path['node'])
    ((name, given),) = request.body.items()
    done = request.services.clusters.nodes.operate(
        found.uuid, by, name, given, wait=answers.waits(request)
    )
    return answers.begun(request, done)


_ONE = '/v1/nodes/{node}'

ROUTES: Routes = {
    f'{_ONE}/actions': {
        'POST': Operation(
            act,
            'nodes:action',
            'Check or recover a node, or say that it is unhealthy.',
            query=shapes.ASKING,
            body=schemas.ACTIONS,
            answers={202: schemas.ACTED, 409: None},
        )
    },
    f'{_ONE}/ops': {
        'POST': Operation(
            operate,
            'nodes:operation',
            'Do an operation of its profile with a node.',
            query=shapes.ASKING,
            body=schemas.OPERATION,
            answers={202: shapes.ACTION, 409: None},
            **since((1, 4)),
        )
    },
}
