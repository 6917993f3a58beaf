"""Responses to requests that start an action."""

from collections.abc import Mapping
from typing import Any

from watcherlite import exceptions
from watcherlite.api import links
from watcherlite.api.operation import NULL, Request, Response
from watcherlite.domain.clusters import Owner
from watcherlite.engine.clusters.requests.clusters import ClusterOperations
from watcherlite.engine.clusters.requests.values import Accepted, parse_time


def scheduled_operations(request: Request) -> ClusterOperations:
    """Return the operations on clusters, scheduled for `not_before` if it is given.

    :raises BadRequest: `not_before` is not a time
    """
    clusters = request.services.clusters
    given = request.query.get('not_before')
    return clusters if given is None else clusters.scheduled_at(parse_time(given))


def check_not_scheduled(request: Request, name: str) -> None:
    """Raise BadRequest if `not_before` is given for a synchronous operation."""
    if request.query.get('not_before') is not None:
        raise exceptions.BadRequest(f'{name} is synchronous and cannot be scheduled.')


def is_forced(request: Request) -> bool:
    """Return whether a DELETE is forced, by an argument or by the body."""
    forced = (request.body or {}).get('force', False)
    if isinstance(forced, str):
        forced = forced.lower() == 'true'
    return bool(forced) or bool(request.query.get('force'))


def respond_accepted(request: Request, done: Accepted[Any]) -> Response:
    """Return the action of a request, and its address."""
    return respond_repeated(request, {'action': done.action})


def respond_repeated(request: Request, created: Mapping[str, str]) -> Response:
    """Return the action of a repeated request, and its address."""
    uuid = created['action']
    return Response({'action': uuid}, 202, links.location(request, 'actions', uuid))


def respond_accepted_with(
    request: Request, done: Accepted[Any], body: dict[str, Any]
) -> Response:
    """Return a cluster or node, and the address of the action."""
    return Response(body, 202, links.location(request, 'actions', done.action))


def respond_deletion(request: Request, done: Accepted[Any]) -> Response:
    """Return the address of the action that deletes an object."""
    headers = links.location(request, 'actions', done.action)
    return Response(data=NULL.data, status=202, headers=headers)


def owner_fields(owner: Owner) -> dict[str, Any]:
    """Return the members of the owner of an object."""
    return {'user': owner.user, 'project': owner.tenant, 'domain': owner.domain}
