"""The thing that an address names, and who may look for it where."""

from typing import TypeVar

from watcherlite import exceptions
from watcherlite.api.clustering import asking
from watcherlite.api.operation import Request
from watcherlite.db.clustering import ListedAction
from watcherlite.domain.clusters import (
    Cluster,
    Node,
    PolicyObject,
    Profile,
    Receiver,
)
from watcherlite.engine.clusters.asking import Asker

Noun = TypeVar('Noun', Profile, PolicyObject, Cluster, Node, Receiver)


def noun(request: Request, kind: type[Noun], name: str) -> Noun:
    """Return what has this uuid, name or short id, as far as the caller may see.

    Administrators look in their own project first, and then in all of them.

    :raises NotFound: there is none
    :raises Ambiguous: there are several
    """
    return reached(request, kind, name)[0]


def reached(request: Request, kind: type[Noun], name: str) -> tuple[Noun, Asker]:
    """Return likewise what is named, and who asks, as one who may see it."""
    store = request.services.store
    everywhere = asking.administrator(request)
    if everywhere is None or request.caller.project_id is not None:
        by = asking.who(request)
        try:
            return store.find_noun(kind, name, by.tenant), by
        except exceptions.NotFound:
            if everywhere is None or by.everywhere:
                raise
    return store.find_noun(kind, name, None), everywhere


def action(request: Request, name: str) -> ListedAction:
    """Return an action, likewise."""
    store = request.services.store
    everywhere = asking.administrator(request)
    if everywhere is None or request.caller.project_id is not None:
        tenant = asking.who(request).tenant
        try:
            return store.find_cluster_action(name, tenant)
        except exceptions.NotFound:
            if everywhere is None or tenant is None:
                raise
    return store.find_cluster_action(name, None)


def cluster_id(request: Request, name: str) -> int | None:
    """Return the id of the cluster that an argument names.

    :raises BadRequest: there is none
    """
    try:
        return noun(request, Cluster, name).id
    except exceptions.NotFound:
        raise exceptions.BadRequest(f'Cannot find the given cluster: {name}') from None
