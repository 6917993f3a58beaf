"""What is done with a whole cluster besides making, changing and deleting it."""

from collections.abc import Callable, Mapping
from typing import Any

from watcherlite.api.clustering import answers, finding
from watcherlite.api.clustering.schemas import clusters as schemas
from watcherlite.api.clustering.schemas import shapes
from watcherlite.api.clustering.versioning import since
from watcherlite.api.operation import Answer, Operation, Request, Routes
from watcherlite.domain.clusters import Cluster
from watcherlite.engine.clusters import actions
from watcherlite.engine.clusters.asking import Asker, Begun
from watcherlite.engine.clusters.operations import ClusterOperations

Given = Mapping[str, Any]
Act = Callable[[ClusterOperations, str, Asker, Given, bool], Begun[Cluster]]


def _add_nodes(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    return clusters.add_nodes(uuid, by, given['nodes'], wait=wait)


def _del_nodes(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    destroy = given.get('destroy_after_deletion')
    return clusters.del_nodes(
        uuid, by, given['nodes'], False if destroy is None else destroy, wait=wait
    )


def _replace_nodes(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    return clusters.replace_nodes(uuid, by, given['nodes'], wait=wait)


def _resize(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    params = {name: value for name, value in given.items() if value is not None}
    return clusters.resize(uuid, by, params, wait=wait)


def _scale_in(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    count = given.get('count')
    return clusters.scale(uuid, by, actions.CLUSTER_SCALE_IN, count, wait=wait)


def _scale_out(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    count = given.get('count')
    return clusters.scale(uuid, by, actions.CLUSTER_SCALE_OUT, count, wait=wait)


def _attach(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    enabled = given.get('enabled')
    return clusters.attach_policy(
        uuid, by, given['policy_id'], True if enabled is None else enabled, wait=wait
    )


def _detach(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    return clusters.detach_policy(uuid, by, given['policy_id'], wait=wait)


def _update_policy(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    enabled = given.get('enabled')
    return clusters.update_policy(uuid, by, given['policy_id'], enabled, wait=wait)


def _check(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    return clusters.check(uuid, by, given, wait=wait)


def _recover(
    clusters: ClusterOperations, uuid: str, by: Asker, given: Given, wait: bool
) -> Begun[Cluster]:
    return clusters.recover(uuid, by, given, wait=wait)


#: What a body may ask for, besides COMPLETE, which asks for no action.
_ACTS: Mapping[str, Act] = {
    'add_nodes': _add_nodes,
    'del_nodes': _del_nodes,
    'replace_nodes': _replace_nodes,
    'resize': _resize,
    'scale_in': _scale_in,
    'scale_out': _scale_out,
    'policy_attach': _attach,
    'policy_detach': _detach,
    'policy_update': _update_policy,
    'check': _check,
    'recover': _recover,
}
COMPLETE = 'complete_lifecycle'


def act(request: Request) -> Answer:
    """Begin what the body names.

    :raises ResourceIsLocked, ActionConflict: the cluster is busy, and the request
        does not wait
    """
    found, by = finding.reached(request, Cluster, request.path['cluster'])
    ((name, given),) = request.body.items()
    if name == COMPLETE:
        token = given['lifecycle_action_token']
        ended = request.services.clusters.actions.complete_lifecycle(
            found.uuid, by, token
        )
        return answers.begun(request, Begun(ended.uuid, found))
    done = _ACTS[name](
        *(request.services.clusters, found.uuid, by, given or {}),
        answers.waits(request),
    )
    return answers.begun(request, done)


def operate(request: Request) -> Answer:
    """Begin an operation on the nodes of a cluster; likewise."""
    found, by = finding.reached(request, Cluster, request.path['cluster'])
    ((name, given),) = request.body.items()
    given = given or {}
    done = request.services.clusters.operate(
        *(found.uuid, by, name, given.get('params'), given.get('filters')),
        wait=answers.waits(request),
    )
    return answers.begun(request, done)


_ONE = '/v1/clusters/{cluster}'

ROUTES: Routes = {
    f'{_ONE}/actions': {
        'POST': Operation(
            act,
            'clusters:action',
            'Scale, resize, check or recover a cluster; let nodes or policies come or '
            'go.',
            query=shapes.ASKING,
            body=schemas.ACTIONS,
            answers={202: shapes.ACTION, 409: None},
        )
    },
    f'{_ONE}/ops': {
        'POST': Operation(
            operate,
            'clusters:operation',
            'Do an operation of the profile with the nodes of a cluster.',
            query=shapes.ASKING,
            body=schemas.OPERATION,
            answers={202: shapes.ACTION, 409: None},
            **since((1, 4)),
        )
    },
}
