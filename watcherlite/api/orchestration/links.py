"""Links to stacks and their resources."""

from watcherlite.api.links import SELF, Link, link, url
from watcherlite.api.operation import Request
from watcherlite.domain.stacks import Stack


def stack_url(request: Request, stack: Stack, *rest: str) -> str:
    """Return the address of a stack, or of something below it."""
    return url(request, stack.tenant, 'stacks', stack.name, stack.uuid, *rest)


def of_stack(request: Request, stack: Stack, rel: str = SELF) -> Link:
    """Return a link to a stack."""
    return link(stack_url(request, stack), rel)


def of_resource(
    request: Request, stack: Stack, name: str, *rest: str, rel: str = SELF
) -> Link:
    """Return a link to a resource, or to something below it."""
    return link(stack_url(request, stack, 'resources', name, *rest), rel)
