"""The caller of a request: the context of operations, and the policy rules."""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from watcherlite import exceptions
from watcherlite.api import authority
from watcherlite.api.operation import Request
from watcherlite.domain.clusters import Cluster, Node, Owner
from watcherlite.engine.clusters.requests.values import RequestContext

#: The project of callers authenticated without projects.
DEFAULT_PROJECT = 'default'


def context_of(request: Request) -> RequestContext:
    """Return the context of the caller, who sees the objects of their project.

    Without projects, as with noauth, the caller sees all objects.

    :raises Forbidden: the token has no project
    """
    caller = request.caller
    everywhere = caller.in_all_projects
    tenant = caller.project_id or (DEFAULT_PROJECT if everywhere else None)
    if tenant is None:
        raise exceptions.Forbidden(
            'The token has no project; clusters and their objects belong to projects. '
            'Use a token that is scoped to a project'
        )
    return _context(request, tenant, everywhere)


def _context(request: Request, tenant: str, everywhere: bool) -> RequestContext:
    return RequestContext(
        Owner(tenant, request.caller.user_id),
        everywhere,
        request.initiator,
        wait=bool(request.query.get('wait')),
    )


def connected_context(request: Request) -> RequestContext:
    """Return the context of the caller, with connections to OpenStack by the token."""
    by, clouds = context_of(request), request.services.clouds
    token = request.caller.token
    if not clouds.is_configured or token is None:
        return by

    def connect(region: str | None) -> Any:
        return clouds.token_connection(token, region)

    return dataclasses.replace(by, connect=connect)


@contextlib.contextmanager
def creating_context(request: Request) -> Iterator[RequestContext]:
    """Return the context of a request that creates an object, in a `with` block.

    It has connections to OpenStack, see `connected_context`. The object gets the
    authority of the caller; see `authority.new_owner`.
    """
    with authority.new_owner(request) as delegate:
        yield dataclasses.replace(connected_context(request), delegate=delegate)


def authorized(
    request: Request, by: RequestContext, found: Cluster | Node, renews: bool = False
) -> RequestContext:
    """Return a context with the authority for an object.

    The nodes of a cluster have that of the cluster.

    :param renews: see `authority.with_authority`
    """
    if isinstance(found, Node) and found.cluster_id is not None:
        return by
    context = authority.with_authority(
        request, by.context, found.uuid, found.owner.tenant, renews
    )
    return dataclasses.replace(by, context=context)


def admin_context(request: Request) -> RequestContext | None:
    """Return the context of a caller with access to all projects; None for others."""
    if not request.sees_all_projects:
        return None
    caller = request.caller
    tenant = caller.project_id or DEFAULT_PROJECT
    return _context(request, tenant, True)


def project_scope(request: Request) -> str | None:
    """Return the project whose objects are listed; None: all projects."""
    if request.query.get('global_project'):
        return None
    return context_of(request).tenant


ALL_PROJECTS = 'clustering:all_projects'
FORCE = 'actions:force'


def list_rules(request: Request) -> list[str]:
    """Return the additional rules of a list, which may be of all projects."""
    return [ALL_PROJECTS] if request.query.get('global_project') else []


def signal_rules(request: Request) -> list[str]:
    """Return the additional rules of a signal, which may be forced."""
    return [FORCE] if request.query.get('force') else []
