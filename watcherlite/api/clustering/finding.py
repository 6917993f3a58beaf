"""The thing that an address names, and who may look for it where."""

import contextlib
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
    """Return likewise what is named, and who asks, as one in its project.

    What else is named in the request is looked for there: what came from elsewhere
    would be absent for those whose it is.
    """
    found, by = _reached(request, kind, name)
    return found, by.within(found.owner.tenant)


def _reached(request: Request, kind: type[Noun], name: str) -> tuple[Noun, Asker]:
    *before, last = askers(request)
    for by in before:
        with contextlib.suppress(exceptions.NotFound):
            return request.services.store.find_noun(kind, name, by.tenant), by
    return request.services.store.find_noun(kind, name, last.tenant), last


def action(request: Request, name: str) -> ListedAction:
    """Return an action, likewise."""
    *before, last = askers(request)
    for by in before:
        with contextlib.suppress(exceptions.NotFound):
            return request.services.store.find_cluster_action(name, by.tenant)
    return request.services.store.find_cluster_action(name, last.tenant)


def askers(request: Request) -> list[Asker]:
    """Return who asks, once for each place where they look, in this sequence."""
    everywhere = asking.administrator(request)
    if everywhere is None:
        return [asking.who(request)]
    if request.caller.project_id is None:
        return [everywhere]
    by = asking.who(request)
    return [by] if by.everywhere else [by, everywhere]


def cluster(request: Request, name: str) -> Cluster:
    """Return the cluster that an argument names.

    :raises BadRequest: there is none
    """
    try:
        return noun(request, Cluster, name)
    except exceptions.NotFound:
        raise exceptions.BadRequest(f'Cannot find the given cluster: {name}') from None
