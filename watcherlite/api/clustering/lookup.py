"""Lookup of objects by uuid, name or short id, in the caller's visible projects."""

import contextlib
from collections.abc import Sequence
from typing import TypeVar

from watcherlite import exceptions
from watcherlite.api.clustering import caller
from watcherlite.api.operation import Request
from watcherlite.db.api import Store
from watcherlite.db.clusters import ListedClusterAction
from watcherlite.domain.clusters import Cluster, Node, PolicyObject, Profile, Receiver
from watcherlite.engine.clusters.requests.values import RequestContext

Noun = TypeVar('Noun', Profile, PolicyObject, Cluster, Node, Receiver)


def get(request: Request, kind: type[Noun], name: str) -> Noun:
    """Return the visible object with a uuid, name or short id.

    For administrators, their own project is searched first, then all projects.

    :raises NotFound: no such object
    :raises Ambiguous: several such objects
    """
    return find(request, kind, name)[0]


def find(request: Request, kind: type[Noun], name: str) -> tuple[Noun, RequestContext]:
    """Return the object, and the context of the caller in the project of the object.

    Look up further objects of the request in this context: the owner of the object has
    no access to other projects.
    """
    found, by = _find(request, kind, name)
    return found, by.within(found.owner.tenant)


def _find(request: Request, kind: type[Noun], name: str) -> tuple[Noun, RequestContext]:
    *before, last = search_contexts(request)
    for by in before:
        with contextlib.suppress(exceptions.NotFound):
            return request.services.store.find_object(kind, name, by.tenant), by
    return request.services.store.find_object(kind, name, last.tenant), last


def get_action(request: Request, name: str) -> ListedClusterAction:
    """Return the visible action with a uuid, name or short id."""
    *before, last = search_contexts(request)
    for by in before:
        with contextlib.suppress(exceptions.NotFound):
            return request.services.store.find_cluster_action(name, by.tenant)
    return request.services.store.find_cluster_action(name, last.tenant)


def search_contexts(request: Request) -> list[RequestContext]:
    """Return the contexts of the caller in search order."""
    everywhere = caller.admin_context(request)
    if everywhere is None:
        return [caller.context_of(request)]
    if request.caller.project_id is None:
        return [everywhere]
    by = caller.context_of(request)
    return [by] if by.everywhere else [by, everywhere]


def get_referenced_cluster(request: Request, name: str) -> Cluster:
    """Return the cluster in an argument.

    :raises BadRequest: no such cluster
    """
    try:
        return get(request, Cluster, name)
    except exceptions.NotFound:
        raise exceptions.BadRequest(f'Cannot find the given cluster: {name}') from None


def clusters_of(store: Store, rows: Sequence[Node | Receiver]) -> list[Cluster | None]:
    """Return the cluster of each node or receiver, queried for all rows."""
    ids = {row.cluster_id for row in rows if row.cluster_id is not None}
    found = store.objects_by_id(Cluster, ids) if ids else {}
    return [
        None if row.cluster_id is None else found.get(row.cluster_id) for row in rows
    ]
