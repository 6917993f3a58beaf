"""The authority of callers for the work on stacks, clusters, nodes and receivers."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from watcherlite import exceptions
from watcherlite.api.operation import Request
from watcherlite.db.credentials import AUTHORITY
from watcherlite.domain.stacks import Stack


@contextmanager
def new_owner(request: Request) -> Iterator[Callable[[], str] | None]:
    """Return the delegation for an object that the request creates, in a `with` block.

    It is None if the caller cannot delegate authority. If the object is not created,
    the credential is revoked.
    """
    delegations, caller = request.services.delegations, request.caller
    if delegations is None or not delegations.is_available_to(caller):
        yield None
        return
    stored: list[str] = []

    def delegate() -> str:
        stored.append(delegations.delegate(caller))
        return stored[-1]

    try:
        yield delegate
    except exceptions.WatcherliteError:
        for uuid in stored:
            delegations.withdraw(uuid)
        raise


def with_authority(
    request: Request,
    context: Mapping[str, Any],
    owner: str,
    project: str,
    renews: bool = False,
) -> dict[str, Any]:
    """Return the context of a request on an object, with the authority for it.

    :param owner: uuid of the object
    :param renews: the request gives the object the authority of the caller
    """
    delegations = request.services.delegations
    reference = None
    if delegations is not None:
        reference = delegations.reference(request.caller, owner, project, renews)
    return {**context, **({} if reference is None else {AUTHORITY: reference})}


def stack_context(
    request: Request, stack: Stack, renews: bool = False
) -> dict[str, Any]:
    """Return the context of a request on a stack; see `with_authority`."""
    return with_authority(request, request.context, stack.uuid, stack.tenant, renews)
