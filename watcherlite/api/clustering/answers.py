"""What is answered to a request for an action."""

from typing import Any

from watcherlite.api.clustering import links
from watcherlite.api.operation import NULL, Answer, Request
from watcherlite.engine.clusters.asking import Begun


def waits(request: Request) -> bool:
    """Say whether a request queues behind what its target is busy with."""
    return bool(request.query.get('wait'))


def is_forced(request: Request) -> bool:
    """Say whether a DELETE is forced, by an argument or, as clients do, by the body."""
    said = (request.body or {}).get('force', False)
    if isinstance(said, str):
        said = said.lower() == 'true'
    return bool(said) or bool(request.query.get('force'))


def begun(request: Request, done: Begun[Any]) -> Answer:
    """Answer which action does what was asked for, and where it is."""
    headers = links.location(request, 'actions', done.action)
    return Answer({'action': done.action}, 202, headers)


def begun_with(request: Request, done: Begun[Any], body: dict[str, Any]) -> Answer:
    """Answer how a cluster or node is now, and where the action is."""
    return Answer(body, 202, links.location(request, 'actions', done.action))


def deleting(request: Request, done: Begun[Any]) -> Answer:
    """Answer where the action is that deletes something."""
    headers = links.location(request, 'actions', done.action)
    return Answer(data=NULL.data, status=202, headers=headers)
